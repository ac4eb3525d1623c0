package secrets

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// KeySize is the length of a sealing key, for AES-256.
const KeySize = 32

// ErrSealed is the error if a sealed value cannot be opened: wrong key, wrong place, or
// damage. It does not distinguish them.
var ErrSealed = errors.New("secrets: sealed value does not open")

// Overhead is the number of bytes that sealing adds: a random nonce of 12 bytes before
// the ciphertext, and a tag of 16 bytes after it.
const Overhead = 28

// Key seals and opens values with AES-256-GCM. The place of a value (table, column,
// row) is authenticated too, so a value that was copied to another place does not open.
type Key struct{ aead cipher.AEAD }

// NewKey returns a key of 32 bytes.
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

// Seal encrypts plain for the place where and appends the result to dst.
func (k *Key) Seal(dst []byte, where string, plain []byte) []byte {
	return k.aead.Seal(dst, nil, plain, []byte(where))
}

// Open decrypts a value that was sealed for the same place.
func (k *Key) Open(where string, sealed []byte) ([]byte, error) {
	plain, err := k.aead.Open(make([]byte, 0, max(0, len(sealed)-Overhead)), nil, sealed, []byte(where))
	if err != nil {
		return nil, ErrSealed
	}
	return plain, nil
}

// Root encrypts the keys of the teams. It may contain several root keys: the first one
// seals, and all of them open. This allows a change of the root key without downtime.
type Root struct {
	keys []rootKey
}

type rootKey struct {
	id  [4]byte // first bytes of the SHA-256 of the key; written before each sealed value
	key *Key
	raw []byte
}

func newRootKey(raw []byte) (rootKey, error) {
	key, err := NewKey(raw)
	sum := sha256.Sum256(raw)
	return rootKey{[4]byte(sum[:4]), key, raw}, err
}

// Derive returns root keys for one purpose, derived with HKDF-SHA-256 (RFC 5869). They
// seal and open nothing that the root keys or those of another purpose do.
func (r *Root) Derive(purpose string) *Root {
	var derived Root
	for _, k := range r.keys {
		raw, err := hkdf.Key(sha256.New, k.raw, nil, "hale "+purpose, KeySize)
		if err != nil {
			panic("secrets: deriving a key: " + err.Error()) // only a key that is too short or long fails
		}
		key, err := newRootKey(raw)
		if err != nil {
			panic("secrets: deriving a key: " + err.Error())
		}
		derived.keys = append(derived.keys, key)
	}
	return &derived
}

// ParseRoot parses root keys: one base64 line of 32 bytes each, newest first. It
// ignores blank lines and lines that start with #.
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
		key, err := newRootKey(raw)
		if err != nil {
			return nil, err
		}
		root.keys = append(root.keys, key)
	}
	if len(root.keys) == 0 {
		return nil, errors.New("secrets: no root key")
	}
	return &root, nil
}

// Seal encrypts a team's key.
func (r *Root) Seal(where string, plain []byte) ([]byte, error) {
	if len(r.keys) == 0 {
		return nil, errors.New("secrets: there is no root key to seal with")
	}
	first := r.keys[0]
	return first.key.Seal(bytes.Clone(first.id[:]), where, plain), nil
}

// Open decrypts a team's key with the root key that sealed it.
func (r *Root) Open(where string, sealed []byte) ([]byte, error) {
	for _, k := range r.keys {
		if rest, ok := bytes.CutPrefix(sealed, k.id[:]); ok {
			return k.key.Open(where, rest)
		}
	}
	return nil, fmt.Errorf("%w: its root key is not here", ErrSealed)
}

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

// Code returns an authentication code of a text: the id of the first root key, and an
// HMAC-SHA-256 with that key. Derive the root keys for the purpose first.
func (r *Root) Code(text []byte) ([]byte, error) {
	if len(r.keys) == 0 {
		return nil, errors.New("secrets: there is no root key for a code")
	}
	return r.keys[0].code(text), nil
}

// Codes returns the authentication codes of a text with each of the root keys, newest
// first, to look one up. Without a root key there are none.
func (r *Root) Codes(text []byte) [][]byte {
	all := make([][]byte, len(r.keys))
	for i := range r.keys {
		all[i] = r.keys[i].code(text)
	}
	return all
}

// CheckCode reports whether a code belongs to a text, with any of the root keys.
func (r *Root) CheckCode(text, code []byte) bool {
	for _, k := range r.keys {
		if bytes.HasPrefix(code, k.id[:]) {
			return hmac.Equal(k.code(text), code)
		}
	}
	return false
}

func (k *rootKey) code(text []byte) []byte {
	sum := hmac.New(sha256.New, k.raw)
	sum.Write(text)
	return sum.Sum(bytes.Clone(k.id[:]))
}
