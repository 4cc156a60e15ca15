package detection

import (
	"testing"

	"github.com/haltd/haltd"
)

func TestWhatAnAnswerSaysOfTheAct(t *testing.T) {
	const sql = "UPDATE users SET mail = lower(mail) WHERE mail IS NULL LIMIT 10000"
	for _, c := range []struct {
		name, act, answer string
		outcome           outcome
		waits, full       bool
	}{
		{"an editor's error in tags", "x", "[edit_file for 'src/users/login.service.ts'] Result:\n<error_details>\nNo sufficiently similar match found\n</error_details>\n\n<environment_details>\n# Current Time\n4:38 PM\n</environment_details>", failed, false, false},
		{"what an editor did", "x", "[edit_file for 'src/users/login.service.ts'] Result:\nThe content was saved.", neutral, false, false},
		{"the error of a tool", "x", "<tool_use_error>The parameter `edits` is to be an array</tool_use_error>", failed, false, false},
		{"a page", "x", "<p>The caller handles them, see the next chapter.</p>", neutral, false, false},
		{"no series", "up{job=\"x\"}", `{"status":"success","data":{"resultType":"matrix","result":[]}}`, empty, false, false},
		{"a series", "up{job=\"x\"}", `{"status":"success","data":{"resultType":"matrix","result":[{"values":[[1,"2"]]}]}}`, neutral, false, false},
		{"a scan from its start to its end", "nmap 10.0.0.7", "Starting Nmap 7.95 ( https://nmap.org ) at 18:01 UTC\nHost is up (0.0056s latency).\nAll 1000 scanned ports are in ignored states.\nNmap done: 1 IP address scanned", neutral, false, false},
		{"a program that ran", "fuzz a.bin", "Running: a.bin\nExecuted a.bin in 4 ms\nNo crash was seen in this run", neutral, false, false},
		{"a log of a run that failed", "logs", "[2025-01-13T11:17:36.969Z] {taskinstance.py:2613} INFO - Starting attempt 5 of 8\n[2025-01-13T11:17:53.949Z] {taskinstance.py:2905} ERROR - Task failed with exception\nKeyError: 'source_schema'", failed, false, false},
		{"what is still going on", "status", "Status: running\nStarted: 12:01\nHost: web-3", neutral, true, false},
		{"each of several steps", "up", "Creating network\nCreating volume\nStarting container", neutral, true, false},
		{"as many rows as it may change", sql, "Query OK, 10000 rows affected (2.06 sec)\nRows matched: 10000  Changed: 10000  Warnings: 0", neutral, false, true},
		{"the last rows", sql, "Query OK, 5091 rows affected (2.06 sec)\nRows matched: 5091  Changed: 5091  Warnings: 0", neutral, false, false},
	} {
		r := did("run", `{"command":"`+c.act+`"}`, c.answer)
		f := readRound(&r, true)
		if f.outcome != c.outcome || f.waiting != c.waits || f.full != c.full {
			t.Errorf("%s: outcome %d, waits: %v, full: %v; want %d, %v, %v", c.name, f.outcome, f.waiting, f.full, c.outcome, c.waits, c.full)
		}
	}
}

func TestAnEditInTagsIsACall(t *testing.T) {
	const text = "The block must match.\n\n<apply_diff>\n<path>app/alert.py</path>\n<diff>\n<<<<<<< SEARCH\nraise Late(owner)\n=======\nraise Late(owner, at)\n>>>>>>> REPLACE\n</diff>\n</apply_diff>"
	command, _ := commandIn(text)
	call, ok := writtenCall(command)
	if want := `{"diff":"<<<<<<< SEARCH\nraise Late(owner)\n=======\nraise Late(owner, at)\n>>>>>>> REPLACE","path":"app/alert.py"}`; !ok || call.Name != "apply_diff" || call.Arguments != want {
		t.Errorf("it is the call %s %s (%v), want apply_diff %s", call.Name, call.Arguments, ok, want)
	}
}

func TestExamplesInATextAreNoCommands(t *testing.T) {
	const section = "### export(since)\n\nIt exports all orders, or those since a day.\n\n```\n$ shop export --since 4.2\n874 KB\n```\n\nSee also import."
	for _, c := range []struct {
		answer string
		want   manner
	}{
		{"The document is not complete. Continue with the next section.", spoken},
		{"Bitte weiter.", spoken},
		{"874 KB", commanded},
		{"refusing to continue: the policy needs an owner", commanded},
		{"Error: no such file. Continue?", commanded},
	} {
		f := readRound(&haltd.Round{Text: section, Inputs: []haltd.Message{{Text: c.answer}}}, false)
		if f.manner != c.want {
			t.Errorf("answered %q: manner %d, want %d", c.answer, f.manner, c.want)
		}
	}
}

func TestWhatStirs(t *testing.T) {
	for _, c := range []struct {
		tool, arguments string
		want            bool
	}{
		{"restart_service", `{"name":"web"}`, true},
		{"run", `{"command":"kubectl delete pod web-1 -n shop"}`, true},
		{"run", `{"command":"pg_ctlcluster 16 main restart && pg_lsclusters"}`, true},
		{"run", `{"command":"kubectl get pods -n shop"}`, false},
		{"query", `{"query":"up","start":"2025-06-25","stop":"2025-06-26"}`, false},
		{"run", `{"command":"cat scripts/start.sh"}`, false},
		{"read_file", `{"path":"docs/how-to-delete.md"}`, false},
	} {
		r := did(c.tool, c.arguments, "ok")
		if f := readRound(&r, true); f.stirs != c.want {
			t.Errorf("%s %s stirs: %v, want %v", c.tool, c.arguments, f.stirs, c.want)
		}
	}
}
