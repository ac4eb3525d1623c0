package ops

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// dropProgramPages takes the pages of the program's own file out of this
// process. The kernel maps some sixteen of them around each one that is touched,
// so that a start leaves most of a large program mapped. Only what cannot be
// written is dropped: it is in the file.
func dropProgramPages() {
	program, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return
	}
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return
	}
	for line := range bytes.Lines(maps) {
		if start, size, ok := readOnlyPart(string(line), program); ok {
			_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, start, size, syscall.MADV_DONTNEED)
		}
	}
}

// readOnlyPart reads a line of /proc/self/maps: address, permissions, offset,
// device, inode, path. It is one of the program's that nobody writes, or not ok.
//
// proc_pid_maps(5).
func readOnlyPart(line, program string) (start, size uintptr, ok bool) {
	fields := strings.Fields(line)
	if len(fields) != 6 || fields[5] != program || len(fields[1]) != 4 || fields[1][1] != '-' || fields[1][3] != 'p' {
		return 0, 0, false
	}
	from, to, found := strings.Cut(fields[0], "-")
	first, err := strconv.ParseUint(from, 16, 64)
	if err != nil || !found {
		return 0, 0, false
	}
	end, err := strconv.ParseUint(to, 16, 64)
	if err != nil || end <= first {
		return 0, 0, false
	}
	return uintptr(first), uintptr(end - first), true
}
