package ops

import (
	"context"
	"path/filepath"
	"runtime/debug"
	"time"
)

// Settle gives back what starting took and running does not need: the garbage
// of start-up, and the pages of the program that were read for it. Call it once
// the node serves. Pages that are needed after all are mapped again when they
// are touched, from the system's cache.
func Settle() {
	debug.FreeOSMemory()
	dropProgramPages()
}

// mostMapped is how much of its program and its database a node keeps mapped.
const mostMapped = 48 << 20

// KeepSettled gives back the pages of a large database that were read, again and
// again until ctx ends. They stay in the system's cache, but as long as they are
// mapped they count as this process's memory, once for each connection.
func KeepSettled(ctx context.Context, database string) error {
	if file, err := filepath.EvalSymlinks(database); err == nil {
		database = file
	}
	if file, err := filepath.Abs(database); err == nil {
		database = file
	}
	for mapped := 0; ; mapped = mappedBytes() {
		if mapped > mostMapped {
			dropPages(database, true)
			dropProgramPages()
		}
		wait := 500 * time.Millisecond
		if mapped > mostMapped/2 { // a scan maps a mebibyte in a millisecond
			wait = 25 * time.Millisecond
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(wait):
		}
	}
}
