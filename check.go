package haltd

import (
	"fmt"
	"time"
)

// The outcomes of a check. A notice is worth knowing and no fault.
const (
	CheckOK      = "ok"
	CheckNotice  = "notice"
	CheckProblem = "problem"
)

// Check is one thing that was looked at, such as the version of a server, and
// what to do where it is not as it should be.
type Check struct {
	Outcome string `json:"outcome"`
	Said    string `json:"said"`
	Fix     string `json:"fix,omitempty"`
}

// Clocks further apart than this are told of, and clocks further apart than
// wrongSkew are wrong: limits, hours and leases go by them.
const (
	noticedSkew = time.Second
	wrongSkew   = 10 * time.Second
)

// CheckClock compares the clock of a server, which answered between two
// moments of this machine, with that of this machine.
func CheckClock(who string, server, asked, answered time.Time) Check {
	skew := server.Sub(asked.Add(answered.Sub(asked) / 2)).Abs()
	said := fmt.Sprintf("The clock of %s differs from this machine's by %v", who, skew.Round(time.Millisecond))
	fix := "Have both set their clocks by NTP (timedatectl set-ntp true)."
	switch {
	case skew >= wrongSkew+answered.Sub(asked):
		return Check{CheckProblem, said, fix}
	case skew >= noticedSkew+answered.Sub(asked):
		return Check{CheckNotice, said, fix}
	}
	return Check{Outcome: CheckOK, Said: said}
}
