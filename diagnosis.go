package haltd

import (
	"fmt"
	"time"
)

// The outcomes of a diagnosis. A notice is worth knowing and no fault.
const (
	DiagnosisOK      = "ok"
	DiagnosisNotice  = "notice"
	DiagnosisProblem = "problem"
)

// Diagnosis is one thing that was looked at, such as the version of a server, and
// what to do where it is not as it should be.
type Diagnosis struct {
	Outcome string `json:"outcome"`
	Message string `json:"said"` // the name that readers of doctor --json know
	Fix     string `json:"fix,omitempty"`
}

// Clocks further apart than this are told of, and clocks further apart than
// wrongSkew are wrong: limits, hours and leases go by them.
const (
	noticedSkew = time.Second
	wrongSkew   = 10 * time.Second
)

// DiagnoseClock compares the clock of a server, which answered between two
// moments of this machine, with that of this machine.
func DiagnoseClock(who string, server, asked, answered time.Time) Diagnosis {
	skew := server.Sub(asked.Add(answered.Sub(asked) / 2)).Abs()
	message := fmt.Sprintf("The clock of %s differs from this machine's by %v", who, skew.Round(time.Millisecond))
	fix := "Have both set their clocks by NTP (timedatectl set-ntp true)."
	switch {
	case skew >= wrongSkew+answered.Sub(asked):
		return Diagnosis{DiagnosisProblem, message, fix}
	case skew >= noticedSkew+answered.Sub(asked):
		return Diagnosis{DiagnosisNotice, message, fix}
	}
	return Diagnosis{Outcome: DiagnosisOK, Message: message}
}
