package detection

import (
	"fmt"
	"testing"
	"time"

	"github.com/haltd/haltd"
)

// polls are the same question with other answers.
func polls(answers ...string) (rounds []haltd.Round) {
	for _, a := range answers {
		rounds = append(rounds, did("status", `{"job":"nightly"}`, a))
	}
	return rounds
}

// What is done of a whole goes up: that is progress on a page of many words, too.
func TestAShareThatRisesIsProgress(t *testing.T) {
	page := func(what string) string {
		return "Page URL: https://video.example/upload\nbanner: link Home, link Products, link Support, link Account, link Careers\nmain: heading Upload, text Please keep this window open\nprogressbar " + what + "\nfooter: imprint, privacy, terms, contact, cookies"
	}
	for _, c := range []struct {
		name    string
		answers []string
		want    bool
	}{
		{"percent", []string{page("6%"), page("12%"), page("19%")}, true},
		{"of a whole", []string{"copied 3 of 20 files", "copied 9 of 20 files", "copied 15 of 20 files"}, true},
		{"out of a whole", []string{"0 out of 35 replicas", "1 out of 35 replicas", "2 out of 35 replicas"}, true},
		{"used less and less", []string{"disk 91 % full", "disk 88 % full", "disk 84 % full"}, true},
		{"to and fro", []string{"load 31 %", "load 28 %", "load 30 %"}, false},
		{"it stays", []string{page("50%"), page("50%"), page("50%")}, false},
		{"steps are counted", []string{"Current step: 7/100", "Current step: 8/100", "Current step: 9/100"}, false},
	} {
		if all := relations("Wait for it.", polls(c.answers...)...); all[2].fills != c.want {
			t.Errorf("%s: %v, want %v", c.name, all[2].fills, c.want)
		}
	}
}

// How much of its context an agent has used is no progress, wherever it is told.
func TestTheContextThatFillsIsNoProgress(t *testing.T) {
	details := func(used int) string {
		return fmt.Sprintf("\n<environment_details>\n# Context Window Usage\n%d / 200K tokens used (%d%%)\n</environment_details>", 2000*used, used)
	}
	build := func(used int) haltd.Round {
		return did("execute_command", `{"command":"dotnet build"}`, "Build FAILED. The file is locked."+details(used))
	}
	a, b := build(7), build(9)
	if x, y := readRound(notes{}.less(&a, true, &haltd.Round{}), true), readRound(notes{}.less(&b, true, &haltd.Round{}), true); x.result != y.result || x.shares.n > 0 {
		t.Errorf("results %x and %x, shares %v; want the editor's details left out", x.result, y.result, x.shares)
	}
	told := func(tool string, used int) haltd.Round {
		return did(tool, "{}", fmt.Sprintf("done. Context used: %d %%", used))
	}
	if all := relations("Mend it.", told("a", 7), told("b", 8), told("a", 9), told("b", 10), told("a", 11)); all[4].fills {
		t.Error("a share that goes on whatever is done is progress")
	}
	if all := relations("Get out.", told("a", 93), told("b", 93), told("c", 92), told("a", 92), told("b", 92), told("c", 91), told("a", 91)); all[6].fills {
		t.Error("a share that goes on slowly whatever is done is progress")
	}
}

