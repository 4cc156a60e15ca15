package admin

import (
	"reflect"
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
