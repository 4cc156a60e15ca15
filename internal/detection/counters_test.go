package detection

import "testing"

// No word that says that the number behind it changes by itself is told apart too early.
func TestWordsBeforeCountersMayCount(t *testing.T) {
	texts := []string{"valid_s 7", "valid_sec 7", "worker_PID 7"}
	for _, name := range processNames {
		texts = append(texts, name+" 7")
	}
	for _, list := range phraseFile[tallies] {
		for _, name := range list {
			texts = append(texts, name+" 7")
		}
	}
	for _, text := range texts {
		s := scanner{text: text}
		for s.next() {
		}
		if s.class != volatile {
			t.Errorf("the number of %q is of class %d", text, s.class)
		}
	}
}
