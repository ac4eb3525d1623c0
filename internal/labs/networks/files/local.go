package files

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// fileSystem has the operations that both kinds of folder offer.
type fileSystem interface {
	ReadDir(dir string) ([]fs.FileInfo, error)
	Open(name string) (io.ReadCloser, error)
	// Write creates a file and returns when its bytes are on disk.
	Write(name string, data []byte) error
	// Rename replaces a file of the new name, and returns when the name is on
	// disk.
	Rename(from, to string) error
	Remove(name string) error
	Exists(name string) (bool, error)
	// MakeDir creates a folder unless it exists.
	MakeDir(dir string) error
	Close() error
}

// localFolder is the file system of this machine.
type localFolder struct{}

func (localFolder) ReadDir(dir string) ([]fs.FileInfo, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var infos []fs.FileInfo
	for _, e := range entries {
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) { // taken meanwhile
			continue
		}
		if err != nil {
			return nil, err
		}
		infos = append(infos, info)
	}
	return infos, nil
}

func (localFolder) Open(name string) (io.ReadCloser, error) { return os.Open(name) }

func (localFolder) Write(name string, data []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o640) //nolint:gosec // the laboratory's group reads it
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Sync(), f.Close())
}

func (localFolder) Rename(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return err
	}
	return errors.Join(syncDir(filepath.Dir(to)), syncDir(filepath.Dir(from)))
}

func (localFolder) Remove(name string) error {
	if err := os.Remove(name); err != nil {
		return err
	}
	return syncDir(filepath.Dir(name))
}

func (localFolder) Exists(name string) (bool, error) {
	_, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

func (localFolder) MakeDir(dir string) error {
	err := os.Mkdir(dir, 0o750)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

func (localFolder) Close() error { return nil }

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
