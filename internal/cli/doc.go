// Package cli is the command line: one file per noun, each a small tree of
// cobra commands on the shell that they run in.
//
// Start reading at cli.go. `serve` starts app; `doctor`, `config`, `migrate`,
// `backup`, `restore`, `teams`, `keys`, `catalog`, `psc` and `results` work on
// the data folder or the database itself and need no API key; all others call
// the HTTP API of a running server (client).
//
// One voice throughout: results on stdout in the format that -o asks for,
// talk on stderr, lower case, no full stop, `name: what happened` and then
// `hint: what to do`. Exit codes are in errors.go.
package cli
