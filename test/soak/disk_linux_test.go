package soak

import (
	"errors"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// fill lets no file of a process grow any more: to the process the disk is
// full. It takes no privilege.
func fill(t *testing.T, pid int) { limitFiles(t, pid, 4096) }

// empty undoes fill.
func empty(t *testing.T, pid int) { limitFiles(t, pid, unix.RLIM_INFINITY) }

func limitFiles(t *testing.T, pid int, bytes uint64) {
	t.Helper()
	var now unix.Rlimit
	err := unix.Prlimit(pid, unix.RLIMIT_FSIZE, nil, &now)
	if err == nil {
		now.Cur = min(bytes, now.Max)
		err = unix.Prlimit(pid, unix.RLIMIT_FSIZE, &now, nil)
	}
	if err != nil {
		t.Errorf("limit the files of haltd: %v", err)
	}
}

// makeReadOnly lets nobody write into a folder until lift is called. Root,
// whom no permission stops, mounts the folder over itself.
func makeReadOnly(t *testing.T, folder string) (lift func()) {
	t.Helper()
	var err error
	if os.Geteuid() == 0 {
		err = unix.Mount(folder, folder, "", unix.MS_BIND, "")
		if err == nil {
			err = unix.Mount("", folder, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, "")
			lift = func() {
				if err := unix.Unmount(folder, 0); err != nil {
					t.Errorf("unmount %s: %v", folder, err)
				}
			}
		}
	} else {
		err = os.Chmod(folder, 0o500)
		lift = func() {
			if err := os.Chmod(folder, 0o700); err != nil {
				t.Error(err)
			}
		}
	}
	if errors.Is(err, unix.EPERM) { // root of a container that may not mount
		err, lift = nil, hide(t, folder)
	}
	if err != nil {
		t.Fatalf("make %s read-only: %v", folder, err)
	}
	return lift
}
