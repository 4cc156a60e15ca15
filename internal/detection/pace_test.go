package detection

import (
	"testing"
	"time"
)

// What an answer says to be there within some time is waited for until then.
func TestAPromiseIsWaitedFor(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"A code was sent. It can take up to two minutes.":  2 * time.Minute,
		"It is there within 90 seconds, at most 5 minutes": 5 * time.Minute,
		"Das dauert bis zu 3 Minuten.":                     3 * time.Minute,
		"The report is ready within 24 hours.":             0,
		"Sent 2 minutes ago.":                              0,
		"It takes a while.":                                0,
	} {
		if got := promisedIn(text); got != want {
			t.Errorf("%q promises %v, want %v", text, got, want)
		}
	}
	polls := func(n int) *talk {
		k := newTalk(t, "Log in and fetch the invoice.")
		k.pause = 10 * time.Second
		k.does("type_text", `{"field":"email","text":"rosa@example.com"}`, "A one-time code was sent to your address. It can take up to two minutes.")
		for range n {
			k.does("check_messages", `{"from":"no-reply@shop.example"}`, "<results/>")
		}
		return k
	}
	if k := polls(12); k.killed != nil {
		t.Errorf("killed within the two minutes\n%s", drawn(k))
	}
	if k := polls(60); k.killed == nil {
		t.Errorf("not killed ten minutes later\n%s", drawn(k))
	}
}

// A cell of a table may say that something is pending; a test runner that says that it is
// running is done.
func TestWhatIsWaitedFor(t *testing.T) {
	for text, want := range map[string]bool{
		"lint (linux)\tpass\t43s\thttps://ci.example/acme/shop/runs/1773754047/job/13698\nunit (linux)\tpass\t1m2s\thttps://ci.example/acme/shop/runs/1773754047/job/13705\ne2e (mac)\tpending\t0\thttps://ci.example/acme/shop/runs/1773754047/job/13712": true,
		"lint (linux)\tpass\t43s\thttps://ci.example/acme/shop/runs/1773754047/job/13698\nunit (linux)\tpass\t1m2s\thttps://ci.example/acme/shop/runs/1773754047/job/13705":                                                                                false,
		"The job is running.": true,
		"running 1 test\ntest pool::tests::drains ... ok\n\ntest result: ok. 1 passed; 0 failed": false,
	} {
		r := did("bash", `{"command":"check"}`, text)
		if got := readRound(&r, true).waiting; got != want {
			t.Errorf("%q is waited for: %v, want %v", text, got, want)
		}
	}
}

func TestHowOftenATaskAsks(t *testing.T) {
	for text, want := range map[string]float64{
		"Measure how often it fails (at least 15 single runs).": 15,
		"Take 20 more samples of it.":                           20,
		"Restart the single runner of port 8080.":               0,
	} {
		o := readOrders(text)
		if got := append(o.counts, 0)[0]; got != want {
			t.Errorf("%q asks %v times, want %v", text, got, want)
		}
	}
}
