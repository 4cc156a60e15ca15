package main

import (
	"testing"
	"time"
)

func TestParseCPU(t *testing.T) {
	const stat = "4711 (a) b (c)) S 1 4711 4711 0 -1 4194560 1203 0 0 0 150 30 0 0 20 0 9 0 8812 1 2 3\n"
	got, err := parseCPU([]byte(stat))
	if want := 1800 * time.Millisecond; err != nil || got != want {
		t.Errorf("parseCPU = %v, %v; want %v", got, err, want)
	}
	for _, bad := range []string{"", "4711 (a", "4711 (a) S 1 2", "4711 (a) S 1 2 3 4 5 6 7 8 9 10 x y z"} {
		if _, err := parseCPU([]byte(bad)); err == nil {
			t.Errorf("parseCPU(%q) succeeds", bad)
		}
	}
}

func TestParseMemory(t *testing.T) {
	const status = "Name:\thaltd\nVmHWM:\t   20480 kB\nVmRSS:\t   10240 kB\n"
	for field, want := range map[string]int64{"VmRSS": 10 << 20, "VmHWM": 20 << 20} {
		if got, err := parseMemory([]byte(status), field); err != nil || got != want {
			t.Errorf("parseMemory(%s) = %d, %v; want %d", field, got, err, want)
		}
	}
	if _, err := parseMemory([]byte(status), "VmSwap"); err == nil {
		t.Error("a field that is missing is found")
	}
}
