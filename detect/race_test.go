//go:build race

package detect

// slower is how much longer things may take under the race detector.
const slower = 30
