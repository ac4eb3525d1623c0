package api

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"hale/internal/people/users"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/store"
)

// as sends a request with an access token in place of the team's key.
func (d dataDoor) as(token, method, path, body string, headers ...string) *httptest.ResponseRecorder {
	d.t.Helper()
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+token)
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	d.api.ServeHTTP(w, r)
	return w
}

// anybody sends a request without any key.
func (d dataDoor) anybody(path, body, address string) *httptest.ResponseRecorder {
	d.t.Helper()
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
	r.RemoteAddr = address
	w := httptest.NewRecorder()
	d.api.ServeHTTP(w, r)
	return w
}

func (d dataDoor) code() linkCodeBody {
	d.t.Helper()
	var code linkCodeBody
	d.post("/v2/link/code/create?user_id="+d.user.ID.String(), "", &code)
	return code
}

func (d dataDoor) signedIn() tokensBody {
	d.t.Helper()
	var signIn signInTokenBody
	var pair tokensBody
	d.post(d.path("/v2/user/{user_id}/sign_in_token"), "", &signIn)
	d.decode(d.anybody("/v2/link/exchange", `{"sign_in_token":"`+signIn.SignInToken+`"}`, "192.0.2.1:1"), &pair)
	return pair
}

func (d dataDoor) status(want int, w *httptest.ResponseRecorder) {
	d.t.Helper()
	if w.Code != want {
		d.t.Errorf("%d, not %d: %s", w.Code, want, w.Body)
	}
}

func TestAPhoneSignsInWithACode(t *testing.T) {
	eachDataDoor(t, func(d dataDoor) {
		code := d.code()
		if code.ExchangeURL != "hale://link?code="+code.Code || !time.Time(code.ExpiresAt).Equal(march.Add(time.Hour)) {
			t.Errorf("%+v", code)
		}
		var pair tokensBody
		d.decode(d.anybody("/v2/link/exchange", `{"code":"`+strings.ToUpper(code.Code)+`"}`, "192.0.2.1:1"), &pair)
		if pair.UserID != d.user.ID || pair.TokenType != "Bearer" || pair.ExpiresIn != 3600 {
			t.Errorf("%+v", pair)
		}
		d.status(http.StatusUnauthorized, d.anybody("/v2/link/exchange", `{"code":"`+code.Code+`"}`, "192.0.2.1:1"))
		var pushed pushBody
		d.decode(d.as(pair.AccessToken, "POST", d.path("/v2/timeseries/{user_id}/heartrate"), pushText(heartbeats(3))), &pushed)
		if pushed.Created != 3 {
			t.Errorf("%+v", pushed)
		}
		var groups groupsBody
		d.decode(d.as(pair.AccessToken, "GET", d.path("/v2/timeseries/{user_id}/heartrate/grouped?start_date=2026-02-01"), ""), &groups)
		if len(groups.Groups["apple_health_kit"]) != 1 {
			t.Errorf("%+v", groups)
		}
	})
}

func TestWhatAnExchangeRefuses(t *testing.T) {
	eachDataDoor(t, func(d dataDoor) {
		for body, want := range map[string]int{
			`{}`: 422, `{"sign_in_token":"a","code":"b"}`: 422, `{"sign_in_token":1}`: 422, `[]`: 422,
			`{"sign_in_token":"si_nobody"}`: 401, `{"code":"skus00000000"}`: 401,
		} {
			d.status(want, d.anybody("/v2/link/exchange", body, "192.0.2.7:1"))
		}
		for query, want := range map[string]int{
			"": 422, "?user_id=x": 422, "?user_id=019f0000-0000-7000-8000-000000000000": 404,
			"?user_id={user_id}&expires_at=2026-03-21T11:59:59Z": 422, "?user_id={user_id}&expires_at=0001-01-01T00:00:00Z": 422, "?user_id={user_id}&expires_at=2026-03-29T12:00:00Z": 422,
			"?user_id={user_id}&expires_at=2026-03-22T12:00:00%2B02:00": 200,
		} {
			d.status(want, d.do("POST", d.path("/v2/link/code/create"+query), ""))
		}
	})
}

