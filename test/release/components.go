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
	"runtime/debug"
	"slices"
	"strings"
)

// component is something of others that is in the binary.
type component struct {
	Kind, Name, Version string // Kind is golang or npm
	Licence             string
	Text                string // of its licence, of those it names besides, and its notices
}

// components are the modules of a binary, and the packages of the dashboard
// inside.
func components(binary string) ([]component, error) {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return nil, err
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("where is Go: %w", err)
	}
	licence, text, err := terms(strings.TrimSpace(string(root)))
	if err != nil {
		return nil, err
	}
	list := []component{{"golang", "std", strings.TrimPrefix(info.GoVersion, "go"), licence, text}}
	folders, err := moduleFolders(info.Deps)
	if err != nil {
		return nil, err
	}
	for i, m := range info.Deps {
		licence, text, err := terms(folders[i])
		if err != nil {
			return nil, err
		}
		list = append(list, component{"golang", m.Path, m.Version, licence, text})
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

// moduleFolders are where the sources of modules are, in their order.
func moduleFolders(modules []*debug.Module) ([]string, error) {
	args := []string{"list", "-m", "-f", "{{.Dir}}"}
	for _, m := range modules {
		args = append(args, m.Path)
	}
	out, err := exec.Command("go", args...).Output()
	folders := strings.Split(strings.TrimSpace(string(out)), "\n")
	if err != nil || len(folders) != len(modules) {
		return nil, fmt.Errorf("where are the modules: %d of %d: %w", len(folders), len(modules), err)
	}
	return folders, nil
}

// terms are the licence of what is in a folder, known by the first file that has
// one, and the text of all such files: who passes a program on also passes on the
// licences of what was taken into it, and notices. Both are "" where there are none.
func terms(dir string) (licence, text string, err error) {
	entries, err := os.ReadDir(dir) // in the order of their names
	if err != nil {
		return "", "", err
	}
	var texts []string
	for _, kind := range []string{"LICENSE", "LICENCE", "COPYING", "NOTICE", "PATENTS"} {
		for _, e := range entries {
			if e.IsDir() || !strings.HasPrefix(strings.ToUpper(e.Name()), kind) {
				continue
			}
			b, err := os.ReadFile(filepath.Join(dir, e.Name()))
			if err != nil {
				return "", "", err
			}
			texts = append(texts, strings.TrimSpace(string(b)))
		}
	}
	if len(texts) == 0 {
		return "", "", nil
	}
	return classify(texts[0]), strings.Join(texts, "\n\n"), nil
}

// classify knows licences by what no other says. A file may hold several, each for
// a part of what it comes with; all of them hold then.
func classify(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	var ids []string
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
		if strings.Contains(text, known.says) && !slices.Contains(ids, known.id) && !(known.id == "BSD-2-Clause" && slices.Contains(ids, "BSD-3-Clause")) {
			ids = append(ids, known.id)
		}
	}
	slices.Sort(ids)
	return strings.Join(ids, " AND ")
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
		licence, text, _ := terms(filepath.Join(dir, path)) // not every package has a file
		list = append(list, component{"npm", name, p.Version, cmp.Or(p.License, licence), text})
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
