package ops

import (
	"bytes"
	"debug/elf"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// dropProgramPages takes the pages of the program's own file out of this
// process. The kernel maps some sixteen of them around each one that is touched,
// so that a start leaves most of a large program mapped. Only what cannot be
// written is dropped: it is in the file. That goes for code always, and for
// constants unless they were written when the program was loaded, before their
// pages were closed: those of a program that can lie anywhere are.
func dropProgramPages() {
	program, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return
	}
	dropPages(program, !relocatedAtLoad(program))
}

// dropPages takes the pages of a file that nobody can write through them out of
// this process: all of them, or those of code only.
func dropPages(file string, all bool) {
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return
	}
	for line := range bytes.Lines(maps) {
		if start, size, code, ok := readOnlyPart(string(line), file); ok && (code || all) {
			_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, start, size, syscall.MADV_DONTNEED)
		}
	}
}

// mappedBytes is how much of files this process has mapped and touched.
//
// proc_pid_statm(5), shared.
func mappedBytes() int {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(text))
	if len(fields) < 3 {
		return 0
	}
	pages, _ := strconv.Atoi(fields[2]) // 0 when it is no number
	return pages * os.Getpagesize()
}

// relocatedAtLoad reports that addresses were written into the program when it
// was loaded, as into one built with -buildmode=pie, or that nobody can tell. A
// program without a dynamic section has none.
//
// elf(5), PT_DYNAMIC.
func relocatedAtLoad(program string) bool {
	file, err := elf.Open(program)
	if err != nil {
		return true
	}
	defer file.Close()
	return slices.ContainsFunc(file.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_DYNAMIC || p.Type == elf.PT_GNU_RELRO })
}

// readOnlyPart reads a line of /proc/self/maps: address, permissions, offset,
// device, inode, path, which may hold spaces. It is one of the file's that
// nobody writes, or not ok.
//
// proc_pid_maps(5).
func readOnlyPart(line, file string) (start, size uintptr, code, ok bool) {
	line, ok = strings.CutSuffix(strings.TrimSuffix(line, "\n"), " "+file)
	fields := strings.Fields(line)
	if !ok || len(fields) != 5 || len(fields[1]) != 4 || fields[1][1] != '-' {
		return 0, 0, false, false
	}
	from, to, found := strings.Cut(fields[0], "-")
	first, err := strconv.ParseUint(from, 16, 64)
	if err != nil || !found {
		return 0, 0, false, false
	}
	end, err := strconv.ParseUint(to, 16, 64)
	if err != nil || end <= first {
		return 0, 0, false, false
	}
	return uintptr(first), uintptr(end - first), fields[1][2] == 'x', true
}
