package haltd

// MostModels is how many models of an agent have sums of their own in an
// hour. What it calls beyond them is summed up as Other.
const (
	MostModels = 100
	Other      = "other"
)
