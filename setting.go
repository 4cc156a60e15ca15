package haltd

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A setting is declared once: as a field of Policy, or of another struct of
// settings. Loading, limits, layers, API, CLI, dashboard, sample file and
// reference follow from the tags of that field:
//
//	json              its name
//	preset            its default, where that is not the zero value
//	minimum, exclusiveMinimum, maximum, enum
//	                  its limits
//	notabove          the setting beside it that it must not exceed, unless
//	                  that one is 0
//	format            what a text must be: time-zone
//	example           a value for who has to give one
//	label, unit, doc  its words in the form and in the reference
//	shared            what it is for agents that many share, whatever is set
//	rare              "true" for what the form shows on demand only
//
// A section is a field that is a struct of settings. Its label and doc are
// those of its part of the form; merge:"each" says that an override replaces
// single settings of it and not the section as a whole.

// SettingType says how the value of a setting is written and edited.
type SettingType string

// The types of settings.
const (
	SettingBoolean SettingType = "boolean"
	SettingInteger SettingType = "integer"
	SettingNumber  SettingType = "number"
	SettingMoney   SettingType = "money"
	SettingChoice  SettingType = "choice"
	SettingText    SettingType = "text"
	SettingHours   SettingType = "hours"
	SettingLadder  SettingType = "ladder"
)

// Setting is what a declaration says.
type Setting struct {
	Path     string      `json:"path" doc:"Where it stands, such as kill_switch.threshold."`
	Label    string      `json:"label"`
	Help     string      `json:"help" doc:"What it means, in a sentence or two."`
	Unit     string      `json:"unit,omitempty"`
	Type     SettingType `json:"type" enum:"boolean,integer,number,money,choice,text,hours,ladder"`
	Default  any         `json:"default" doc:"What holds where nobody said anything."`
	Minimum  *float64    `json:"minimum,omitempty"`
	Above    *float64    `json:"above,omitempty" doc:"A limit that the value itself has to exceed."`
	Maximum  *float64    `json:"maximum,omitempty"`
	Choices  []string    `json:"choices,omitempty"`
	Example  string      `json:"example,omitempty"`
	NotAbove string      `json:"not_above,omitempty" doc:"Path of a setting that this one must not exceed, unless that one is 0."`
	Format   string      `json:"format,omitempty" enum:"time-zone"`
	Shared   string      `json:"shared,omitempty" doc:"What it is for agents that many share, whatever is set."`
	Rare     bool        `json:"rare,omitempty" doc:"Whether a form shows it on demand only."`

	// unit is the path of what an override replaces together with it.
	unit  string
	index []int
}

// Section is a part of a policy: a group of settings, or a single one.
type Section struct {
	Name     string    `json:"name"`
	Label    string    `json:"label"`
	Help     string    `json:"help"`
	Settings []Setting `json:"settings"`

	each  bool
	index []int
}

// declared keeps what SettingsOf has read, by type.
var declared sync.Map

// SettingsOf reads the declarations in a struct of settings. It panics where
// they cannot be understood, which no input can cause.
func SettingsOf[P any]() []Section {
	t := reflect.TypeFor[P]()
	if known, ok := declared.Load(t); ok {
		return known.([]Section)
	}
	preset := reflect.New(t).Elem()
	var sections []Section
	for _, f := range settingFields(t) {
		s := Section{Name: f.name, Label: f.Tag.Get("label"), Help: f.Tag.Get("doc"), each: f.Tag.Get("merge") == "each", index: f.Index}
		s.declare(f, f.name, "", f.Index, preset)
		sections = append(sections, s)
	}
	declared.Store(t, sections)
	return sections
}

// declare adds the setting that f is, or those in it.
func (s *Section) declare(f settingField, path, label string, index []int, preset reflect.Value) {
	if kind := settingType(f); kind != "" {
		s.Settings = append(s.Settings, s.setting(f, kind, path, label, preset.FieldByIndex(index)))
		s.Settings[len(s.Settings)-1].index = index
		return
	}
	if f.Type.Kind() != reflect.Struct || s.each && path != s.Name {
		panic(fmt.Sprintf("haltd: setting %s is declared as %s", path, f.Type))
	}
	if path != s.Name && f.Tag.Get("label") != "" { // the section's own label is its title
		label += f.Tag.Get("label") + ", "
	}
	for _, inner := range settingFields(f.Type) {
		s.declare(inner, path+"."+inner.name, label, slices.Concat(index, inner.Index), preset)
	}
}

