package excerpt

// The lengths that card numbers have.
const (
	shortestCard = 13
	longestCard  = 19
)

// cards adds the numbers of payment cards: digits that may be grouped by
// single spaces or dashes, begin like a card's and pass its check.
func cards(text string, found []span) []span {
	for at := 0; at < len(text); at++ {
		if !isDigit(text[at]) || at > 0 && isDigit(text[at-1]) {
			continue
		}
		if to := cardAt(text, at); to > 0 {
			found = append(found, span{at, to, "card number"})
			at = to - 1
		}
	}
	return found
}

// cardAt is where the card number that begins at a place ends, 0 when none
// does. It ends where a group of digits does.
func cardAt(text string, at int) (end int) {
	var digits [longestCard]byte
	n := 0
	for i := at; i < len(text); i++ {
		switch {
		case isDigit(text[i]) && n == longestCard:
			return end
		case isDigit(text[i]):
			digits[n] = text[i] - '0'
			n++
			groupEnds := i+1 == len(text) || !isDigit(text[i+1])
			if groupEnds && n >= shortestCard && isCard(digits[:n]) {
				end = i + 1
			}
		case text[i] != ' ' && text[i] != '-' || i+1 == len(text) || !isDigit(text[i+1]):
			return end
		}
	}
	return end
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// isCard looks at the first digits, which times and counters seldom share,
// and at the check digit (Luhn).
func isCard(digits []byte) bool {
	if first := digits[0]; first < 2 || first > 6 {
		return false
	}
	sum := 0
	for i := range digits {
		d := int(digits[len(digits)-1-i])
		if i%2 == 1 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
	}
	return sum%10 == 0
}
