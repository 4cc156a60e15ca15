package admin

import "strings"

// suggestion says which of the known names was probably meant.
func suggestion(name string, known []string) string {
	if len(known) == 0 {
		return "This path takes no parameters."
	}
	best, least := "", 3
	for _, k := range known {
		if d := distance(strings.ToLower(name), k); d < least {
			best, least = k, d
		}
	}
	for _, k := range known {
		if best == "" && len(k) > 2 && strings.Contains(strings.ToLower(name), k) {
			best = k
		}
	}
	if best != "" {
		return "Did you mean " + best + "?"
	}
	return "Known are " + strings.Join(known, ", ") + "."
}

// distance is the number of letters to insert, delete or replace to get from
// a to b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}