// A number that goes on now and then, asked for without hurry, gets patience; a
// clock does not, nor does who asks in a hurry.
func TestANumberThatCreepsGetsPatience(t *testing.T) {
	counts := func(of ...int) (answers []string) {
		for _, n := range of {
			answers = append(answers, fmt.Sprintf("NAME api READY 20/20 UP-TO-DATE %d AVAILABLE 19", n))
		}
		return answers
	}
	for _, c := range []struct {
		name    string
		pause   time.Duration
		answers []string
		want    bool
	}{
		{"pods", 40 * time.Second, counts(6, 7, 7, 8, 8, 9), true},
		{"in a hurry", 2 * time.Second, counts(6, 7, 7, 8, 8, 9), false},
		{"a clock", 40 * time.Second, counts(40, 80, 120, 160, 200, 240), false},
		{"at times as many a round", 40 * time.Second, counts(6, 7, 8, 9, 9, 10, 11), true},
		{"to and fro", 40 * time.Second, counts(6, 7, 6, 7, 6, 7), false},
		{"it stays", 40 * time.Second, counts(6, 6, 6, 6, 6, 6), false},
	} {
		all := relationsAfter(c.pause, "Roll it out.", polls(c.answers...)...)
		if got := all[5].dose < .1; got != c.want {
			t.Errorf("%s: dose %v, patience %v, want %v", c.name, all[5].dose, got, c.want)
		}
	}
}

// The closer the pauses come to a minute, the less counts.
// A reading that goes on in one direction, by this much and that, is what is worked
// on; one that goes to and fro, one that stays and one that counts are not.
func TestAReadingThatGoesOn(t *testing.T) {
	for name, tc := range map[string]struct {
		at   func(i int) int
		kill bool
	}{
		"it rises":           {func(i int) int { return 82 + 23*i + i*i%9 }, false},
		"it falls":           {func(i int) int { return 982 - 23*i - i*i%9 }, false},
		"it stays":           {func(int) int { return 82 }, true},
		"it goes to and fro": {func(i int) int { return 82 + i*i%9 }, true},
	} {
		k := newTalk(t, "Measure the melting point of lead.")
		for i := range 12 {
			k.says("Thought: Measure.\nAction: use thermometer on lead", fmt.Sprintf("the thermometer measures a temperature of %d degrees celsius", tc.at(i)))
			k.says("Thought: Is it still solid?\nAction: look at metal pot", "a metal pot (containing solid lead)")
			k.says("Thought: Wait a step.\nAction: wait1", "You decide to wait for 1 iterations.")
		}
		if got := k.highest() == haltd.LevelKill; got != tc.kill {
			t.Errorf("%s: killed %v, want %v\n%s", name, got, tc.kill, drawn(k))
		}
	}
}

// Who is told by itself that nobody is there does not wait for an answer.
func TestNobodyIsThere(t *testing.T) {
	for answer, kill := range map[string]bool{
		`{"from": "Dmitri", "auto_submitted": "auto-replied", "body": "I am out of the office until the 3rd of next month. Your message will not be forwarded to anybody else."}`: true,
		`{"from": null, "state": "pending", "body": ""}`: false,
	} {
		k := newTalk(t, "Get the approval of Dmitri for twelve monitors, then order.")
		for i := range 10 {
			k.does("send_mail", fmt.Sprintf(`{"to":"Dmitri","body":%q}`, []string{"Just checking in again on the monitors.", "Gentle nudge about the approval.", "Did you see my last message about the monitors?"}[i%3]), fmt.Sprintf(`{"message_id": "<%08x@corp>", "sent": true}`, i*7919*31337))
			k.now = k.now.Add(15 * time.Second)
			k.does("wait_reply", `{"from":"Dmitri","timeout_s":30}`, answer)
		}
		if got := k.highest() == haltd.LevelKill; got != kill {
			t.Errorf("%s: killed %v\n%s", answer, got, drawn(k))
		}
	}
}

// What is done of a whole grows, whatever number an order names.
func TestAShareThatGrowsUnderOtherNumbers(t *testing.T) {
	for name, stuck := range map[string]bool{"it grows": false, "it stays": true} {
		k := newTalk(t, "You drive an elevator. Orders: goto <floor>. Serve everybody.")
		for i := range 24 {
			done := i
			if stuck {
				done = 3
			}
			k.says(fmt.Sprintf("goto %d", []int{3, 7, 2, 9}[i*i%7%4]), fmt.Sprintf("floor=%d inside=[1, 2] waiting=['2 to 0', '5 to 3'] served=%d/40", []int{3, 7, 2, 9}[i*i%7%4], done))
		}
		if got := k.highest() == haltd.LevelKill; got != stuck {
			t.Errorf("%s: killed %v\n%s", name, got, drawn(k))
		}
	}
}

