package partners

import (
	"crypto/hmac"
	"strconv"
	"strings"
	"time"

	"hale/internal/platform/fault"
)

// tolerance bounds the age of a signature, in both directions.
const tolerance = 5 * time.Minute

// errForged does not say which part is wrong.
var errForged = fault.New(fault.Unauthenticated, "The signature is missing, wrong or older than five minutes")

// Verify checks the signature of a report of a partner, in the form of Standard
// Webhooks: id, timestamp and signature are the headers. Any valid secret may
// have signed it.
func (n *Network) Verify(partner, id, timestamp, signature string, body []byte) error {
	c, known := n.partners[partner]
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if !known || err != nil || id == "" || len(id) > 64 {
		return errForged
	}
	at := time.Unix(seconds, 0)
	if age := n.now().Sub(at); age > tolerance || age < -tolerance {
		return errForged
	}
	_, valid := c.signer().Sign(id, at, body)
	for one := range strings.FieldsSeq(signature) {
		for want := range strings.FieldsSeq(valid) {
			if hmac.Equal([]byte(one), []byte(want)) {
				return nil
			}
		}
	}
	return errForged
}
