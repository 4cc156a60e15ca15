package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/url"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"github.com/haltd/haltd"
	"go.yaml.in/yaml/v3"
)

// decoder writes YAML nodes over a configuration that already holds its
// defaults. It goes on after a problem, so that one run reports them all.
type decoder struct {
	file     string
	env      func(string) (string, bool)
	lines    map[string]int    // where the file sets a key, by its full path
	origins  map[string]string // which environment variable set a key
	problems []problem
	warnings []string
	notices  []string
	// inOverride says that null is as good as nothing.
	inOverride bool
}

var yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?(.*)`)

// parse reads exactly one YAML document; nil means that there is nothing to
// decode.
func (d *decoder) parse(data []byte) *yaml.Node {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc, second yaml.Node
	err := dec.Decode(&doc)
	if errors.Is(err, io.EOF) {
		return nil
	}
	if err == nil {
		switch err = dec.Decode(&second); {
		case err == nil:
			d.problemAt(second.Line, "", "a second YAML document; keep everything in one")
			return nil
		case errors.Is(err, io.EOF):
			return doc.Content[0]
		}
	}
	line, text := 1, err.Error()
	if m := yamlLine.FindStringSubmatch(strings.ReplaceAll(text, "\n", " ")); m != nil {
		if n, err := strconv.Atoi(m[1]); err == nil {
			line = n
		}
		text = m[2]
	}
	if indentedByTab(data, line) {
		text += "; indent with spaces, YAML takes no tabs"
	}
	d.problemAt(line, "", "not valid YAML: %s", text)
	return nil
}

func indentedByTab(data []byte, line int) bool {
	lines := bytes.Split(data, []byte("\n"))
	if line < 1 || line > len(lines) {
		return false
	}
	text := lines[line-1]
	return bytes.ContainsRune(text[:len(text)-len(bytes.TrimLeft(text, " \t"))], '\t')
}

// override is what an agent has of its own: a pointer to a haltd.Override.
type override interface {
	Decode(decode func(settings any), isSet func(path string) bool)
}

// urlType is the one pointer that the file writes as a single value.
var urlType = reflect.TypeFor[*url.URL]()

// value decodes n into v. The depth of the configuration's types bounds its
// recursion, whatever the file's anchors and aliases do.
func (d *decoder) value(key string, n *yaml.Node, v reflect.Value) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	isNull := n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null"
	if isNull && (v.Kind() == reflect.Pointer || d.inOverride) { // as if it were left out
		delete(d.lines, key)
		return
	}
	if v.Kind() == reflect.Pointer && v.Type() != urlType {
		v.Set(reflect.New(v.Type().Elem()))
		d.value(key, n, v.Elem())
		return
	}
	if o, ok := v.Addr().Interface().(override); ok {
		d.inOverride = true
		o.Decode(func(settings any) { d.value(key, n, reflect.ValueOf(settings).Elem()) },
			func(path string) bool { return d.isSet(key + "." + path) })
		d.inOverride = false
		return
	}
	if l, ok := v.Addr().Interface().(*haltd.Ladder); ok && n.Kind == yaml.SequenceNode {
		var words []string
		d.value(key, n, reflect.ValueOf(&words).Elem())
		if err := l.Set(words); err != nil {
			d.problemAt(n.Line, key, "%v", err)
		}
		return
	}
	if handled := d.scalar(key, n, v.Addr().Interface()); handled {
		return
	}
	switch v.Kind() {
	case reflect.Struct, reflect.Map:
		if isNull { // a section whose keys are all commented out
			return
		}
		if n.Kind != yaml.MappingNode {
			d.problemAt(n.Line, key, "expected keys and values, got %s", describe(n))
			return
		}
		d.mapping(key, n, v)
	case reflect.Slice:
		if isNull {
			return
		}
		if n.Kind != yaml.SequenceNode {
			d.problemAt(n.Line, key, "expected a list, got %s", describe(n))
			return
		}
		list := reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content))
		for i, item := range n.Content {
			itemKey := fmt.Sprintf("%s[%d]", key, i)
			d.lines[itemKey] = item.Line
			d.value(itemKey, item, list.Index(i))
		}
		v.Set(list)
	}
}

// scalar decodes n if target is a single value.
func (d *decoder) scalar(key string, n *yaml.Node, target any) (handled bool) {
	if n.Kind != yaml.ScalarNode {
		if handled, err := setScalar(target, ""); handled {
			expected := "expected a text"
			if err != nil {
				expected = err.Error()
			}
			d.problemAt(n.Line, key, "%s, got %s", expected, describe(n))
			return true
		}
		return false
	}
	text, err := substitute(n.Value, d.env)
	if err != nil {
		d.problemAt(n.Line, key, "%v", err)
		return true
	}
	handled, err = setScalar(target, text)
	if !handled {
		return false
	}
	if err == nil && isText(target) && (n.ShortTag() == "!!null" || n.ShortTag() == "!!bool") {
		err = errors.New("expected a text")
	}
	if err != nil {
		d.problemAt(n.Line, key, "%v%s", err, got(n, text, target))
	}
	return true
}

// got ends a message with what was found, where that cannot be a secret.
func got(n *yaml.Node, text string, target any) string {
	switch _, isURL := target.(**url.URL); {
	case isURL:
		return "" // a password may stand in it
	case n.ShortTag() == "!!str" || text != n.Value:
		return ", got " + quote(text)
	}
	return ", got " + describe(n)
}

func isText(target any) bool { return reflect.TypeOf(target).Elem().Kind() == reflect.String }

// describe names what stands in the file in place of what was expected.
func describe(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "keys and values"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.ShortTag() == "!!null":
		return "nothing"
	case n.ShortTag() == "!!str":
		return quote(n.Value)
	}
	return n.Value
}

// quote keeps a message on one line of bearable length.
func quote(text string) string {
	const most = 60
	if len(text) > most {
		return fmt.Sprintf("%.*q…", most, text)
	}
	return strconv.Quote(text)
}

// mapping decodes the keys of n into a struct or into a map by name.
func (d *decoder) mapping(key string, n *yaml.Node, v reflect.Value) {
	first := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		name, value := n.Content[i], n.Content[i+1]
		if name.Kind != yaml.ScalarNode {
			d.problemAt(name.Line, key, "expected a name as key, got %s", describe(name))
			continue
		}
		path := join(key, name.Value)
		if line, twice := first[name.Value]; twice {
			d.problemAt(name.Line, path, "set twice; line %d has it already", line)
			continue
		}
		first[name.Value] = name.Line
		if v.Kind() == reflect.Map {
			d.entry(path, name, value, v)
			continue
		}
		field, ok := fieldNamed(v, name.Value)
		if !ok {
			d.problemAt(name.Line, path, "unknown key; %s", suggest(name.Value, fieldNames(v.Type())))
			continue
		}
		d.lines[path] = name.Line
		d.value(path, value, field)
	}
}

// entry decodes over the entry that the map already has under that name.
func (d *decoder) entry(path string, name, value *yaml.Node, m reflect.Value) {
	d.lines[path] = name.Line
	if m.IsNil() {
		m.Set(reflect.MakeMap(m.Type()))
	}
	entry := reflect.New(m.Type().Elem()).Elem()
	if old := m.MapIndex(reflect.ValueOf(name.Value)); old.IsValid() {
		entry.Set(old)
	}
	d.value(path, value, entry)
	m.SetMapIndex(reflect.ValueOf(name.Value), entry)
}

var plainName = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// join appends a name to a path. Names with dots and the like are quoted, so
// that two keys never share a path.
func join(key, name string) string {
	switch {
	case !plainName.MatchString(name):
		return key + "[" + quote(name) + "]"
	case key == "":
		return name
	}
	return key + "." + name
}

// keyOf is the name of a field in the file; "" for one that the file cannot
// set.
func keyOf(f reflect.StructField) string {
	tag, ok := f.Tag.Lookup("yaml")
	if !ok { // settings have one name everywhere
		tag = f.Tag.Get("json")
	}
	name, _, _ := strings.Cut(tag, ",")
	if name == "-" {
		return ""
	}
	return name
}

// fieldNames are the keys of a struct, those of embedded structs among them.
func fieldNames(t reflect.Type) []string {
	var names []string
	for _, f := range reflect.VisibleFields(t) {
		if name := keyOf(f); name != "" {
			names = append(names, name)
		}
	}
	return names
}

func fieldNamed(v reflect.Value, name string) (reflect.Value, bool) {
	for _, f := range reflect.VisibleFields(v.Type()) {
		if key := keyOf(f); key == name && key != "" {
			return v.FieldByIndex(f.Index), true
		}
	}
	return reflect.Value{}, false
}
