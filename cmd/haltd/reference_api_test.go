package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/haltd/haltd/internal/cli"
)

type (
	// apiDocument is what the reference needs of an OpenAPI document.
	apiDocument struct {
		Paths      map[string]map[string]apiOperation
		Components struct{ Schemas map[string]*apiSchema }
	}
	apiOperation struct {
		Summary, Description string
		Role                 string `json:"x-role"`
		Security             []map[string]any
		Parameters           []struct {
			Name, In, Description string
			Required              bool
			Schema                *apiSchema
		}
		RequestBody struct{ Content map[string]apiContent }
		Responses   map[string]struct{ Content map[string]apiContent }
	}
	apiContent struct{ Schema *apiSchema }
	apiSchema  struct {
		Ref         string `json:"$ref"`
		Type        any
		Description string
		Enum        []any
		Properties  map[string]*apiSchema
		Required    []string
	}
)

func (d *apiDocument) resolve(s *apiSchema) *apiSchema {
	for s != nil && s.Ref != "" {
		s = d.Components.Schemas[path.Base(s.Ref)]
	}
	return s
}

// docs/api-reference.md has every route with what it takes and answers.
func TestReferenceOfTheAPIIsFresh(t *testing.T) {
	var out bytes.Buffer
	if err := (&openAPICmd{}).Run(&cli.Env{Stdout: &out}); err != nil {
		t.Fatal(err)
	}
	var api apiDocument
	if err := json.Unmarshal(out.Bytes(), &api); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	part := ""
	for _, route := range slices.SortedFunc(maps.Keys(api.Paths), comparePaths) {
		if p := partOf(route); p != part {
			part = p
			fmt.Fprintf(&b, "\n## %s\n", part)
		}
		for _, method := range []string{"get", "post", "put", "patch", "delete"} {
			if op, ok := api.Paths[route][method]; ok {
				describeRoute(&b, &api, strings.ToUpper(method)+" "+route, op)
			}
		}
	}
	fresh(t, "docs/api-reference.md", "routes", b.String())
}

// partOf is what a path is about: agents, incidents and so on.
func partOf(route string) string {
	if rest, ok := strings.CutPrefix(route, "/v1/"); ok {
		first, _, _ := strings.Cut(rest, "/")
		return strings.TrimSuffix(first, ".json")
	}
	return "the process"
}

func comparePaths(a, b string) int {
	if c := strings.Compare(partOf(a), partOf(b)); c != 0 {
		return c
	}
	return strings.Compare(a, b)
}

func describeRoute(b *strings.Builder, api *apiDocument, route string, op apiOperation) {
	role := "no token"
	if op.Role != "" {
		role = "`" + op.Role + "`"
	}
	if len(op.Security) > 1 {
		role += ", or a gateway key"
	}
	fmt.Fprintf(b, "\n### %s\n\n%s (%s).", route, op.Summary, role)
	if op.Description != "" {
		fmt.Fprintf(b, " %s", op.Description)
	}
	b.WriteString("\n")
	var rows []string
	row := func(name, where string, required bool, s *apiSchema, description string) {
		resolved := api.resolve(s)
		if description == "" && resolved != nil {
			description = resolved.Description
		}
		if resolved != nil && len(resolved.Enum) > 0 && len(resolved.Enum) < 12 {
			var choices []string
			for _, e := range resolved.Enum {
				choices = append(choices, fmt.Sprintf("`%v`", e))
			}
			description = strings.TrimSpace(description + " One of " + strings.Join(choices, ", ") + ".")
		}
		if required {
			where += ", needed"
		}
		rows = append(rows, fmt.Sprintf("| `%s` | %s | %s |\n", name, where, cell(description)))
	}
	for _, p := range op.Parameters {
		if p.In == "path" || p.In == "query" || p.Name == "Last-Event-ID" {
			row(p.Name, p.In, p.Required, p.Schema, p.Description)
		}
	}
	if body := api.resolve(op.RequestBody.Content["application/json"].Schema); body != nil {
		for _, name := range slices.Sorted(maps.Keys(body.Properties)) {
			row(name, "body", slices.Contains(body.Required, name), body.Properties[name], body.Properties[name].Description)
		}
	}
	if len(rows) > 0 {
		fmt.Fprintf(b, "\n| | | |\n|---|---|---|\n%s", strings.Join(rows, ""))
	}
	for _, status := range slices.Sorted(maps.Keys(op.Responses)) {
		s := api.resolve(op.Responses[status].Content["application/json"].Schema)
		if status == "default" || s == nil || len(s.Properties) == 0 {
			continue
		}
		fmt.Fprintf(b, "\nAnswers %s with `%s`.\n", status, strings.Join(slices.Sorted(maps.Keys(s.Properties)), "`, `"))
	}
}
