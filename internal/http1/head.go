package http1

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
)

// head is memory for the head of a request.
type head struct {
	bytes []byte
	parts [2][]byte // it and the body
}

func (h *head) Write(p []byte) (int, error) {
	h.bytes = append(h.bytes, p...)
	return len(p), nil
}

// WriteString is for net/http, which would copy the text otherwise.
func (h *head) WriteString(s string) (int, error) {
	h.bytes = append(h.bytes, s...)
	return len(s), nil
}

// ownHeaders are those that are written by themselves.
var ownHeaders = map[string]bool{"Host": true, "User-Agent": true, "Content-Length": true, "Transfer-Encoding": true, "Trailer": true}

var errTarget = errors.New("the method, path or host of the request has a character that none may have")

// write writes the head of a request with a body of so many bytes.
func (h *head) write(r *http.Request, length int) error {
	h.bytes = h.bytes[:0]
	target := r.URL.RequestURI()
	if !isPlain(r.Method) || !isPlain(target) || !isPlain(r.Host) {
		return errTarget
	}
	b := append(h.bytes, r.Method...)
	b = append(b, ' ')
	b = append(b, target...)
	b = append(b, " HTTP/1.1\r\nHost: "...)
	b = append(b, r.Host...)
	b = append(b, "\r\n"...)
	if length > 0 || r.Method == http.MethodPost || r.Method == http.MethodPut || r.Method == http.MethodPatch {
		b = append(b, "Content-Length: "...)
		b = strconv.AppendInt(b, int64(length), 10)
		b = append(b, "\r\n"...)
	}
	if agent := r.Header.Get("User-Agent"); agent != "" {
		b = append(b, "User-Agent: "...)
		b = append(b, lineBreaks.Replace(agent)...)
		b = append(b, "\r\n"...)
	}
	h.bytes = b
	if err := r.Header.WriteSubset(h, ownHeaders); err != nil {
		return err
	}
	h.bytes = append(h.bytes, "\r\n"...)
	return nil
}

// lineBreaks replaces what would begin another header.
var lineBreaks = strings.NewReplacer("\r", " ", "\n", " ")

// isPlain reports a text that may stand in the first lines of a request: neither
// spaces nor control characters, which could end a line.
func isPlain(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] == 0x7f {
			return false
		}
	}
	return s != ""
}
