package haltd

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// PolicyOverride is what one agent has of its own. What it leaves out is left
// to what lies below: the API's override lies over that of the file, and both
// over the defaults.
type PolicyOverride = Override[Policy]

// Override holds some of the settings that P declares. It is a value: a change
// makes a new one and never reaches into a copy.
type Override[P any] struct {
	values P
	// set holds the units that are set: names of sections, and paths of
	// settings in sections that are merged each.
	set []string
}

// Decode lets decode write into a struct of settings, and keeps those that
// isSet names, by the path of the setting or by the name of its section.
func (o *Override[P]) Decode(decode func(settings any), isSet func(path string) bool) {
	*o = Override[P]{}
	decode(&o.values)
	for _, section := range SettingsOf[P]() {
		for i := range section.Settings {
			if unit := section.Settings[i].unit; isSet(unit) {
				o.add(unit)
			}
		}
	}
}

// MustOverride reads an override that stands in the program as JSON.
func MustOverride(text string) (o PolicyOverride) {
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		panic(fmt.Sprintf("haltd: override %s: %v", text, err))
	}
	return o
}

// Has reports whether a setting is set, by itself or with its section.
func (o *Override[P]) Has(s *Setting) bool { return slices.Contains(o.set, s.unit) }

// IsZero reports an override that changes nothing.
func (o *Override[P]) IsZero() bool { return o == nil || len(o.set) == 0 }

// Equal reports whether two overrides say the same.
func (o Override[P]) Equal(other Override[P]) bool {
	a, errA := o.MarshalJSON()
	b, errB := other.MarshalJSON()
	return errA == nil && errB == nil && bytes.Equal(a, b)
}

// Over is what results when the override lies over p. A section that is set
// replaces that of p; what it leaves out is 0, which is no limit, or, where 0
// cannot be, still that of p.
func (o *Override[P]) Over(p P) P {
	if o.IsZero() {
		return p
	}
	from, to := reflect.ValueOf(&o.values).Elem(), reflect.ValueOf(&p).Elem()
	for _, section := range SettingsOf[P]() {
		for i := range section.Settings {
			s := &section.Settings[i]
			v := s.in(from)
			if o.Has(s) && (s.unit == s.Path || !v.IsZero() || s.takesZero(v)) {
				s.in(to).Set(v)
			}
		}
	}
	return p
}

// MarshalJSON writes what is set.
func (o Override[P]) MarshalJSON() ([]byte, error) {
	values := reflect.ValueOf(&o.values).Elem()
	var whole object
	for _, section := range SettingsOf[P]() {
		if !section.each && slices.Contains(o.set, section.Name) {
			whole.add(section.Name, values.FieldByIndex(section.index).Interface())
		}
		if !section.each {
			continue
		}
		var part object
		for i := range section.Settings {
			if s := &section.Settings[i]; o.Has(s) {
				part.add(strings.TrimPrefix(s.Path, section.Name+"."), s.in(values).Interface())
			}
		}
		if part.err != nil {
			return nil, part.err
		}
		if part.Len() > 0 {
			whole.add(section.Name, json.RawMessage(part.text()))
		}
	}
	return whole.text(), whole.err
}

// object writes a JSON object member by member, in order.
type object struct {
	bytes.Buffer
	err error
}

func (o *object) add(name string, value any) {
	b, err := json.Marshal(value)
	if err != nil && o.err == nil {
		o.err = fmt.Errorf("write %s: %w", name, err)
	}
	if o.Len() > 0 {
		o.WriteByte(',')
	}
	fmt.Fprintf(o, "%q:%s", name, b)
}

func (o *object) text() []byte { return slices.Concat([]byte("{"), o.Bytes(), []byte("}")) }

// UnmarshalJSON reads what MarshalJSON writes. Names that nobody knows, of an
// older or newer haltd, are passed over.
func (o *Override[P]) UnmarshalJSON(b []byte) error {
	next := Override[P]{}
	err := next.Patch(b, *new(P))
	*o = next
	return err
}

