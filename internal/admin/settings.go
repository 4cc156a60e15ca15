package admin

import (
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/haltd/haltd"
)

// partial describes a struct of settings of which everything may be left out
// and, where nulls is true, be null.
func partial[P any](r huma.Registry, nulls bool) *huma.Schema {
	return optional(r, r.Schema(reflect.TypeFor[P](), false, ""), nulls)
}

func optional(r huma.Registry, s *huma.Schema, nulls bool) *huma.Schema {
	if len(s.OneOf) > 0 { // a ladder, of which a word may be null
		either := *s
		either.Default = nil
		if nulls {
			word := *s.OneOf[0]
			word.Nullable = true
			either.OneOf = slices.Concat([]*huma.Schema{&word}, s.OneOf[1:])
		}
		return &either
	}
	if s.Type != huma.TypeObject {
		leaf := *s
		leaf.Nullable, leaf.Default = nulls, nil // what is left out stays as it is
		return &leaf
	}
	part := &huma.Schema{Type: huma.TypeObject, Description: s.Description, AdditionalProperties: false, Nullable: nulls, Properties: map[string]*huma.Schema{}}
	for name, p := range s.Properties {
		description := p.Description
		if p.Ref != "" {
			p = r.SchemaFromRef(p.Ref)
		}
		inner := optional(r, p, nulls)
		if description != "" {
			inner.Description = description
		}
		part.Properties[name] = inner
	}
	part.PrecomputeMessages()
	return part
}

// ladder describes a haltd.Ladder: one rung, or a list of them.
type ladder struct{}

func (ladder) Schema(huma.Registry) *huma.Schema {
	rung := func() *huma.Schema {
		return &huma.Schema{Type: huma.TypeString, Enum: []any{"warn", "steer", "reject", "halt", "kill"}}
	}
	s := &huma.Schema{OneOf: []*huma.Schema{rung(), {Type: huma.TypeArray, Items: rung(), MinItems: new(1)}}}
	for _, one := range s.OneOf {
		one.PrecomputeMessages()
	}
	s.PrecomputeMessages()
	return s
}

// namedSchema makes a schema a component and answers a reference to it.
func namedSchema(r huma.Registry, name string, s *huma.Schema) *huma.Schema {
	s.Nullable = false
	s.PrecomputeMessages()
	r.Map()[name] = s
	return &huma.Schema{Ref: "#/components/schemas/" + name}
}

// describeDefaults adds to the description of a struct of settings what each
// is where nobody said anything.
func describeDefaults[P any](r huma.Registry) {
	for _, section := range haltd.SettingsOf[P]() {
		for _, setting := range section.Settings {
			s := r.Schema(reflect.TypeFor[P](), false, "")
			for name := range strings.SplitSeq(setting.Path, ".") {
				if s = s.Properties[name]; s.Ref != "" {
					s = r.SchemaFromRef(s.Ref)
				}
			}
			s.Default = setting.Default
		}
	}
}
