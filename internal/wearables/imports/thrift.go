package imports

import (
	"runtime/debug"
	"sync"
)

// thrift is how much garbage the collector lets gather while a file is read or
// kept, in percent of what is in use. A file makes more of it in a second than a
// node needs at all.
const thrift = 25

// thrifty counts the files that are read or kept just now. The collector has one
// setting for the process, so the last of them puts back what the first found.
var thrifty struct {
	sync.Mutex
	files, before int
}

// withThrift has the collector be thrifty until done is called.
func withThrift() (done func()) {
	thrifty.Lock()
	defer thrifty.Unlock()
	if thrifty.files++; thrifty.files == 1 {
		thrifty.before = debug.SetGCPercent(thrift)
	}
	return func() {
		thrifty.Lock()
		defer thrifty.Unlock()
		if thrifty.files--; thrifty.files == 0 {
			debug.SetGCPercent(thrifty.before)
		}
	}
}
