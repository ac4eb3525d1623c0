package portal

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"hale/internal/people/messages"
	"hale/internal/people/users"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/audit"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/platform/teams"
	"hale/internal/wearables/connections"
)

// site is a running portal with one person in it.
type site struct {
	db   *store.DB
	url  string
	user users.User
	now  time.Time

	service *messages.Service
	audit   *audit.Log
}

func newSite(t *testing.T) *site { return newSiteOn(t, storetest.NewSQLite(t)) }

// eachSite runs fn on both engines.
func eachSite(t *testing.T, fn func(t *testing.T, s *site)) {
	t.Helper()
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) { fn(t, newSiteOn(t, d)) })
}

func newSiteOn(t *testing.T, d storetest.Database) *site {
	t.Helper()
	s := &site{now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), service: &messages.Service{}}
	s.db = d.Open(t, func() time.Time { return s.now })
	zone := "America/New_York"
	s.user = userstest.New(t, s.db, userstest.Team(t, s.db).ID, users.NewUser{TimeZone: &zone})
	userstest.WithInfo(t, s.db, s.user, userstest.Info())
	userstest.Write(t, s.db, func(ctx context.Context, tx *store.Tx) error {
		return connections.Ensure(ctx, tx, s.user, "apple_health_kit", []string{"heartrate", "sleep", "sleep_cycle", "hypnogram"})
	})
	server := httptest.NewUnstartedServer(nil)
	s.url = "http://" + server.Listener.Addr().String()
	s.audit = audit.New(s.db, nil)
	pages := New(Options{DB: s.db, BaseURL: s.url, Messages: s.service, Audit: s.audit})
	server.Config.Handler = serveLogos(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Request-Id", requestID) // as the API does
		pages.ServeHTTP(w, r)
	}))
	server.Start()
	t.Cleanup(server.Close)
	return s
}

const requestID = "request-1"

func (s *site) link(t *testing.T, purpose users.LinkContext) string {
	t.Helper()
	return s.linkTo(t, purpose, nil)
}

func (s *site) linkTo(t *testing.T, purpose users.LinkContext, order *uuid.UUID) string {
	t.Helper()
	var made users.PortalLink
	userstest.Write(t, s.db, func(ctx context.Context, tx *store.Tx) (err error) {
		made, err = users.CreatePortalLink(ctx, tx, s.user.Team, s.user.ID, purpose, order)
		return err
	})
	return s.url + made.Path()
}

func (s *site) team(t *testing.T) (team teams.Team, err error) {
	t.Helper()
	userstest.Write(t, s.db, func(ctx context.Context, tx *store.Tx) error {
		team, err = teams.Get(ctx, tx, s.user.Team)
		return err
	})
	return team, err
}

// browser is a client with cookies that follows no redirect.
type browser struct {
	t      *testing.T
	client *http.Client
}

