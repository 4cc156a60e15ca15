package config

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/url"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/haltd/haltd"
)

// Excerpts says of what excerpts are kept.
type Excerpts string

// The settings of excerpts.
const (
	ExcerptsOff       Excerpts = "off"
	ExcerptsIncidents Excerpts = "incidents" // of what proves an incident, with it
	ExcerptsOn        Excerpts = "on"        // of all calls as well
)

// parseExcerpts reads true and false as on and off, which is what YAML makes of
// these words.
func parseExcerpts(text string) (Excerpts, bool) {
	switch text {
	case "true", "on":
		return ExcerptsOn, true
	case "false", "off":
		return ExcerptsOff, true
	}
	return ExcerptsIncidents, text == string(ExcerptsIncidents)
}

// ByteSize is a number of bytes, written like 32MiB.
type ByteSize int64

var sizeUnits = []struct {
	suffix string
	bytes  int64
}{
	{"gib", 1 << 30}, {"mib", 1 << 20}, {"kib", 1 << 10},
	{"gb", 1e9}, {"mb", 1e6}, {"kb", 1e3}, {"b", 1}, {"", 1},
}

// String writes the size in the largest binary unit that divides it.
func (b ByteSize) String() string {
	for _, u := range []struct {
		suffix string
		bytes  ByteSize
	}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}} {
		if b >= u.bytes && b%u.bytes == 0 {
			return strconv.FormatInt(int64(b/u.bytes), 10) + u.suffix
		}
	}
	return strconv.FormatInt(int64(b), 10) + "B"
}

func parseByteSize(text string) (ByteSize, bool) {
	text = strings.ToLower(text)
	for _, u := range sizeUnits {
		number, ok := strings.CutSuffix(text, u.suffix)
		if !ok {
			continue
		}
		n, err := strconv.ParseUint(strings.TrimSpace(number), 10, 63)
		return ByteSize(n) * ByteSize(u.bytes), err == nil && int64(n) <= math.MaxInt64/u.bytes
	}
	return 0, false
}

const day = 24 * time.Hour

var daysFirst = regexp.MustCompile(`^(\d{1,5})d(.*)$`)

// ParseDuration reads Go's durations, days in front of them, and a bare 0.
func ParseDuration(text string) (time.Duration, bool) {
	var days time.Duration
	if m := daysFirst.FindStringSubmatch(text); m != nil {
		n, _ := strconv.Atoi(m[1]) // five digits at most
		days, text = time.Duration(n)*day, m[2]
		if text == "" {
			return days, true
		}
	}
	rest, err := time.ParseDuration(text)
	if err != nil || days > 0 && rest < 0 || days+rest < days && days > 0 {
		return 0, false
	}
	return days + rest, true
}

func formatDuration(d time.Duration) string {
	switch {
	case d == 0:
		return "0"
	case d%day == 0:
		return strconv.FormatInt(int64(d/day), 10) + "d"
	}
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

var logLevels = map[string]slog.Level{
	"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError,
}

// maxDollars keeps amounts far from where arithmetic saturates.
const maxDollars = 1_000_000

// parseMoney reads a number of dollars to the nearest billionth.
func parseMoney(text string) (haltd.Money, bool) {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || !(f >= 0 && f <= maxDollars) {
		return 0, false
	}
	return haltd.Money(math.Round(f * float64(haltd.Dollar))), true
}

// setScalar reads text into target, a pointer to one of the types that the
// file writes as a single value. Its error says what was expected, without
// the text itself. handled is false for any other type.
func setScalar(target any, text string) (handled bool, err error) {
	var ok bool
	var expected string
	switch t := target.(type) {
	case *string:
		*t, ok = text, true
	case *Secret:
		*t, ok = Secret(text), true
	case *haltd.Ladder:
		expected = "warn, steer, reject, halt or kill, or a list of them"
		ok = t.Set([]string{text}) == nil
	case *bool:
		expected = "true or false"
		*t, ok = text == "true", text == "true" || text == "false"
	case *Excerpts:
		expected = "incidents, on or off"
		*t, ok = parseExcerpts(text)
	case *int:
		expected = "a whole number"
		n, err := strconv.Atoi(text)
		*t, ok = n, err == nil
	case *int64:
		expected = "a whole number"
		n, err := strconv.ParseInt(text, 10, 64)
		*t, ok = n, err == nil
	case *float64:
		expected = "a number"
		f, err := strconv.ParseFloat(text, 64)
		*t, ok = f, err == nil && !math.IsInf(f, 0) && !math.IsNaN(f)
	case *ByteSize:
		expected = "a size such as 32MiB"
		*t, ok = parseByteSize(text)
	case *time.Duration:
		expected = "a duration such as 30s, 12h or 30d"
		*t, ok = ParseDuration(text)
	case *slog.Level:
		expected = "debug, info, warn or error"
		*t, ok = logLevels[text]
	case *haltd.Money:
		expected = fmt.Sprintf("a number of US dollars from 0 to %d", maxDollars)
		*t, ok = parseMoney(text)
	case **url.URL:
		expected = "a URL such as https://api.example.com"
		u, err := url.Parse(text)
		*t, ok = u, err == nil
	default:
		v := reflect.ValueOf(target).Elem()
		if v.Kind() != reflect.String {
			return false, nil
		}
		v.SetString(text)
		ok = true
	}
	if !ok {
		return true, errors.New("expected " + expected)
	}
	return true, nil
}

// scalarText is what setScalar reads back, except for secrets. handled is
// false for types that are no single value.
func scalarText(value any) (text string, handled bool) {
	switch v := value.(type) {
	case string:
		return v, true
	case Secret:
		return v.String(), true
	case bool:
		return strconv.FormatBool(v), true
	case Excerpts:
		return string(v), true
	case int:
		return strconv.Itoa(v), true
	case int64:
		return strconv.FormatInt(v, 10), true
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), true
	case ByteSize:
		return v.String(), true
	case time.Duration:
		return formatDuration(v), true
	case slog.Level:
		return strings.ToLower(v.String()), true
	case haltd.Money:
		return v.String(), true
	case *url.URL:
		shown := *v
		shown.User = nil
		return shown.String(), true
	}
	if v := reflect.ValueOf(value); v.Kind() == reflect.String {
		return v.String(), true
	}
	return "", false
}
