package ops

import (
	"bytes"
	"io/fs"
	"log/slog"
	"os"
	"path"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
)

// LimitMemory sets the soft limit of the Go runtime to 80 % of the memory that the
// process's cgroup allows. It does nothing without such a limit. It also does nothing
// if the environment sets GOMEMLIMIT, which the runtime has read already. The remaining
// 20 % are for memory outside of the Go heap: SQLite's page caches (about 40 MiB) and
// the pages of the program.
//
// Call it once per process, before serving requests.
func LimitMemory(log *slog.Logger) {
	if os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	limit, ok := cgroupMemory(os.DirFS("/"))
	if !ok {
		return
	}
	soft := limit / 5 * 4
	debug.SetMemoryLimit(soft)
	log.Info("memory limit set from the cgroup", "cgroup_bytes", limit, "go_bytes", soft)
}

// cgroupMemory returns the lowest memory limit, in bytes, of the process's cgroup and
// its parents. ok is false if none of them has a limit. root is the file system at "/".
//
// In a container, /proc/self/cgroup may contain the folder's path on the host, and only
// the top of the mount exists. So missing folders are skipped.
//
// Sources: cgroups(7); Linux, Documentation/admin-guide/cgroup-v2.rst (memory.max) and
// cgroup-v1/memory.rst (memory.limit_in_bytes).
func cgroupMemory(root fs.FS) (limit int64, ok bool) {
	cgroups, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return 0, false
	}
	for line := range bytes.Lines(cgroups) {
		// "0::/system.slice/hale.service" (v2), "4:memory:/docker/5ed1" (v1)
		fields := strings.SplitN(strings.TrimSpace(string(line)), ":", 3)
		if len(fields) != 3 {
			continue
		}
		mount, file := "sys/fs/cgroup/memory", "memory.limit_in_bytes"
		switch {
		case fields[0] == "0" && fields[1] == "":
			mount, file = "sys/fs/cgroup", "memory.max"
		case !slices.Contains(strings.Split(fields[1], ","), "memory"):
			continue
		}
		for folder := path.Join("/", fields[2]); ; folder = path.Dir(folder) {
			if n, found := readLimit(root, path.Join(mount, folder, file)); found && (!ok || n < limit) {
				limit, ok = n, true
			}
			if folder == "/" {
				break
			}
		}
	}
	return limit, ok
}

// noLimit is the least value that means "no limit". Version 1 reports the highest
// multiple of the page size if there is no limit.
const noLimit = 1 << 60

// readLimit reads a limit in bytes. Version 2 contains "max" if there is no limit.
func readLimit(root fs.FS, name string) (int64, bool) {
	text, err := fs.ReadFile(root, name)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	return n, err == nil && 0 < n && n < noLimit
}
