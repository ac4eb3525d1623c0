package routes_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"hale/internal/api"
	"hale/internal/api/calltest"
	"hale/internal/api/routes"
	"hale/internal/people/users"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
)

// linkCode is a created link code.
type linkCode struct {
	Code        string
	ExchangeURL string    `json:"exchange_url"`
	ExpiresAt   time.Time `json:"expires_at"`
}

// tokenCaller adds link codes to calltest.UserCaller.
type tokenCaller struct{ calltest.UserCaller }

func (d tokenCaller) code() linkCode {
	d.T.Helper()
	var code linkCode
	d.Post("/v2/link/code/create?user_id="+d.User.ID.String(), "", &code)
	return code
}

func TestAPhoneSignsInWithACode(t *testing.T) {
	eachTokenCaller(t, func() time.Time { return calltest.March }, func(d tokenCaller) {
		code := d.code()
		if code.ExchangeURL != "hale://link?code="+code.Code || !code.ExpiresAt.Equal(calltest.March.Add(time.Hour)) {
			t.Errorf("%+v", code)
		}
		var pair calltest.TokenPair
		d.Decode(d.SendWithoutKey("/v2/link/exchange", `{"code":"`+strings.ToUpper(code.Code)+`"}`, "192.0.2.1:1"), &pair)
		if pair.UserID != d.User.ID || pair.TokenType != "Bearer" || pair.ExpiresIn != 3600 {
			t.Errorf("%+v", pair)
		}
		d.Status(http.StatusUnauthorized, d.SendWithoutKey("/v2/link/exchange", `{"code":"`+code.Code+`"}`, "192.0.2.1:1"))
		var pushed struct{ Created int }
		d.Decode(d.SendWithToken(pair.AccessToken, "POST", d.Path("/v2/timeseries/{user_id}/heartrate"), calltest.PushText(calltest.Heartbeats(3))), &pushed)
		if pushed.Created != 3 {
			t.Errorf("%+v", pushed)
		}
		var groups struct{ Groups map[string][]any }
		d.Decode(d.SendWithToken(pair.AccessToken, "GET", d.Path("/v2/timeseries/{user_id}/heartrate/grouped?start_date=2026-02-01"), ""), &groups)
		if len(groups.Groups["apple_health_kit"]) != 1 {
			t.Errorf("%+v", groups)
		}
	})
}

func TestRefusedExchanges(t *testing.T) {
	eachTokenCaller(t, func() time.Time { return calltest.March }, func(d tokenCaller) {
		for body, want := range map[string]int{
			`{}`: 422, `{"sign_in_token":"a","code":"b"}`: 422, `{"sign_in_token":1}`: 422, `[]`: 422,
			`{"sign_in_token":"si_nobody"}`: 401, `{"code":"skus00000000"}`: 401,
		} {
			d.Status(want, d.SendWithoutKey("/v2/link/exchange", body, "192.0.2.7:1"))
		}
		for query, want := range map[string]int{
			"": 422, "?user_id=x": 422, "?user_id=019f0000-0000-7000-8000-000000000000": 404,
			"?user_id={user_id}&expires_at=2026-03-21T11:59:59Z": 422, "?user_id={user_id}&expires_at=0001-01-01T00:00:00Z": 422, "?user_id={user_id}&expires_at=2026-03-29T12:00:00Z": 422,
			"?user_id={user_id}&expires_at=2026-03-22T12:00:00%2B02:00": 200,
		} {
			d.Status(want, d.Do("POST", d.Path("/v2/link/code/create"+query), ""))
		}
	})
}

