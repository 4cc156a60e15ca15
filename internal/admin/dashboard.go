package admin

import (
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"

	"github.com/haltd/haltd"
)

// pageCSP lets the dashboard load its own files and nothing else. Its
// component library sets styles on elements, which needs unsafe-inline; no
// script may be inline.
const pageCSP = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
	"connect-src 'self'; font-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

// isPage reports whether a request that no route takes is for the dashboard.
func (s *server) isPage(r *http.Request) bool {
	return s.deps.Dashboard != nil && (r.Method == http.MethodGet || r.Method == http.MethodHead) &&
		r.URL.Path != "/v1" && !strings.HasPrefix(r.URL.Path, "/v1/")
}

// page serves a file of the dashboard, or the page itself for the paths that
// it routes by itself. A path that looks like a file and is none is not found.
// Files were compressed when the dashboard was built: nobody waits for it.
func (s *server) page(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(path.Clean(r.URL.Path), "/")
	info, err := fs.Stat(s.deps.Dashboard, name)
	isFile := name != "" && err == nil && !info.IsDir()
	if !isFile && path.Ext(name) != "" && strings.HasPrefix(name, "assets/") {
		writeProblem(w, newProblem(http.StatusNotFound, haltd.Errorf(haltd.CodeNotFound, "There is nothing at %s", r.URL.Path).
			WithFix("Load the page again: another version of haltd has other files.")))
		return
	}
	h := w.Header()
	h.Set("Content-Security-Policy", pageCSP)
	if isFile && strings.HasPrefix(name, "assets/") {
		h.Set("Cache-Control", "public, max-age=31536000, immutable") // its name holds its digest
	}
	if !isFile {
		name = "index.html"
	}
	h.Set("Vary", "Accept-Encoding")
	if _, err := fs.Stat(s.deps.Dashboard, name+".gz"); err == nil && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		h.Set("Content-Type", mime.TypeByExtension(path.Ext(name)))
		name += ".gz"
	}
	http.ServeFileFS(w, r, s.deps.Dashboard, name)
}
