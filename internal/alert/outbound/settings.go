package outbound

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strings"

	"github.com/haltd/haltd"
)

// Decode reads settings strictly: an unknown key is probably a misspelt one.
// Errors name the field and do not repeat its value, which may be a secret.
func Decode(raw json.RawMessage, into any) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	err := dec.Decode(into)
	if err == nil && dec.Decode(&json.RawMessage{}) == io.EOF {
		return nil
	}
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.As(err, &wrong) && wrong.Field != "":
		return haltd.Errorf(haltd.CodeInvalid, "%s: is a %s, not a %s", wrong.Field, wrong.Value, wrong.Type).WithFix("%s", known(into))
	case err != nil && strings.HasPrefix(err.Error(), "json: unknown field "):
		return haltd.Errorf(haltd.CodeInvalid, "%s: is no setting of this kind of channel", strings.Trim(strings.TrimPrefix(err.Error(), "json: unknown field "), `"`)).
			WithFix("%s", known(into))
	}
	return haltd.Errorf(haltd.CodeInvalid, "settings: is not an object").WithFix("%s", known(into))
}

// known lists the settings by the tags of their fields.
func known(settings any) string {
	var names []string
	t := reflect.TypeOf(settings).Elem()
	for i := range t.NumField() {
		if name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ","); name != "" {
			names = append(names, name)
		}
	}
	return "Settings are " + strings.Join(names, ", ") + "."
}