// A code has only eight hexadecimal digits. It is safe because guesses are limited, so an
// address that has used up its guesses must wait even with a right code.
func TestWrongCodesAreLimited(t *testing.T) {
	clock := storetest.NewClock(calltest.March)
	eachTokenCaller(t, clock.Now, func(d tokenCaller) {
		clock.Set(calltest.March)
		guess := func(address string) *httptest.ResponseRecorder {
			return d.SendWithoutKey("/v2/link/exchange", `{"code":"skus00000000"}`, address+":1234")
		}
		for range 10 {
			d.Status(http.StatusUnauthorized, guess("192.0.2.1"))
		}
		if w := guess("192.0.2.1"); w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") != "60" {
			t.Errorf("%d, Retry-After %q", w.Code, w.Header().Get("Retry-After"))
		}
		code := d.code()
		d.Status(http.StatusTooManyRequests, d.SendWithoutKey("/v2/link/exchange", `{"code":"`+code.Code+`"}`, "192.0.2.1:9"))
		d.Status(http.StatusOK, d.SendWithoutKey("/v2/link/exchange", `{"code":"`+code.Code+`"}`, "192.0.2.2:9"))
		for range 15 { // correct codes do not count as guesses
			d.Status(http.StatusOK, d.SendWithoutKey("/v2/link/exchange", `{"code":"`+d.code().Code+`"}`, "192.0.2.3:9"))
		}
		// The use of a code as a sign-in token counts as a guess too.
		d.Status(http.StatusUnauthorized, d.SendWithoutKey("/v2/link/exchange", `{"sign_in_token":"`+d.code().Code+`"}`, "192.0.2.3:9"))
		clock.Advance(time.Minute)
		d.Status(http.StatusUnauthorized, guess("192.0.2.1"))
		d.Status(http.StatusTooManyRequests, guess("192.0.2.1"))
	})
}

// Wrong codes from many addresses do not keep a right code of another address out.
func TestWrongCodesOfOthersDoNotLockAUser(t *testing.T) {
	clock := storetest.NewClock(calltest.March)
	eachTokenCaller(t, clock.Now, func(d tokenCaller) {
		clock.Set(calltest.March)
		exchange := func(address, code string) *httptest.ResponseRecorder {
			return d.SendWithoutKey("/v2/link/exchange", `{"code":"`+code+`"}`, address)
		}
		const wrong = "skus00000000"
		for i := range 30 { // all that all addresses have together
			d.Status(http.StatusUnauthorized, exchange(fmt.Sprintf("192.0.2.%d:1", i), wrong))
		}
		for _, address := range []string{"198.51.100.1:1", "[2001:db8::1]:1"} {
			d.Status(http.StatusOK, exchange(address, d.code().Code))
			for range 2 {
				d.Status(http.StatusUnauthorized, exchange(address, wrong))
			}
			d.Status(http.StatusOK, exchange(address, d.code().Code)) // two typing errors
			d.Status(http.StatusUnauthorized, exchange(address, wrong))
			if w := exchange(address, wrong); w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") != "3600" {
				t.Errorf("%s: %d, Retry-After %q", address, w.Code, w.Header().Get("Retry-After"))
			}
		}
		d.Status(http.StatusTooManyRequests, exchange("[2001:db8:0:ffff::1]:1", wrong)) // the same network
		d.Status(http.StatusOK, exchange("[2001:db8:1::1]:1", d.code().Code))
		clock.Advance(time.Minute) // then all together have guesses again
		d.Status(http.StatusOK, exchange("198.51.100.1:1", d.code().Code))
	})
}

// An address may send a number of requests with links, whether or not the links are valid.
func TestRequestsWithLinksAreLimited(t *testing.T) {
	c := calltest.NewCallerOf(t, func(db *store.DB) *api.API {
		api.SetUpHuma()
		return routes.New(api.Deps{DB: db, BaseURL: "https://hale.example", LinksPerMinute: 2}, routes.Services{})
	})
	open := func(address string) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), "GET", "/v3/requisition_form?token=unknown", nil)
		r.RemoteAddr = address
		w := httptest.NewRecorder()
		c.API.ServeHTTP(w, r)
		return w
	}
	for _, address := range []string{"192.0.2.1:1", "192.0.2.1:2", "192.0.2.2:1", "[2001:db8::1]:1", "[2001:db8::2]:1"} {
		if w := open(address); w.Code != http.StatusNotFound {
			t.Errorf("%s: %d %s", address, w.Code, w.Body)
		}
	}
	for _, address := range []string{"192.0.2.1:3", "[2001:db8::3]:1"} {
		if w := open(address); w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") == "" {
			t.Errorf("%s: %d %v", address, w.Code, w.Header())
		}
	}
}

