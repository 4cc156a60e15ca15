package haltd

import "time"

// GuessIdle is how long nobody may say a word in a guessed session before it
// has ended.
const GuessIdle = 30 * time.Minute

// Guess is what is known of conversations that begin alike and whose session no
// client names: only a pause tells one from the next. The zero value is that of
// none so far.
type Guess struct {
	Began time.Time // of the session that is going on; zero for the first one
	Last  time.Time // when it was last used
}

// Next is the guess after another word at this time.
func (g Guess) Next(now time.Time) Guess {
	if !g.Last.IsZero() && now.Sub(g.Last) > GuessIdle {
		g.Began = now
	}
	g.Last = now
	return g
}
