package apitest

import (
	"flag"
	"os"
	"testing"
)

// checks is how many requests are drawn for each operation on each engine.
// They are others in every run, so that many runs find what one does not;
// `make truth` draws many in one.
const checks = "25"

func TestMain(m *testing.M) {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "rapid.checks" })
	if !given {
		set("rapid.checks", checks)
	}
	// A failure prints its curl line; a file with rapid's draws beside it would
	// only end up in somebody's commit.
	set("rapid.nofailfile", "true")
	os.Exit(m.Run())
}

func set(name, value string) {
	if err := flag.Set(name, value); err != nil {
		panic(err)
	}
}
