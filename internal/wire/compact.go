package wire

import "github.com/go-json-experiment/json/jsontext"

// compact is a JSON value without white space, strings and numbers as sent.
func compact(raw []byte) string {
	v := jsontext.Value(raw).Clone()
	if v.Compact() != nil {
		return string(raw)
	}
	return string(v)
}
