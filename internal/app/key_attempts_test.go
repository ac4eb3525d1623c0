package app_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"hale/internal/app"
	"hale/internal/app/apptest"
	"hale/internal/platform/store/storetest"
)

// Wrong keys from one client are answered with 429 after some. Its right key and other
// clients behind the same proxy are not affected.
func TestWrongKeysOfOneClientMustWait(t *testing.T) {
	began := time.Now()
	s := apptest.StartWith(t, storetest.NewSQLite(t), func(o *app.Options) {
		o.Now = func() time.Time { return began } // no wait ends during the test
		o.Config.WrongKeyLimit = 3
		o.Config.TrustedProxies = []string{"127.0.0.1"}
	})
	const wrong = "sk_a_wrong_key_of_a_client"
	call := func(key, client string, want int) {
		t.Helper()
		called := *s
		called.Key = key
		res := called.Do("GET", "/v2/user", "", "X-Forwarded-For", client)
		_ = res.Body.Close()
		if res.StatusCode != want || (want == http.StatusTooManyRequests) != (res.Header.Get("Retry-After") == "20") {
			t.Errorf("%s: %d, not %d, Retry-After %q", client, res.StatusCode, want, res.Header.Get("Retry-After"))
		}
	}
	for range 3 {
		call(wrong, "192.0.2.1", http.StatusUnauthorized)
	}
	for range 3 {
		call(wrong, "192.0.2.1", http.StatusTooManyRequests)
		call(s.Key, "192.0.2.1", http.StatusOK)
		call("", "192.0.2.1", http.StatusUnauthorized)
		call("ua_an_expired_token_of_a_phone", "192.0.2.1", http.StatusUnauthorized)
	}
	call(wrong, "192.0.2.2", http.StatusUnauthorized)
	if log := s.Log.String(); strings.Count(log, "sends wrong API keys") != 1 || !strings.Contains(log, "192.0.2.1") || strings.Contains(log, wrong) {
		t.Error(log)
	}
}
