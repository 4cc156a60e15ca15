package http1

import (
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// unknownLength is that of a body whose end nobody has announced.
const unknownLength = -1

// heldBack is how much of a body is held until somebody flushes it: a reply without a
// length that ends before gets one, and who writes one may say until when the client has
// to send the rest of its own body.
const heldBack = 2 << 10

// response writes a reply. Its memory is held only while something waits in it to be
// sent. Once the header is written it does not change any more, but for trailers.
type response struct {
	conn   *serverConn
	body   *requestBody
	header http.Header
	isHead bool // the request asked for the head alone
	chunks bool // the client understands chunks
	closes bool // the connection ends with the reply

	status    int // 0 before the header is written
	length    int64
	written   int64 // of the body
	ready     bool  // the head is complete
	chunked   bool
	trailers  []string
	out       *[]byte // what is to be sent; nil where nothing is
	held      *[]byte // of the body, before the head is complete
	sendError error   // after which nothing is sent
}

var pieces = sync.Pool{New: func() any { b := make([]byte, 0, 4<<10); return &b }}

func acquire(b **[]byte) *[]byte {
	if *b == nil {
		*b = pieces.Get().(*[]byte)
	}
	return *b
}

func releasePiece(b **[]byte) {
	if *b == nil {
		return
	}
	if cap(**b) <= 64<<10 {
		**b = (**b)[:0]
		pieces.Put(*b)
	}
	*b = nil
}

// release lets go of the memory of a reply that has ended.
func (w *response) release() {
	releasePiece(&w.out)
	releasePiece(&w.held)
}

func (w *response) Header() http.Header { return w.header }

func (w *response) SetReadDeadline(t time.Time) error  { return w.conn.SetReadDeadline(t) }
func (w *response) SetWriteDeadline(t time.Time) error { return w.conn.SetWriteDeadline(t) }

// hasBody reports whether a reply of this status may have one.
func (w *response) hasBody() bool {
	return w.status != http.StatusNoContent && w.status != http.StatusNotModified && w.status >= http.StatusOK
}

// WriteHeader fixes the status and the header. Interim replies are left out.
func (w *response) WriteHeader(status int) {
	if w.status != 0 || status < http.StatusOK && status != http.StatusSwitchingProtocols {
		return
	}
	w.status = status
	if n, err := strconv.ParseInt(w.header.Get("Content-Length"), 10, 64); err == nil && n >= 0 {
		w.length = n
	} else {
		w.header.Del("Content-Length")
	}
	for _, list := range w.header["Trailer"] {
		for name := range strings.SplitSeq(list, ",") {
			w.trailers = append(w.trailers, http.CanonicalHeaderKey(strings.TrimSpace(name)))
		}
	}
	if w.header.Get("Connection") == "close" || w.conn.server.closing.Load() {
		w.closes = true
	}
	out := acquire(&w.out)
	b := append(*out, "HTTP/1.1 "...)
	b = strconv.AppendInt(b, int64(status), 10)
	b = append(b, ' ')
	b = append(b, statusText(status)...)
	b = append(b, "\r\n"...)
	for name, values := range w.header {
		if isFraming(name) || !isToken(name) || slices.Contains(w.trailers, name) {
			continue
		}
		for _, v := range values {
			b = appendField(b, name, v)
		}
	}
	if _, set := w.header["Date"]; !set {
		b = appendField(b, "Date", today())
	}
	*out = b
}

func statusText(status int) string {
	if text := http.StatusText(status); text != "" {
		return text
	}
	return "status code " + strconv.Itoa(status)
}

// isFraming reports the headers that tell where a reply ends, which are written last.
func isFraming(name string) bool {
	return name == "Content-Length" || name == "Transfer-Encoding" || name == "Connection"
}

// isToken reports what may be the name of a header.
func isToken(name string) bool {
	for i := range len(name) {
		if c := name[i]; c <= ' ' || c >= 0x7f || strings.IndexByte("\"(),/:;<=>?@[\\]{}", c) >= 0 {
			return false
		}
	}
	return name != ""
}

func appendField(b []byte, name, value string) []byte {
	b = append(b, name...)
	b = append(b, ": "...)
	if strings.ContainsAny(value, "\r\n") {
		value = lineBreaks.Replace(value)
	}
	b = append(b, strings.Trim(value, " \t")...)
	return append(b, "\r\n"...)
}

// today is the time as headers tell it, which changes once a second.
func today() string {
	now := time.Now()
	if d := date.Load(); d != nil && d.second == now.Unix() {
		return d.text
	}
	d := &dated{now.Unix(), now.UTC().Format(http.TimeFormat)}
	date.Store(d)
	return d.text
}

type dated struct {
	second int64
	text   string
}

var date atomic.Pointer[dated]

// complete ends the head, once it is known how the end of the body is told.
func (w *response) complete(whole bool) {
	if w.ready {
		return
	}
	w.ready = true
	w.closes = !w.body.answer(w.closes)
	b := *acquire(&w.out)
	allowed := w.hasBody()
	if whole && allowed && w.length == unknownLength && len(w.trailers) == 0 && (!w.isHead || w.held != nil) {
		w.length = 0
		if w.held != nil {
			w.length = int64(len(*w.held))
		}
	}
	switch {
	case allowed && w.length != unknownLength || w.status == http.StatusNotModified && w.length != unknownLength:
		b = append(b, "Content-Length: "...)
		b = strconv.AppendInt(b, w.length, 10)
		b = append(b, "\r\n"...)
	case !allowed || w.isHead:
	case w.chunks:
		w.chunked = true
		b = append(b, "Transfer-Encoding: chunked\r\n"...)
	default: // its end is that of the connection
		w.closes = true
	}
	if w.closes {
		b = append(b, "Connection: close\r\n"...)
	} else {
		for _, v := range w.header["Connection"] {
			b = appendField(b, "Connection", v)
		}
	}
	*w.out = append(b, "\r\n"...)
	if w.held != nil {
		w.append(*w.held)
		releasePiece(&w.held)
	}
}

// append adds a piece of the body to what is to be sent.
func (w *response) append(p []byte) {
	if len(p) == 0 || w.isHead {
		return
	}
	out := acquire(&w.out)
	b := *out
	if w.chunked {
		b = strconv.AppendInt(b, int64(len(p)), 16)
		b = append(b, "\r\n"...)
	}
	b = append(b, p...)
	if w.chunked {
		b = append(b, "\r\n"...)
	}
	*out = b
}

func (w *response) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	switch {
	case !w.hasBody():
		return 0, http.ErrBodyNotAllowed
	case w.sendError != nil:
		return 0, w.sendError
	}
	if w.written += int64(len(p)); w.length != unknownLength && w.written > w.length {
		return 0, http.ErrContentLength
	}
	if !w.ready && w.written <= heldBack {
		held := acquire(&w.held)
		*held = append(*held, p...)
		return len(p), nil
	}
	w.complete(false)
	if len(p) > smallBody && !w.isHead {
		return len(p), w.sendWith(p)
	}
	w.append(p)
	if w.out != nil && len(*w.out) > smallBody {
		return len(p), w.send()
	}
	return len(p), nil
}