// A code is eight hexadecimal digits: what keeps it is that guesses are few.
func TestGuessesAreRationed(t *testing.T) {
	now := march
	eachDataDoorAt(t, func() time.Time { return now }, func(d dataDoor) {
		now = march
		guess := func(address string) *httptest.ResponseRecorder {
			return d.anybody("/v2/link/exchange", `{"code":"skus00000000"}`, address+":1234")
		}
		for range 10 {
			d.status(http.StatusUnauthorized, guess("192.0.2.1"))
		}
		if w := guess("192.0.2.1"); w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") != "60" {
			t.Errorf("%d, Retry-After %q", w.Code, w.Header().Get("Retry-After"))
		}
		code := d.code()
		d.status(http.StatusTooManyRequests, d.anybody("/v2/link/exchange", `{"code":"`+code.Code+`"}`, "192.0.2.1:9"))
		d.status(http.StatusOK, d.anybody("/v2/link/exchange", `{"code":"`+code.Code+`"}`, "192.0.2.2:9"))
		for range 15 { // right ones cost nothing
			d.status(http.StatusOK, d.anybody("/v2/link/exchange", `{"code":"`+d.code().Code+`"}`, "192.0.2.3:9"))
		}
		// A code offered as a sign-in token would be a guess that nobody counts.
		d.status(http.StatusUnauthorized, d.anybody("/v2/link/exchange", `{"sign_in_token":"`+d.code().Code+`"}`, "192.0.2.3:9"))
		left := 0
		for i := range 40 {
			if guess("192.0.2."+string(rune('1'+i%9))+string(rune('0'+i/9))).Code == http.StatusUnauthorized {
				left++
			}
		}
		if left != 20 {
			t.Errorf("%d wrong guesses from many addresses, after ten from one", left)
		}
		now = now.Add(time.Minute)
		d.status(http.StatusUnauthorized, guess("192.0.2.1"))
		d.status(http.StatusTooManyRequests, guess("192.0.2.1"))
	})
}

func TestTokensEndAtOnce(t *testing.T) {
	eachDataDoor(t, func(d dataDoor) {
		read := d.path("/v2/user/providers/{user_id}")
		phone, tablet := d.signedIn(), d.signedIn()
		d.status(http.StatusOK, d.as(phone.AccessToken, "GET", read, ""))
		d.status(http.StatusOK, d.as(tablet.AccessToken, "GET", read, ""))
		for range 2 {
			d.status(http.StatusOK, d.anybody("/v2/link/sign_out", `{"refresh_token":"`+phone.RefreshToken+`"}`, "192.0.2.1:1"))
		}
		d.status(http.StatusUnauthorized, d.as(phone.AccessToken, "GET", read, ""))
		var renewed tokensBody
		d.decode(d.anybody("/v2/link/refresh", `{"refresh_token":"`+tablet.RefreshToken+`"}`, "192.0.2.1:1"), &renewed)
		d.status(http.StatusOK, d.as(renewed.AccessToken, "GET", read, ""))
		d.status(http.StatusOK, d.do("DELETE", d.path("/v2/user/{user_id}/sign_in_token"), ""))
		d.status(http.StatusUnauthorized, d.as(renewed.AccessToken, "GET", read, ""))
		d.status(http.StatusUnauthorized, d.anybody("/v2/link/refresh", `{"refresh_token":"`+renewed.RefreshToken+`"}`, "192.0.2.1:1"))
	})
}

// What a phone signs in with is made once under an Idempotency-Key, and what is
// kept of it is sealed and goes with the person.
func TestASignInUnderAKey(t *testing.T) {
	eachDataDoor(t, func(d dataDoor) {
		answers := 0
		for _, path := range []string{"/v2/link/code/create?user_id=" + d.user.ID.String(), d.path("/v2/user/{user_id}/sign_in_token")} {
			first, again := d.keyed(path, path, ""), d.keyed(path, path, "")
			d.status(http.StatusOK, first)
			if again.Body.String() != first.Body.String() || again.Header().Get(replayedHeader) != "true" {
				t.Errorf("%s, and again %d %s", first.Body, again.Code, again.Body)
			}
			answers++
		}
		userstest.Read(t, d.db, func(ctx context.Context, tx *store.Tx) error {
			var about int
			err := tx.QueryRow(ctx, `SELECT COUNT(*) FROM idempotency_keys WHERE team_id = $1 AND subject_id = $2`, d.team.ID, d.user.ID).Scan(&about)
			if about != answers {
				t.Errorf("%d answers are about the person, not %d", about, answers)
			}
			return err
		})
	})
}

// Two phones may draw the same Idempotency-Key.
func TestIdempotencyKeysOfPhonesBelongToTheirUsers(t *testing.T) {
	eachDataDoor(t, func(d dataDoor) {
		other := d
		other.user = userstest.New(t, d.db, d.team.ID, users.NewUser{})
		for _, one := range []dataDoor{d, other} {
			pair := one.signedIn()
			for range 2 {
				w := one.as(pair.AccessToken, "POST", one.path("/v2/timeseries/{user_id}/heartrate"), pushText(heartbeats(3)), "Idempotency-Key", "batch-1")
				var pushed pushBody
				if one.decode(w, &pushed); pushed.Created != 3 {
					t.Errorf("%+v", pushed)
				}
			}
		}
	})
}
