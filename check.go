package haltd

// Check names what is asked about a request: the detectors have the same names.
type Check string

// The checks, in the order in which they are asked.
const (
	CheckInactive   Check = "inactive"
	CheckBudget     Check = "budget"
	CheckHours      Check = "hours"
	CheckRate       Check = "rate"
	CheckRule       Check = "rule"
	CheckExact      Check = Check(DetectorExact)
	CheckSession    Check = "session"
	CheckSimilarity Check = Check(DetectorSimilarity)
	CheckStall      Check = Check(DetectorStall)
	CheckGrowth     Check = Check(DetectorGrowth)
)
