// Package reader reads uploaded lab reports in a child process: this program itself,
// with a hidden command. Files come from strangers, so the process that parses them has
// few rights:
//
//   - no keys and no database;
//   - an almost empty environment, and a folder of its own;
//   - limits of memory, time and file size.
//
// It starts on demand and ends when it is idle. Killing it fails only the reading of one
// file.
//
//	pool.go      the parent: processes, requests, time limits
//	serve.go     the child, and the limits that it sets for itself
//	message.go   the requests and answers between them
package reader
