package gateway

import (
	"fmt"

	"github.com/haltd/haltd/internal/wire"
)

// steer adds the note of the decision to the request: the one thing that ever
// changes one. What cannot take it is forwarded as it came.
func (g *Gateway) steer(x *exchange) {
	body, err := x.steered(x.decision.Note)
	if err == nil && len(body) > len(x.body) && !x.bodyShare.take(int64(len(body)-len(x.body))) {
		err = fmt.Errorf("bodies in flight take all the memory they may")
	}
	if err != nil {
		g.log.Warn("a note is not added: the call is forwarded as it came", "agent", x.event.Agent, "format", x.event.Format, "error", err)
		return
	}
	// Texts of the call may stand in the old body: it is not put back into its pool.
	x.body = body
	for _, digest := range [...]string{"Content-Md5", "Content-Digest", "Digest"} { // of what was sent
		x.r.Header.Del(digest)
	}
}

// takesNote reports whether the request has a place for a note.
func (x *exchange) takesNote() bool {
	_, err := x.steered("-")
	return err == nil
}

// steered is the body with a note, encoded as it was.
func (x *exchange) steered(note string) ([]byte, error) {
	format, ok := x.format.(wire.Steerer)
	if !ok {
		return nil, fmt.Errorf("the format has no place for one")
	}
	plain, encoding := x.body, field(x.r.Header, "Content-Encoding")
	if encoding != "" {
		var err error
		if plain, err = wire.DecodeRequest(encoding, x.body, x.settings.maxBody, nil); err != nil {
			return nil, err
		}
	}
	body, ok := format.Steer(plain, note)
	if !ok {
		return nil, fmt.Errorf("the newest message is no tool result")
	}
	if encoding == "" {
		return body, nil
	}
	return wire.EncodeRequest(encoding, body)
}
