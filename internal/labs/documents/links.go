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

// LinkLifetime is how long the address of a requisition opens it.
//
// Reference 1.14: requisition_form_url is a 7-day signed URL.
const LinkLifetime = 7 * 24 * time.Hour

// LinkPath is where addresses of requisitions lead; the token follows as query
// parameter.
const LinkPath = "/v3/requisition_form"

// Links makes addresses that open a requisition without a key, and reads them.
//
// The token is the order and the end of the link, sealed with the root key: it
// cannot be made, changed or read without that key, and nothing has to be
// stored. A link goes on working while the root key is changed, and ends early
// only when the order does not open any more, such as that of a deleted user.
type Links struct {
	Root *secrets.Root
	// BaseURL is the address that callers know us by, asked for with each link.
	BaseURL func() string
}

// linkPlace is where in the program a sealed value is a link, and no other.
const linkPlace = "documents: requisition link"

const linkSize = 16 + 16 + 8 // team, order, end in Unix seconds

// URL is an address of an order's requisition that works for a week.
func (l *Links) URL(o *orders.Order, now time.Time) string {
	team, order := o.Team.UUID(), o.ID.UUID()
	plain := make([]byte, 0, linkSize)
	plain = append(append(plain, team[:]...), order[:]...)
	plain = binary.BigEndian.AppendUint64(plain, uint64(now.Add(LinkLifetime).Unix()))
	sealed, err := l.Root.Seal(linkPlace, plain)
	if err != nil {
		panic(fmt.Sprintf("documents: sealing a link: %v", err)) // no randomness: nothing can go on
	}
	return l.BaseURL() + LinkPath + "?token=" + base64.RawURLEncoding.EncodeToString(sealed)
}

// Open finds the order of a link's token, or returns a NotFound fault when the
// token is none of ours or has ended.
func (l *Links) Open(token string, now time.Time) (teams.ID, orders.ID, error) {
	none := fault.New(fault.NotFound, "This link is not valid any more")
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