// Patch applies a JSON object. What it leaves out stays; null takes a section,
// or a setting of a section that is merged each, back to what lies below. A
// section that is set as a whole begins with what is in force, so that a limit
// never goes away unsaid; null inside of it is the zero value.
func (o *Override[P]) Patch(b []byte, inForce P) error {
	next := Override[P]{values: o.values, set: slices.Clone(o.set)}
	values, from := reflect.ValueOf(&next.values).Elem(), reflect.ValueOf(&inForce).Elem()
	var patch map[string]json.RawMessage
	if err := json.Unmarshal(b, &patch); err != nil {
		return Errorf(CodeInvalid, "expected an object, got %.40q", b)
	}
	for _, section := range SettingsOf[P]() {
		raw, sent := member(patch, section.Name)
		field := values.FieldByIndex(section.index)
		switch {
		case !sent:
			continue
		case isNull(raw):
			for i := range section.Settings {
				next.remove(section.Settings[i].unit)
			}
			continue
		case section.each:
			if err := next.patchEach(&section, raw); err != nil {
				return err
			}
			continue
		case !slices.Contains(next.set, section.Name):
			field.Set(from.FieldByIndex(section.index))
		}
		next.add(section.Name)
		if err := mergeJSON(section.Name, raw, field); err != nil {
			return err
		}
	}
	*o = next
	return nil
}

func (o *Override[P]) patchEach(section *Section, raw []byte) error {
	var patch map[string]json.RawMessage
	if err := json.Unmarshal(raw, &patch); err != nil {
		return Errorf(CodeInvalid, "expected an object, got %.40q", raw).In(section.Name)
	}
	for i := range section.Settings {
		s := &section.Settings[i]
		switch raw, sent := member(patch, strings.TrimPrefix(s.Path, section.Name+".")); {
		case !sent:
		case isNull(raw):
			o.remove(s.unit)
		default:
			o.add(s.unit)
			if err := mergeJSON(s.Path, raw, s.in(reflect.ValueOf(&o.values).Elem())); err != nil {
				return err
			}
		}
	}
	return nil
}

func (o *Override[P]) add(unit string) {
	if !slices.Contains(o.set, unit) {
		o.set = append(o.set, unit)
	}
}

func (o *Override[P]) remove(unit string) {
	o.set = slices.DeleteFunc(o.set, func(u string) bool { return u == unit })
}

// mergeJSON writes JSON into a setting, or into the settings of a struct that
// it names.
func mergeJSON(path string, raw json.RawMessage, v reflect.Value) error {
	if v.Kind() == reflect.Struct && !isNull(raw) {
		var patch map[string]json.RawMessage
		if err := json.Unmarshal(raw, &patch); err != nil {
			return Errorf(CodeInvalid, "expected an object, got %.40q", raw).In(path)
		}
		for _, f := range settingFields(v.Type()) {
			if raw, sent := member(patch, f.name); sent {
				if err := mergeJSON(path+"."+f.name, raw, v.FieldByIndex(f.Index)); err != nil {
					return err
				}
			}
		}
		return nil
	}
	v.SetZero() // a list would otherwise be read into the memory of the one before
	if isNull(raw) {
		return nil
	}
	if err := json.Unmarshal(raw, v.Addr().Interface()); err != nil {
		if _, isLadder := v.Addr().Interface().(*Ladder); isLadder {
			return Errorf(CodeInvalid, "%v", err).In(path)
		}
		return Errorf(CodeInvalid, "cannot take %.40q", raw).In(path)
	}
	if hours, ok := v.Addr().Interface().(*[]HourRange); ok {
		for i := range *hours {
			if (*hours)[i].Days == nil { // every day, which JSON shows as an empty list
				(*hours)[i].Days = []string{}
			}
		}
	}
	return nil
}

// member finds a name as encoding/json does: exactly, else in other letter
// case.
func member(object map[string]json.RawMessage, name string) (json.RawMessage, bool) {
	if raw, ok := object[name]; ok {
		return raw, true
	}
	for key, raw := range object {
		if strings.EqualFold(key, name) {
			return raw, true
		}
	}
	return nil, false
}

func isNull(raw json.RawMessage) bool { return bytes.Equal(bytes.TrimSpace(raw), []byte("null")) }
