package app

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/config"
	"github.com/haltd/haltd/internal/store/postgres"
	"github.com/haltd/haltd/internal/store/sqlite"
)

// Migrate copies the record of data_dir into the empty database of store.url
// and says how far it is. Both are as they were when it fails, and the original
// always is.
func Migrate(ctx context.Context, configPath string, env func(string) (string, bool), out io.Writer) (err error) {
	cfg, err := config.Load(configPath, env)
	if err != nil {
		return err
	}
	if cfg.Store.URL == "" {
		return haltd.Errorf(haltd.CodeInvalid, "not set; it names the PostgreSQL database to copy to").In("store.url").
			WithFix("Set store.url in the configuration, or HALTD_STORE_URL.")
	}
	path := filepath.Join(cfg.DataDir, "haltd.db")
	if _, err := os.Stat(path); err != nil {
		return haltd.Errorf(haltd.CodeNotFound, "there is no record at %s", path).In("data_dir").WithFix("Set data_dir to the folder that holds haltd.db.")
	}
	lock, err := lockDataDir(cfg.DataDir)
	if err != nil {
		return err
	}
	defer lock.Close()
	from, err := sqlite.Open(ctx, path)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := postgres.Open(ctx, cfg.Store.URL.Reveal(), cfg.SealKey.Reveal())
	if err != nil {
		return err
	}
	defer to.Close()
	last := ""
	sums, err := to.Import(ctx, from, func(table string, rows, of int64) {
		if table != last && last != "" {
			fmt.Fprintln(out)
		}
		last = table
		fmt.Fprintf(out, "\r%-18s %10d ", table, rows)
		if of > 0 {
			fmt.Fprintf(out, "of %d ", of)
		}
		fmt.Fprint(out, "rows")
	})
	fmt.Fprintln(out)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "\nBoth records have the same:")
	for _, what := range slices.Sorted(maps.Keys(sums)) {
		fmt.Fprintf(out, "  %-22s %d\n", what, sums[what])
	}
	if cfg.SealKey == "" {
		fmt.Fprintln(out, "\nExcerpts were left behind: seal_key is not set.")
	}
	fmt.Fprintln(out, "\nDone. Start haltd with this configuration; "+path+" is as it was and may be kept as a backup.")
	return nil
}
