package secrets

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// RootFileName is the name of the root key's file in the data folder.
const RootFileName = "root.key"

// RootFile reads the root key file of a data folder, and creates it if it does not
// exist. created is true for a new file. The caller must then warn the operator:
// without this file, no sealed value can ever be read again.
func RootFile(dir string) (root *Root, created bool, err error) {
	path := filepath.Join(dir, RootFileName)
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		if created, err = writeRootFile(path, os.Link); err != nil {
			return nil, false, fmt.Errorf("secrets: writing the root key: %w", err)
		}
		text, err = os.ReadFile(path)
	}
	if err != nil {
		return nil, false, fmt.Errorf("secrets: reading the root key: %w", err)
	}
	if root, err = ParseRoot(string(text)); err != nil {
		return nil, false, fmt.Errorf("%w in the file %s: put back your copy of it", err, path)
	}
	return root, created, nil
}

// AddRootKey adds a new root key at the end of the text of a file. The key opens
// values as soon as every process has read it, and seals none yet.
func AddRootKey(text string) (added string, id KeyID) {
	id, line := NewRootKey()
	return strings.TrimRight(text, "\n") + "\n" + line + "\n", id
}

// PromoteRootKey makes a root key the first one in the text of a file, so that it seals.
func PromoteRootKey(text string, id KeyID) (string, error) {
	lines := parseRootLines(text)
	at, first := findRootLine(lines, id), slices.IndexFunc(lines, func(l rootLine) bool { return l.isKey })
	if at < 0 {
		return "", fmt.Errorf("secrets: no root key %s", id)
	}
	line := lines[at]
	return joinRootLines(slices.Insert(slices.Delete(lines, at, at+1), first, line)), nil
}

// RemoveRootKey removes a root key from the text of a file. The last one stays.
func RemoveRootKey(text string, id KeyID) (string, error) {
	lines := parseRootLines(text)
	at := findRootLine(lines, id)
	if at < 0 {
		return "", fmt.Errorf("secrets: no root key %s", id)
	}
	text = joinRootLines(slices.Delete(lines, at, at+1))
	_, err := ParseRoot(text)
	return text, err
}

// JoinRootKeys appends the root keys of the text of a file that another one lacks.
func JoinRootKeys(text, more string) (string, error) {
	if _, err := ParseRoot(more); err != nil {
		return "", err
	}
	lines := parseRootLines(text)
	for _, l := range parseRootLines(more) {
		if len(text) == 0 || l.isKey && findRootLine(lines, l.id) < 0 {
			lines = append(lines, l)
		}
	}
	return joinRootLines(lines), nil
}

// NewRootKey makes a root key, as a line of a file or a setting.
func NewRootKey() (id KeyID, line string) {
	raw := Bytes(KeySize)
	sum := sha256.Sum256(raw)
	return KeyID(sum[:4]), base64.StdEncoding.EncodeToString(raw)
}

// rootLine is a line of the file: a key or a comment.
type rootLine struct {
	text  string
	id    KeyID
	isKey bool
}

func findRootLine(lines []rootLine, id KeyID) int {
	return slices.IndexFunc(lines, func(l rootLine) bool { return l.isKey && l.id == id })
}

func parseRootLines(text string) (lines []rootLine) {
	for line := range strings.Lines(text) {
		l := rootLine{text: strings.TrimSpace(line)}
		if root, err := ParseRoot(l.text); err == nil {
			l.isKey, l.id = true, root.keys[0].id
		}
		lines = append(lines, l)
	}
	return lines
}

func joinRootLines(lines []rootLine) string {
	var text strings.Builder
	for _, l := range lines {
		text.WriteString(l.text + "\n")
	}
	return text.String()
}

// writeRootFile writes the file durably before its key is used. The file gets its final
// name when it is complete, so a crash cannot leave a part of a key. If several
// processes create it at once, one of them succeeds, and created is true there.
func writeRootFile(path string, link func(old, new string) error) (created bool, err error) {
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, RootFileName+".*") // readable only by its owner
	if err != nil {
		return false, err
	}
	defer os.Remove(f.Name())
	_, line := NewRootKey()
	_, err = f.WriteString("# Root key. Keep a copy in another place: without it nothing sealed in this folder can be read.\n" +
		line + "\n")
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return false, err
	}
	err = rename(f.Name(), path, link)
	if err != nil && !errors.Is(err, os.ErrExist) {
		return false, err
	}
	if dir, err := os.Open(dir); err == nil {
		defer dir.Close()
		if err := dir.Sync(); err != nil {
			return false, err
		}
	}
	return err == nil, nil
}

// rename renames a file and returns os.ErrExist if path exists. os.Rename would
// replace a file that another process created meanwhile. link is os.Link, or its
// replacement in a test of file systems without hard links.
func rename(file, path string, link func(old, new string) error) error {
	err := link(file, path)
	if err == nil || errors.Is(err, os.ErrExist) {
		return err
	}
	claim, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if err := errors.Join(claim.Close(), os.Rename(file, path)); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}
