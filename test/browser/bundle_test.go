package browser

import (
	"io/fs"
	"strings"
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
		if err != nil || !strings.HasSuffix(name, ".js.gz") && !strings.HasSuffix(name, ".css.gz") {
			return err
		}
		file, err := d.Info()
		if err == nil {
			total += file.Size()
		}
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
