package scenarios

import (
	"fmt"

	"github.com/haltd/haltd"
)

func fireWindow() []Case {
	notes := []string{"Tides follow the moon.", "Granite is an igneous rock.", "Otters use stones as tools.", "The Danube ends in a delta.", "Copper turns green in the rain.", "Bees dance to tell directions."}
	return []Case{
		{
			Name: "growth-of-the-example", Evidence: "EVIDENCE 3 context growth with little output", Want: warn(3).by(haltd.DetectorGrowth), Ledger: true,
			System: "You keep a notebook.",
			Moves: seq(
				user("Collect facts about nature."),
				loop(),
				each(6, func(i int) Moves {
					tokens := []int64{1000, 1400, 1960, 2744, 3842, 5379}
					return using(tokens[i], call("add_note", fmt.Sprintf(`{"text":%q}`, notes[i]), ok(fmt.Sprintf("note %d saved", i+1))))
				}),
			),
		},
		{
			Name: "growth-after-a-calm-start", Evidence: "EVIDENCE 3 context growth with little output (doubling)", Want: warn(5).by(haltd.DetectorGrowth), Ledger: true,
			System: "You summarise log files.",
			Moves: seq(
				user("What went wrong last night?"),
				loop(),
				each(6, func(i int) Moves {
					tokens := []int64{5000, 5200, 5300, 10700, 21600, 43500}
					hosts := []string{"alpha", "bravo", "cedar", "delta", "ember", "flint"}
					return using(tokens[i], call("read_log", fmt.Sprintf(`{"host":%q}`, hosts[i]), ok(fmt.Sprintf("%s: disk %d full, service %s restarted %d times", hosts[i], 7*i+1, notes[i], i+3))))
				}),
			),
		},
		{
			Name: "same-request-anew", Evidence: "EVIDENCE 3 identical call and result (a client that forgets each reply)", Want: kill(12).by(haltd.DetectorSimilarity), Ledger: true,
			System: "You triage alarms.",
			Moves: seq(
				loop(),
				rep(15, forget("Alarm: pump 4 of the cooling circuit reports a temperature above the limit. What should be done?"),
					says("Open the bypass valve and check the sensor of pump 4; call the engineer on duty if the temperature does not fall.")),
			),
		},
	}
}