// Who walks through a room sees how far it is to things: never as far as before, where
// he gets anywhere.
func TestStepsThroughARoom(t *testing.T) {
	for name, circles := range map[string]bool{"it gets on": false, "it goes round in circles": true} {
		k := newTalk(t, "Visit every room and pick up the purple key.")
		for i := range 24 {
			n := i
			if circles {
				n = i % 4
			}
			see := fmt.Sprintf("In front of you in this room you can see several objects: a grey closed door 1 %d steps in front of you and %d steps to your right. There is a blue key 1 %d steps in front of you. The room has walls around you. You are facing a wall %d steps away. You are not carrying anything.", 9-n%9, 1+n/3%9, 1+n*n%7, 1+n%7)
			k.says("Thought: I go on.\nAction: "+[]string{"move forward", "move forward", "turn right", "move forward"}[i%4], see)
		}
		if got := k.highest() == haltd.LevelKill; got != circles {
			t.Errorf("%s: killed %v\n%s", name, got, drawn(k))
		}
	}
}

func TestSlowRepetitionsCountLess(t *testing.T) {
	last := float32(1)
	for _, pause := range []time.Duration{20 * time.Second, 35 * time.Second, 55 * time.Second} {
		all := relationsAfter(pause, "Mend it.", polls("error: no such table", "error: no such table", "error: no such table")...)
		if d := all[2].dose; d >= last || d <= 0 {
			t.Errorf("dose %v after %v, %v after less", d, pause, last)
		} else {
			last = d
		}
	}
}

// A task that says how often to look asks for it, at that pace.
func TestATaskThatAsksForAWatch(t *testing.T) {
	same := polls("rate 0.2 %", "rate 0.4 %", "rate 0.2 %", "rate 0.4 %")
	for _, c := range []struct {
		task  string
		pause time.Duration
		want  bool
	}{
		{"Check the rate every minute for 40 minutes.", 50 * time.Second, true},
		{"Check the rate every 30 seconds.", 25 * time.Second, true},
		{"Prüfe die Rate alle 30 Sekunden.", 25 * time.Second, true},
		{"Vérifiez toutes les 30 secondes.", 25 * time.Second, true},
		{"Comprueba la tasa cada 30 segundos.", 25 * time.Second, true},
		{"Check the rate every 30 seconds.", 2 * time.Second, false},
		{"Check the rate in every second row of each section.", 25 * time.Second, false},
		{"Check the rate.", 25 * time.Second, false},
	} {
		if all := relationsAfter(c.pause, c.task, same...); all[3].asked != c.want {
			t.Errorf("%s after %v: asked %v, want %v", c.task, c.pause, all[3].asked, c.want)
		}
	}
}

// Clicks beside each other that change nothing are no work; clicks down a list
// are, and a run that the task asks for is, whatever seed it has.
func TestClicksThatJitter(t *testing.T) {
	screen := "Dialog Invitation: Weekly sync. Buttons: Accept (greyed out), Decline. Banner: your account was removed from this device and cannot be used"
	look := did("screenshot", "{}", screen)
	click := func(x, y int) haltd.Round {
		return did("click", fmt.Sprintf(`{"x":%d,"y":%d}`, x, y), "clicked")
	}
	var beside, down []haltd.Round
	for i := range 8 {
		beside = append(beside, click(640+i%3, 512-i%2), look)
		down = append(down, click(240+i%3, 300+22*i))
	}
	if all := relations("Accept it.", beside...); all[15].amid {
		t.Error("a click beside the last one counts as something written")
	}
	if all := relations("Enter the rows.", down...); !all[7].walk {
		t.Error("clicks down a list are no walk")
	}
	var runs []haltd.Round
	for i := range 8 {
		runs = append(runs, did("shell", fmt.Sprintf(`{"command":"pytest -q test_race.py --seed=%d"}`, 71866*(i+1)%9973), "1 passed"))
	}
	if all := relations("Run it 24 times with other seeds.", runs...); !all[7].asked {
		t.Error("a run with another seed is not asked for")
	}
}

