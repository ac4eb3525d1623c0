//go:build !linux

package walfile

// Name of the file system that Register would add.
const Name = ""

// Register adds none: the log is written as SQLite does it.
func Register() bool { return false }

// Drop has nothing to forget.
func Drop(string) {}
