package scenarios

import (
	"fmt"
	"time"
)

func quietPolling() []Case {
	return []Case{
		{
			Name: "percent-rises", Evidence: "EVIDENCE 4.1 polling whose results change, if only in a number", Want: quiet,
			System: "You watch builds.",
			Moves: seq(
				user("Tell me when build 812 is done."),
				each(26, func(i int) Moves {
					return call("build_status", `{"build":812}`, ok(fmt.Sprintf(`{"build":812,"state":"running","progress":%d}`, 40+2*i)))
				}),
				call("build_status", `{"build":812}`, ok(`{"build":812,"state":"succeeded","progress":100}`)),
				says("Build 812 succeeded."),
			),
		},
		{
			Name: "place-in-the-queue", Evidence: "EVIDENCE 4.1 polling whose results change, if only in a number", Want: quiet,
			System: "You print posters.",
			Moves: seq(
				user("Print poster.pdf on the plotter."),
				call("print", `{"file":"poster.pdf"}`, ok("Job 33 is in the queue at place 15.")),
				each(14, func(i int) Moves {
					return call("queue", `{"job":33}`, ok(fmt.Sprintf("Job 33 is in the queue at place %d.", 14-i)))
				}),
				says("Your poster is being printed."),
			),
		},
		{
			Name: "bytes-arrive", Evidence: "EVIDENCE 4.1 polling whose results change, if only in a number", Want: quiet,
			System: "You mirror data sets.",
			Moves: seq(
				user("Mirror the radar archive."),
				each(20, func(i int) Moves {
					return call("bash", `{"command":"sleep 2; du -b /data/radar"}`, ok(fmt.Sprintf("%d\t/data/radar", 104857600+i*7340032)))
				}),
				says("The archive is mirrored."),
			),
		},
		{
			Name: "seconds-left", Evidence: "EVIDENCE 4.1 polling whose results change, if only in a number (a countdown)", Want: quiet,
			System: "You operate a laboratory oven.",
			Moves: seq(
				user("Cure the sample and open the door when it is done."),
				each(24, func(i int) Moves {
					return call("oven", `{"action":"remaining"}`, ok(fmt.Sprintf("Curing at 180 C, %d seconds left", 240-10*i)))
				}),
				call("oven", `{"action":"open"}`, ok("The door is open.")),
			),
		},
		{
			Name: "equal-every-two-minutes", Evidence: "EVIDENCE 4.1 polling with equal results at long intervals (over a minute)", Want: mayWarn,
			System: "You wait for deliveries.",
			Moves: seq(
				user("Tell me when the parcel is out for delivery."),
				every(2*time.Minute, rep(20, call("track", `{"parcel":"JJD0099"}`, ok(`{"parcel":"JJD0099","state":"in sorting centre Leipzig"}`)))),
				call("track", `{"parcel":"JJD0099"}`, ok(`{"parcel":"JJD0099","state":"out for delivery"}`)),
				says("It is out for delivery."),
			),
		},
		{
			Name: "nightly-check-of-a-mailbox", Evidence: "EVIDENCE 4.1 polling with equal results at long intervals", Want: mayWarn,
			System: "You watch a mailbox.",
			Moves: seq(
				user("Tell me when the tax office has answered."),
				every(15*time.Minute, rep(16, call("search_mail", `{"from":"tax office","unread":true}`, ok("No messages")))),
			),
		},
		{
			Name: "mailbox-after-each-rest", Evidence: "EVIDENCE 4.1 polling with equal results at long intervals (the rest is a call of its own)", Want: mayWarn,
			System: "You watch a mailbox.",
			Moves: seq(
				user("Tell me when the offer of the roofer is here."),
				rep(10,
					every(95*time.Second, call("search_mail", `{"from":"roofer"}`, ok(`{"messages":[],"resultSizeEstimate":0}`))),
					every(3*time.Second, call("sleep", `{"seconds":90}`, ok("Slept 90 seconds."))),
				),
				call("search_mail", `{"from":"roofer"}`, ok(`{"messages":[{"id":"18ab","subject":"Offer"}],"resultSizeEstimate":1}`)),
				says("The offer is here."),
			),
		},
		{
			Name: "deploy-pending-then-ready", Evidence: "EVIDENCE 4.1 polling (a few equal answers, then a result)", Want: quiet,
			System: "You deploy services.",
			Moves: seq(
				user("Deploy the new search service and check it."),
				call("deploy", `{"service":"search","tag":"v41"}`, ok(`{"rollout":"r-77","state":"pending"}`)),
				every(10*time.Second, rep(9, call("rollout_status", `{"rollout":"r-77"}`, ok(`{"rollout":"r-77","state":"pending"}`)))),
				call("rollout_status", `{"rollout":"r-77"}`, ok(`{"rollout":"r-77","state":"complete","pods":3}`)),
				call("http_get", `{"url":"https://search.example/health"}`, ok("200 ok, version v41")),
				says("The service runs version v41."),
			),
		},
		{
			Name: "build-without-a-result-yet", Evidence: "EVIDENCE 4.1 polling (the answer says by null that nothing is there yet)", Want: mayWarn,
			System: "You watch builds.",
			Moves: seq(
				user("Tell me when build 881 is through."),
				every(20*time.Second, rep(9, call("get_build", `{"job":"api","number":881}`, ok(`{"number":881,"building":true,"result":null}`)))),
				call("get_build", `{"job":"api","number":881}`, ok(`{"number":881,"building":false,"result":"SUCCESS"}`)),
				says("Build 881 is through."),
			),
		},
		{
			Name: "pod-being-created", Evidence: "EVIDENCE 4.1 polling (only the age of the pod changes, then a result)", Want: mayWarn,
			System: "You operate a cluster.",
			Moves: seq(
				user("Wait until checkout is up."),
				every(15*time.Second, each(8, func(i int) Moves {
					return call("bash", `{"command":"kubectl get pods -l app=checkout"}`, ok(fmt.Sprintf("NAME             READY   STATUS              RESTARTS   AGE\ncheckout-x2x9q   0/1     ContainerCreating   0          %ds", 12+15*i)))
				})),
				call("bash", `{"command":"kubectl get pods -l app=checkout"}`, ok("NAME             READY   STATUS    RESTARTS   AGE\ncheckout-x2x9q   1/1     Running   0          140s")),
				says("It is up."),
			),
		},
		{
			Name: "slow-deploy-then-ready", Evidence: "EVIDENCE 4.1 polling (many equal answers a quarter of a minute apart, then a result)", Want: mayWarn,
			System: "You deploy services.",
			Moves: seq(
				user("Restore the snapshot into a new database and check it."),
				call("restore", `{"snapshot":"snap-19"}`, ok(`{"database":"db-8","state":"creating"}`)),
				every(15*time.Second, rep(18, call("describe_database", `{"database":"db-8"}`, ok(`{"database":"db-8","state":"creating"}`)))),
				call("describe_database", `{"database":"db-8"}`, ok(`{"database":"db-8","state":"available","endpoint":"db-8.internal"}`)),
				call("query", `{"database":"db-8","sql":"SELECT count(*) FROM users"}`, ok("88412")),
				says("The database is available and has 88,412 users."),
			),
		},
	}
}
