package calltest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"hale/internal/api"
	"hale/internal/api/codetest"
	"hale/internal/people/users"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/platform/teams"
	"hale/internal/wearables/connections"
)

var update = flag.Bool("update", false, "rewrite the golden wire files")

// Caller sends requests as one team.
type Caller struct {
	T    testing.TB
	API  http.Handler
	DB   *store.DB
	Team teams.ID
	Key  string
	Now  *time.Time
}

// NewTeamCaller returns a caller of a new team at the same API.
func NewTeamCaller(t testing.TB, db *store.DB, handler http.Handler, now *time.Time) *Caller {
	t.Helper()
	c := &Caller{T: t, API: handler, DB: db, Now: now}
	userstest.Write(t, db, func(ctx context.Context, tx *store.Tx) error {
		team, err := teams.Create(ctx, tx, "Example team", teams.Sandbox)
		if err != nil {
			return err
		}
		_, key, err := teams.CreateKey(ctx, tx, team, teams.NewKey{Label: "test", Rights: teams.FullRights})
		c.Team, c.Key = team.ID, key.Reveal()
		return err
	})
	return c
}

func (c *Caller) Do(method, path, body string) (int, string) {
	c.T.Helper()
	r := httptest.NewRequestWithContext(c.T.Context(), method, path, strings.NewReader(body))
	r.Header.Set("x-service-api-key", c.Key)
	return c.serve(r)
}

// serve sends a request, and checks that the operation declares the code of a refusal.
func (c *Caller) serve(r *http.Request) (int, string) {
	c.T.Helper()
	w := httptest.NewRecorder()
	c.API.ServeHTTP(w, r)
	if err := codetest.Check(c.API, r.Method, r.URL.Path, w.Body.Bytes()); err != nil {
		c.T.Error(err)
	}
	return w.Code, w.Body.String()
}

// Want sends a request and checks the status and that the answer contains words.
func (c *Caller) Want(status int, method, path, body string, words ...string) string {
	c.T.Helper()
	code, got := c.Do(method, path, body)
	if code != status {
		c.T.Errorf("%s %s %s: %d, want %d: %s", method, path, body, code, status, got)
	}
	for _, w := range words {
		if !strings.Contains(got, w) {
			c.T.Errorf("%s %s %s: %q is not in %s", method, path, body, w, got)
		}
	}
	return got
}

// User creates a user and returns the id.
func (c *Caller) User(clientUserID string) string {
	c.T.Helper()
	var body struct {
		UserID string `json:"user_id"`
	}
	Decode(c.T, c.Want(200, "POST", "/v2/user/", `{"client_user_id":"`+clientUserID+`"}`), &body)
	return body.UserID
}

func (c *Caller) Connect(userID, provider string, resources ...string) {
	c.T.Helper()
	userstest.Write(c.T, c.DB, func(ctx context.Context, tx *store.Tx) error {
		user, err := users.Get(ctx, tx, c.Team, users.ID(uuid.MustParse(userID)))
		if err != nil {
			return err
		}
		return connections.Ensure(ctx, tx, user, provider, resources)
	})
}

func Decode(t testing.TB, text string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), into); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
}

var anyUUID = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// Golden compares an answer with testdata/NAME.json, including the order of fields.
// Identifiers, which differ between runs, are numbered by appearance.
func Golden(t testing.TB, name, got string) {
	t.Helper()
	seen := map[string]string{}
	got = anyUUID.ReplaceAllStringFunc(got, func(id string) string {
		if seen[id] == "" {
			seen[id] = "uuid-" + string(rune('1'+len(seen)))
		}
		return seen[id]
	})
	got = regexp.MustCompile(`"S-[0-9a-f]{12}"`).ReplaceAllString(got, `"S-sample"`) // the end of an identifier from orderstest
	got = regexp.MustCompile(`(/portal/enter/|/p/)[0-9A-Za-z]{43}`).ReplaceAllString(got, "${1}token")
	var buf bytes.Buffer
	if err := json.Indent(&buf, []byte(got), "", "  "); err != nil {
		t.Fatalf("%v in %s", err, got)
	}
	path := filepath.Join("testdata", name+".json")
	if *update {
		if err := errors.Join(os.MkdirAll("testdata", 0o755), os.WriteFile(path, buf.Bytes(), 0o644)); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (run with -update)", err)
	}
	if diff := cmp.Diff(string(want), buf.String()); diff != "" {
		t.Errorf("%s changed (-want +got):\n%s", path, diff)
	}
}

// SendWithIdempotencyKey sends a request with an idempotency key.
func (c *Caller) SendWithIdempotencyKey(key, path, body string) (int, string) {
	c.T.Helper()
	r := httptest.NewRequestWithContext(c.T.Context(), http.MethodPost, path, strings.NewReader(body))
	r.Header.Set("x-service-api-key", c.Key)
	r.Header.Set("Idempotency-Key", key)
	return c.serve(r)
}

// NewCallerOf starts an API on SQLite at noon of 1 March 2026.
func NewCallerOf(t testing.TB, build func(db *store.DB) *api.API) *Caller {
	t.Helper()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	db := storetest.NewSQLite(t).Open(t, func() time.Time { return now })
	return NewTeamCaller(t, db, build(db), &now)
}

const GoodInfo = `{"first_name":"Ada","last_name":"Byron","email":"Ada@Example.org","phone_number":"(415) 555-0132","gender":"Female","dob":"1984-12-10",` +
	`"address":{"first_line":"1 Main Street","second_line":null,"zip_code":"62704","state":"il","city":"Springfield"}}`

const GoodInsurance = `{"payor_code":"UHC","member_id":"M-1","relationship":"Self","insured":{"first_name":"Ada","last_name":"Byron","gender":"Female","dob":"1984-12-10",` +
	`"email":"ada@example.org","phone_number":"+14155550132","address":{"first_line":"1 Main Street","zip":"78701","state":"TX","city":"Austin","country":"US"}}}`

// Replace replaces one part of a body, which must contain it.
func Replace(t *testing.T, body, old, text string) string {
	t.Helper()
	if !strings.Contains(body, old) {
		t.Fatalf("%q is not in %s", old, body)
	}
	return strings.Replace(body, old, text, 1)
}
