// Package detect notices agents that run away. It has three detectors: stall
// (rounds that repeat and bring nothing new), similarity (the window of near-equal
// calls) and growth (prompts that swell call after call).
//
// An agent that is written in Go guards its own loop with New, without a
// gateway. These few lines stand around the one that sends a call:
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
// Package calls makes a haltd.Call and a haltd.Reply of the bodies of all formats
// that the gateway reads; an agent with messages of its own can fill them in
// itself. A session is written with MarshalBinary and read in another process. The
// examples below run as tests.
//
// The gateway and haltd replay judge by the same detectors. This package and
// package haltd need no other module; package calls needs those of the gateway's
// readers, for JSON and what is compressed.
package detect
