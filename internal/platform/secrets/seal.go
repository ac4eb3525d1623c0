package secrets

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// KeySize is the length of a sealing key, for AES-256.
const KeySize = 32

// ErrSealed is the error if a sealed value cannot be opened: wrong key, wrong place, or
// damage. It does not distinguish them.
var ErrSealed = errors.New("secrets: sealed value does not open")

// Overhead is the number of bytes that sealing adds. A random nonce of 12 bytes is
// before the ciphertext, and a tag of 16 bytes after it.
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
	return k.aead.Seal(dst, nil, plain, []byte(where)) //nolint:gosec // the cipher draws the nonce
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
	keys    []rootKey
	retired map[string][]rootKey // keys for one purpose of root keys that were retired
	checked []rootKey            // of a derived Root: they only check codes
}

type rootKey struct {
	id  KeyID
	key *Key
	raw []byte
}

func newRootKey(raw []byte) (rootKey, error) {
	key, err := NewKey(raw)
	sum := sha256.Sum256(raw)
	return rootKey{KeyID(sum[:4]), key, raw}, err
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
	derived.checked = r.retired[purpose]
	return &derived
}

// Raw returns the raw key for one purpose of the root key with an id, to be kept when
// that root key is retired. ok is false for an unknown id.
func (r *Root) Raw(id KeyID, purpose string) (raw []byte, ok bool) {
	i := slices.Index(r.IDs(), id)
	if i < 0 {
		return nil, false
	}
	return r.Derive(purpose).keys[i].raw, true
}

// CheckWith adds a raw key for one purpose of a root key that was retired. It checks
// codes that exist; it opens, seals and makes none. Call it before Derive.
func (r *Root) CheckWith(purpose string, raw []byte) error {
	key, err := newRootKey(raw)
	if err != nil {
		return err
	}
	if r.retired == nil {
		r.retired = map[string][]rootKey{}
	}
	r.retired[purpose] = append(r.retired[purpose], key)
	return nil
}

// KeyID names a root key: the first bytes of its SHA-256. Each value that the key
// sealed begins with it.
type KeyID [4]byte

// String returns the id as hexadecimal digits.
func (id KeyID) String() string { return hex.EncodeToString(id[:]) }

// ParseKeyID parses the form of String.
func ParseKeyID(text string) (id KeyID, err error) {
	raw, err := hex.DecodeString(text)
	if err != nil || len(raw) != len(id) {
		return id, fmt.Errorf("secrets: %q is not the id of a root key: 8 hexadecimal digits", text)
	}
	return KeyID(raw), nil
}

// IDs lists the root keys. The first one seals.
func (r *Root) IDs() []KeyID {
	ids := make([]KeyID, len(r.keys))
	for i := range r.keys {
		ids[i] = r.keys[i].id
	}
	return ids
}

// SealedBy returns the id of the root key that sealed a value or made a code.
func SealedBy(sealed []byte) (id KeyID) {
	copy(id[:], sealed)
	return id
}

// IsCurrent reports whether the first root key sealed a value or made a code.
func (r *Root) IsCurrent(sealed []byte) bool {
	return len(r.keys) > 0 && bytes.HasPrefix(sealed, r.keys[0].id[:])
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
	var all [][]byte
	for _, k := range slices.Concat(r.keys, r.checked) {
		all = append(all, k.code(text))
	}
	return all
}

// CheckCode reports whether a code belongs to a text, with any of the root keys, or
// with a retired one that CheckWith added.
func (r *Root) CheckCode(text, code []byte) bool {
	for _, k := range slices.Concat(r.keys, r.checked) {
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
