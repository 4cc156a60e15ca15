package scenarios

import (
	"fmt"
	"strings"
	"time"

	"github.com/haltd/haltd"
)

// quietLive are healthy agents that a gateway with the switch on stopped: much
// of what they do looks alike, and it has to.
func quietLive() []Case {
	return join(liveShots(), liveWaits(), liveWalks(), liveWork())
}

// liveShots are questions that know nothing of each other.
func liveShots() []Case {
	orders := each(30, func(i int) Moves {
		return seq(forget(fmt.Sprintf("Is order %d late?", 1001+i)), says("no"))
	})
	greeting := seq(user("hi"), says("Hello! How can I help you today?"))
	return []Case{
		{
			Name: "orders-asked-one-by-one", Evidence: "EVIDENCE 4.13 stateless jobs (questions that differ in a number)", Want: quiet, Unnamed: true, Ledger: true,
			System: "You answer with yes or no from the table of orders.\n1001 to 1030: delivered in time.", Moves: orders,
		},
		{
			Name: "orders-asked-under-one-session-id", Evidence: "EVIDENCE 4.13 stateless jobs (questions that differ in a number, of one process)", Want: quiet, Ledger: true,
			System: "You answer with yes or no from the table of orders.\n1001 to 1030: delivered in time.", Moves: orders,
		},
		{
			Name: "everybody-says-hi", Evidence: "EVIDENCE 4.13 many sessions on one key (all begin with the same word)", Want: quiet, Ledger: true,
			System: "You are the assistant on the page of a bank.",
			Moves:  each(30, func(i int) Moves { return in(fmt.Sprint("visitor-", i), every(7*time.Second, greeting)) }),
		},
		{
			Name: "every-user-says-hi", Evidence: "EVIDENCE 4.13 many sessions on one key (told apart by the user in the body)", Want: quiet, Unnamed: true, Users: true, Ledger: true,
			System: "You are the assistant on the page of a bank.",
			Moves:  each(30, func(i int) Moves { return in(fmt.Sprintf("cust-%d", 70412+i*37), every(7*time.Second, greeting)) }),
		},
		{
			Name: "cron-job-asks-the-same", Evidence: "EVIDENCE 4.1 polling with equal results at long intervals (a cron job)", Want: mayWarn, Unnamed: true, Ledger: true,
			System: "You read the state of a system and answer OK, or say what is wrong.",
			Moves: every(65*time.Second, rep(40, forget("Check:\nqueue depth: 0\nfailed jobs: 0\ndisk: below the limit\nreplica: in step\n\nIs anything wrong?"),
				says("OK. The queue is empty, no job has failed, and the replica is in step."))),
		},
	}
}

// liveWaits wait for something that does come, at a pace that fits it.
func liveWaits() []Case {
	curl := `{"command":"sleep 15 && curl -sS http://localhost:8080/actuator/health"}`
	down := failed("curl: (7) Failed to connect to localhost port 8080 after 0 ms: Couldn't connect to server\nexit code: 7")
	return []Case{
		{
			Name: "sleeps-until-the-server-is-up", Evidence: "EVIDENCE 4.1 polling (a server that takes its time to start)", Want: mayWarn,
			System: "You are a coding agent with a shell.",
			Moves: seq(
				user("Start the application and check that the health endpoint answers."),
				call("bash", `{"command":"nohup ./gradlew bootRun > /tmp/boot.log 2>&1 &"}`, ok("[1] 18244")),
				call("bash", curl, down),
				every(18*time.Second,
					rep(13, call("bash", curl, down)),
					call("bash", curl, ok(`{"status":"UP","components":{"db":{"status":"UP"},"diskSpace":{"status":"UP"}}}`)),
					says("The application runs; its health endpoint says UP."),
				),
			),
		},
		{
			Name: "waits-for-a-one-time-password", Evidence: "EVIDENCE 4.1 polling (a text message that takes two minutes)", Want: mayWarn,
			System: "You sign in to portals. Codes come by text message to the number of the office.",
			Moves: seq(
				user("Sign in to the customs portal."),
				call("fill", `{"field":"user","value":"office-kiel"}`, ok("filled")),
				call("click", `{"button":"Send code"}`, ok("A code was sent to +49 431 *** 18. It is valid for ten minutes.")),
				every(10*time.Second, rep(12, call("read_messages", `{"number":"+4943155518","since":"2026-03-02T09:00:00Z"}`, ok(`{"messages":[],"unread":0}`)))),
				every(10*time.Second, call("read_messages", `{"number":"+4943155518","since":"2026-03-02T09:00:00Z"}`, ok(`{"messages":[{"from":"Zoll","text":"Your code is 402 771"}],"unread":1}`))),
				call("fill", `{"field":"code","value":"402771"}`, ok("filled")),
				call("click", `{"button":"Sign in"}`, ok("Welcome, Office Kiel. You have 3 open declarations.")),
				says("You are signed in; there are 3 open declarations."),
			),
		},
		{
			Name: "waits-as-long-as-it-is-told", Evidence: "EVIDENCE 4.8 retries after 429 (of a tool, after the time that it asks for)", Want: mayWarn,
			System: "You translate product texts with the translation tool. When it asks you to wait, the harness waits.",
			Moves: seq(
				user("Translate the description of the tent into Norwegian."),
				call("get_text", `{"product":"tent-301"}`, ok("A tent for three, 2.9 kg, with a vestibule large enough for two packs. Withstands wind up to 90 km/h.")),
				each(8, func(i int) Moves {
					rest := []int{20, 24, 30, 22, 27, 25, 30, 21}[i]
					told := failed(fmt.Sprintf(`{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"Quota exceeded for requests per minute. Please retry in %ds.","retry_after":%d}}`, rest, rest))
					before := []int{4, 20, 24, 30, 22, 27, 25, 30}[i] // as the answer before asked for
					return every(time.Duration(before+1)*time.Second, call("translate", `{"product":"tent-301","from":"en","to":"nb"}`, told))
				}),
				every(22*time.Second, call("translate", `{"product":"tent-301","from":"en","to":"nb"}`, ok("Et telt for tre, 2,9 kg, med et forrom som er stort nok for to sekker. Tåler vind på opptil 90 km/t."))),
				call("save_text", `{"product":"tent-301","language":"nb"}`, ok("saved")),
				says("The description is translated and saved."),
			),
		},
	}
}

