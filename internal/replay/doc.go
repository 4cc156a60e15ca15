// Package replay runs recorded traffic through the same detectors as the
// gateway, offline: what would have been warned or killed, when, and what
// that would have saved. With labels it says how right that is. It reads
// traces, exports of haltd's own events and a configuration, writes reports
// and verdicts, and calls nobody.
package replay
