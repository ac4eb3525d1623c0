package calltest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"hale/internal/api"
	"hale/internal/people/users"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/events"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/platform/teams"
)

// UserCaller sends requests as one team that has a user.
type UserCaller struct {
	T    testing.TB
	API  *api.API
	DB   *store.DB
	Team teams.Team
	Key  string
	User users.User
}

var March = time.Date(2026, 3, 21, 12, 0, 0, 0, time.UTC)

func (d UserCaller) NewKey(team teams.Team) (text string) {
	ctx := store.AsSystem(context.Background())
	err := d.DB.Write(ctx, func(tx *store.Tx) error {
		_, secret, err := teams.CreateKey(ctx, tx, team, teams.NewKey{Label: "test", Rights: teams.FullRights})
		text = secret.Reveal()
		return err
	})
	if err != nil {
		d.T.Fatal(err)
	}
	return text
}

func (d UserCaller) Do(method, path, body string) *httptest.ResponseRecorder {
	d.T.Helper()
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Header.Set("x-service-api-key", d.Key)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	w := httptest.NewRecorder()
	d.API.ServeHTTP(w, r)
	return w
}

// Get decodes the answer, whose status must be 200.
func (d UserCaller) Get(path string, into any) string {
	d.T.Helper()
	return d.Decode(d.Do(http.MethodGet, path, ""), into)
}

func (d UserCaller) Post(path, body string, into any) string {
	d.T.Helper()
	return d.Decode(d.Do(http.MethodPost, path, body), into)
}

func (d UserCaller) Decode(w *httptest.ResponseRecorder, into any) string {
	d.T.Helper()
	if w.Code != http.StatusOK {
		d.T.Fatalf("%d: %s", w.Code, w.Body)
	}
	if err := json.Unmarshal(w.Body.Bytes(), into); err != nil {
		d.T.Fatalf("%s: %v", w.Body, err)
	}
	return w.Body.String()
}

func (d UserCaller) Path(format string) string {
	return strings.ReplaceAll(format, "{user_id}", d.User.ID.String())
}

// EventTypes returns the types of the team's events, in the order of their numbers,
// without those about users themselves.
func (d UserCaller) EventTypes() (names []string) {
	d.T.Helper()
	ctx := store.AsSystem(context.Background())
	if err := (&events.Sequencer{DB: d.DB}).Settle(ctx); err != nil {
		d.T.Fatal(err)
	}
	err := d.DB.Read(ctx, func(tx *store.Tx) error {
		rows, err := tx.Query(ctx, `SELECT type FROM events WHERE team_id = $1 AND type NOT LIKE 'user.%' ORDER BY seq`, d.Team.ID)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var name string
			if err := rows.Scan(&name); err != nil {
				return err
			}
			names = append(names, name)
		}
		return rows.Err()
	})
	if err != nil {
		d.T.Fatal(err)
	}
	return names
}

func PushText(data string, more ...string) string {
	return `{"stage":"daily","provider":"apple_health_kit","data":` + data + strings.Join(more, "") + `}`
}

func Heartbeats(n int) string {
	var b strings.Builder
	b.WriteByte('[')
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		at := time.Date(2026, 2, 1, 0, i, 0, 0, time.UTC).Format("2006-01-02T15:04:05+00:00")
		fmt.Fprintf(&b, `{"timestamp":"%s","timezone_offset":3600,"type":null,"unit":"bpm","value":%d,"source_type":"watch","source_app_id":"com.example"}`, at, 60+i%40)
	}
	return b.String() + "]"
}

// SendWithToken sends a request with an access token instead of the team's key.
func (d UserCaller) SendWithToken(token, method, path, body string, headers ...string) *httptest.ResponseRecorder {
	d.T.Helper()
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+token)
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	d.API.ServeHTTP(w, r)
	return w
}

// SendWithoutKey sends a request without a key.
func (d UserCaller) SendWithoutKey(path, body, address string) *httptest.ResponseRecorder {
	d.T.Helper()
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
	r.RemoteAddr = address
	w := httptest.NewRecorder()
	d.API.ServeHTTP(w, r)
	return w
}

func (d UserCaller) SignedIn() TokenPair {
	d.T.Helper()
	var signIn struct {
		Token string `json:"sign_in_token"`
	}
	var pair TokenPair
	d.Post(d.Path("/v2/user/{user_id}/sign_in_token"), "", &signIn)
	d.Decode(d.SendWithoutKey("/v2/link/exchange", `{"sign_in_token":"`+signIn.Token+`"}`, "192.0.2.1:1"), &pair)
	return pair
}

func (d UserCaller) Status(want int, w *httptest.ResponseRecorder) {
	d.T.Helper()
	if w.Code != want {
		d.T.Errorf("%d, not %d: %s", w.Code, want, w.Body)
	}
}

// SendWithIdempotencyKey sends a push with an Idempotency-Key.
func (d UserCaller) SendWithIdempotencyKey(key, path, body string) *httptest.ResponseRecorder {
	d.T.Helper()
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
	r.Header.Set("x-service-api-key", d.Key)
	r.Header.Set("Idempotency-Key", key)
	w := httptest.NewRecorder()
	d.API.ServeHTTP(w, r)
	return w
}

// EventCount returns the number of events of the user's team.
func (d UserCaller) EventCount() int {
	d.T.Helper()
	return len(d.EventTypes())
}

// TokenPair is the answer of a sign-in.
type TokenPair struct {
	UserID       users.ID `json:"user_id"`
	AccessToken  string   `json:"access_token"`
	TokenType    string   `json:"token_type"`
	ExpiresIn    int64    `json:"expires_in"`
	RefreshToken string   `json:"refresh_token"`
}

// EachUserCaller runs a test on both engines, each with a new team and user.
func EachUserCaller(t *testing.T, now func() time.Time, build func(db *store.DB) *api.API, fn func(d UserCaller)) {
	storetest.EachAt(t, now, func(t *testing.T, db *store.DB) {
		d := UserCaller{T: t, DB: db, Team: userstest.Team(t, db), API: build(db)}
		d.User = userstest.New(t, db, d.Team.ID, users.NewUser{})
		d.Key = d.NewKey(d.Team)
		fn(d)
	})
}