// An edit that shows what it wrote is an edit, whatever the text is about; one that
// puts known words together again is none.
func TestEditsThatShowThemselves(t *testing.T) {
	edit := func(name, text string) haltd.Round {
		return did(name, `{"path":"socket.ts","text":"`+text+`"}`, "The apply model made the following changes to the file:\n- // 437d\n+ "+text)
	}
	test := did("shell", `{"command":"npx playwright test"}`, "1) reconnects after sleep\nExpected: open Received: closed\n1 failed")
	all := relations("Mend it.", edit("edit_file", "throw new Error(`render failed`) when the heartbeat is missing"), test, edit("edit_file", "close the socket on pagehide if it failed"), test)
	if !all[2].wrote || !all[3].amid {
		t.Errorf("wrote %v, a test after it amid %v; want both", all[2].wrote, all[3].amid)
	}
	if f := readRound(ptr(did("edit_file", `{"path":"a"}`, "Error: string to replace not found in file")), true); f.outcome != failed {
		t.Errorf("an edit that was refused is read as %s", f.outcome.word())
	}
	swap := func(a, b string) haltd.Round {
		return did("edit_file", `{"path":"rows.py","old":"print(`+a+`)","new":"print(`+b+`)"}`, "edited")
	}
	all = relations("Mend it.", swap("rows", "debug"), swap("debug", "here"), swap("here", "rows"), swap("rows", "here"), swap("here", "debug"))
	if all[4].wrote {
		t.Error("known words in another order are something written")
	}
}

// Envelopes, stamps and labels are no part of what came back.
func TestWhatComesBackInAnEnvelope(t *testing.T) {
	headers := "date: Thu, 23 Oct 2025 16:36:25 GMT\ncontent-type: application/json\nserver: nginx\nx-ratelimit-remaining: 4104\n\n"
	for _, c := range []struct {
		text    string
		want    outcome
		waiting bool
	}{
		{headers + `{"error":{"type":"rate_limit_error","message":"Too many requests"}}`, failed, true},
		{headers + `{"state":"RUNNING","done":779,"total":3403}`, neutral, true},
		{`[2025-12-09 09:27:49] "CREATE_IN_PROGRESS"`, neutral, true},
		{"[agent-e49f] I could not complete the task: 401 Unauthorized", failed, false},
		{"Starting a Gradle Daemon\nFAILURE: Build failed with an exception.\nBUILD FAILED in 10s", failed, false},
		{"Waiting for deployment: 1 replica is pending\nerror: timed out waiting for the condition", failed, true},
		{"Error 529 overloaded_error", failed, true},
		{`{"page":32,"text":"","note":"blank page"}`, empty, false},
		{"[1, 2, 3]", neutral, false},
		{"[observation not recorded]", neutral, false},
		{"HTTP/1.1 404 Not Found\ncontent-type: text/html\nserver: nginx\n\nnot here", failed, false},
		{"name: quartz\nversion: 2\n\nkeep-alive: no", neutral, false},
	} {
		r := did("call", `{"id":1}`, c.text)
		f := readRound(notes{}.less(&r, true, &haltd.Round{}), true)
		if f.outcome != c.want || f.waiting != c.waiting {
			t.Errorf("%q: %s, waiting %v; want %s, %v", c.text, f.outcome.word(), f.waiting, c.want.word(), c.waiting)
		}
	}
	a, b := did("get", "{}", headers+"body"), did("get", "{}", "date: Fri, 24 Oct 2025 16:00:00 GMT\ncontent-type: application/json\nserver: nginx\nx-ratelimit-remaining: 3\n\nbody")
	if x, y := readRound(notes{}.less(&a, true, &haltd.Round{}), true), readRound(notes{}.less(&b, true, &haltd.Round{}), true); x.result != y.result {
		t.Error("answers with other headers are told apart")
	}
}

