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

// FailSync lets a log be written, and not synced, until it is called off.
func FailSync(log string) (off func()) {
	files.Range(func(file, l any) bool {
		if l := l.(*logFile); l.path == log {
			write, unix := l.write, at[lib.TunixFile](file.(uintptr))
			number := unix.Fh
			l.write = func(tls *libc.TLS, file, from uintptr, n int32, offset int64) int32 {
				unix.Fh = number
				defer func() { unix.Fh = -1 }()
				return write(tls, file, from, n, offset)
			}
			off = func() { l.write, unix.Fh = write, number }
		}
		return off == nil
	})
	return off
}
