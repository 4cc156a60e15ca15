package haltd

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Money is an amount in billionths of a US dollar, so that sums are exact.
// In JSON and text it is a plain decimal number of dollars.
type Money int64

// Dollar is one US dollar.
const Dollar Money = 1_000_000_000

// String is the amount in dollars with as many decimals as it needs, two at
// least: "0.00", "1.50", "0.000015".
func (m Money) String() string {
	sign, n := "", uint64(m)
	if m < 0 {
		sign, n = "-", uint64(-m)
	}
	frac := fmt.Sprintf("%09d", n%uint64(Dollar))
	frac = frac[:2] + strings.TrimRight(frac[2:], "0")
	return sign + strconv.FormatUint(n/uint64(Dollar), 10) + "." + frac
}

// Rounded is the amount to the cent, for a person: "$1.50". Half a cent is one, as
// on the pages.
func (m Money) Rounded() string {
	cents := (m + Dollar/200) / (Dollar / 100)
	return fmt.Sprintf("$%d.%02d", cents/100, cents%100)
}

// Dollars is the amount as a float, for charts and metrics.
func (m Money) Dollars() float64 { return float64(m) / float64(Dollar) }

// MarshalJSON writes a number of dollars.
func (m Money) MarshalJSON() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalJSON reads a number of dollars.
func (m *Money) UnmarshalJSON(b []byte) error {
	f, err := strconv.ParseFloat(string(b), 64)
	if err != nil {
		return fmt.Errorf("amount %q is not a number of dollars", b)
	}
	*m = Money(math.Round(f * float64(Dollar)))
	return nil
}
