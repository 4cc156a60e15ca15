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
// The gateway and haltd replay judge by the same detectors, which are in
// internal/detection. The package needs the standard library and packages of
// this module that need no more, no other module.
package detect
