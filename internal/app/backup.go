package app

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/config"
	"github.com/haltd/haltd/internal/store/sqlite"
)

// What the data directory holds: the record, what the store was slow to take,
// and the lock of who uses it.
const (
	databaseFile = "haltd.db"
	recentFile   = "recent.jsonl"
	lockFile     = "haltd.lock"
)

// Backup writes the record, as it is now, and the key of the secrets in it: a
// compressed tar that Restore reads. A haltd may run at the same time; what it
// has not written yet, a second's events at most, is not part of it.
func Backup(ctx context.Context, o Options, w io.Writer) (err error) {
	cfg, err := config.Load(o.ConfigPath, o.Env)
	if err != nil {
		return err
	}
	if cfg.Store.URL != "" {
		return errSharedRecord("pg_dump")
	}
	database := filepath.Join(cfg.DataDir, databaseFile)
	if _, err := os.Stat(database); err != nil {
		return haltd.Errorf(haltd.CodeNotFound, "There is no record in the data directory %s: %v", cfg.DataDir, cause(err)).
			WithFix("Use --config with the file that haltd runs with, as the user that it runs as.")
	}
	folder, err := os.MkdirTemp(cfg.DataDir, "backup-")
	if err != nil {
		return haltd.Errorf(haltd.CodeUnavailable, "The data directory %s cannot be written: %v", cfg.DataDir, cause(err)).
			WithFix("Run this as the user that haltd runs as.")
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	copied := filepath.Join(folder, databaseFile)
	if err := sqlite.Snapshot(ctx, database, copied); err != nil {
		return err
	}
	zipped := gzip.NewWriter(w)
	archive := tar.NewWriter(zipped)
	if err := pack(archive, databaseFile, copied, o.Clock()); err != nil {
		return err
	}
	// The key follows the record, so that no secret in it was sealed with a
	// later key.
	err = pack(archive, sqlite.KeyFile, filepath.Join(cfg.DataDir, sqlite.KeyFile), o.Clock())
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // before the first channel there is none
		return err
	}
	if err := errors.Join(archive.Close(), zipped.Close()); err != nil {
		return fmt.Errorf("write the backup: %w", err)
	}
	return nil
}

func pack(archive *tar.Writer, name, path string, at time.Time) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	head := &tar.Header{Name: name, Mode: 0o600, Size: info.Size(), ModTime: at, Format: tar.FormatPAX}
	if err := archive.WriteHeader(head); err != nil {
		return fmt.Errorf("write the backup: %w", err)
	}
	if _, err := io.Copy(archive, f); err != nil {
		return fmt.Errorf("write the backup: %w", err)
	}
	return nil
}

// errSharedRecord refuses what PostgreSQL's own tools do better.
func errSharedRecord(tool string) error {
	return haltd.Errorf(haltd.CodeUnavailable, "The record is in the PostgreSQL database of store.url, not in the data directory").
		WithFix("Use %s; docs/scaling.md has the commands.", tool)
}

// Restore makes a backup the record of a haltd that does not run. A record
// that is there already is replaced only when asked for, and kept under the
// name that Restore answers.
func Restore(ctx context.Context, o Options, r io.Reader, replace bool) (kept string, err error) {
	cfg, err := config.Load(o.ConfigPath, o.Env)
	if err != nil {
		return "", err
	}
	if cfg.Store.URL != "" {
		return "", errSharedRecord("pg_restore")
	}
	lock, err := lockDataDir(cfg.DataDir)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	database := filepath.Join(cfg.DataDir, databaseFile)
	_, missing := os.Stat(database)
	if missing == nil && !replace {
		return "", haltd.Errorf(haltd.CodeExists, "The data directory %s holds a record already", cfg.DataDir).
			WithFix("Use --replace to put the backup in its place; the old record is kept beside it.")
	}
	folder, err := os.MkdirTemp(cfg.DataDir, "restore-")
	if err != nil {
		return "", haltd.Errorf(haltd.CodeUnavailable, "The data directory %s cannot be written: %v", cfg.DataDir, cause(err)).
			WithFix("Run this as the user that haltd runs as.")
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	if err := unpack(r, folder); err != nil {
		return "", err
	}
	if err := sqlite.Verify(ctx, filepath.Join(folder, databaseFile)); err != nil {
		return "", err
	}
	if missing == nil {
		kept = filepath.Join(cfg.DataDir, "before-restore-"+o.Clock().UTC().Format("20060102T150405.000Z"))
	}
	if err := exchange(cfg.DataDir, folder, kept); err != nil {
		return kept, err
	}
	return kept, leaveToOwner(cfg.DataDir, databaseFile, sqlite.KeyFile, lockFile, filepath.Base(kept))
}

// leaveToOwner gives files of a data directory to whom it belongs: haltd, which
// is not root, must be able to read what root restored.
func leaveToOwner(dir string, names ...string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	owner, known := info.Sys().(*syscall.Stat_t)
	if !known || os.Geteuid() != 0 {
		return nil
	}
	for _, name := range names {
		if err := os.Lchown(filepath.Join(dir, name), int(owner.Uid), int(owner.Gid)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("give the record to the owner of the data directory: %w", err)
		}
	}
	return nil
}

// exchange moves the files of a record out of the way, with the log that
// belongs to it, and the new ones in; the database goes last, so that a
// directory with a database is whole.
func exchange(dir, folder, kept string) error {
	if kept != "" {
		if err := os.Mkdir(kept, 0o700); err != nil {
			return fmt.Errorf("keep the old record: %w", err)
		}
	}
	for _, name := range []string{databaseFile, databaseFile + "-wal", databaseFile + "-shm", sqlite.KeyFile, recentFile} {
		if kept == "" {
			kept = folder // what lies about without a database goes with the folder
		}
		to := filepath.Join(kept, name)
		if kept == folder {
			to += ".old"
		}
		if err := os.Rename(filepath.Join(dir, name), to); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("keep the old record: %w", err)
		}
	}
	for _, name := range []string{sqlite.KeyFile, databaseFile} {
		if err := os.Rename(filepath.Join(folder, name), filepath.Join(dir, name)); err != nil && (name == databaseFile || !errors.Is(err, fs.ErrNotExist)) {
			return fmt.Errorf("restore the record: %w", err)
		}
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// unpack writes the files of a backup into a folder and knows no others.
func unpack(r io.Reader, folder string) error {
	bad := func(err error) error {
		return haltd.Errorf(haltd.CodeInvalid, "This is not a whole backup of haltd: %v", err).WithFix("Name a file that haltd backup wrote.")
	}
	zipped, err := gzip.NewReader(r)
	if err != nil {
		return bad(err)
	}
	archive := tar.NewReader(zipped)
	found := false
	for {
		head, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return bad(err)
		}
		if head.Typeflag != tar.TypeReg || head.Name != databaseFile && head.Name != sqlite.KeyFile {
			return bad(fmt.Errorf("it holds %.100q", head.Name))
		}
		found = found || head.Name == databaseFile
		f, err := os.OpenFile(filepath.Join(folder, head.Name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return bad(cause(err))
		}
		_, err = io.Copy(f, archive)
		if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
			return bad(err)
		}
	}
	if !found {
		return bad(errors.New("it holds no " + databaseFile))
	}
	return nil
}
