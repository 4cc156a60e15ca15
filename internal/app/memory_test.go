package app

import (
	"math"
	"runtime"
	"runtime/debug"
	"testing"
	"testing/fstest"
)

func TestMemoryIsLimitedByTheControlGroup(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	defer debug.SetMemoryLimit(before)
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	for name, tc := range map[string]struct {
		files fstest.MapFS
		env   string
		want  int64
	}{
		"version 2": {fstest.MapFS{"proc/self/cgroup": file("0::/a/b\n"), "sys/fs/cgroup/a/b/memory.max": file("1000000\n")}, "", 850000},
		"a group around it": {fstest.MapFS{
			"proc/self/cgroup": file("0::/a/b\n"), "sys/fs/cgroup/a/b/memory.max": file("max\n"), "sys/fs/cgroup/a/memory.max": file("2000000\n"), "sys/fs/cgroup/memory.max": file("4000000\n"),
		}, "", 1700000},
		"a container":   {fstest.MapFS{"proc/self/cgroup": file("0::/\n"), "sys/fs/cgroup/memory.max": file("1000000\n")}, "", 850000},
		"version 1":     {fstest.MapFS{"proc/self/cgroup": file("4:cpu,cpuacct:/x\n3:memory:/x\n"), "sys/fs/cgroup/memory/x/memory.limit_in_bytes": file("1000000\n")}, "", 850000},
		"no limit":      {fstest.MapFS{"proc/self/cgroup": file("3:memory:/\n"), "sys/fs/cgroup/memory/memory.limit_in_bytes": file("9223372036854771712\n")}, "", 0},
		"no groups":     {fstest.MapFS{}, "", 0},
		"set by a user": {fstest.MapFS{"proc/self/cgroup": file("0::/\n"), "sys/fs/cgroup/memory.max": file("1000000\n")}, "2GiB", 0},
	} {
		debug.SetMemoryLimit(math.MaxInt64)
		got := LimitMemory(tc.files, func(string) (string, bool) { return tc.env, tc.env != "" })
		inForce := debug.SetMemoryLimit(-1)
		if got != tc.want || tc.want != 0 && inForce != tc.want || tc.want == 0 && inForce != math.MaxInt64 {
			t.Errorf("%s: %d, and %d in force; want %d", name, got, inForce, tc.want)
		}
	}
}

// With much alive less garbage may wait, and with little as much as is alive.
func TestTheCollectorKeepsPaceWithWhatIsAlive(t *testing.T) {
	for alive, want := range map[uint64]int{0: 100, 80 << 20: 100, 160 << 20: 50, 200 << 20: 40, 260 << 20: 30, 512 << 20: 25, 8 << 30: 25} {
		if got := garbagePercent(alive); got != want {
			t.Errorf("%d MB alive: %d percent, want %d", alive>>20, got, want)
		}
	}

	before := debug.SetGCPercent(100)
	defer debug.SetGCPercent(before)
	much := make([]byte, 300<<20)
	runtime.GC()
	inForce := func(gogc string) int {
		c := newCollection(func(string) (string, bool) { return gogc, gogc != "" })
		c.follow()
		return debug.SetGCPercent(100)
	}
	if got := inForce("80"); got != 100 {
		t.Errorf("GOGC is set, and still the pace is changed to %d percent", got)
	}
	if got := inForce(""); got < leastPercent || got > 45 {
		t.Errorf("300 MB alive: %d percent in force, want about 40", got)
	}
	runtime.KeepAlive(much)
}
