//go:build unix

package ops

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// DiskFree is the bytes that this process may still write in a folder.
func DiskFree(dir string) (uint64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, fmt.Errorf("ops: asking for free space: %w", err)
	}
	return uint64(s.Bavail) * uint64(s.Bsize), nil //nolint:unconvert // the types differ between systems
}
