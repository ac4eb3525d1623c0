package walfile

import (
	"modernc.org/libc"
	lib "modernc.org/sqlite/lib"
)

// FillDisk leaves no room for a log, until it is called off.
func FillDisk(log string) (off func()) {
	files.Range(func(_, l any) bool {
		if l := l.(*logFile); l.path == log {
			write := l.write
			l.write = func(*libc.TLS, uintptr, uintptr, int32, int64) int32 { return lib.SQLITE_FULL }
			off = func() { l.write = write }
		}
		return off == nil
	})
	return off
}
