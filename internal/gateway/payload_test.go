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

// A body of later must not show through in one that is still sent.
func TestBodiesAreReusedOnlyOnceSent(t *testing.T) {
	bytes := acquireBuffer(4)
	copy(bytes, "body")
	p := &payload{bytes: bytes}
	r, _ := p.open()
	p.answer()
	for range 10 {
		copy(acquireBuffer(4), "XXXX")
	}
	if b, _ := io.ReadAll(r); string(b) != "body" {
		t.Errorf("read %q, want the body that was sent", b)
	}
	r.Close()
	if n, err := r.Read(make([]byte, 4)); n != 0 || err != io.EOF {
		t.Errorf("after it was let go of: %d bytes, %v", n, err)
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