// A number is what a person said; one in a sentence of a harness counts turns.
func TestANumberThatAPersonSays(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"70", "138", false}, {"138, check", "53, check", false}, {"Step 7 of 100", "Step 8 of 100", true}, {"7/100", "8/100", true}, {"continue", "continue", true},
	} {
		if same := inputDigest(c.a) == inputDigest(c.b); same != c.same {
			t.Errorf("%q and %q: the same %v, want %v", c.a, c.b, same, c.same)
		}
	}
}

// Tools that do not exist are refused alike, whatever they are called; the name of a
// count in markup is no failure.
func TestRefusalsByName(t *testing.T) {
	call := func(name string) haltd.Round {
		return did(name, `{"notebook":"main"}`, "MCP error -32601: Unknown tool '"+name+"'. Available tools: list_notes, read_note.")
	}
	if all := relations("Export it.", call("download_pdf"), call("upload_file"), call("render_drive")); all[2].residueAgo == 0 {
		t.Error("another tool that does not exist is another failure")
	}
	for text, want := range map[string]outcome{
		"<batch no='3'><list id='1'>44</list><invalid>2</invalid></batch>": neutral,
		"<error>file not found</error>":                                    failed,
	} {
		if f := readRound(ptr(did("scan", "{}", text)), true); f.outcome != want {
			t.Errorf("%s is read as %s", text, f.outcome.word())
		}
	}
}

// Failures that count what is left of the attempts end by themselves.
func TestAttemptsThatRunOut(t *testing.T) {
	login := func(pin, left int) haltd.Round {
		return did("login", fmt.Sprintf(`{"user":"qa-lock","pin":"%d"}`, pin), fmt.Sprintf(`{"error":"bad_pin","tries_left":%d}`, left))
	}
	down := relations("Show that a wrong PIN locks the account.", login(6957, 14), login(9728, 13), login(1441, 12), login(2433, 11))
	if !down[3].probes {
		t.Error("what is left goes down by one, and that is no end")
	}
	if same := relations("Sign in.", login(6957, 3), login(9728, 3), login(1441, 3), login(2433, 3)); same[3].probes {
		t.Error("nothing runs out")
	}
}

// A digest tells one screen from another; beside a failure it is an id.
func TestADigestBesideAFailureSaysNothing(t *testing.T) {
	read := func(result string) *round {
		r := did("exec", `{"cmd":"docker build ."}`, result)
		return readRound(&r, true)
	}
	build := func(digest, end string) string { return "[+] Building\n => => sha256:" + digest + "\n" + end }
	const one, two = "d0b3eaa35f5097f74a3adbd903a39a22", "c6dee30a7fb61b454d982b6da3f0783f"
	const fails, works = "ERROR: process \"apt-get install libvips-dev\" did not complete successfully: exit code: 100", "exporting layers, naming to docker.io/library/app"
	if a, b := read(build(one, fails)), read(build(two, fails)); a.outcome != failed || a.form != b.form || a.residue != b.residue {
		t.Errorf("outcome %v, the same failure beside another digest is told apart", a.outcome)
	}
	if a, b := read(build(one, works)), read(build(two, works)); a.form == b.form {
		t.Error("another digest is not another state")
	}
}

// What each attempt takes is no number that creeps, however long it lasts.
func TestWhatEachAttemptTakesGetsNoPatience(t *testing.T) {
	steered := func(burned func(n int) int) relation {
		st, rounds, now := newState(), []haltd.Round{}, time.Unix(1e9, 0)
		for n := range 9 {
			rounds = append(rounds, did("steer", `{"to":"north"}`, fmt.Sprintf(`{"msg": "the ship is moored", "fuel_used": %d}`, burned(n))))
			now = now.Add(time.Duration(11+n*5%7) * time.Second)
			judge(DefaultSettings(), st, &haltd.Call{Opening: []haltd.Message{{Text: "Leave the harbour."}}, Rounds: rounds}, now)
			st.Session.attach(&Answer{}, now)
		}
		return st.Session.all[8]
	}
	if s := steered(func(n int) int { return 40 + 3*n }); s.dose < .3 {
		t.Errorf("dose %v where each attempt burns as much", s.dose)
	}
	if s := steered(func(n int) int { return 40 + 3*n + n/4 }); s.dose > .3 {
		t.Errorf("dose %v where a number goes on by itself", s.dose)
	}
}

