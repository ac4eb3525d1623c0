// Package cli is the command line: one file per noun, each a small tree of
// cobra commands on the shell that they run in.
//
// Start reading at cli.go. `serve` starts app. Some commands need no API key,
// because they work on the data folder or the database itself. They are `doctor`,
// `config`, `migrate`, `backup`, `restore`, `teams`, `keys`, `catalog`, `psc` and
// `results`. All others call the HTTP API of a running server (client).
//
// All commands have one style. Results go to stdout in the format of -o, and
// messages to stderr. Messages are in lower case, without a full stop: `name:
// what happened`, then `hint: what to do`. Exit codes are in errors.go.
package cli
