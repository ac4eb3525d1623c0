package secrets

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// KeySize is the length of every sealing key: AES-256.
const KeySize = 32

// ErrSealed is returned when a sealed value cannot be opened: another key,
// another place, or damage. It never says which.
var ErrSealed = errors.New("secrets: sealed value does not open")

// Overhead is the number of bytes that sealing adds to a plain text: a
// random nonce of 12 bytes before it and a tag of 16 behind it.
const Overhead = 28

// Key seals and opens values with AES-256-GCM. The place a value stands in
// (table, column, row) is bound to it, so that a value moved elsewhere does
// not open.
type Key struct{ aead cipher.AEAD }

// NewKey makes a key of 32 bytes.
func NewKey(raw []byte) (*Key, error) {
	if len(raw) != KeySize {
		return nil, fmt.Errorf("secrets: a key has %d bytes, not %d", KeySize, len(raw))
	}
	block, err := aes.NewCipher(raw)
	if err != nil {
		return nil, fmt.Errorf("secrets: making a key: %w", err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, fmt.Errorf("secrets: making a key: %w", err)
	}
	return &Key{aead}, nil
}

// Seal encrypts plain for the place where, and appends it to dst.
func (k *Key) Seal(dst []byte, where string, plain []byte) []byte {
	return k.aead.Seal(dst, nil, plain, []byte(where))
}

// Open decrypts what Seal made for the same place.
func (k *Key) Open(where string, sealed []byte) ([]byte, error) {
	plain, err := k.aead.Open(make([]byte, 0, max(0, len(sealed)-Overhead)), nil, sealed, []byte(where))
	if err != nil {
		return nil, ErrSealed
	}
	return plain, nil
}

// Root wraps the keys of the teams. It may hold several root keys: the first
// seals, all of them open, which is how a root key is changed without a pause.
type Root struct {
	keys []rootKey
}

type rootKey struct {
	id  [4]byte // start of the SHA-256 of the key; written before what it sealed
	key *Key
}

// ParseRoot reads root keys: one base64 line of 32 bytes each, newest first.
// Blank lines and lines that start with # are passed over.
func ParseRoot(text string) (*Root, error) {
	var root Root
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		raw, err := base64.StdEncoding.DecodeString(line)
		if err != nil {
			return nil, errors.New("secrets: a root key is not 32 bytes of base64")
		}
		key, err := NewKey(raw)
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(raw)
		root.keys = append(root.keys, rootKey{[4]byte(sum[:4]), key})
	}
	if len(root.keys) == 0 {
		return nil, errors.New("secrets: no root key")
	}
	return &root, nil
}

// Seal wraps a team's key.
func (r *Root) Seal(where string, plain []byte) ([]byte, error) {
	if len(r.keys) == 0 {
		return nil, errors.New("secrets: there is no root key to seal with")
	}
	first := r.keys[0]
	return first.key.Seal(bytes.Clone(first.id[:]), where, plain), nil
}

// Open unwraps a team's key with the root key that wrapped it.
func (r *Root) Open(where string, sealed []byte) ([]byte, error) {
	for _, k := range r.keys {
		if rest, ok := bytes.CutPrefix(sealed, k.id[:]); ok {
			return k.key.Open(where, rest)
		}
	}
	return nil, fmt.Errorf("%w: its root key is not here", ErrSealed)
}

// RootFileName is the root key's file in the data folder.
const RootFileName = "root.key"

// RootFile reads the root key file of a data folder and makes it when there
// is none. created tells the caller to warn: without that file nothing sealed
// can ever be read again.
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

// writeRootFile makes the file durable before anything is sealed with it. It
// gets its name when it is whole, so that no crash leaves half a key. Of several
// processes that make one at once, one has created it.
func writeRootFile(path string, link func(old, new string) error) (created bool, err error) {
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, RootFileName+".*") // readable by its owner alone
	if err != nil {
		return false, err
	}
	defer os.Remove(f.Name())
	_, err = f.WriteString("# Root key. Keep a copy in another place: without it nothing sealed in this folder can be read.\n" +
		base64.StdEncoding.EncodeToString(Bytes(KeySize)) + "\n")
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
