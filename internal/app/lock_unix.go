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

// HoldFolder takes a data folder for this process: a node that starts on SQLite
// takes over the jobs and deliveries of all others, and only their own process
// knows what is in flight. The hold ends when the file is closed, or with the process, however it ends.
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
