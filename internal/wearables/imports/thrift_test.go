package imports

import (
	"runtime/debug"
	"testing"
)

// Whichever of two files ends first, the collector is thrifty until both have
// ended, and then as it was.
func TestThrift(t *testing.T) {
	const usual = 80
	defer debug.SetGCPercent(debug.SetGCPercent(usual))
	percent := func() int {
		now := debug.SetGCPercent(usual)
		debug.SetGCPercent(now)
		return now
	}
	first := withThrift()
	second := withThrift()
	first()
	if got := percent(); got != thrift {
		t.Errorf("%d percent while a file is read, want %d", got, thrift)
	}
	second()
	if got := percent(); got != usual {
		t.Errorf("%d percent afterwards, want %d", got, usual)
	}
}