// liveWalks go through a row of things for which there is one answer.
func liveWalks() []Case {
	first := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	day := func(i int) string { return first.AddDate(0, 0, i).Format(time.DateOnly) }
	return []Case{
		{
			Name: "calendar-day-by-day", Evidence: "EVIDENCE 4.4 batch work (the days of a calendar that is empty)", Want: mayWarn,
			System: "You keep calendars.",
			Moves: seq(
				user("On which days between 1 March and 9 April is the meeting room taken? Look at every day."),
				each(40, func(i int) Moves {
					return call("list_events", fmt.Sprintf(`{"calendar":"room-4","date":%q}`, day(i)), ok(`{"events":[]}`))
				}),
				says("The room is free on all forty days."),
			),
		},
		{
			Name: "devices-one-to-thirty", Evidence: "EVIDENCE 4.4 batch work (ids from 1 on, all in order)", Want: mayWarn,
			System: "You look after the meters of a housing association.",
			Moves: seq(
				user("Check the 30 heat meters of Quay Street, ids 1 to 30. Report those that do not run firmware 4.2.1."),
				each(30, func(i int) Moves {
					return call("get_meter", fmt.Sprintf(`{"id":%d}`, i+1), ok(`{"firmware":"4.2.1","battery":"good","reachable":true,"alarms":[]}`))
				}),
				says("All thirty meters run firmware 4.2.1."),
			),
		},
		{
			Name: "hotel-date-by-date", Evidence: "EVIDENCE 4.4 batch work (dates, for all of which the answer is long and the same)", Want: mayWarn,
			System: "You book travel.",
			Moves: seq(
				user("Find the first night in the next three weeks, from 2 March on, on which one of the hotels in Longyearbyen has a room for two."),
				each(20, func(i int) Moves {
					return call("search_hotels", fmt.Sprintf(`{"place":"Longyearbyen","check_in":%q,"nights":1,"guests":2}`, day(i+1)), ok(soldOut))
				}),
				call("search_hotels", fmt.Sprintf(`{"place":"Longyearbyen","check_in":%q,"nights":1,"guests":2}`, day(21)), ok(strings.Replace(soldOut, "Gjestehuset 102, guest house, 0.8 km from the centre, rating 8.0: sold out", "Gjestehuset 102, guest house, 0.8 km from the centre, rating 8.0: 1 double room, 1,490 NOK", 1))),
				says("The first free room is on 22 March, in Gjestehuset 102 for 1,490 NOK."),
			),
		},
	}
}

const soldOut = `Results for Longyearbyen, 2 guests, 1 night. 7 places to stay are known to us.

1. Radisson Blu Polar, hotel, 0.2 km from the centre, rating 8.6: sold out
2. Funken Lodge, hotel, 0.9 km from the centre, rating 9.1: sold out
3. Svalbard Hotell The Vault, hotel, 0.1 km from the centre, rating 8.4: sold out
4. Basecamp Explorer, hotel, 0.2 km from the centre, rating 8.9: sold out
5. Coal Miners' Cabins, hostel, 1.8 km from the centre, rating 8.2: sold out
6. Gjestehuset 102, guest house, 0.8 km from the centre, rating 8.0: sold out
7. Haugen Pensjonat, guest house, 0.6 km from the centre, rating 8.3: sold out

Prices include taxes. Rooms that become free show up within five minutes. Other travellers looked for Tromsø, Alta and Kirkenes.`

