// Package secrets protects tokens, keys and personal data. Text keeps them out of logs
// and formatted output. Key and Root seal them for the database (seal.go).
package secrets

import (
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"math/big"
)

// Withheld replaces the value in logs, formatted text and debuggers.
const Withheld = "[withheld]"

// Text is a secret or personal string. It prints as [withheld] when formatted or
// logged. Only Reveal returns the value.
type Text string

// Reveal returns the value. Call it only where the value is used.
func (t Text) Reveal() string { return string(t) }

func (t Text) String() string { return Withheld }

// GoString hides the value from %#v.
func (t Text) GoString() string { return Withheld }

// Format hides the value from all verbs.
func (t Text) Format(f fmt.State, _ rune) { fmt.Fprint(f, Withheld) }

// LogValue hides the value from slog.
func (t Text) LogValue() slog.Value { return slog.StringValue(Withheld) }

// MarshalJSON hides the value in JSON. Wire types call Reveal explicitly.
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

// Hash returns the SHA-256 of a token. Tokens of phones and of the portal have at least 128 random bits, so a plain
// hash is sufficient in storage (OWASP ASVS 5.0, 6.5.2). Link codes have only 32 bits.
// A copy of the database may reveal one, but only until it expires. For API keys, whose
// texts a team may choose, package teams makes a code of the hash with the root key.
func Hash(token string) []byte {
	sum := sha256.Sum256([]byte(token))
	return sum[:]
}
