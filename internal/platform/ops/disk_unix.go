//go:build unix

package ops

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// DiskSpace returns the bytes that this process may still write in a folder, and the
// size of its disk in bytes.
func DiskSpace(dir string) (free, size uint64, err error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, 0, fmt.Errorf("ops: asking for free space: %w", err)
	}
	block := uint64(s.Bsize) //nolint:unconvert // the types differ between systems
	return uint64(s.Bavail) * block, uint64(s.Blocks) * block, nil
}
