package apitest

import (
	"flag"
	"os"
	"testing"
)

// A failure prints its curl line; a file with rapid's draws beside it would
// only end up in somebody's commit.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("rapid.nofailfile", "true"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}
