package documents

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/google/uuid"

	"hale/internal/labs/orders"
	"hale/internal/platform/fault"
	"hale/internal/platform/secrets"
	"hale/internal/platform/teams"
)

// LinkLifetime is the time for which a link opens a requisition.
//
// Reference 1.14: requisition_form_url is a 7-day signed URL.
const LinkLifetime = 7 * 24 * time.Hour

// LinkPath is the path of the links; the token is a query parameter.
const LinkPath = "/v3/requisition_form"

// Links creates and reads links that open a requisition without an API key.
//
// The token holds the order and the end of the link, sealed with the root key.
// It cannot be created, changed or read without that key, and nothing is
// stored. A link keeps working while the root key is rotated. It ends early
// only when the order can no longer be read, for example because its user was
// deleted.
type Links struct {
	Root *secrets.Root
	// BaseURL is the base address of the service, called for each link.
	BaseURL func() string
}

// linkPlace binds a sealed value to its use as a link.
const linkPlace = "documents: requisition link"

const linkSize = 16 + 16 + 8 // team, order, end in Unix seconds

// URL returns a link to an order's requisition that works for a week.
func (l *Links) URL(o *orders.Order, now time.Time) string {
	team, order := o.Team.UUID(), o.ID.UUID()
	plain := make([]byte, 0, linkSize)
	plain = append(append(plain, team[:]...), order[:]...)
	plain = binary.BigEndian.AppendUint64(plain, uint64(now.Add(LinkLifetime).Unix()))
	sealed, err := l.Root.Seal(linkPlace, plain)
	if err != nil {
		panic(fmt.Sprintf("documents: sealing a link: %v", err)) // no randomness: nothing can continue
	}
	return l.BaseURL() + LinkPath + "?token=" + base64.RawURLEncoding.EncodeToString(sealed)
}

// Open returns the order of a token, or a NotFound fault when the token is
// invalid or has expired.
func (l *Links) Open(token string, now time.Time) (teams.ID, orders.ID, error) {
	none := fault.New(fault.NotFound, "This link is no longer valid")
	sealed, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil {
		return teams.ID{}, orders.ID{}, none
	}
	plain, err := l.Root.Open(linkPlace, sealed)
	if err != nil || len(plain) != linkSize {
		return teams.ID{}, orders.ID{}, none
	}
	if end := int64(binary.BigEndian.Uint64(plain[32:])); now.Unix() >= end {
		return teams.ID{}, orders.ID{}, none
	}
	return teams.ID(uuid.UUID(plain[:16])), orders.ID(uuid.UUID(plain[16:32])), nil
}
