package outbound

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/haltd/haltd"
)

func TestDecodeNamesTheSetting(t *testing.T) {
	type settings struct {
		URL  string   `json:"url"`
		Port int      `json:"port,omitempty"`
		To   []string `json:"to"`
		more string
	}
	for given, want := range map[string]*haltd.Error{
		`{"url":"https://example.com","port":7}`: nil,
		`{"URL":"https://example.com"}`:          nil,
		`{}`:                                     nil,
		``:                                       {Field: "settings", Message: "is not an object"},
		`{} {}`:                                  {Field: "settings", Message: "is not an object"},
		`["url"]`:                                {Field: "settings", Message: "is not an object"},
		`{"url":7}`:                              {Field: "url", Message: "is a number, not a string"},
		`{"to":["a",7]}`:                         {Field: "to", Message: "is a number, not a string"},
		`{"more":"x"}`:                           {Field: "more", Message: "is no setting of this kind of channel"},
		`{"a \"b\"":1,"url":7}`:                  {Field: `a "b"`, Message: "is no setting of this kind of channel"},
	} {
		err := Decode(json.RawMessage(given), &settings{more: ""})
		var got *haltd.Error
		errors.As(err, &got)
		if want == nil {
			if err != nil {
				t.Errorf("%s: %v", given, err)
			}
			continue
		}
		if got == nil || got.Code != haltd.CodeInvalid || got.Field != want.Field || got.Message != want.Message || got.Fix != "Settings are url, port, to." {
			t.Errorf("%s: %+v, want %s: %s", given, got, want.Field, want.Message)
		}
	}
}
