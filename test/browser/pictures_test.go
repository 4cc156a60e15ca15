//go:build pictures

package browser

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"maps"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/haltd/haltd/test/fakellm"
	"github.com/haltd/haltd/test/harness"
)

// TestDrawDashboard makes the pictures of the dashboard, from a haltd with a
// day behind it, in the folder that HALTD_PICTURES names.
func TestDrawDashboard(t *testing.T) {
	folder := os.Getenv("HALTD_PICTURES")
	if folder == "" {
		t.Fatal("HALTD_PICTURES names no folder for the pictures; make screenshots sets it")
	}
	t.Run("first-run", func(t *testing.T) {
		drawIn(t, startAt(t, t.TempDir()), folder, "first-run", "/", desktop)
	})
	n := startAt(t, recorded(t, yesterday))
	s := tell(t, n, newReceiver(t).URL, 300*time.Millisecond)
	for _, page := range s.paths() {
		drawIn(t, n, folder, page[0], page[1], desktop)
	}
	drawIn(t, n, folder, "incident-phone", "/incidents/"+s.killed, phone)
	p := newStranger(t, n)
	p.expect("status of 401")
	p.open("/sign-in")
	p.draw(folder, "sign-in", desktop)
}

// startAt runs a haltd on the usual ports, so that the pictures show them.
func startAt(t *testing.T, folder string) *node {
	t.Helper()
	const provider = "127.0.0.1:9001"
	listener, err := net.Listen("tcp", provider)
	if err != nil {
		t.Fatal(err)
	}
	upstream := httptest.NewUnstartedServer(fakellm.New(harness.Scripted))
	upstream.Listener.Close()
	upstream.Listener = listener
	upstream.Start()
	t.Cleanup(upstream.Close)
	return run(t, harness.At(folder, "127.0.0.1:7070", "127.0.0.1:7071"), "http://"+provider, allowInternal)
}

func drawIn(t *testing.T, n *node, folder, name, path string, l look) {
	t.Helper()
	p := newTab(t, n)
	p.open(path)
	p.draw(folder, name, l)
}

// draw makes a picture of the page in both schemes: of all of it, or of as
// much as a long listing shows at first.
func (p *tab) draw(folder, name string, l look) {
	p.t.Helper()
	for _, l := range []look{l, l.dark()} {
		p.show(l)
		p.settled()
		if name != "events" && name != "sessions" {
			p.unroll(l)
		}
		shot, err := chromedp.Call(p.ctx, page.CaptureScreenshot, page.CaptureScreenshotParams{Format: page.CaptureScreenshotFormatPng})
		if err != nil {
			p.t.Fatalf("draw %s: %v", name, err)
		}
		file := name + ".png"
		if l.scheme == "dark" {
			file = name + "-dark.png"
		}
		if err := write(filepath.Join(folder, file), shot.Data); err != nil {
			p.t.Fatal(err)
		}
	}
}

// unroll makes the window as high as the page, so that what is fixed to the
// window stands once and not in mid-page.
func (p *tab) unroll(l look) {
	p.t.Helper()
	p.eventually(func() bool {
		height := int64(evaluate[float64](p, "Math.ceil(document.documentElement.scrollHeight)"))
		if height <= l.height {
			return true
		}
		l.height = height
		p.show(l)
		p.settled()
		return false
	}, func() string { return "the page grows without end" })
}

// write packs a picture into 256 colours, which is enough for flat surfaces
// and text, at a third of the size.
func write(path string, picture []byte) error {
	drawn, err := png.Decode(bytes.NewReader(picture))
	if err != nil {
		return err
	}
	bounds := drawn.Bounds()
	count := map[color.Color]int{}
	for y := range bounds.Dy() {
		for x := range bounds.Dx() {
			count[drawn.At(x, y)]++
		}
	}
	palette := paletteOf(count)
	index := map[color.Color]uint8{}
	for c := range count {
		index[c] = uint8(palette.Index(c))
	}
	packed := image.NewPaletted(bounds, palette)
	for y := range bounds.Dy() {
		for x := range bounds.Dx() {
			packed.SetColorIndex(x, y, index[drawn.At(x, y)])
		}
	}
	var out bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, packed); err != nil {
		return err
	}
	return os.WriteFile(path, out.Bytes(), 0o644)
}

// paletteOf are the most common colours that are not all but alike.
func paletteOf(count map[color.Color]int) (palette color.Palette) {
	for _, c := range slices.SortedFunc(maps.Keys(count), func(a, b color.Color) int { return count[b] - count[a] }) {
		if len(palette) == 0 || len(palette) < 256 && !alike(c, palette.Convert(c)) {
			palette = append(palette, c)
		}
	}
	return palette
}

func alike(a, b color.Color) bool {
	const near = 5 << 8 // of 16 bits
	r, g, bl, _ := a.RGBA()
	r2, g2, bl2, _ := b.RGBA()
	return max(r, r2)-min(r, r2) < near && max(g, g2)-min(g, g2) < near && max(bl, bl2)-min(bl, bl2) < near
}
