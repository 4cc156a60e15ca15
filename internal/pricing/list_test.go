package pricing

import (
	"strings"
	"testing"
)

// What is wrong with a table is said in words of its own, and names the field.
func TestTablesThatAreRefused(t *testing.T) {
	for file, want := range map[string]string{
		`[]`: "expected another kind of value than array",
		`{"source":"s","date":"2030-01-01","models":[]}`:                                                      "models: expected an object with the models by name",
		`{"source":"s","date":"2030-01-01","models":{"a":5}}`:                                                 "models.a: expected another kind of value than number",
		`{"source":"s","date":"2030-01-01","models":{"a":{"input":1,"output":1},"a":{"input":2,"output":2}}}`: "models.a: is there twice",
		`{"source":"s","date":"2030-01-01","models":{"a":{"input":1,"output":1,"max_output":"8k"}}}`:          "models.a.max_output: expected another kind of value than string",
	} {
		if _, err := ReadList([]byte(file)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", file, err, want)
		}
	}
}
