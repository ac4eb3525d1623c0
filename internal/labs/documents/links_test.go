package documents

import (
	"encoding/base64"
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
	return &Links{Root: root, BaseURL: func() string { return "https://hale.example.org" }}
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
	if strings.Contains(token, o.ID.String()) || token == tokenOf(t, l.URL(o, placedAt)) {
		t.Error("a token shows what it is of")
	}
}

func TestInvalidTokens(t *testing.T) {
	l := links(t)
	token := tokenOf(t, l.URL(&orders.Order{ID: orders.ID(id(1)), Team: teams.ID(id(2))}, placedAt))
	other, err := l.Root.Seal("something else", make([]byte, linkSize))
	if err != nil {
		t.Fatal(err)
	}
	short, err := l.Root.Seal(linkPlace, []byte("short"))
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
