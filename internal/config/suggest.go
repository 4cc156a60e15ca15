package config

import "strings"

// suggest says what the writer of an unknown name may have meant.
func suggest(name string, known []string) string {
	best, distance := "", 4 // further away is another word
	for _, k := range known {
		if d := edits(name, k); d < distance && d <= len(k)/2 {
			best, distance = k, d
		}
	}
	if best != "" {
		return "did you mean " + best + "?"
	}
	return "expected one of " + strings.Join(known, ", ")
}

// edits counts the letters to insert, delete or replace to get from a to b.
func edits(a, b string) int {
	if len(a) > 64 { // no typo of any key
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
