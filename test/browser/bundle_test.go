package browser

import (
	"compress/gzip"
	"io"
	"io/fs"
	"path"
	"testing"

	"github.com/haltd/haltd/web"
)

// maxBundle is how many bytes all scripts and styles together may take on
// their way to a browser.
const maxBundle = 500_000

func TestBundleIsSmall(t *testing.T) {
	needDashboard(t)
	var total int64
	err := fs.WalkDir(web.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Ext(name) != ".js" && path.Ext(name) != ".css" {
			return err
		}
		content, err := fs.ReadFile(web.FS(), name)
		if err != nil {
			return err
		}
		size, err := zipped(content)
		total += size
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d KB of scripts and styles", total/1000)
	if total == 0 || total >= maxBundle {
		t.Errorf("scripts and styles take %d bytes with gzip, want less than %d", total, maxBundle)
	}
}

func zipped(content []byte) (int64, error) {
	var size counter
	w := gzip.NewWriter(&size)
	if _, err := w.Write(content); err != nil {
		return 0, err
	}
	err := w.Close()
	return int64(size), err
}

// counter is a writer that counts.
type counter int64

var _ io.Writer = (*counter)(nil)

func (c *counter) Write(p []byte) (int, error) { *c += counter(len(p)); return len(p), nil }
