package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/haltd/haltd"
)

const adminToken = "bench-admin-token-0123456789abcdef"

// gateway is the haltd under measurement.
type gateway struct {
	admin string // address of its admin API
}

// startHaltd runs haltd as an operator would, with its record in dir.
func startHaltd(ctx context.Context, binary, dir, upstream string) (*target, error) {
	program, err := filepath.Abs(binary)
	if err == nil {
		_, err = os.Stat(program)
	}
	if err != nil {
		return nil, fmt.Errorf("find haltd: %w; make build makes it", err)
	}
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	admin, err := freeAddress()
	if err != nil {
		return nil, err
	}
	config := fmt.Sprintf(`gateway: {listen: %q}
admin: {listen: %q, token: %q}
data_dir: %q
providers:
  openai: {base_url: %q}
`, address, admin, adminToken, filepath.Join(dir, "data"), "http://"+upstream)
	path := filepath.Join(dir, "haltd.yaml")
	if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
		return nil, fmt.Errorf("write the configuration of haltd: %w", err)
	}
	p, err := start(ctx, dir, "haltd", address, program, "serve", "--config", path)
	if err != nil {
		return nil, err
	}
	return &target{name: "haltd", address: address, process: p, gateway: &gateway{admin}}, nil
}

// get reads one path of the admin API.
func (g *gateway) get(ctx context.Context, path string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+g.admin+path, nil)
	if err != nil {
		return nil, fmt.Errorf("ask haltd for %s: %w", path, err)
	}
	r.Header.Set("Authorization", "Bearer "+adminToken)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, fmt.Errorf("ask haltd for %s: %w", path, err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("status %d: %.300s", res.StatusCode, b)
	}
	if err != nil {
		return nil, fmt.Errorf("ask haltd for %s: %w", path, err)
	}
	return b, nil
}

// awaitEvents waits until as many calls are on record as were sent, 15
// seconds at most, and says how many there are.
func (g *gateway) awaitEvents(ctx context.Context, sent int64) (recorded int64, err error) {
	for range 30 {
		b, err := g.get(ctx, "/v1/stats")
		if err != nil {
			return 0, err
		}
		var stats haltd.Stats
		if err := json.Unmarshal(b, &stats); err != nil {
			return 0, fmt.Errorf("read haltd's stats: %w", err)
		}
		if recorded = stats.Totals.Calls; recorded >= sent {
			break
		}
		select {
		case <-ctx.Done():
			return recorded, ctx.Err()
		case <-time.After(500 * time.Millisecond):
		}
	}
	return recorded, nil
}

// overhead is haltd's own histogram of the time it adds.
func (g *gateway) overhead(ctx context.Context) (overhead, error) {
	b, err := g.get(ctx, "/metrics")
	if err != nil {
		return nil, err
	}
	return parseOverhead(string(b))
}

// overhead counts requests by the greatest number of seconds they may have
// taken.
type overhead map[float64]float64

func parseOverhead(metrics string) (overhead, error) {
	o := overhead{}
	for line := range strings.Lines(metrics) {
		rest, ok := strings.CutPrefix(line, `haltd_overhead_seconds_bucket{le="`)
		if !ok {
			continue
		}
		bound, count, _ := strings.Cut(strings.TrimSpace(rest), `"} `)
		seconds, err := strconv.ParseFloat(bound, 64)
		if err != nil {
			return nil, fmt.Errorf("read haltd_overhead_seconds: %w", err)
		}
		if o[seconds], err = strconv.ParseFloat(count, 64); err != nil {
			return nil, fmt.Errorf("read haltd_overhead_seconds: %w", err)
		}
	}
	if len(o) == 0 {
		return nil, fmt.Errorf("haltd's metrics have no haltd_overhead_seconds")
	}
	return o, nil
}

// add puts what was counted between two readings to what o has.
func (o overhead) add(before, after overhead) {
	for bound, n := range after {
		o[bound] += n - before[bound]
	}
}

// quantile is the time in milliseconds that the share q did not exceed,
// assuming that times are spread evenly within a bucket.
func (o overhead) quantile(q float64) float64 {
	bounds := make([]float64, 0, len(o))
	for b := range o {
		bounds = append(bounds, b)
	}
	slices.Sort(bounds)
	if len(bounds) == 0 || o[bounds[len(bounds)-1]] == 0 {
		return 0
	}
	rank := q * o[bounds[len(bounds)-1]]
	lower, below := 0.0, 0.0
	for _, upper := range bounds {
		if o[upper] >= rank {
			if math.IsInf(upper, 1) {
				break
			}
			return 1000 * (lower + (upper-lower)*(rank-below)/(o[upper]-below))
		}
		lower, below = upper, o[upper]
	}
	return 1000 * lower
}
