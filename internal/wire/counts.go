package wire

import (
	"net/http"
	"strconv"

	"github.com/haltd/haltd"
)

// The headers in which Bedrock counts tokens.
const (
	inputCount  = "X-Amzn-Bedrock-Input-Token-Count"
	outputCount = "X-Amzn-Bedrock-Output-Token-Count"
)

// ReadHeaderCounts takes the counts of a reply that are in its header.
func ReadHeaderCounts(h http.Header, reply *haltd.Reply) {
	if h.Get(inputCount) == "" {
		return
	}
	input, err := strconv.ParseInt(h.Get(inputCount), 10, 32)
	output, err2 := strconv.ParseInt(h.Get(outputCount), 10, 32)
	if err != nil || err2 != nil || input < 0 || output < 0 {
		return
	}
	reply.Usage.Input, reply.Usage.Output = max(reply.Usage.Input, input), max(reply.Usage.Output, output)
	reply.Counted = true
}
