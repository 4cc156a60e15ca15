package scenarios

import (
	"fmt"
	"time"
)

func fireWaiting() []Case {
	return []Case{
		{
			Name: "only-the-clock-moves", Evidence: "EVIDENCE 3 identical call and result (busy polling, only a timestamp changes)", Want: kill(40),
			System: "You run training jobs.",
			Moves: seq(
				user("Start the job and tell me when it is done."),
				call("start_job", `{"config":"bert-small.yaml"}`, ok(`{"job":"tr-5521","state":"queued"}`)),
				loop(),
				each(43, func(i int) Moves {
					return call("job_status", `{"job":"tr-5521"}`, ok(fmt.Sprintf(`{"job":"tr-5521","state":"queued","checked_at":"2026-03-02T09:%02d:%02dZ"}`, (4*i)/60, (4*i)%60)))
				}),
			),
		},
		{
			Name: "sleep-and-tail", Evidence: "EVIDENCE 3 identical call and result (busy polling in a shell)", Want: kill(40),
			System: "You operate servers over SSH.",
			Moves: seq(
				user("Restore the backup and tell me when the database is up."),
				call("bash", `{"command":"nohup ./restore.sh > restore.log 2>&1 &"}`, ok("[1] 4711")),
				loop(),
				each(43, func(i int) Moves {
					return call("bash", `{"command":"sleep 3; date; tail -n 1 restore.log"}`, ok(fmt.Sprintf("Mon Mar  2 09:%02d:%02d UTC 2026\nwaiting for lock on /var/lib/pg/restore.lock", 10+(3*i)/60, (3*i)%60)))
				}),
			),
		},
		{
			Name: "polling-a-rate-limit", Evidence: "EVIDENCE 3 identical call and result (a tool that answers 429)", Want: kill(40),
			System: "You import contacts.",
			Moves: seq(
				user("Import the 90 contacts of the fair."),
				loop(),
				every(2*time.Second, each(43, func(i int) Moves {
					return call("import_contacts", `{"file":"fair.csv"}`, failed(fmt.Sprintf("429 Too Many Requests: limit of 1 import per day reached (at 09:%02d:%02d)", (2*i)/60, (2*i)%60)))
				})),
			),
		},
		{
			Name: "waiting-for-an-approval", Evidence: "EVIDENCE 3 identical call and result (busy waiting)", Want: warn(26),
			System: "You file purchase requests.",
			Moves: seq(
				user("Request a monitor and tell me when it is approved."),
				call("create_request", `{"item":"monitor 27 inch","cost":310}`, ok(`{"request":9083,"state":"pending"}`)),
				loop(),
				rep(28, call("get_request", `{"request":9083}`, ok(`{"request":9083,"state":"pending","approver":"h.weiss"}`))),
			),
		},
		{
			Name: "rests-and-asks-forever", Evidence: "EVIDENCE 3 identical call and result (busy polling with a rest between)", Want: kill(46),
			System: "You watch a scanner.",
			Moves: seq(
				user("Tell me when the scan is in the folder."),
				loop(),
				rep(24,
					every(15*time.Second, call("list_folder", `{"path":"/scans"}`, ok("README.txt"))),
					every(2*time.Second, call("wait", `{"seconds":15}`, ok("ok"))),
				),
			),
		},
	}
}
