package partners

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"hale/internal/labs/networks"
	"hale/internal/platform/webhooks"
)

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo="

func secretFile(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(file, []byte(secret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestWrongSettings(t *testing.T) {
	one := func(lines string) string {
		return "networks:\n  fulfilment:\n    partners:\n      acme: {url: 'https://acme.example', secret_file: s, " + lines + "}\n"
	}
	for document, want := range map[string]string{
		"":                                       "",
		one("kits: true"):                        "",
		one("providers: [getlabs], timeout: 5s"): "",
		one("kits: true, labs: [a]") + "      bolt: {url: 'http://127.0.0.1:1', secret_file: s, kits: true, labs: [b]}\n": "",
		one("kit: true"):                 "line 4: unknown key kit",
		one("kits: perhaps"):             "line 4: must be true or false",
		one("providers: getlabs"):        "line 4: must be a list",
		one("timeout: -1s, kits: true"):  "acme.timeout: must not be negative",
		one("labs: [a], providers: [x]"): "acme.labs: need kits: true",
		one("providers: [Get Labs]"):     "acme.providers: must be lower-case",
		one(""):                          "acme.kits: or providers are needed",
		"networks: {fulfilment: {partners: {acme: {kits: true}}}}":                                                  "acme.url: must be an https URL",
		"networks: {fulfilment: {partners: {acme: {url: 'http://acme.example', secret_file: s, kits: true}}}}":      "acme.url: must be an https URL",
		"networks: {fulfilment: {partners: {acme: {url: 'https://u:p@acme.example', secret_file: s, kits: true}}}}": "acme.url: must be an https URL",
		"networks: {fulfilment: {partners: {acme: {url: 'https://acme.example', kits: true}}}}":                     "acme.secret_file: is needed",
		"networks: {fulfilment: {partners: {ACME: {url: 'https://acme.example', secret_file: s, kits: true}}}}":     "ACME.name: must be lower-case",
		one("kits: true") + "      bolt: {url: 'https://bolt.example', secret_file: s, kits: true}\n":               "bolt.labs: acme ships the same kits",
		one("providers: [x]") + "      bolt: {url: 'https://bolt.example', secret_file: s, providers: [x]}\n":       "bolt.providers: x is also a provider of acme",
	} {
		_, err := ParseSettings([]byte(document))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v", document, err)
		}
	}
	if _, err := New(Settings{Partners: map[string]Partner{"acme": {SecretFile: "absent"}}}, time.Now); err == nil || !strings.HasPrefix(err.Error(), "networks.fulfilment.partners.acme.secret_file") {
		t.Errorf("a missing secret: %v", err)
	}
}

// An answer is done, final, or a reason to try again.
func TestAnswers(t *testing.T) {
	var status int
	var text string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", "https://elsewhere.example/")
		w.WriteHeader(status)
		_, _ = w.Write([]byte(text))
	}))
	t.Cleanup(server.Close)
	n, err := New(Settings{Partners: map[string]Partner{"acme": {URL: server.URL, SecretFile: secretFile(t), Kits: true, Providers: []string{"getlabs"}}}}, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	order := networks.Order{ID: uuid.New(), Lab: "northlab", ShipTo: &networks.Address{FirstLine: "1 Main Street"}}
	visit := func(ctx context.Context) error {
		_, err := n.Book(ctx, uuid.New(), order, networks.Slot{Provider: "getlabs"})
		return err
	}
	ship := func(ctx context.Context) error { return n.Ship(ctx, order) }
	recall := func(ctx context.Context) error { return n.Recall(ctx, order) }
	unbook := func(ctx context.Context) error { return n.Unbook(ctx, networks.Booking{Provider: "getlabs", ID: "B1"}) }
	refusal := func(err error) bool {
		r := (*networks.Refusal)(nil)
		return errors.As(err, &r) && r.Reason == "no stock"
	}
	again := func(err error) bool {
		return err != nil && !errors.Is(err, networks.ErrSlotTaken) && !errors.Is(err, networks.ErrUnsupported) && !refusal(err)
	}
	is := func(target error) func(error) bool { return func(err error) bool { return errors.Is(err, target) } }
	for name, c := range map[string]struct {
		status int
		text   string
		do     func(context.Context) error
		want   func(error) bool
	}{
		"shipped":                  {200, "", ship, is(nil)},
		"a kit is refused":         {422, `{"reason":"no stock"}`, ship, refusal},
		"trouble":                  {500, "", ship, again},
		"another place":            {302, "", ship, again},
		"recalled":                 {204, "", recall, is(nil)},
		"an unknown kit":           {404, "", recall, is(nil)},
		"a kit on its way":         {422, `{}`, recall, is(nil)},
		"trouble with a recall":    {503, "", recall, again},
		"booked":                   {200, `{"booking_id":"B1"}`, visit, is(nil)},
		"booked without a number":  {200, `{}`, visit, again},
		"booked in prose":          {200, `done`, visit, again},
		"the slot is taken":        {409, "", visit, is(networks.ErrSlotTaken)},
		"a visit is refused":       {422, `{"reason":"too far"}`, visit, is(networks.ErrUnsupported)},
		"an answer without an end": {200, `{"booking_id":"` + strings.Repeat("x", maxAnswer) + `"}`, visit, again},
		"released":                 {200, "", unbook, is(nil)},
		"an unknown visit":         {404, "", unbook, is(nil)},
		"trouble with a release":   {500, "", unbook, again},
	} {
		status, text = c.status, c.text
		if err := c.do(t.Context()); !c.want(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	server.Close()
	if err := ship(t.Context()); !again(err) || strings.Contains(err.Error(), "127.0.0.1/") {
		t.Errorf("no answer: %v", err)
	}
}

// While a secret is replaced, posts have a signature for each, and reports are
// signed with either.
func TestReplacedSecret(t *testing.T) {
	const old, next = secret, "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDazfGZzv4KzY="
	at := time.Unix(1_700_000_000, 0)
	open := func(lines ...string) (*Network, error) {
		file := filepath.Join(t.TempDir(), "secret")
		if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		return New(Settings{Partners: map[string]Partner{"acme": {SecretFile: file}}}, func() time.Time { return at })
	}
	sign := func(text string) string {
		s, err := webhooks.ParseSecret(text)
		if err != nil {
			t.Fatal(err)
		}
		_, signature := webhooks.NewSigner([]webhooks.ValidSecret{{Secret: s}}).Sign("m1", at, []byte("{}"))
		return signature
	}
	for _, c := range []struct {
		secrets     []string
		old, next   bool
		signedTwice bool
	}{{[]string{old}, true, false, false}, {[]string{next, old}, true, true, true}, {[]string{next}, false, true, false}} {
		n, err := open(c.secrets...)
		if err != nil {
			t.Fatal(err)
		}
		for text, want := range map[string]bool{old: c.old, next: c.next} {
			if err := n.Verify("acme", "m1", "1700000000", sign(text), []byte("{}")); (err == nil) != want {
				t.Errorf("%d secrets: %v, want %v", len(c.secrets), err, want)
			}
		}
		_, signature := n.partners["acme"].signer().Sign("m1", at, []byte("{}"))
		if c.signedTwice && signature != sign(next)+" "+sign(old) {
			t.Errorf("the signatures are %q", signature)
		}
	}
	for _, lines := range [][]string{{""}, {old, next, old}, {old, "", next}, {"secret"}} {
		if _, err := open(lines...); err == nil {
			t.Errorf("%d lines are accepted", len(lines))
		}
	}
}

// Without a partner, kits and visits are for staff.
func TestStaff(t *testing.T) {
	n, err := New(Settings{}, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	order := networks.Order{ID: uuid.New(), Lab: "northlab", ShipTo: &networks.Address{}}
	// So are the kits of sandbox orders, also of a lab with a partner.
	down, err := New(Settings{Partners: map[string]Partner{"acme": {URL: "http://127.0.0.1:1", SecretFile: secretFile(t), Kits: true}}}, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	trial := order
	trial.Sandbox = true
	if err := errors.Join(down.Ship(t.Context(), trial), down.Recall(t.Context(), trial)); err != nil {
		t.Error(err)
	}
	b, err := n.Request(t.Context(), uuid.New(), order, "nurses", networks.Address{}, "")
	if err != nil || !strings.HasPrefix(b.ID, staffPrefix) {
		t.Errorf("%+v, %v", b, err)
	}
	if err := errors.Join(n.Ship(t.Context(), order), n.Recall(t.Context(), order), n.Unbook(t.Context(), b)); err != nil {
		t.Error(err)
	}
	if _, err := n.Slots(t.Context(), networks.SlotQuery{Provider: "nurses"}); !errors.Is(err, networks.ErrUnsupported) {
		t.Error(err)
	}
	if _, err := n.Place(t.Context(), order); !errors.Is(err, networks.ErrUnsupported) {
		t.Error(err)
	}
}

func TestPartnerOfKits(t *testing.T) {
	file := secretFile(t)
	n, err := New(Settings{Partners: map[string]Partner{
		"all": {SecretFile: file, Kits: true}, "north": {SecretFile: file, Kits: true, Labs: []string{"northlab"}}, "visits": {SecretFile: file, Providers: []string{"getlabs"}},
	}}, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	if n.ForKits("northlab") != "north" || n.ForKits("southlab") != "all" || n.ForVisits("getlabs") != "visits" || n.ForVisits("x") != "" {
		t.Errorf("%s %s %s", n.ForKits("northlab"), n.ForKits("southlab"), n.ForVisits("getlabs"))
	}
}
