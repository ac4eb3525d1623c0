package ops

import "runtime/debug"

// Settle gives back what starting took and running does not need: the garbage
// of start-up, and the pages of the program that were read for it. Call it once
// the node serves. Pages that are needed after all are mapped again when they
// are touched, from the system's cache.
func Settle() {
	debug.FreeOSMemory()
	dropProgramPages()
}
