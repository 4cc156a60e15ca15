package gateway

import (
	"io"
	"testing"
)

func TestPayloadCanBeReadAgainUntilItIsAnswered(t *testing.T) {
	p := &payload{bytes: []byte("body")}
	for range 2 {
		r, _ := p.open()
		if b, err := io.ReadAll(r); string(b) != "body" || err != nil {
			t.Fatalf("read %q, %v", b, err)
		}
		r.Close()
	}
	p.answer()
	if p.bytes != nil {
		t.Error("the bytes are kept after the answer")
	}
}

// A provider may answer before it has read everything.
func TestPayloadIsKeptWhileItIsStillSent(t *testing.T) {
	p := &payload{bytes: []byte("body")}
	r, _ := p.open()
	half := make([]byte, 2)
	_, _ = io.ReadFull(r, half)
	p.answer()
	if rest, _ := io.ReadAll(r); string(rest) != "dy" {
		t.Errorf("the rest is %q after an early answer", rest)
	}
	r.Close()
	if p.bytes != nil {
		t.Error("the bytes are kept after they were sent")
	}
}
