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
		team, order, err := l.Open(token, at)
		if err != nil || team != o.Team || order != o.ID {
			t.Errorf("after %s: %v %v %v", at.Sub(placedAt), team, order, err)
		}
	}
	if _, _, err := l.Open(token, placedAt.Add(LinkLifetime)); !fault.Is(err, fault.NotFound) {
		t.Errorf("after a week: %v", err)
	}
}

// A link that an older version sealed with the root key works for its week.
func TestLinksOfOlderVersions(t *testing.T) {
	l := links(t)
	team, order := id(2), id(1)
	plain := binary.BigEndian.AppendUint64(append(append([]byte(nil), team[:]...), order[:]...), uint64(placedAt.Add(LinkLifetime).Unix()))
	sealed, err := l.sealing.Seal(sealedPlace, plain)
	if err != nil {
		t.Fatal(err)
	}
	token := base64.RawURLEncoding.EncodeToString(sealed)
	if gotTeam, got, err := l.Open(token, placedAt.Add(LinkLifetime-time.Second)); err != nil || gotTeam.UUID() != team || got.UUID() != order {
		t.Errorf("%v %v %v", gotTeam, got, err)
	}
	if _, _, err := l.Open(token, placedAt.Add(LinkLifetime)); !fault.Is(err, fault.NotFound) {
		t.Errorf("after a week: %v", err)
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
	if _, _, err := l.Open(forged, placedAt); !fault.Is(err, fault.NotFound) {
		t.Errorf("a code of the root key itself: %v", err)
	}
}

func TestInvalidTokens(t *testing.T) {
	l := links(t)
	token := tokenOf(t, l.URL(&orders.Order{ID: orders.ID(id(1)), Team: teams.ID(id(2))}, placedAt))
	other, err := l.sealing.Seal("something else", make([]byte, linkSize))
	if err != nil {
		t.Fatal(err)
	}
	short, err := l.sealing.Seal(sealedPlace, []byte("short"))
	if err != nil {
		t.Fatal(err)
	}
	wrong := []string{"", "?", token[:len(token)-2], base64.RawURLEncoding.EncodeToString(other), base64.RawURLEncoding.EncodeToString(short)}
	raw, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil {
		t.Fatal(err)
	}
	for i := range raw { // each byte counts
		changed := append([]byte(nil), raw...)
		changed[i] ^= 1
		wrong = append(wrong, base64.RawURLEncoding.EncodeToString(changed))
	}
	for _, token := range wrong {
		if _, _, err := l.Open(token, placedAt); !fault.Is(err, fault.NotFound) {
			t.Errorf("%q: %v", token, err)
		}
	}
	if _, _, err := links(t).Open(token, placedAt); !fault.Is(err, fault.NotFound) {
		t.Errorf("with another root key: %v", err)
	}
}
