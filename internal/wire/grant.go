package wire

import (
	"errors"

	"github.com/haltd/haltd"
)

// grant counts the memory that the parts of a document take beside their bytes: a
// body of nothing but small parts is many times as large read as it was sent.
// Memory is taken in steps, so that ordinary documents take none. A nil grant
// grants all.
type grant struct {
	take          Take
	used, granted int64
}

const grantStep = 64 << 10

// What a part of each kind takes, about, with what detectors make of it.
const (
	nameCost    = 150 // of an object that has many
	partCost    = 100
	messageCost = 100
	roundCost   = 300
	callCost    = 250
	resultCost  = 250
	toolCost    = 40
)

// hold takes memory for a part; false where there is none.
func (g *grant) hold(bytes int64) bool {
	if g == nil {
		return true
	}
	g.used += bytes
	if g.used <= g.granted+grantStep {
		return true
	}
	if g.take.refuses(g.used - g.granted) {
		return false
	}
	g.granted = g.used
	return true
}

// errTooManyParts is why the reading of a body ends for which there is no memory.
var errTooManyParts = errors.New("there is no memory left for its parts")

// noMemoryForParts is the error of a body that was refused memory.
func noMemoryForParts() *haltd.Error {
	return haltd.Errorf(haltd.CodeUnavailable, "the request body: %s", errTooManyParts)
}
