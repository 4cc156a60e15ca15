// Package scenarios is the corpus of conversations by which loop detection is
// held to its word: those that must fire and those that must not, each with
// the line of evidence it stands for. The cases are data; the tests send each
// of them through a real gateway, in every wire format that can express it,
// streaming and not, and read the verdicts from the record.
//
// The corpus drives haltd through its listeners, and packages detection and
// detect through their exported functions; it may touch nothing else of the
// product.
//
// Blind spots, on purpose: fan-out (sub-agents that start sub-agents), retry
// storms of the transport, unbounded thinking, and degeneration inside one
// stream. haltd does not detect these, so no case here asks for it.
package scenarios
