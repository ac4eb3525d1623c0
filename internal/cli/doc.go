// Package cli is the command line: files named by noun, each a small tree of
// cobra commands on the shell that they run in.
//
// Start reading at cli.go. `serve` starts app. Some commands need no API key,
// because they work on the data folder or the database itself. docs/cli.md lists
// these local commands. All others call the HTTP API of a running server (client).
//
// All commands have one style. Results go to stdout in the format of -o, and
// messages to stderr. Messages are in lower case, without a full stop: `name:
// what happened`, then `hint: what to do`. Exit codes are in errors.go.
package cli
