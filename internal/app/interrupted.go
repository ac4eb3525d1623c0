package app

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"hale/internal/platform/store"
)

// hale restore moves several files of a data folder. After a kill or a power cut between
// two moves the folder has neither the previous service nor the restored one. A marker
// file, written before the first move and removed after the last one, shows this.

// UnfinishedFile is the name of the marker in the data folder. It names the folder of the
// previous data.
const UnfinishedFile = "restore-unfinished"

// StagingFolder is the folder for a backup inside the data folder until all checks are
// done. It is inside because the data folder may be a separate mount point.
const StagingFolder = ".restoring"

// SetAsidePrefix begins the names of folders that a restore created for the previous data.
const SetAsidePrefix = "before-restore-"

// ErrUnfinished is returned for a data folder in which a restore was interrupted.
var ErrUnfinished = errors.New("app: a restore into this data folder was interrupted")

// MarkUnfinished writes the marker. aside is the name of the folder of the previous data,
// empty if there is none.
func MarkUnfinished(folder, aside string) error {
	text := "# hale restore moves files of this folder. hale serve refuses to start until it has finished.\n" + aside + "\n"
	return store.ReplaceFile(filepath.Join(folder, UnfinishedFile), []byte(text))
}

// RemoveUnfinished removes the marker durably.
func RemoveUnfinished(folder string) error {
	if err := os.Remove(filepath.Join(folder, UnfinishedFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return store.SyncFolder(folder)
}

// ReadUnfinished reports whether a folder has the marker, and returns the name of the
// folder of the previous data.
func ReadUnfinished(folder string) (aside string, found bool, err error) {
	text, err := os.ReadFile(filepath.Join(folder, UnfinishedFile))
	if errors.Is(err, fs.ErrNotExist) {
		return "", false, nil
	}
	if err != nil {
		return "", false, fmt.Errorf("app: reading whether a restore was interrupted: %w", err)
	}
	for line := range strings.Lines(string(text)) {
		name := strings.TrimSpace(line)
		if strings.HasPrefix(name, SetAsidePrefix) && filepath.Base(name) == name {
			aside = name
		}
	}
	return aside, true, nil
}

// RequireRestored returns ErrUnfinished for a folder in which a restore was interrupted:
// it has the marker, or a staged backup and no database.
func RequireRestored(folder string) error {
	aside, found, err := ReadUnfinished(folder)
	switch {
	case err != nil:
		return err
	case aside != "":
		return fmt.Errorf("%w; run hale restore FOLDER --force again, or move the files of %s back into %s and remove the file %s",
			ErrUnfinished, aside, folder, UnfinishedFile)
	case found:
		return fmt.Errorf("%w; run hale restore FOLDER again, with --force if it asks for it", ErrUnfinished)
	}
	if exists(filepath.Join(folder, StagingFolder)) && !exists(filepath.Join(folder, store.FileName)) {
		return fmt.Errorf("%w; run hale restore FOLDER again, or put %s back, or remove %s to begin with an empty database",
			ErrUnfinished, store.FileName, StagingFolder)
	}
	return nil
}

// exists reports whether a path exists, or cannot be examined.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}
