package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/haltd/haltd"
	"go.yaml.in/yaml/v3"
)

// Redacted is the effective configuration as YAML in the order of the
// documentation, with secrets replaced. A secret that came from a file shows
// as the name of that file.
func (c *Config) Redacted() ([]byte, error) {
	var out bytes.Buffer
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(2)
	if err := enc.Encode(node(reflect.ValueOf(*c))); err != nil {
		return nil, fmt.Errorf("writing the configuration as YAML: %w", err)
	}
	return out.Bytes(), nil
}

func node(v reflect.Value) *yaml.Node {
	_, isLadder := v.Interface().(haltd.Ladder)
	if m, ok := v.Interface().(json.Marshaler); ok && (v.Kind() == reflect.Struct || isLadder) {
		return jsonNode(m)
	}
	if text, ok := scalarText(v.Interface()); ok {
		n := &yaml.Node{Kind: yaml.ScalarNode, Value: text}
		if v.Kind() == reflect.String {
			n.Tag = "!!str"
		}
		return n
	}
	switch v.Kind() {
	case reflect.Pointer:
		return node(v.Elem())
	case reflect.Struct:
		return structNode(v)
	case reflect.Map:
		n := &yaml.Node{Kind: yaml.MappingNode}
		for _, key := range sortedKeys(stringKeys(v)) {
			n.Content = append(n.Content, name(key), node(v.MapIndex(reflect.ValueOf(key))))
		}
		return n
	}
	n := &yaml.Node{Kind: yaml.SequenceNode}
	if v.Len() == 0 || v.Type().Elem().Kind() != reflect.Struct {
		n.Style = yaml.FlowStyle
	}
	for i := range v.Len() {
		n.Content = append(n.Content, node(v.Index(i)))
	}
	return n
}

// jsonNode is what an override says, which knows itself what is set.
func jsonNode(m json.Marshaler) *yaml.Node {
	text, err := m.MarshalJSON()
	var doc yaml.Node
	if err == nil {
		err = yaml.Unmarshal(text, &doc)
	}
	if err != nil { // plain words and numbers
		panic(err)
	}
	inBlocks(doc.Content[0])
	return doc.Content[0]
}

// inBlocks writes JSON as a person writes YAML: lists of words in one line,
// everything else line by line.
func inBlocks(n *yaml.Node) {
	n.Style = 0
	if n.Kind == yaml.SequenceNode && (len(n.Content) == 0 || n.Content[0].Kind == yaml.ScalarNode) {
		n.Style = yaml.FlowStyle
	}
	for _, inner := range n.Content {
		inBlocks(inner)
	}
}

// structNode leaves out what is not set and what a secret's file stands for.
func structNode(v reflect.Value) *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode}
	for _, f := range reflect.VisibleFields(v.Type()) {
		key := keyOf(f)
		if key == "" {
			continue
		}
		value := v.FieldByIndex(f.Index)
		if value.IsZero() && saysNothing(f) {
			continue
		}
		if file, ok := fieldNamed(v, key+"_file"); ok && file.Len() > 0 {
			continue
		}
		n.Content = append(n.Content, name(key), node(value))
	}
	return n
}

// saysNothing reports whether the zero value of a field means that it is not
// set.
func saysNothing(f reflect.StructField) bool {
	kind := f.Type.Kind()
	return kind == reflect.String || kind == reflect.Pointer || strings.HasSuffix(f.Tag.Get("yaml"), ",omitempty")
}

func name(key string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: key}
}

func stringKeys(m reflect.Value) map[string]struct{} {
	keys := make(map[string]struct{}, m.Len())
	for _, k := range m.MapKeys() {
		keys[k.String()] = struct{}{}
	}
	return keys
}
