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
// The token holds the order, the end of the link, its generation and their code. The key
// of the codes comes from the root key. A token cannot be created or changed without that
// key, and no link is stored. It has no nonce, so any number of links is safe. A link
// keeps working while the root key is rotated. It ends early when the order is cancelled,
// while its user is deleted, and when the team revokes the links of the order.
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

const (
	linkSize       = 16 + 16 + 8 // team, order, end in Unix seconds
	generationSize = 8           // after them; generation 0 is not written
)

// Link is the content of a token.
type Link struct {
	Team       teams.ID
	Order      orders.ID
	Generation int64 // the LinkGeneration of the order at the creation of the link
	end        int64 // in Unix seconds
}

// URL returns a link to an order's requisition that works for a week.
func (l *Links) URL(o *orders.Order, now time.Time) string {
	team, order := o.Team.UUID(), o.ID.UUID()
	plain := make([]byte, 0, linkSize+generationSize)
	plain = append(append(plain, team[:]...), order[:]...)
	plain = binary.BigEndian.AppendUint64(plain, uint64(now.Add(LinkLifetime).Unix()))
	if o.LinkGeneration > 0 { // nodes of older versions open links of generation 0
		plain = binary.BigEndian.AppendUint64(plain, uint64(o.LinkGeneration))
	}
	code, err := l.codes.Code(plain)
	if err != nil {
		panic(fmt.Sprintf("documents: making the code of a link: %v", err)) // the installation has a root key
	}
	return l.baseURL() + LinkPath + "?token=" + base64.RawURLEncoding.EncodeToString(append(plain, code...))
}

// Open returns the content of a token, or ErrNoLink when the token is invalid or
// has expired. The caller checks with Opens that the link was not revoked.
func (l *Links) Open(token string, now time.Time) (Link, error) {
	raw, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil {
		return Link{}, ErrNoLink
	}
	link, ok := l.parse(raw)
	if !ok || now.Unix() >= link.end {
		return Link{}, ErrNoLink
	}
	return link, nil
}

// parse returns the content of a token with a valid code.
func (l *Links) parse(raw []byte) (Link, bool) {
	for _, size := range []int{linkSize, linkSize + generationSize} {
		if len(raw) >= size && l.codes.CheckCode(raw[:size], raw[size:]) {
			return linkOf(raw[:size]), true
		}
	}
	// A link that an older version sealed works for its week. It has generation 0.
	plain, err := l.sealing.Open(sealedPlace, raw)
	if err != nil || len(plain) != linkSize {
		return Link{}, false
	}
	return linkOf(plain), true
}

func linkOf(plain []byte) Link {
	link := Link{
		Team: teams.ID(uuid.UUID(plain[:16])), Order: orders.ID(uuid.UUID(plain[16:32])),
		end: int64(binary.BigEndian.Uint64(plain[32:linkSize])),
	}
	if generation := plain[linkSize:]; len(generation) > 0 {
		link.Generation = int64(binary.BigEndian.Uint64(generation))
	}
	return link
}

// Opens reports whether the link opens the requisition of its order: the links of the
// order were not revoked after its creation.
func (l Link) Opens(o *orders.Order) bool {
	return l.Team == o.Team && l.Order == o.ID && l.Generation == o.LinkGeneration
}