func TestTokensEndAtOnce(t *testing.T) {
	eachTokenCaller(t, func() time.Time { return calltest.March }, func(d tokenCaller) {
		read := d.Path("/v2/user/providers/{user_id}")
		phone, tablet := d.SignedIn(), d.SignedIn()
		d.Status(http.StatusOK, d.SendWithToken(phone.AccessToken, "GET", read, ""))
		d.Status(http.StatusOK, d.SendWithToken(tablet.AccessToken, "GET", read, ""))
		for range 2 {
			d.Status(http.StatusOK, d.SendWithoutKey("/v2/link/sign_out", `{"refresh_token":"`+phone.RefreshToken+`"}`, "192.0.2.1:1"))
		}
		d.Status(http.StatusUnauthorized, d.SendWithToken(phone.AccessToken, "GET", read, ""))
		var renewed calltest.TokenPair
		d.Decode(d.SendWithoutKey("/v2/link/refresh", `{"refresh_token":"`+tablet.RefreshToken+`"}`, "192.0.2.1:1"), &renewed)
		d.Status(http.StatusOK, d.SendWithToken(renewed.AccessToken, "GET", read, ""))
		d.Status(http.StatusOK, d.Do("DELETE", d.Path("/v2/user/{user_id}/sign_in_token"), ""))
		d.Status(http.StatusUnauthorized, d.SendWithToken(renewed.AccessToken, "GET", read, ""))
		d.Status(http.StatusUnauthorized, d.SendWithoutKey("/v2/link/refresh", `{"refresh_token":"`+renewed.RefreshToken+`"}`, "192.0.2.1:1"))
	})
}

// A sign-in with an Idempotency-Key creates one token. The stored answer is sealed, and
// is erased with the person.
func TestASignInUnderAKey(t *testing.T) {
	eachTokenCaller(t, func() time.Time { return calltest.March }, func(d tokenCaller) {
		answers := 0
		for _, path := range []string{"/v2/link/code/create?user_id=" + d.User.ID.String(), d.Path("/v2/user/{user_id}/sign_in_token")} {
			first, again := d.SendWithIdempotencyKey(path, path, ""), d.SendWithIdempotencyKey(path, path, "")
			d.Status(http.StatusOK, first)
			if again.Body.String() != first.Body.String() || again.Header().Get("Idempotent-Replayed") != "true" {
				t.Errorf("%s, and again %d %s", first.Body, again.Code, again.Body)
			}
			answers++
		}
		userstest.Read(t, d.DB, func(ctx context.Context, tx *store.Tx) error {
			var about int
			err := tx.QueryRow(ctx, `SELECT COUNT(*) FROM idempotency_keys WHERE team_id = $1 AND subject_id = $2`, d.Team.ID, d.User.ID).Scan(&about)
			if about != answers {
				t.Errorf("%d answers are about the person, not %d", about, answers)
			}
			return err
		})
	})
}

// Two phones may choose the same Idempotency-Key.
func TestIdempotencyKeysOfPhonesBelongToTheirUsers(t *testing.T) {
	eachTokenCaller(t, func() time.Time { return calltest.March }, func(d tokenCaller) {
		other := d
		other.User = userstest.New(t, d.DB, d.Team.ID, users.NewUser{})
		for _, one := range []tokenCaller{d, other} {
			pair := one.SignedIn()
			for range 2 {
				w := one.SendWithToken(pair.AccessToken, "POST", one.Path("/v2/timeseries/{user_id}/heartrate"), calltest.PushText(calltest.Heartbeats(3)), "Idempotency-Key", "batch-1")
				var pushed struct{ Created int }
				if one.Decode(w, &pushed); pushed.Created != 3 {
					t.Errorf("%+v", pushed)
				}
			}
		}
	})
}

func eachTokenCaller(t *testing.T, now func() time.Time, fn func(d tokenCaller)) {
	t.Helper()
	eachCallerAt(t, now, func(d calltest.UserCaller) { fn(tokenCaller{d}) })
}