func (s *Section) setting(f settingField, kind SettingType, path, label string, preset reflect.Value) Setting {
	if text, ok := f.Tag.Lookup("preset"); ok {
		if err := parseSetting(text, preset); err != nil {
			panic(fmt.Sprintf("haltd: setting %s has the default %q: %v", path, text, err))
		}
	}
	d := Setting{
		Path: path, Label: label + f.Tag.Get("label"), Help: f.Tag.Get("doc"), Unit: f.Tag.Get("unit"), Type: kind,
		Default: preset.Interface(), Format: f.Tag.Get("format"), Example: f.Tag.Get("example"), Shared: f.Tag.Get("shared"), Rare: f.Tag.Get("rare") == "true", unit: s.Name,
		Minimum: limitTag(f, "minimum"), Above: limitTag(f, "exclusiveMinimum"), Maximum: limitTag(f, "maximum"),
	}
	if enum := f.Tag.Get("enum"); enum != "" {
		d.Choices = strings.Split(enum, ",")
	}
	if kind == SettingLadder {
		d.Choices = Ladder(ladderRungs).words()
	}
	if other := f.Tag.Get("notabove"); other != "" {
		d.NotAbove = path[:strings.LastIndexByte(path, '.')+1] + other
	}
	if s.each {
		d.unit = path
	}
	return d
}

type settingField struct {
	reflect.StructField
	name string
}

// settingFields are the fields that have a name, those of embedded structs
// among them.
func settingFields(t reflect.Type) []settingField {
	var fields []settingField
	for _, f := range reflect.VisibleFields(t) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" {
			fields = append(fields, settingField{f, name})
		}
	}
	return fields
}

// settingType is "" for what is no setting by itself.
func settingType(f settingField) SettingType {
	switch reflect.Zero(f.Type).Interface().(type) {
	case Money:
		return SettingMoney
	case []HourRange:
		return SettingHours
	case Ladder:
		return SettingLadder
	}
	_, hasChoices := f.Tag.Lookup("enum")
	switch kind := f.Type.Kind(); {
	case hasChoices:
		return SettingChoice
	case kind == reflect.Bool:
		return SettingBoolean
	case kind == reflect.Int || kind == reflect.Int64:
		return SettingInteger
	case kind == reflect.Float64:
		return SettingNumber
	case kind == reflect.String:
		return SettingText
	}
	return ""
}

func limitTag(f settingField, tag string) *float64 {
	text, ok := f.Tag.Lookup(tag)
	if !ok {
		return nil
	}
	limit, err := strconv.ParseFloat(text, 64)
	if err != nil {
		panic(fmt.Sprintf("haltd: %s of setting %s: %v", tag, f.name, err))
	}
	return &limit
}

// parseSetting reads a JSON value, of which a text may stand without quotes.
func parseSetting(text string, v reflect.Value) error {
	if err := json.Unmarshal([]byte(text), v.Addr().Interface()); err == nil {
		return nil
	}
	return json.Unmarshal([]byte(strconv.Quote(text)), v.Addr().Interface())
}

// In is the value of the setting in settings, a pointer to the struct that
// declares it.
func (s *Setting) In(settings any) any { return s.in(reflect.ValueOf(settings).Elem()).Interface() }

func (s *Setting) in(v reflect.Value) reflect.Value { return v.FieldByIndex(s.index) }

// Text is a value of the setting as the file writes it.
func (s *Setting) Text(value any) string {
	switch v := value.(type) {
	case Money:
		return strconv.FormatFloat(v.Dollars(), 'f', -1, 64)
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case []HourRange:
		ranges := make([]string, len(v))
		for i, h := range v {
			ranges[i] = fmt.Sprintf("{days: [%s], from: %q, to: %q}", strings.Join(h.Days, ", "), h.From, h.To)
		}
		return "[" + strings.Join(ranges, ", ") + "]"
	}
	return fmt.Sprint(value)
}

// Limits says which values the setting takes; "" for any.
func (s *Setting) Limits() string {
	number := func(f *float64) string { return strconv.FormatFloat(*f, 'f', -1, 64) }
	switch {
	case s.Choices != nil:
		return Alternatives(s.Choices)
	case s.Above != nil && s.Maximum != nil:
		return "a number above " + number(s.Above) + ", " + number(s.Maximum) + " at most"
	case s.Above != nil:
		return "a number above " + number(s.Above)
	case s.Minimum != nil && s.Maximum != nil:
		return number(s.Minimum) + " to " + number(s.Maximum)
	case s.Minimum != nil:
		return number(s.Minimum) + " or more"
	case s.Maximum != nil:
		return number(s.Maximum) + " at most"
	case s.Format == formatTimeZone:
		return "a zone such as UTC or Europe/Berlin"
	}
	return ""
}