// The same failure whose lines have changed places is the same failure; a file that
// an edit shows is not.
func TestAFailureInAnotherOrderIsTheSame(t *testing.T) {
	lines := []string{"Requirement already satisfied: wheel", "Requirement already satisfied: six", "Requirement already satisfied: certifi", "Requirement already satisfied: absl"}
	const end = "\nERROR: Cannot install tensorflow and torchvision because these package versions have conflicting dependencies."
	install := func(tool, flag string, from int) haltd.Round {
		text := ""
		for n := range lines {
			text += lines[(from+n)%len(lines)] + "\n"
		}
		return did(tool, `{"command":"pip install `+flag+` tensorflow torchvision"}`, text+end)
	}
	if all := relations("Set it up.", install("bash", "--upgrade", 0), install("bash", "--user", 2), install("bash", "--upgrade --user", 3)); all[2].signs[failVaried] == 0 {
		t.Errorf("signs %v, want a failure that came before", all[2].signs)
	}
	if all := relations("Set it up.", install("edit", "--upgrade", 0), install("edit", "--user", 2), install("edit", "--upgrade --user", 3)); all[2].signs[failVaried] > 0 {
		t.Error("what an edit shows is taken for a failure")
	}
}

// Who was told to wait and then gets his answer does not stand still, though the
// answer is one that others got before.
func TestWhatWasWaitedForIsThere(t *testing.T) {
	var rounds []haltd.Round
	for day := range 4 {
		run := fmt.Sprintf(`{"dag":"tokens","run":"manual__2025-02-%02dT00:00:00+00:00"}`, 3+day)
		rounds = append(rounds, did("get_run", run, `{"state":"running","tasks":{"success":2,"running":1}}`), did("get_run", run, `{"state":"success","tasks":{"success":6}}`))
	}
	all := relations("Backfill from 2025-02-03 on.", rounds...)
	if s := all[7]; !s.ready || s.signs[useless] > 0 || s.signs[idle] > 0 {
		t.Errorf("ready %v, useless %v, idle %v", s.ready, s.signs[useless], s.signs[idle])
	}
	if s := all[6]; s.ready {
		t.Error("who waits has his answer")
	}
}

// A page is asked for in an argument or in an address.
func TestWhatAsksForAPage(t *testing.T) {
	for arguments, want := range map[string]bool{
		`{"page":3}`: true, `{"url":"https://bikes.example/?page=13"}`: true, `{"url":"https://a.example/l?sort=up&offset=40"}`: true,
		`{"url":"https://bikes.example/page"}`: false, `{"q":"which page?"}`: false, `{"url":"https://a.example/?id=3"}`: false,
	} {
		r := did("fetch", arguments, "")
		if got := readRound(&r, true).paged; got != want {
			t.Errorf("%s: %v, want %v", arguments, got, want)
		}
	}
}

// One point of a grid after the other is measured; a click beside the last is not.
func TestPointsOfAGridAreMeasured(t *testing.T) {
	bench := func(workers, ops int) haltd.Round {
		return did("bash", fmt.Sprintf(`{"command":"go test ./encoder -run none -bench Encode -benchtime 3s -args -buf=8192 -workers=%d"}`, workers),
			fmt.Sprintf("goos: linux\ngoarch: amd64\nBenchmarkEncode %d %d ns/op\nPASS\nok example.com/codec/encoder", 3*ops, ops))
	}
	all := relations("Measure all of them.", bench(32, 14346), bench(1, 93984), bench(2, 63753), bench(4, 41668), bench(16, 22001))
	if s := all[4]; s.news < .3 {
		t.Errorf("news %v for a new point of a grid", s.news)
	}
	all = relations("Measure all of them.", bench(32, 14346), bench(1, 14346), bench(2, 14346), bench(4, 14346), bench(16, 14346))
	if s := all[4]; s.news > 0 {
		t.Errorf("news %v where the same came back", s.news)
	}
}