// FlushError sends what was written.
func (w *response) FlushError() error {
	w.WriteHeader(http.StatusOK)
	w.complete(false)
	return w.send()
}

// send sends what waits for it.
func (w *response) send() error {
	if w.out == nil || w.sendError != nil {
		releasePiece(&w.out)
		return w.sendError
	}
	w.conn.armWrite()
	_, err := w.conn.Conn.Write(*w.out)
	releasePiece(&w.out)
	return w.sent(err)
}

// sendWith sends what waits, and a long piece of the body behind it.
func (w *response) sendWith(p []byte) error {
	if w.sendError != nil {
		return w.sendError
	}
	out := acquire(&w.out)
	parts := append(net.Buffers(w.conn.parts[:0]), nil, p)
	if w.chunked {
		*out = strconv.AppendInt(*out, int64(len(p)), 16)
		*out = append(*out, "\r\n"...)
		parts = append(parts, crlf)
	}
	parts[0] = *out
	w.conn.armWrite()
	_, err := parts.WriteTo(w.conn.Conn)
	w.conn.parts = [3][]byte{}
	releasePiece(&w.out)
	return w.sent(err)
}

var crlf = []byte("\r\n")

// sent notes that nobody is there any more.
func (w *response) sent(err error) error {
	if err != nil {
		w.sendError = err
		w.conn.leave()
	}
	return err
}

// finish ends the reply.
func (w *response) finish() error {
	w.WriteHeader(http.StatusOK)
	w.complete(true)
	if w.chunked {
		out := acquire(&w.out)
		*out = append(*out, "0\r\n"...)
		for _, name := range w.trailers {
			if isFraming(name) || !isToken(name) {
				continue
			}
			for _, v := range w.header[name] {
				*out = appendField(*out, name, v)
			}
		}
		*out = append(*out, "\r\n"...)
	}
	if w.hasBody() && !w.isHead && w.length != unknownLength && w.written != w.length {
		w.closes = true // the client must not take what comes next for the rest
	}
	return w.send()
}
