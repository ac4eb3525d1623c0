package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// SyncFolder makes the file names of a folder durable. The sync of a file does not
// include its name.
func SyncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}

// ReplaceFile replaces a file durably. A crash leaves the old or the new one. The file
// keeps its owner, and is readable only by it.
func ReplaceFile(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(data)
	if err = errors.Join(err, keepOwner(f, path), f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	return SyncFolder(filepath.Dir(path))
}

// keepOwner gives a new file the owner of the file that it replaces. Root may run
// a command for a service that has a user of its own.
func keepOwner(f *os.File, path string) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) || os.Geteuid() != 0 {
		return nil
	}
	if err != nil {
		return err
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	return f.Chown(int(owner.Uid), int(owner.Gid))
}

// requireLogOwner returns an error if a database is missing or empty and its log is
// not. SQLite would remove the log, which may hold the last transactions.
func requireLogOwner(path string) error {
	database, err := os.Stat(path)
	if err == nil && database.Size() > 0 || err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	log, err := os.Stat(path + "-wal")
	if err != nil || log.Size() == 0 {
		return nil
	}
	name := filepath.Base(path)
	return fmt.Errorf("store: %s is missing or empty and its log %s-wal is there: put the database back beside the log, or restore a backup", name, name)
}

// createPrivate creates an empty file that only its owner may read, or returns
// fs.ErrExist. SQLite would create it with mode 0644. It gives the -wal and -shm
// files the mode of the database.
func createPrivate(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// makePrivate removes the rights of other users from existing files.
func makePrivate(paths ...string) error {
	for _, path := range paths {
		info, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if mode := info.Mode().Perm(); mode&0o077 != 0 {
			if err := os.Chmod(path, mode&^0o077); err != nil {
				return err
			}
		}
	}
	return nil
}
