package ops

import (
	"fmt"

	"golang.org/x/sys/windows"
)

// DiskFree is the bytes that this process may still write in a folder.
func DiskFree(dir string) (uint64, error) {
	path, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, fmt.Errorf("ops: asking for free space: %w", err)
	}
	var free uint64
	if err := windows.GetDiskFreeSpaceEx(path, &free, nil, nil); err != nil {
		return 0, fmt.Errorf("ops: asking for free space: %w", err)
	}
	return free, nil
}
