package ops

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestReadOnlyPart(t *testing.T) {
	for line, want := range map[string]bool{
		"00400000-01a00000 r-xp 00000000 fe:00 42                         /srv/hale":           true,
		"01a00000-03000000 r--p 01600000 fe:00 42                         /srv/hale":           true,
		"03000000-03200000 rw-p 02c00000 fe:00 42                         /srv/hale":           false, // data
		"7f0000000000-7f0040000000 r--s 00000000 fe:00 43                 /srv/hale.db":        false, // another's
		"00400000-01a00000 r-xp 00000000 fe:00 42                         /srv/hale (deleted)": false,
		"c000000000-c000400000 rw-p 00000000 00:00 0":                                          false,
		"01a00000-01a00000 r--p 01600000 fe:00 42                         /srv/hale":           false,
		"x-01a00000 r--p 01600000 fe:00 42                                /srv/hale":           false,
		"": false,
	} {
		start, size, code, ok := readOnlyPart(line, "/srv/hale")
		if ok != want || ok && (start == 0 || size == 0) || code != (ok && strings.Contains(line, "r-xp")) {
			t.Errorf("%q: %x %x %t %t", line, start, size, code, ok)
		}
	}
}

// Programs of the system are position-independent; what is no program cannot be
// told.
func TestRelocatedAtLoad(t *testing.T) {
	for _, program := range []string{"/bin/sh", "/proc/self/status", "/absent"} {
		if program, err := filepath.EvalSymlinks(program); err == nil && !relocatedAtLoad(program) {
			t.Errorf("%s has the constants of its file", program)
		}
	}
}

// What is dropped comes back when it is touched, and what is not touched stays
// away.
func TestSettle(t *testing.T) {
	before := mappedFile(t)
	Settle()
	after := mappedFile(t)
	t.Logf("%d kB of files mapped before, %d after", before, after)
	if after >= before {
		t.Errorf("%d kB of files mapped before, %d after", before, after)
	}
}

// mappedFile is RssFile of this process, in kB.
func mappedFile(t *testing.T) int {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Skip(err)
	}
	for line := range bytes.Lines(status) {
		if rest, ok := strings.CutPrefix(string(line), "RssFile:"); ok {
			n, err := strconv.Atoi(strings.Fields(rest)[0])
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	t.Skip("the kernel does not tell RssFile")
	return 0
}

// Pages of a mapped file are given back while it stays mapped, and come back
// when they are read. Its path may hold spaces.
func TestPagesOfAMappedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "health data.db")
	const size = 2 * mostMapped
	if err := os.WriteFile(path, bytes.Repeat([]byte{7}, size), 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	mapped, err := syscall.Mmap(int(file.Fd()), 0, size, syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Munmap(mapped) }()
	sum := func() (n int) {
		for i := 0; i < size; i += 4096 {
			n += int(mapped[i])
		}
		return n
	}
	want := sum()
	if n := mappedBytes(); n < size {
		t.Fatalf("%d bytes mapped, of %d that were read", n, size)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- KeepSettled(ctx, path) }()
	for deadline := time.Now().Add(20 * time.Second); mappedBytes() > mostMapped && time.Now().Before(deadline); {
		time.Sleep(10 * time.Millisecond)
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if n := mappedBytes(); n > mostMapped {
		t.Errorf("%d bytes stay mapped", n)
	}
	if n := sum(); n != want {
		t.Errorf("read %d, then %d", want, n)
	}
}
