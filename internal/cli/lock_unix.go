//go:build unix

package cli

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"

	"hale/internal/fault"
)

// lockName is the file that hale serve locks in its data folder.
const lockName = "serve.lock"

// holdFolder keeps hale serve out of a data folder, or finds it there.
func holdFolder(data string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(data, lockName), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		_ = f.Close()
		return nil, withHint(fault.Newf(fault.Conflict, "hale serve uses %s", data), "stop it first")
	}
	return f, err
}
