package store

import (
	"errors"
	"os"
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
