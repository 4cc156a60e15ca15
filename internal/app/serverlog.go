package app

import (
	"log/slog"
	"strings"
)

// serverLog takes what the listeners complain about. Most of it is about
// clients and concerns nobody; a panic is a fault of haltd and must be seen,
// with its stack.
type serverLog struct{ log *slog.Logger }

func (l serverLog) Write(line []byte) (int, error) {
	text := strings.TrimSpace(string(line))
	if strings.HasPrefix(text, "http: panic serving") {
		l.log.Error("a request ended in a fault of haltd; please report it", "error", text)
	} else {
		l.log.Debug("listener", "error", text)
	}
	return len(line), nil
}
