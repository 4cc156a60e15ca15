package table

import "github.com/haltd/haltd"

// NoAgent is the error of an agent that is not there.
func NoAgent(id string) error {
	return haltd.Errorf(haltd.CodeNotFound, "there is no agent %q", id).WithFix("An agent appears with its first call.")
}

// NoIncident is the error of an incident that is not there.
func NoIncident(id string) error {
	return haltd.Errorf(haltd.CodeNotFound, "there is no incident %q", id)
}

// LeaseEnded is the error of a node that writes after its lease.
func LeaseEnded(node string) error {
	return haltd.Errorf(haltd.CodeConflict, "the lease of node %q has ended", node)
}
