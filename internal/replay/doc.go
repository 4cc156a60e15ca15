// Package replay runs recorded traffic through the same detectors as the
// gateway, offline: what would have been warned or killed, when, and what
// that would have saved. With labels it says how right that is. It reads
// trace files and a configuration, writes reports and verdicts, and calls
// nobody.
package replay
