package webhooks

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"hash"
	"strconv"
	"time"
)

// Signer makes the signature header of one endpoint:
//
//	v1,base64(HMAC-SHA256(secret, id + "." + timestamp + "." + body))
//
// once per valid secret, separated by spaces, newest secret first, so that a
// receiver that knows either secret of a rotation can verify. The scheme is
// the one of the Standard Webhooks specification 1.0.0.
//
// A Signer keeps its hash states between calls and belongs to one goroutine.
type Signer struct {
	keys    []signingKey
	scratch []byte
}

type signingKey struct {
	mac     hash.Hash
	expires time.Time // zero while the secret is the current one
}

// ValidSecret is a secret and the moment after which it signs no more; the
// zero time means that it is the current one.
type ValidSecret struct {
	Secret  Secret
	Expires time.Time
}

// NewSigner prepares the secrets, given newest first.
func NewSigner(secrets []ValidSecret) *Signer {
	s := &Signer{keys: make([]signingKey, 0, len(secrets))}
	for _, v := range secrets {
		s.keys = append(s.keys, signingKey{hmac.New(sha256.New, v.Secret.key), v.Expires})
	}
	return s
}

// Sign gives the value of the webhook-timestamp and webhook-signature headers
// for one attempt at the given moment.
func (s *Signer) Sign(id string, at time.Time, body []byte) (timestamp, signature string) {
	timestamp = strconv.FormatInt(at.Unix(), 10)
	out := s.scratch[:0]
	for i := range s.keys {
		key := &s.keys[i]
		if !key.expires.IsZero() && !at.Before(key.expires) {
			continue
		}
		if len(out) > 0 {
			out = append(out, ' ')
		}
		out = append(out, "v1,"...)
		out = base64.StdEncoding.AppendEncode(out, key.sum(id, timestamp, body))
	}
	s.scratch = out
	return timestamp, string(out)
}

func (k *signingKey) sum(id, timestamp string, body []byte) []byte {
	k.mac.Reset()
	var head [96]byte
	h := append(head[:0], id...)
	h = append(h, '.')
	h = append(h, timestamp...)
	h = append(h, '.')
	k.mac.Write(h)
	k.mac.Write(body)
	return k.mac.Sum(head[:0])
}
