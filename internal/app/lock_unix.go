//go:build unix

package app

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// ErrInUse is returned when another process serves the same data folder.
var ErrInUse = errors.New("app: another hale serve uses this data folder")

// LockName is the file in a data folder that its holder locks.
const LockName = "serve.lock"

// HoldFolder locks a data folder for this process. A node that starts on SQLite takes
// over the jobs and deliveries of all other nodes. Only the process that runs them knows
// which ones are in progress, so no second process may use the folder. The lock ends when
// the file is closed or when the process ends, even by a crash.
func HoldFolder(data string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(data, LockName), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("app: locking the data folder: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, ErrInUse
		}
		return nil, fmt.Errorf("app: locking the data folder: %w", err)
	}
	return f, nil
}
