// Package secrets handles text that must not be seen: tokens, keys and
// personal data on their way through the program, and the sealing of both at
// rest (seal.go).
package secrets

import (
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"math/big"
)

// Withheld is what a log, a format verb or a debugger prints instead.
const Withheld = "[withheld]"

// Text is a secret or personal string. It prints as [withheld] wherever it is
// formatted or logged; Reveal is the one way to the value.
type Text string

// Reveal returns the value. Call it where the value leaves for its purpose.
func (t Text) Reveal() string { return string(t) }

func (t Text) String() string { return Withheld }

// GoString keeps %#v quiet.
func (t Text) GoString() string { return Withheld }

// Format keeps every verb quiet.
func (t Text) Format(f fmt.State, _ rune) { fmt.Fprint(f, Withheld) }

// LogValue keeps slog quiet.
func (t Text) LogValue() slog.Value { return slog.StringValue(Withheld) }

// MarshalJSON keeps a marshalled struct quiet; wire types reveal on purpose.
func (t Text) MarshalJSON() ([]byte, error) { return []byte(`"` + Withheld + `"`), nil }

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// Random returns n random base62 characters, 5.95 bits each.
func Random(n int) string {
	b := make([]byte, n)
	limit := big.NewInt(int64(len(base62)))
	for i := range b {
		k, err := rand.Int(rand.Reader, limit)
		if err != nil {
			panic("secrets: no randomness: " + err.Error())
		}
		b[i] = base62[k.Int64()]
	}
	return string(b)
}

// Bytes returns n random bytes.
func Bytes(n int) []byte {
	b := make([]byte, n)
	if _, err := rand.Read(b); err != nil {
		panic("secrets: no randomness: " + err.Error())
	}
	return b
}

// Hash is the SHA-256 of a token. Tokens carry at least 128 random bits, so a
// plain hash is enough at rest (OWASP ASVS 5.0, 6.5.2). Link codes have 32: what
// a copy of the database tells of one ends with it.
func Hash(token string) []byte {
	sum := sha256.Sum256([]byte(token))
	return sum[:]
}
