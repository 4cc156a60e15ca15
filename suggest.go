package haltd

import "strings"

// Nearest is the known name that the writer of another one probably meant;
// "" when none comes close.
func Nearest(name string, known []string) string {
	name = strings.ToLower(name)
	best, distance := "", 4 // further away is another word
	for _, k := range known {
		if d := edits(name, k); d < distance && d <= len(k)/2 {
			best, distance = k, d
		}
	}
	return best
}

// edits counts the letters to insert, delete or replace to get from a to b.
func edits(a, b string) int {
	if len(a) > 64 { // no typo of any name
		return len(a)
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replace := diagonal
			if a[i] != b[j] {
				replace++
			}
			diagonal = row[j+1]
			row[j+1] = min(replace, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
