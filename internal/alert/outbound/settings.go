package outbound

import (
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/haltd/haltd"
)

// Decode reads settings strictly: an unknown key is probably a misspelt one.
// Errors name the field and do not repeat its value, which may be a secret.
func Decode(raw json.RawMessage, into any) error {
	names := namesOf(into)
	invalid := func(field, format string, args ...any) error {
		return haltd.Errorf(haltd.CodeInvalid, format, args...).In(field).WithFix("Settings are %s.", strings.Join(names, ", "))
	}
	var given map[string]json.RawMessage
	if json.Unmarshal(raw, &given) != nil {
		return invalid("settings", "is not an object")
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !slices.ContainsFunc(names, func(known string) bool { return strings.EqualFold(known, name) }) {
			return invalid(name, "is no setting of this kind of channel")
		}
	}
	err := json.Unmarshal(raw, into)
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		return invalid(wrong.Field, "is a %s, not a %s", wrong.Value, wrong.Type)
	}
	return err
}

// namesOf are the settings by the tags of their fields.
func namesOf(settings any) (names []string) {
	t := reflect.TypeOf(settings).Elem()
	for i := range t.NumField() {
		if name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ","); name != "" {
			names = append(names, name)
		}
	}
	return names
}
