package webhooks

import (
	"crypto/rand"
	"encoding/base64"
	"strings"

	"hale/internal/platform/fault"
)

// Secret is the shared key of one endpoint. Its text form is whsec_ followed
// by the standard base64 of 24 to 64 bytes, as receivers' libraries expect.
//
// It prints as [withheld]; Reveal gives the text form.
type Secret struct{ key []byte }

const (
	secretPrefix = "whsec_"
	newSecretLen = 32
	minSecretLen = 24
	maxSecretLen = 64
)

// NewSecret makes a random secret of 32 bytes.
func NewSecret() Secret {
	key := make([]byte, newSecretLen)
	rand.Read(key) // never fails: crypto/rand ends the process instead
	return Secret{key}
}

// ParseSecret reads the text form of a secret that a caller chose. The error
// never repeats the text.
func ParseSecret(text string) (Secret, error) {
	encoded, ok := strings.CutPrefix(text, secretPrefix)
	if !ok {
		return Secret{}, fault.New(fault.Invalid, "must begin with whsec_ followed by the base64 of 24 to 64 bytes")
	}
	key, err := base64.StdEncoding.Strict().DecodeString(encoded)
	if err != nil || strings.ContainsAny(encoded, "\r\n") { // which the decoder passes over
		return Secret{}, fault.New(fault.Invalid, "must be standard base64 with padding after whsec_")
	}
	if len(key) < minSecretLen || len(key) > maxSecretLen {
		return Secret{}, fault.New(fault.Invalid, "must hold between 24 and 64 bytes")
	}
	return Secret{key}, nil
}

// Reveal gives the text form.
func (s Secret) Reveal() string {
	return secretPrefix + base64.StdEncoding.EncodeToString(s.key)
}

// String hides the secret from logs and error texts.
func (s Secret) String() string { return "[withheld]" }

// GoString hides the secret from %#v.
func (s Secret) GoString() string { return "[withheld]" }
