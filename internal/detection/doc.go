// Package detection has three detectors: stall (rounds that repeat and bring
// nothing new), similarity (the window of near-equal calls) and growth (prompts
// that swell call after call).
//
// The gateway, haltd replay and the guard of package detect judge by the same
// functions: Read, Judge, Admit and Observe, on state that they keep themselves
// and guard. Everything but Cache, which guards itself, is pure: the clock is an
// argument, state is a value, and there is no I/O, no goroutine and no package
// variable that changes. The package may import the standard library, package
// haltd and internal/xxhash, no other module: a program that imports detect needs
// none.
package detection
