// Package detect notices agents that run away. It holds three detectors: stall
// (rounds that repeat and bring nothing new), similarity (the window of near-equal
// calls) and growth (prompts that swell call after call).
//
// An agent that is written in Go guards its own loop with New, without a
// gateway and without another module. These few lines stand around the one
// that sends a call; package calls reads the bodies of all formats:
//
//	guard := detect.New(detect.Options{})
//	session := guard.Session(runID)
//	for !done {
//		if call, err := calls.FromRequest("/v1/messages", body); err == nil {
//			if d := session.Check(call); d.Level == detect.Kill {
//				return errors.New(d.Sentence("billing-bot"))
//			}
//		}
//		answer := send(body)
//		if reply, err := calls.FromReply("/v1/messages", answer); err == nil {
//			session.Observe(reply)
//		}
//	}
//
// A session is written with MarshalBinary and read in another process. The
// examples below run as tests.
//
// Guard, its sessions, Options, Detection and the signals are for programs that
// import this package, and stay. The rest is for those who keep the state
// themselves and may change with any release.
//
// The gateway and haltd replay judge by the same functions: Read, Judge, Admit
// and Observe, on state that they keep themselves and guard. Everything but
// Guard and Cache, which guard themselves, is pure: the clock is an argument,
// state is a value, and there is no I/O, no goroutine and no package variable
// that changes. The package may import the standard library, package haltd and
// internal/xxhash, no other module.
package detect
