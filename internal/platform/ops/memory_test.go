package ops

import (
	"math"
	"runtime/debug"
	"testing"
	"testing/fstest"
)

func TestCgroupMemory(t *testing.T) {
	files := func(namesAndTexts ...string) fstest.MapFS {
		root := fstest.MapFS{}
		for i := 0; i < len(namesAndTexts); i += 2 {
			root[namesAndTexts[i]] = &fstest.MapFile{Data: []byte(namesAndTexts[i+1])}
		}
		return root
	}
	const self = "proc/self/cgroup"
	for name, test := range map[string]struct {
		root fstest.MapFS
		want int64 // 0 for no limit
	}{
		"v2, a container": {files(self, "0::/\n", "sys/fs/cgroup/memory.max", "536870912\n"), 512 << 20},
		"v2, a service": {files(self, "0::/system.slice/hale.service\n",
			"sys/fs/cgroup/system.slice/hale.service/memory.max", "268435456\n",
			"sys/fs/cgroup/system.slice/memory.max", "max\n"), 256 << 20},
		"v2, a lower limit above it": {files(self, "0::/pod/hale\n",
			"sys/fs/cgroup/pod/hale/memory.max", "536870912\n",
			"sys/fs/cgroup/pod/memory.max", "134217728\n"), 128 << 20},
		"v2, no limit":               {files(self, "0::/a\n", "sys/fs/cgroup/a/memory.max", "max\n"), 0},
		"v1":                         {files(self, "5:cpu:/a\n4:memory:/a\n", "sys/fs/cgroup/memory/a/memory.limit_in_bytes", "1073741824\n"), 1 << 30},
		"v1, two controllers":        {files(self, "4:cpu,memory:/a\n", "sys/fs/cgroup/memory/a/memory.limit_in_bytes", "1073741824\n"), 1 << 30},
		"v1, the host's folder":      {files(self, "4:memory:/docker/5ed1\n0::/\n", "sys/fs/cgroup/memory/memory.limit_in_bytes", "1073741824\n"), 1 << 30},
		"v1, no limit":               {files(self, "4:memory:/\n", "sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"), 0},
		"v1, another controller":     {files(self, "4:memoryless:/\n", "sys/fs/cgroup/memory/memory.limit_in_bytes", "1073741824\n"), 0},
		"a folder above the mount":   {files(self, "0::/../..\n", "sys/fs/cgroup/memory.max", "536870912\n"), 512 << 20},
		"not a number, not a cgroup": {files(self, "nonsense\n0::/\n", "sys/fs/cgroup/memory.max", "much\n"), 0},
		"no cgroups":                 {files(), 0},
	} {
		got, ok := cgroupMemory(test.root)
		if ok != (test.want != 0) || ok && got != test.want {
			t.Errorf("%s: %d, %t, want %d", name, got, ok, test.want)
		}
	}
}

// LimitMemory does not replace a limit that the operator set.
func TestLimitMemoryHonorsTheEnvironment(t *testing.T) {
	before := debug.SetMemoryLimit(math.MaxInt64)
	defer debug.SetMemoryLimit(before)
	t.Setenv("GOMEMLIMIT", "200MiB")
	LimitMemory(Discard())
	if now := debug.SetMemoryLimit(-1); now != math.MaxInt64 {
		t.Errorf("the limit is %d", now)
	}
}
