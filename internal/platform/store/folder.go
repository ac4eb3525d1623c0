package store

import (
	"errors"
	"os"
)

// SyncFolder makes the names in a folder durable, which the sync of a file does
// not do.
func SyncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
