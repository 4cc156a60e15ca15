package pricing

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/haltd/haltd"
)

// Where prices come from.
const (
	fromConfig  = "configuration"
	fromLoaded  = "loaded"
	fromBuiltIn = "built-in"
)

// List is a table of prices with its source and the day on which it was read.
type List struct {
	Source, Date string

	prices names
	models []string // as the file calls them
}

// Bounds of a table that somebody loads.
const (
	maxModels   = 10_000
	maxPrice    = 1_000_000 * haltd.Dollar
	maxMaxReply = 10_000_000
)

// listFile is a table as files have it; internal/pricing/prices.json is one.
type listFile struct {
	Source string     `json:"source"`
	Date   string     `json:"date"`
	Models modelFiles `json:"models"`
}

// modelFiles has each model once: of two, one would win unseen.
type modelFiles map[string]json.RawMessage

func (m *modelFiles) UnmarshalJSON(data []byte) error {
	d := json.NewDecoder(bytes.NewReader(data))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return haltd.Errorf(haltd.CodeInvalid, "expected an object with the models by name").In("models")
	}
	*m = modelFiles{}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		var model json.RawMessage
		if err := d.Decode(&model); err != nil {
			return err
		}
		if _, twice := (*m)[name.(string)]; twice { // the key of an object is one
			return haltd.Errorf(haltd.CodeInvalid, "is there twice").In("models." + name.(string))
		}
		(*m)[name.(string)] = model
	}
	return nil
}

type modelFile struct {
	Input      *haltd.Money `json:"input"`
	Output     *haltd.Money `json:"output"`
	CacheRead  *haltd.Money `json:"cache_read"`
	CacheWrite *haltd.Money `json:"cache_write"`
	MaxOutput  int64        `json:"max_output"`
	Hides      bool         `json:"hides_thoughts"`
}

// ReadList reads a table. What is wrong with it is CodeInvalid and names the
// field.
func ReadList(data []byte) (*List, error) {
	var file listFile
	if err := readStrict(data, &file, ""); err != nil {
		return nil, err
	}
	if strings.TrimSpace(file.Source) == "" {
		return nil, haltd.Errorf(haltd.CodeInvalid, "a price table says where its prices were read").In("source")
	}
	if _, err := time.Parse(time.DateOnly, file.Date); err != nil {
		return nil, haltd.Errorf(haltd.CodeInvalid, "expected the day on which the prices were read, such as 2026-11-01, got %q", file.Date).In("date")
	}
	if len(file.Models) == 0 || len(file.Models) > maxModels {
		return nil, haltd.Errorf(haltd.CodeInvalid, "expected 1 to %d models, got %d", maxModels, len(file.Models)).In("models")
	}
	list := &List{Source: file.Source, Date: file.Date, prices: make(names, len(file.Models)), models: slices.Sorted(maps.Keys(file.Models))}
	for _, name := range list.models {
		price, err := readModel("models."+name, name, file.Models[name])
		if err != nil {
			return nil, err
		}
		list.prices[canonical(strings.ToLower(name))] = price
	}
	return list, nil
}

func readModel(field, name string, data []byte) (p Price, err error) {
	if name == "" || len(name) > maxName || strings.Contains(name, "*") {
		return p, haltd.Errorf(haltd.CodeInvalid, "expected the name of a model, got %.300q", name).In("models").WithFix("Patterns belong under pricing.models in the configuration.")
	}
	var m modelFile
	if err := readStrict(data, &m, field); err != nil {
		return p, err
	}
	if m.Input == nil || m.Output == nil {
		return p, haltd.Errorf(haltd.CodeInvalid, "a model needs input and output, in US dollars for a million tokens").In(field)
	}
	p = Flat(*m.Input, *m.Output)
	p.MaxOutput, p.hidesThoughts = m.MaxOutput, m.Hides
	if m.CacheRead != nil {
		p.CacheRead = *m.CacheRead
	}
	if m.CacheWrite != nil {
		p.CacheWrite = *m.CacheWrite
	}
	for _, part := range []struct {
		name   string
		amount haltd.Money
	}{{"input", p.Input}, {"output", p.Output}, {"cache_read", p.CacheRead}, {"cache_write", p.CacheWrite}} {
		if part.amount < 0 || part.amount > maxPrice {
			return p, haltd.Errorf(haltd.CodeInvalid, "expected 0 to %s dollars for a million tokens, got %s", maxPrice, part.amount).In(field + "." + part.name)
		}
	}
	if m.MaxOutput < 0 || m.MaxOutput > maxMaxReply {
		return p, haltd.Errorf(haltd.CodeInvalid, "expected 0 to %d tokens, got %d", maxMaxReply, m.MaxOutput).In(field + ".max_output")
	}
	return p, nil
}

// readStrict reads one JSON object with known fields only.
func readStrict(data []byte, into any, field string) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	err := d.Decode(into)
	if err == nil {
		if _, more := d.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("there is more behind the table")
		}
	}
	if err == nil {
		return nil
	}
	var named *haltd.Error
	if errors.As(err, &named) {
		return named
	}
	var kind *json.UnmarshalTypeError
	if errors.As(err, &kind) {
		field = strings.Trim(field+"."+kind.Field, ".")
		err = fmt.Errorf("expected another kind of value than %s", kind.Value)
	}
	return haltd.Errorf(haltd.CodeInvalid, "%s", strings.TrimPrefix(err.Error(), "json: ")).In(field).
		WithFix(`A price table looks like {"source": "…", "date": "2026-11-01", "models": {"gpt-5": {"input": 1.25, "output": 10}}}.`)
}

// IsOlder reports a table that was read before the one in the binary.
func (l *List) IsOlder() bool { return l.Date < embedded().Date }

// Source names the newest list of the table and the day on which it was read.
func (t *Table) Source() string {
	newest := t.lists()[0]
	return newest.Source + ", " + newest.Date
}

// List is all that the table knows, in the order of names.
func (t *Table) List() haltd.PriceList {
	out := haltd.PriceList{Default: modelPrice("*", t.def, "pricing.default")}
	byName := map[string]haltd.ModelPrice{}
	add := func(from, model string, p Price) {
		if _, ok := byName[canonical(model)]; !ok {
			byName[canonical(model)] = modelPrice(model, p, from)
		}
	}
	if n := len(t.overrides) + len(t.patterns); n > 0 {
		out.Tables = append(out.Tables, haltd.PriceTable{From: fromConfig, Models: n})
	}
	for model, p := range t.overrides {
		add(fromConfig, model, p)
	}
	for _, p := range t.patterns {
		add(fromConfig, p.text, p.price)
	}
	for _, l := range t.lists() {
		from := fromBuiltIn
		if l == t.newer {
			from = fromLoaded
		}
		out.Tables = append(out.Tables, haltd.PriceTable{From: from, Source: l.Source, Date: l.Date, Models: len(l.models)})
		for _, model := range l.models {
			add(from, strings.ToLower(model), l.prices[canonical(strings.ToLower(model))])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		out.Models = append(out.Models, byName[name])
	}
	return out
}

func modelPrice(model string, p Price, from string) haltd.ModelPrice {
	return haltd.ModelPrice{Model: model, Input: p.Input, Output: p.Output, CacheRead: p.CacheRead, CacheWrite: p.CacheWrite, MaxOutput: p.MaxOutput, From: from}
}