func newBrowser(t *testing.T) *browser {
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &browser{t, &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

// answer is an HTTP response.
type answer struct {
	status int
	body   string
	header http.Header
}

func (b *browser) do(req *http.Request) answer {
	b.t.Helper()
	res, err := b.client.Do(req)
	if err != nil {
		b.t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return answer{res.StatusCode, string(body), res.Header}
}

func (b *browser) get(address string) answer {
	b.t.Helper()
	req, err := http.NewRequestWithContext(b.t.Context(), http.MethodGet, address, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	return b.do(req)
}

func (b *browser) post(address string, fields ...string) answer {
	b.t.Helper()
	form := url.Values{}
	for i := 0; i < len(fields); i += 2 {
		form.Set(fields[i], fields[i+1])
	}
	req, err := http.NewRequestWithContext(b.t.Context(), http.MethodPost, address, strings.NewReader(form.Encode()))
	if err != nil {
		b.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Sec-Fetch-Site", "same-origin")
	return b.do(req)
}

func (a answer) want(t *testing.T, status int, words ...string) {
	t.Helper()
	if a.status != status {
		t.Errorf("status %d, want %d: %s", a.status, status, a.body)
	}
	for _, w := range words {
		if !strings.Contains(a.body, w) {
			t.Errorf("%q is not on the page:\n%s", w, a.body)
		}
	}
}

func TestLaunch(t *testing.T) {
	s := newSite(t)
	link := s.link(t, users.Launch)
	scanner, person, late := newBrowser(t), newBrowser(t), newBrowser(t)
	for range 3 { // GET changes nothing
		page := scanner.get(link)
		page.want(t, 200, "Open your health portal", "Test team sent you this link", `<form method="post"`)
		if page.header.Get("Set-Cookie") != "" || strings.Contains(page.body, " Ada") {
			t.Error("the page of the link has a cookie or a name")
		}
	}
	in := person.post(link)
	in.want(t, 303)
	if to := in.header.Get("Location"); to != "/portal" {
		t.Errorf("sent on to %s", to)
	}
	person.get(s.url+"/portal").want(t, 200, "Hello Ada", "Test team", "Apple HealthKit", "Connected since March 1, 2026",
		"Heart rate", "Sleep stages", "Your visit ends at 3:00 PM EST", "Sign out")
	late.post(link).want(t, 404, "This link does not work")
	late.get(link).want(t, 404, "This link does not work")
}

func TestBadLinksHaveOneAnswer(t *testing.T) {
	s := newSite(t)
	used, expired := s.link(t, users.Launch), s.link(t, users.Launch)
	newBrowser(t).post(used).want(t, 303)
	s.now = s.now.Add(time.Hour)
	unknown := newBrowser(t).get(s.url + "/portal/enter/" + strings.Repeat("a", 43))
	unknown.want(t, 404)
	for name, address := range map[string]string{"used": used, "expired": expired, "short": s.url + "/p/x", "other path": s.url + "/p/" + strings.Repeat("b", 43)} {
		if got := newBrowser(t).get(address); got.status != unknown.status || got.body != unknown.body {
			t.Errorf("%s link: %d\n%s", name, got.status, got.body)
		}
		if got := newBrowser(t).post(address); got.status != unknown.status || got.body != unknown.body {
			t.Errorf("%s link, posted: %d\n%s", name, got.status, got.body)
		}
	}
}

// Rows of the audit log have the status of the answer, the id of the request, and an
// address without a port. A text in place of an order's id is not written.
func TestAccessesOfThePortalAreNoted(t *testing.T) {
	s := newSite(t)
	person := newBrowser(t)
	person.post(s.link(t, users.Launch)).want(t, 303)
	person.get(s.url+"/portal").want(t, 200)
	order := uuid.NewString()
	person.get(s.url+"/portal/orders/"+order).want(t, 404)
	person.get(s.url+"/portal/orders/ada-byron").want(t, 404)
	newBrowser(t).get(s.url+"/portal").want(t, 401)
	if err := s.audit.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	var rows []audit.Row
	err := s.db.Read(store.AsSystem(t.Context()), func(tx *store.Tx) (err error) {
		rows, _, err = audit.List(t.Context(), tx, s.user.Team.UUID(), audit.Filter{Limit: 10})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, row := range slices.Backward(rows) {
		got = append(got, fmt.Sprintf("%s %d %s", row.Action, row.Status, row.Object))
		if row.Address != "127.0.0.1" || row.RequestID != requestID || row.User == nil || *row.User != s.user.ID.UUID() {
			t.Errorf("%+v", row)
		}
	}
	want := []string{"POST /portal/enter/{token} 303 ", "GET /portal 200 ", "GET /portal/orders/{order} 404 " + order, "GET /portal/orders/{order} 404 "}
	if !slices.Equal(got, want) {
		t.Errorf("rows %q, want %q", got, want)
	}
}

func TestSignOut(t *testing.T) {
	s := newSite(t)
	person := newBrowser(t)
	person.post(s.link(t, users.Launch)).want(t, 303)
	u, _ := url.Parse(s.url)
	stolen := person.client.Jar.Cookies(u)
	out := person.post(s.url + "/portal/sign-out")
	out.want(t, 303)
	if out.header.Get("Clear-Site-Data") == "" {
		t.Error("the answer does not clear the browser's data")
	}
	person.get(s.url+out.header.Get("Location")).want(t, 200, "You have signed out")
	person.get(s.url+"/portal").want(t, 401, "You are signed out")
	thief := newBrowser(t)
	thief.client.Jar.SetCookies(u, stolen)
	thief.get(s.url+"/portal").want(t, 401)
}

func TestFormsOfOtherSitesAreRefused(t *testing.T) {
	s := newSite(t)
	link := s.link(t, users.Launch)
	for _, header := range [][2]string{{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}, {"Origin", "https://evil.example"}} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, link, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set(header[0], header[1])
		newBrowser(t).do(req).want(t, 403, "This did not come from our page")
	}
	newBrowser(t).post(link).want(t, 303)
}

func TestEveryPageIsGuarded(t *testing.T) {
	s := newSite(t)
	person := newBrowser(t)
	link := s.link(t, users.Communications)
	s.acceptBirthDate(t)
	pages := map[string]answer{
		"link": person.get(link), "no choice": person.post(link),
		"code sent": person.post(link, "method", "email"), "code": person.get(link + "/code"), "wrong code": person.post(link+"/code", "code", "x"),
		"too early":  person.post(link, "method", "email"),
		"birth date": person.get(link + "/birth-date"), "wrong date": person.post(link+"/birth-date", "month", "1", "day", "1", "year", "1990"),
		"gone": person.get(s.url + "/p/x"), "signed off": person.get(s.url + "/portal"), "no page": person.get(s.url + "/portal/nothing"),
	}
	person.post(link+"/birth-date", "month", "12", "day", "10", "year", "1984").want(t, 303)
	pages["home"] = person.get(s.url + "/portal")
	pages["signed out"] = person.get(s.url + "/portal/signed-out")
	for name, page := range pages {
		for header, want := range map[string]string{
			"Content-Security-Policy": policy, "Cache-Control": "no-store", "Referrer-Policy": "no-referrer",
			"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY",
		} {
			if got := page.header.Get(header); got != want {
				t.Errorf("%s: %s is %q", name, header, got)
			}
		}
		if strings.Contains(page.body, "<script") || strings.Contains(page.body, "style=") || strings.Contains(page.body, "http://") || strings.Contains(page.body, "https://") {
			t.Errorf("%s: has script, inline style or a foreign address", name)
		}
	}
	css := person.get(s.url + styleURL)
	css.want(t, 200, "--ground")
	if !strings.Contains(css.header.Get("Content-Type"), "text/css") || !strings.Contains(css.header.Get("Cache-Control"), "immutable") {
		t.Errorf("style sheet headers %v", css.header)
	}
}

func TestNamesAreEscaped(t *testing.T) {
	s := newSite(t)
	userstest.Write(t, s.db, func(ctx context.Context, tx *store.Tx) error {
		_, err := tx.Exec(ctx, `UPDATE teams SET name = $1`, `<img src=x onerror="alert(1)">`)
		return err
	})
	page := newBrowser(t).get(s.link(t, users.Launch))
	page.want(t, 200, "&lt;img src=x")
}

func TestCookies(t *testing.T) {
	for base, want := range map[string]struct {
		name   string
		secure bool
	}{
		"https://hale.example.org": {"__Host-hale-portal", true},
		"http://127.0.0.1:8080":    {"hale-portal", false},
		"http://localhost:8080":    {"hale-portal", false},
		"http://[::1]:8080":        {"hale-portal", false},
		"http://hale.example.org":  {"__Host-hale-portal", true},
		"":                         {"__Host-hale-portal", true},
	} {
		w := httptest.NewRecorder()
		cookiesFor(base).setSession(w, "token")
		got := w.Result().Cookies()[0]
		if got.Name != want.name || got.Secure != want.secure || !got.HttpOnly || got.Path != "/" || got.Domain != "" || got.SameSite != http.SameSiteLaxMode {
			t.Errorf("%q: %+v", base, got)
		}
	}
}

func TestOnHTTPTheLogWarns(t *testing.T) {
	for base, warns := range map[string]bool{
		"https://hale.example.org": false, "http://127.0.0.1:8080": false, "http://localhost": false, "": false, "http://hale.example.org": true,
	} {
		var log bytes.Buffer
		New(Options{BaseURL: base, Log: slog.New(slog.NewTextHandler(&log, nil))})
		if strings.Contains(log.String(), "base URL") != warns {
			t.Errorf("%q: %q", base, log.String())
		}
	}
}

func FuzzParseDay(f *testing.F) {
	f.Add("1984", "12", "10")
	f.Add(" 2000", "2 ", "29")
	f.Add("1900", "2", "29")
	f.Add("-1", "+1", "١")
	f.Fuzz(func(t *testing.T, year, month, day string) {
		if got := parseDay(year, month, day); got != nil && !got.Valid() {
			t.Fatalf("%q %q %q made %v", year, month, day, got)
		}
	})
}

func TestUnavailableDatabase(t *testing.T) {
	s := newSite(t)
	person := newBrowser(t)
	person.post(s.link(t, users.Launch)).want(t, 303)
	if err := s.db.Close(); err != nil {
		t.Fatal(err)
	}
	page := person.get(s.url + "/portal")
	page.want(t, 503, english.Trouble.Title)
	if got := page.header.Get("Retry-After"); got != "2" {
		t.Errorf("Retry-After: %q", got)
	}
}

// When the button is pressed twice, the browser keeps the second answer, but the
// first one used the link up. Another page or a later time gets no session.
func TestFormSubmittedTwice(t *testing.T) {
	s := newSite(t)
	link := s.link(t, users.Launch)
	secret := regexp.MustCompile(`name="page" value="([0-9A-Za-z]{43})"`)
	person, thief := newBrowser(t), newBrowser(t)
	page := secret.FindStringSubmatch(person.get(link).body)
	other := secret.FindStringSubmatch(thief.get(link).body)
	if page == nil || other == nil || page[1] == other[1] {
		t.Fatalf("the pages' secrets are %q and %q", page, other)
	}
	newBrowser(t).post(link, "page", page[1]).want(t, 303) // the answer that was lost
	again := person.post(link, "page", page[1])
	again.want(t, 303)
	person.get(s.url+again.header.Get("Location")).want(t, 200, "Hello Ada")
	for _, words := range [][]string{nil, {"page", ""}, {"page", other[1]}} {
		thief.post(link, words...).want(t, 404, "This link does not work")
	}
	thief.get(s.url+"/portal").want(t, 401)
	person.post(s.url+"/portal/sign-out").want(t, 303)
	person.post(link, "page", page[1]).want(t, 404, "This link does not work")

	link = s.link(t, users.Launch)
	page = secret.FindStringSubmatch(person.get(link).body)
	person.post(link, "page", page[1]).want(t, 303)
	s.now = s.now.Add(time.Minute + time.Second)
	person.post(link, "page", page[1]).want(t, 404, "This link does not work")
}
