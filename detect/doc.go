// Package detect notices agents that run away. It holds four detectors:
// similarity (the window of near-equal calls), stall (rounds that repeat and
// bring nothing new), exact (identical requests in a time window) and growth
// (prompts that swell call after call), and Judge, which joins them.
//
// Everything here is pure: the clock is an argument, state is a value that
// the caller owns and guards (Cache alone guards itself), and there is no
// I/O, no goroutine and no package variable that changes. It may import the
// standard library, package haltd and internal/xxhash, no other module.
package detect
