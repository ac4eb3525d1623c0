// Command hale is the whole service and its command line in one binary.
// `hale help` lists the commands, docs/cli.md explains them.
package main

import (
	"os"

	"hale/internal/cli"
)

func main() { os.Exit(cli.Main()) }
