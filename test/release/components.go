package main

import (
	"bytes"
	"cmp"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// component is something of others that is in the binary.
type component struct {
	Kind, Name, Version string // Kind is golang or npm
	Licence, Text       string
}

// components are the modules of a binary, and the packages of the dashboard
// inside.
func components(binary string) ([]component, error) {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return nil, err
	}
	list := []component{{Kind: "golang", Name: "std", Version: strings.TrimPrefix(info.GoVersion, "go"), Licence: "BSD-3-Clause", Text: "See https://go.dev/LICENSE."}}
	for _, m := range info.Deps {
		text, err := moduleLicence(m.Path, m.Version)
		if err != nil {
			return nil, err
		}
		list = append(list, component{"golang", m.Path, m.Version, classify(text), text})
	}
	packages, err := npmPackages("web")
	list = append(list, packages...)
	slices.SortFunc(list, func(a, b component) int {
		return cmp.Or(strings.Compare(a.Kind, b.Kind), strings.Compare(a.Name, b.Name), strings.Compare(a.Version, b.Version))
	})
	for _, c := range list {
		if err == nil && c.Licence == "" {
			err = fmt.Errorf("the licence of %s %s is not known: look at it, and teach classify", c.Name, c.Version)
		}
	}
	return list, err
}

func moduleLicence(path, version string) (string, error) {
	out, err := exec.Command("go", "list", "-m", "-json", path).Output()
	if err != nil {
		return "", fmt.Errorf("where is %s: %w", path, err)
	}
	var module struct{ Dir, Version string }
	if err := json.Unmarshal(out, &module); err != nil {
		return "", err
	}
	return licenceIn(module.Dir)
}

// licenceIn is the text of the licence in a folder; "" where there is none.
func licenceIn(dir string) (string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	for _, e := range entries {
		name := strings.ToUpper(e.Name())
		if !e.IsDir() && (strings.HasPrefix(name, "LICENSE") || strings.HasPrefix(name, "LICENCE") || strings.HasPrefix(name, "COPYING")) {
			text, err := os.ReadFile(filepath.Join(dir, e.Name()))
			return strings.TrimSpace(string(text)), err
		}
	}
	return "", nil
}

// classify knows a licence by what no other says.
func classify(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	for _, known := range []struct{ says, id string }{
		{"Apache License", "Apache-2.0"},
		{"Mozilla Public License Version 2.0", "MPL-2.0"},
		{"Neither the name", "BSD-3-Clause"},
		{"names of its contributors may", "BSD-3-Clause"},
		{"Redistribution and use in source and binary forms", "BSD-2-Clause"},
		{"Permission is hereby granted, free of charge", "MIT"},
		{"Permission to use, copy, modify, and/or distribute this software", "ISC"},
		{"Permission to use, copy, modify, and distribute this software", "ISC"},
		{"This is free and unencumbered software", "Unlicense"},
	} {
		if strings.Contains(text, known.says) {
			return known.id
		}
	}
	return ""
}

// npmPackages are those of the dashboard that are not for building it.
func npmPackages(dir string) (list []component, err error) {
	data, err := os.ReadFile(filepath.Join(dir, "package-lock.json"))
	if err != nil {
		return nil, err
	}
	var lock struct {
		Packages map[string]struct {
			Version, License string
			Dev, Optional    bool
		}
	}
	if err := json.Unmarshal(data, &lock); err != nil {
		return nil, err
	}
	for path, p := range lock.Packages {
		_, name, ok := cutLast(path, "node_modules/")
		if !ok || p.Dev || p.Optional {
			continue
		}
		text, _ := licenceIn(filepath.Join(dir, path)) // not every package has a file
		list = append(list, component{"npm", name, p.Version, cmp.Or(p.License, classify(text)), text})
	}
	return list, nil
}

func cutLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// licences is a text for people: what is inside, and the terms of it.
func licences(parts []component) []byte {
	var b bytes.Buffer
	b.WriteString("haltd is under the Apache License 2.0. It holds, or its dashboard does:\n\n")
	for _, c := range parts {
		fmt.Fprintf(&b, "%-12s %s %s (%s)\n", c.Licence, c.Name, c.Version, c.Kind)
	}
	for _, c := range parts {
		if c.Text != "" {
			fmt.Fprintf(&b, "\n\n%s\n%s %s\n\n%s\n", strings.Repeat("=", 78), c.Name, c.Version, c.Text)
		}
	}
	return b.Bytes()
}

// sbom is what is inside for programs: CycloneDX 1.5.
func sbom(version string, parts []component) []byte {
	type licence struct {
		Expression string `json:"expression"`
	}
	type item struct {
		Type     string    `json:"type"`
		Name     string    `json:"name"`
		Version  string    `json:"version"`
		URL      string    `json:"purl"`
		Licences []licence `json:"licenses"`
	}
	items := make([]item, len(parts))
	for i, c := range parts {
		items[i] = item{"library", c.Name, c.Version, "pkg:" + c.Kind + "/" + strings.ReplaceAll(c.Name, "@", "%40") + "@" + c.Version, []licence{{c.Licence}}}
	}
	text, err := json.MarshalIndent(map[string]any{
		"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
		"metadata":   map[string]any{"component": item{"application", "haltd", version, "pkg:golang/github.com/haltd/haltd@" + version, []licence{{"Apache-2.0"}}}},
		"components": items,
	}, "", "  ")
	if err != nil {
		panic(err) // plain data
	}
	return append(text, '\n')
}
