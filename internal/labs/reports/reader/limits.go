package reader

import (
	"fmt"
	"runtime/debug"
	"syscall"
	"time"
)

// maxFile bounds the files that the child and its programs write, maxOpenFiles their
// number.
const (
	maxFile      = 512 << 20
	maxOpenFiles = 256
)

// limitSelf sets the limits of this process and of the programs that it starts. The
// kernel refuses memory beyond the limit, which ends the process.
func limitSelf(c Config) error {
	limits := map[int]uint64{syscall.RLIMIT_CORE: 0, syscall.RLIMIT_FSIZE: maxFile, syscall.RLIMIT_NOFILE: maxOpenFiles}
	if c.Memory > 0 {
		limits[syscall.RLIMIT_DATA] = uint64(c.Memory)
		debug.SetMemoryLimit(c.Memory / 4 * 3)
	}
	if c.Seconds > 0 {
		limits[syscall.RLIMIT_CPU] = c.Seconds
	}
	for resource, most := range limits {
		var now syscall.Rlimit
		if err := syscall.Getrlimit(resource, &now); err != nil {
			return fmt.Errorf("reader: reading limit %d: %w", resource, err)
		}
		now.Max = min(now.Max, most)
		now.Cur = min(now.Cur, now.Max)
		if err := syscall.Setrlimit(resource, &now); err != nil {
			return fmt.Errorf("reader: setting limit %d: %w", resource, err)
		}
	}
	return nil
}

// usedTime returns the processor time of this process.
func usedTime() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
