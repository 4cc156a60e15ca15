package haltd

import "testing"

func TestTraceID(t *testing.T) {
	const id = "0af7651916cd43dd8448eb211c80319c"
	for in, want := range map[string]string{
		"00-" + id + "-b7ad6b7169203331-01":                 id,
		"00-" + id + "-b7ad6b7169203331-00":                 id,
		"cc-" + id + "-b7ad6b7169203331-01-what-comes-next": id,
		"":                                       "",
		"00-" + id + "-b7ad6b7169203331-01-more": "",
		"ff-" + id + "-b7ad6b7169203331-01":      "",
		"00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01":     "",
		"00-00000000000000000000000000000000-b7ad6b7169203331-01":     "",
		"00-" + id + "-0000000000000000-01":                           "",
		"00-" + id + "-b7ad6b7169203331-0x":                           "",
		"00-" + id + "-b7ad6b7169203331":                              "",
		"00-<script>alert(1)</script>000000-b7ad6b7169203331-01":      "",
		"cc-" + id + "-b7ad6b7169203331-01.what":                      "",
		"00-" + id + "x-b7ad6b7169203331-01-------------------------": "",
	} {
		if got := TraceID(in); got != want {
			t.Errorf("TraceID(%q) = %q, want %q", in, got, want)
		}
	}
}
