package cli

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"hale/internal/platform/store"
)

// copyFile copies a file durably, readable by its owner only.
func copyFile(from, to string) error {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(target, source)
	return errors.Join(err, target.Sync(), target.Close(), store.SyncFolder(filepath.Dir(to)))
}

// writeDurably writes a new file that survives a power cut.
func writeDurably(path string, content []byte) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	return errors.Join(err, f.Sync(), f.Close(), store.SyncFolder(filepath.Dir(path)))
}

// ownByFolder changes the owner of entries that root created in a data folder to the
// owner of the folder. The service may run as another user, and must open them. It
// never changes anything outside of the folder, even if there are links in it.
func ownByFolder(data string, names ...string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	root, err := os.OpenRoot(data)
	if err != nil {
		return err
	}
	defer root.Close()
	info, err := root.Stat(".")
	if err != nil {
		return err
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	for _, name := range names {
		err := fs.WalkDir(root.FS(), name, func(path string, _ fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			return root.Lchown(path, int(owner.Uid), int(owner.Gid))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// moveAll moves entries of a folder to another, all of them or none.
func (s *shell) moveAll(from, to string, names []string) error {
	for i, name := range names {
		err := os.Rename(filepath.Join(from, name), filepath.Join(to, name))
		if err == nil {
			s.stepDone()
			continue
		}
		for _, moved := range names[:i] {
			err = errors.Join(err, os.Rename(filepath.Join(to, moved), filepath.Join(from, moved)))
		}
		return errors.Join(err, store.SyncFolder(from))
	}
	return errors.Join(store.SyncFolder(to), store.SyncFolder(from))
}

// digest returns the SHA-256 of a file, in hex, and its size in bytes.
func digest(path string) (sum string, size int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	hash := sha256.New()
	size, err = io.Copy(hash, f)
	return hex.EncodeToString(hash.Sum(nil)), size, err
}