// liveWork acts on the world, which answers alike.
func liveWork() []Case {
	return []Case{
		{
			Name: "thermostat", Evidence: "EVIDENCE 4.1 polling whose results change, if only in a number (a control loop)", Want: quiet,
			System: "You heat a greenhouse. Read the sensor, set the valve, and read again.",
			Moves: seq(
				user("Bring the greenhouse to 21 degrees, slowly, and keep it there until the morning."),
				each(16, func(i int) Moves {
					at := func(k int) haltd.ToolResult {
						return ok(fmt.Sprintf(`{"temperature":%.1f,"target":21.0,"humidity":%d}`, 17.2+0.12*float64(2*i+k), 61-(2*i+k)/3))
					}
					return every(30*time.Second,
						call("read_sensor", `{"zone":"north"}`, at(0)),
						call("set_valve", fmt.Sprintf(`{"zone":"north","percent":%d}`, 78-3*i), ok(`{"accepted":true}`)),
						call("read_sensor", `{"zone":"north"}`, at(1)),
					)
				}),
				says("The greenhouse has 21 degrees."),
			),
		},
		{
			Name: "motor-steps-as-ordered", Evidence: "EVIDENCE 4.11 the same act, as often as the task says", Want: mayWarn,
			System: "You move the stage of a microscope.",
			Moves: seq(
				user("Take a series through the sample: call step_motor with 10 steps, 25 times, one after the other. The camera is triggered by each movement."),
				rep(25, call("step_motor", `{"steps":10}`, ok("done"))),
				says("The series is complete: 25 movements of 10 steps."),
			),
		},
		{
			Name: "fourteen-edits-one-failing-test", Evidence: "EVIDENCE 4.3 test, edit, test (the same test fails until it is right)", Want: mayWarn,
			System: "You are a coding agent.",
			Moves: seq(
				user("test_parse_duration fails. Make it pass."),
				call("read_file", `{"path":"tests/test_duration.py"}`, ok("from durations import parse\n\n\ndef test_parse_duration():\n    assert parse('P1DT2H30M') == 95400\n    assert parse('PT0.5H') == 1800\n    assert parse('-PT15M') == -900\n")),
				call("read_file", `{"path":"durations/__init__.py"}`, ok(durationFile)),
				over(durationEdits, func(edit string) Moves {
					from, to, _ := strings.Cut(edit, " => ")
					return seq(
						call("edit_file", fmt.Sprintf(`{"path":"durations/__init__.py","old":%q,"new":%q}`, from, to), ok(fmt.Sprintf("The file durations/__init__.py has been edited. Here is the changed part:\n    %s", to))),
						call("bash", `{"command":"pytest -q tests/test_duration.py"}`, failed(failingTest)),
					)
				}),
				call("edit_file", `{"path":"durations/__init__.py","old":"return abs(round(total))","new":"return round(total)"}`, ok("The file durations/__init__.py has been edited. Here is the changed part:\n    return round(total)")),
				call("bash", `{"command":"pytest -q tests/test_duration.py"}`, ok(".                                                                        [100%]\n1 passed in 0.04s")),
				says("The test passes now: normalise had dropped the sign."),
			),
		},
	}
}

const durationFile = `import re

PATTERN = re.compile(r"([+-])?P(?:(\d+)D)?(?:T(?:(\d+(?:\.\d+)?)H)?(?:(\d+)M)?(?:(\d+)S)?)?")
UNITS = (86400, 3600, 60, 1)


def parse(text):
    m = PATTERN.match(text)
    if m is None:
        raise ValueError(text)
    sign = 1
    total = 0
    for unit, raw in zip(UNITS, m.groups()[1:]):
        if raw:
            total += float(raw) * unit
    return normalise(total)


def normalise(total):
    return abs(round(total))
`

// durationEdits are tries, each sensible, none of which is the cure.
var durationEdits = []string{
	"([+-])?P => ^([+-]?)P",
	"sign = 1 => sign = -1 if m.group(1) == '-' else 1",
	"return normalise(total) => return normalise(sign * total)",
	"PATTERN.match(text) => PATTERN.fullmatch(text.strip())",
	"m.group(1) == '-' => text.lstrip().startswith('-')",
	"total += float(raw) * unit => total += sign * float(raw) * unit",
	"normalise(sign * total) => normalise(total)",
	"import re => import re\nfrom decimal import Decimal",
	"float(raw) => Decimal(raw)",
	"total = 0 => total = Decimal(0)",
	"sign * Decimal(raw) => Decimal(sign) * Decimal(raw)",
	"m.groups()[1:] => m.groups()[1:5]",
	"^([+-]?)P => ^(?P<sign>[+-]?)P",
	"text.lstrip().startswith('-') => m['sign'] == '-'",
}

const failingTest = `F                                                                        [100%]
=================================== FAILURES ===================================
_____________________________ test_parse_duration ______________________________

    def test_parse_duration():
        assert parse('P1DT2H30M') == 95400
        assert parse('PT0.5H') == 1800
>       assert parse('-PT15M') == -900
E       AssertionError: assert 900 == -900
E        +  where 900 = parse('-PT15M')

tests/test_duration.py:7: AssertionError
=========================== short test summary info ============================
FAILED tests/test_duration.py::test_parse_duration - AssertionError: assert 900 == -900
1 failed in 0.05s
exit code: 1`
