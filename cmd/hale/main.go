// Command hale is the whole service and its command line in one binary.
// `hale help` lists the commands, docs/cli.md explains them.
package main

import (
	"os"
	"runtime"

	"hale/internal/cli"
)

// A node that is always under load notes where memory goes, for /debug/pprof:
// one allocation in 4 MiB says enough, and costs a hundredth less than Go's one
// in 512 KiB.
func init() { runtime.MemProfileRate = 4 << 20 }

func main() { os.Exit(cli.Main()) }
