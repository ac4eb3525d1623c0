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
// The token holds the order, the end of the link and their code. The key of the codes
// comes from the root key. A token cannot be created or changed without that key, and
// nothing is stored. It has no nonce, so any number of links is safe. A link keeps
// working while the root key is rotated. It ends early when the order is cancelled and
// while its user is deleted.
type Links struct {
	codes   *secrets.Root
	sealing *secrets.Root // opens links of older versions
	baseURL func() string
}

// NewLinks returns the links of an installation. baseURL returns the base address of the
// service; each link calls it.
func NewLinks(root *secrets.Root, baseURL func() string) *Links {
	return &Links{codes: root.Derive("requisition links"), sealing: root, baseURL: baseURL}
}

// sealedPlace is the place of the tokens that older versions sealed with the root key.
const sealedPlace = "documents: requisition link"

// ErrNoLink is the NotFound fault of a link that is invalid, has expired, or whose
// order has no readable user.
var ErrNoLink = fault.New(fault.NotFound, "This link is no longer valid")

const linkSize = 16 + 16 + 8 // team, order, end in Unix seconds

// URL returns a link to an order's requisition that works for a week.
func (l *Links) URL(o *orders.Order, now time.Time) string {
	team, order := o.Team.UUID(), o.ID.UUID()
	plain := make([]byte, 0, linkSize)
	plain = append(append(plain, team[:]...), order[:]...)
	plain = binary.BigEndian.AppendUint64(plain, uint64(now.Add(LinkLifetime).Unix()))
	code, err := l.codes.Code(plain)
	if err != nil {
		panic(fmt.Sprintf("documents: making the code of a link: %v", err)) // the installation has a root key
	}
	return l.baseURL() + LinkPath + "?token=" + base64.RawURLEncoding.EncodeToString(append(plain, code...))
}

// Open returns the order of a token, or ErrNoLink when the token is invalid or
// has expired.
func (l *Links) Open(token string, now time.Time) (teams.ID, orders.ID, error) {
	raw, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil || len(raw) < linkSize {
		return teams.ID{}, orders.ID{}, ErrNoLink
	}
	plain := raw[:linkSize]
	if !l.codes.CheckCode(plain, raw[linkSize:]) {
		// A link that a version before this one made works for its week.
		if plain, err = l.sealing.Open(sealedPlace, raw); err != nil || len(plain) != linkSize {
			return teams.ID{}, orders.ID{}, ErrNoLink
		}
	}
	if end := int64(binary.BigEndian.Uint64(plain[32:])); now.Unix() >= end {
		return teams.ID{}, orders.ID{}, ErrNoLink
	}
	return teams.ID(uuid.UUID(plain[:16])), orders.ID(uuid.UUID(plain[16:32])), nil
}
