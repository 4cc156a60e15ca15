// Package web holds the dashboard as files in the binary. It knows nothing of
// haltd: whoever serves it asks for the files and adds the headers.
package web

import (
	"embed"
	"io/fs"
)

// The built dashboard lies in static/app and is not committed; without it
// the placeholder alone is embedded.
//
//go:embed all:static
var static embed.FS

// Built reports whether the dashboard was built before the binary was.
func Built() bool {
	_, err := fs.Stat(static, "static/app/index.html")
	return err == nil
}

// FS is the dashboard, or one page that says how to build it. Either has an
// index.html.
func FS() fs.FS {
	app, err := fs.Sub(static, "static/app")
	if err != nil || !Built() {
		return placeholder{}
	}
	return app
}

// placeholder is a file system of one page.
type placeholder struct{}

func (placeholder) Open(name string) (fs.File, error) {
	if name != "index.html" {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return static.Open("static/placeholder.html")
}
