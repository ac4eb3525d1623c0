package documents

import (
	"encoding/base64"
	"encoding/binary"
	"strings"
	"testing"
	"time"

	"hale/internal/labs/orders"
	"hale/internal/platform/fault"
	"hale/internal/platform/secrets"
	"hale/internal/platform/teams"
)

func links(t *testing.T) *Links {
	t.Helper()
	root, err := secrets.ParseRoot(base64.StdEncoding.EncodeToString(secrets.Bytes(secrets.KeySize)))
	if err != nil {
		t.Fatal(err)
	}
	return NewLinks(root, func() string { return "https://hale.example.org" })
}

func tokenOf(t *testing.T, url string) string {
	t.Helper()
	token, ok := strings.CutPrefix(url, "https://hale.example.org/v3/requisition_form?token=")
	if !ok {
		t.Fatalf("the link is %s", url)
	}
	return token
}

func TestLinkLifetime(t *testing.T) {
	l := links(t)
	o := &orders.Order{ID: orders.ID(id(1)), Team: teams.ID(id(2))}
	token := tokenOf(t, l.URL(o, placedAt))
	for _, at := range []time.Time{placedAt, placedAt.Add(LinkLifetime - time.Second)} {
		link, err := l.Open(token, at)
		if err != nil || link.Team != o.Team || link.Order != o.ID {
			t.Errorf("after %s: %v %v", at.Sub(placedAt), link, err)
		}
	}
	if _, err := l.Open(token, placedAt.Add(LinkLifetime)); !fault.Is(err, fault.NotFound) {
		t.Errorf("after a week: %v", err)
	}
}

// A link that an older version sealed with the root key works for its week, or until the
// first revocation.
func TestLinksOfOlderVersions(t *testing.T) {
	l := links(t)
	team, order := id(2), id(1)
	plain := binary.BigEndian.AppendUint64(append(append([]byte(nil), team[:]...), order[:]...), uint64(placedAt.Add(LinkLifetime).Unix()))
	sealed, err := l.sealing.Seal(sealedPlace, plain)
	if err != nil {
		t.Fatal(err)
	}
	token := base64.RawURLEncoding.EncodeToString(sealed)
	link, err := l.Open(token, placedAt.Add(LinkLifetime-time.Second))
	if err != nil || link.Team.UUID() != team || link.Order.UUID() != order {
		t.Errorf("%v %v", link, err)
	}
	o := &orders.Order{ID: orders.ID(order), Team: teams.ID(team)}
	if !link.Opens(o) {
		t.Error("the link does not open an order without a revocation")
	}
	if o.LinkGeneration = 1; link.Opens(o) {
		t.Error("the link opens an order after a revocation")
	}
	if _, err := l.Open(token, placedAt.Add(LinkLifetime)); !fault.Is(err, fault.NotFound) {
		t.Errorf("after a week: %v", err)
	}
}

// A link opens only an order whose links were not revoked since.
func TestLinksNameTheirGeneration(t *testing.T) {
	l := links(t)
	for _, generation := range []int64{0, 1, 2, 300, 1 << 40} {
		o := &orders.Order{ID: orders.ID(id(1)), Team: teams.ID(id(2)), LinkGeneration: generation}
		link, err := l.Open(tokenOf(t, l.URL(o, placedAt)), placedAt)
		if err != nil || link.Team != o.Team || link.Order != o.ID || !link.Opens(o) {
			t.Errorf("generation %d: %+v %v", generation, link, err)
		}
		for _, change := range []func(o *orders.Order){
			func(o *orders.Order) { o.LinkGeneration++ },
			func(o *orders.Order) { o.LinkGeneration-- },
			func(o *orders.Order) { o.ID = orders.ID(id(3)) },
			func(o *orders.Order) { o.Team = teams.ID(id(3)) },
		} {
			other := *o
			change(&other)
			if link.Opens(&other) {
				t.Errorf("a link of generation %d opens generation %d of %s", generation, other.LinkGeneration, other.ID)
			}
		}
	}
}

// Links of orders without a revocation have the form of older versions, so nodes of both
// versions open them during an upgrade.
func TestLinksWithoutRevocationHaveTheOlderForm(t *testing.T) {
	l := links(t)
	raw, err := base64.RawURLEncoding.DecodeString(tokenOf(t, l.URL(&orders.Order{ID: orders.ID(id(1)), Team: teams.ID(id(2))}, placedAt)))
	if err != nil {
		t.Fatal(err)
	}
	if !l.codes.CheckCode(raw[:linkSize], raw[linkSize:]) {
		t.Error("the code is not that of the team, the order and the end")
	}
}

// Links use no nonce of the root key. The tokens of one moment are the same, and the root
// key itself does not make them.
func TestLinksHaveAKeyOfTheirOwn(t *testing.T) {
	l := links(t)
	o := &orders.Order{ID: orders.ID(id(1)), Team: teams.ID(id(2))}
	token := tokenOf(t, l.URL(o, placedAt))
	if token != tokenOf(t, l.URL(o, placedAt)) {
		t.Error("a token has a nonce")
	}
	raw, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil {
		t.Fatal(err)
	}
	code, err := l.sealing.Code(raw[:linkSize])
	if err != nil {
		t.Fatal(err)
	}
	forged := base64.RawURLEncoding.EncodeToString(append(raw[:linkSize:linkSize], code...))
	if _, err := l.Open(forged, placedAt); !fault.Is(err, fault.NotFound) {
		t.Errorf("a code of the root key itself: %v", err)
	}
}

func TestInvalidTokens(t *testing.T) {
	l := links(t)
	o := &orders.Order{ID: orders.ID(id(1)), Team: teams.ID(id(2))}
	token := tokenOf(t, l.URL(o, placedAt))
	o.LinkGeneration = 7
	revoked := tokenOf(t, l.URL(o, placedAt))
	other, err := l.sealing.Seal("another purpose", make([]byte, linkSize))
	if err != nil {
		t.Fatal(err)
	}
	short, err := l.sealing.Seal(sealedPlace, []byte("short"))
	if err != nil {
		t.Fatal(err)
	}
	wrong := []string{"", "?", token[:len(token)-2], base64.RawURLEncoding.EncodeToString(other), base64.RawURLEncoding.EncodeToString(short)}
	for _, token := range []string{token, revoked} {
		raw, err := base64.RawURLEncoding.DecodeString(token)
		if err != nil {
			t.Fatal(err)
		}
		for i := range raw { // each byte counts
			changed := append([]byte(nil), raw...)
			changed[i] ^= 1
			wrong = append(wrong, base64.RawURLEncoding.EncodeToString(changed))
		}
		// Without its generation, or with another one.
		wrong = append(wrong, base64.RawURLEncoding.EncodeToString(append(raw[:linkSize:linkSize], raw[min(len(raw), linkSize+generationSize):]...)),
			base64.RawURLEncoding.EncodeToString(append(append(raw[:linkSize:linkSize], make([]byte, generationSize)...), raw[linkSize:]...)))
	}
	for _, token := range wrong {
		if _, err := l.Open(token, placedAt); !fault.Is(err, fault.NotFound) {
			t.Errorf("%q: %v", token, err)
		}
	}
	if _, err := links(t).Open(token, placedAt); !fault.Is(err, fault.NotFound) {
		t.Errorf("with another root key: %v", err)
	}
}