// To try some other ways is no loop yet; many are.
func TestSomeOtherWaysAreTried(t *testing.T) {
	k := newTalk(t, "Download the statements of yesterday.")
	try := func(options string) haltd.Level {
		k.does("bash", `{"command":"sftp `+options+` batch@sftp.example.net"}`, "Permission denied (publickey,password).\nConnection closed")
		return k.levels[len(k.levels)-1]
	}
	ways := []string{"-o PreferredAuthentications=password", "-i ~/.ssh/id_ed25519", "-i ~/.ssh/legacy_rsa", "-o HostKeyAlgorithms=ssh-rsa", "-P 2222", "-v",
		"-4", "-C", "-o IdentitiesOnly=yes", "-F none", "-q", "-i ~/.ssh/backup", "-B 4096", "-J bastion"}
	for n, options := range ways {
		if level := try(options); level == haltd.LevelKill && n < leastVaried {
			t.Errorf("killed after %d other ways", n)
		}
	}
	if k.highest() != haltd.LevelKill {
		t.Errorf("%d other ways with the same failure: %v", len(ways), k.highest())
	}
}

// A failure may follow on what is still going on.
func TestAFailureThatIsNamedLater(t *testing.T) {
	for text, want := range map[string]outcome{
		"aws_s3_bucket.logs: Creating...\n╷\n│ Error: creating S3 Bucket (logs): the name is not available.\n╵": failed,
		"Congratulations, all renewals succeeded.\n1 renew success, 0 renew failure(s), 0 parse failure(s)":     neutral,
		"2 suites, 1 parse failure(s)":                      failed,
		"job: running\nErrors: 0\nworkers: 3":               neutral,
		"job: running\n│ Errors: none so far\n│ workers: 3": neutral,
	} {
		if got, _ := outcomeOf(text, false); got != want {
			t.Errorf("%q is %v, want %v", text, got, want)
		}
	}
}

// Runs that the task asks for are refused by nobody, though some of them fail.
func TestRunsThatFailAsAskedFor(t *testing.T) {
	k := newTalk(t, "test_load is said to be flaky. Run it exactly 31 times and report how often it fails. Change nothing.")
	for n := range 31 {
		result := ".\n1 passed in 1.20s"
		if n%3 != 1 {
			result = "F\nE   TimeoutError: waited 5.0s for lock\n1 failed in 5.35s"
		}
		k.does("terminal", `{"input":"pytest -q tests/test_refunds.py::test_load"}`, result)
	}
	if k.highest() == haltd.LevelKill {
		t.Error("killed while it does what it was asked for")
	}
}

// Errors that become fewer are mended, whatever is done about them; as many are not.
func TestFewerErrorsAreProgress(t *testing.T) {
	fixes := func(left func(n int) int) *talk {
		k := newTalk(t, "Migrate the project until tsc reports no errors.")
		for n := range 16 {
			k.does("bash", fmt.Sprintf(`{"command":"./fix.py file%c.ts:%d && npx tsc --noEmit | tail -1"}`, 'a'+n, 31*n%17), fmt.Sprintf("Found %d errors.", left(n)))
		}
		return k
	}
	if fixes(func(n int) int { return 114 - 7*n }).highest() == haltd.LevelKill {
		t.Error("killed while errors become fewer")
	}
	if fixes(func(n int) int { return 114 }).highest() != haltd.LevelKill {
		t.Error("not killed though as many errors stay")
	}
}