// Alternatives joins words as a sentence does: "a, b or c".
func Alternatives(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

const formatTimeZone = "time-zone"

// DefaultSettings are those that nobody changed.
func DefaultSettings[P any]() (p P) {
	v := reflect.ValueOf(&p).Elem()
	for _, section := range SettingsOf[P]() {
		for i := range section.Settings {
			s := &section.Settings[i]
			s.in(v).Set(reflect.ValueOf(s.Default))
		}
	}
	return p
}

// FillSettings is p with defaults for what is left out: what is zero and
// cannot be.
func FillSettings[P any](p P) P {
	at := reflect.ValueOf(&p).Elem()
	for _, section := range SettingsOf[P]() {
		for i := range section.Settings {
			s := &section.Settings[i]
			if v := s.in(at); v.IsZero() && !s.takesZero(v) {
				v.Set(reflect.ValueOf(s.Default))
			}
		}
	}
	return p
}

// CheckSettings reports every setting in p that breaks a rule, as *Error with
// CodeInvalid and the path of the setting as its field.
func CheckSettings[P any](p *P) error {
	v := reflect.ValueOf(p).Elem()
	var problems []error
	paths := map[string]*Setting{}
	for _, section := range SettingsOf[P]() {
		for i := range section.Settings {
			s := &section.Settings[i]
			paths[s.Path] = s
		}
		for i := range section.Settings {
			s := &section.Settings[i]
			problems = append(problems, s.check(s.in(v))...)
			if other := paths[s.NotAbove]; other != nil {
				if limit := other.number(other.in(v)); limit > 0 && s.number(s.in(v)) > limit {
					name := s.NotAbove[strings.LastIndexByte(s.NotAbove, '.')+1:]
					problems = append(problems, s.bad("above %s (%s); lower it, or raise %[1]s", name, other.Text(other.in(v).Interface())))
				}
			}
		}
	}
	return errors.Join(problems...)
}

func (s *Setting) check(v reflect.Value) []error {
	switch s.Type {
	case SettingHours:
		return checkHours(s.Path, v.Interface().([]HourRange))
	case SettingLadder:
		if v.Uint() == 0 {
			return []error{s.bad("expected %s, or a list of them", s.Limits())}
		}
	case SettingChoice:
		if got := fmt.Sprint(v.Interface()); !slices.Contains(s.Choices, got) {
			return []error{s.bad("expected %s, got %q", s.Limits(), got)}
		}
	case SettingText:
		if s.Format == formatTimeZone && !isTimeZone(v.String()) {
			return []error{s.bad("expected %s, got %q", s.Limits(), v.String())}
		}
	case SettingInteger, SettingNumber, SettingMoney:
		if !s.within(s.number(v)) {
			return []error{s.bad("expected %s, got %s", s.Limits(), s.Text(v.Interface()))}
		}
	}
	return nil
}

func (s *Setting) bad(format string, args ...any) error {
	e := Errorf(CodeInvalid, format, args...).In(s.Path)
	if s.Example != "" {
		e = e.WithFix("Set it to %s, for example.", s.Example)
	}
	return e
}

// within reports false for what is no number.
func (s *Setting) within(f float64) bool {
	return f == f && (s.Minimum == nil || f >= *s.Minimum) && (s.Above == nil || f > *s.Above) && (s.Maximum == nil || f <= *s.Maximum)
}

// number is the value of a setting that is one; money counts in dollars.
func (s *Setting) number(v reflect.Value) float64 {
	if s.Type == SettingMoney {
		return Money(v.Int()).Dollars()
	}
	if v.CanInt() {
		return float64(v.Int())
	}
	return v.Float()
}

// takesZero reports whether the zero value is one that the setting may have:
// a limit of 0 is none, a window of 0 cannot be.
func (s *Setting) takesZero(v reflect.Value) bool { return len(s.check(reflect.Zero(v.Type()))) == 0 }

func isTimeZone(name string) bool {
	_, err := time.LoadLocation(name)
	return err == nil && name != "" && name != "Local"
}
