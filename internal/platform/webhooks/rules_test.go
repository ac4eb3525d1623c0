package webhooks_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/quick"
	"time"

	"pgregory.net/rapid"

	"hale/internal/platform/fault"
	"hale/internal/platform/webhooks"
)

func TestCheckURL(t *testing.T) {
	sandbox, production, private := webhooks.Rules{}, webhooks.Rules{Production: true}, webhooks.Rules{Production: true, AllowPrivate: true}
	for _, c := range []struct {
		url   string
		rules webhooks.Rules
		ok    bool
	}{
		{"https://example.com/hook?x=1", production, true},
		{"https://example.com:8443/", production, true},
		{"https://[2606:4700:4700::1111]/", production, true},
		{"https://8.8.8.8/", production, true},
		{"http://example.com/", sandbox, true},
		{"http://example.com:80/", sandbox, true},
		{"http://127.0.0.1:9000/hook", private, true},
		{"http://localhost:9000", private, true},
		{"http://example.com/", production, false},
		{"https://example.com:22/", production, false},
		{"http://example.com:8080/", sandbox, true},
		{"https://example.com:9000/", sandbox, true},
		{"ftp://example.com/", private, false},
		{"//example.com/", private, false},
		{"example.com", private, false},
		{"https://", private, false},
		{"https://:443/", private, false},
		{"mailto:a@example.com", private, false},
		{"https://user:secret@example.com/", private, false},
		{"https://example.com/#top", private, false},
		{"https://exa mple.com/", private, false},
		{"https://example.com/\n", private, false},
		{"https://127.0.0.1/", production, false},
		{"https://[::1]/", sandbox, false},
		{"https://[::ffff:10.0.0.1]/", sandbox, false},
		{"https://[fe80::1%25eth0]/", sandbox, false},
		{"https://localhost/", sandbox, false},
		{"https://LOCALHOST./", sandbox, false},
		{"https://api.localhost/", sandbox, false},
		{"https://127.1/", sandbox, false},
		{"https://2130706433/", sandbox, false},
		{"https://0x7f.0.0.1/", sandbox, false},
		{"https://0177.0.0.1/", sandbox, false},
		{"https://10.0.0.1./", sandbox, false},
		{"https://example.com/" + strings.Repeat("a", 2048), private, false},
	} {
		_, err := c.rules.CheckURL(c.url)
		if (err == nil) != c.ok {
			t.Errorf("%s with %+v: %v", c.url, c.rules, err)
		}
		if err != nil && !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v is no fault of the input", c.url, err)
		}
	}
}

// The error names the port that no server has, and the schemes that the rules allow.
func TestTheErrorOfAnAddressNamesWhatIsWrong(t *testing.T) {
	private := webhooks.Rules{AllowPrivate: true}
	for _, c := range []struct {
		url, want string
		rules     webhooks.Rules
	}{
		{"https://1.1.1.1:99999/", "port from 1 to 65535, not 99999", webhooks.Rules{}},
		{"https://1.1.1.1:0/", "port from 1 to 65535, not 0", webhooks.Rules{}},
		{"http://127.0.0.1:65536/", "port from 1 to 65535, not 65536", private},
		{"ftp://a.example/", "must use https or http", webhooks.Rules{}},
		{"ftp://a.example/", "must use https", webhooks.Rules{Production: true}},
	} {
		if _, err := c.rules.CheckURL(c.url); err == nil || !strings.HasSuffix(err.Error(), c.want) {
			t.Errorf("%s with %+v: %v", c.url, c.rules, err)
		}
	}
}

// The receiver of a developer is on this machine: the error names what works, and not
// the port.
func TestTheErrorOfAPrivateAddressNamesTheSettings(t *testing.T) {
	for _, address := range []string{"http://127.0.0.1:9000/hook", "http://localhost:9000/hook", "https://10.0.0.1:7000/"} {
		_, err := webhooks.Rules{}.CheckURL(address)
		if err == nil || !strings.Contains(err.Error(), "hale listen") || !strings.Contains(err.Error(), "--webhook-allow-private") {
			t.Errorf("%s: %v", address, err)
		}
	}
}

func FuzzCheckURL(f *testing.F) {
	f.Add("https://example.com/hook")
	f.Add("http://[::ffff:127.0.0.1]:80/")
	f.Fuzz(func(t *testing.T, text string) {
		u, err := webhooks.Rules{Production: true}.CheckURL(text)
		if err != nil {
			return
		}
		if u.Scheme != "https" || u.User != nil || u.Hostname() == "" {
			t.Errorf("%q was let through", text)
		}
		if _, err := http.NewRequest(http.MethodPost, u.String(), nil); err != nil {
			t.Errorf("%q cannot be requested: %v", text, err)
		}
	})
}

func TestCheckHeaders(t *testing.T) {
	for name, value := range map[string]string{
		"X-Api-Key": "abc", "Authorization": "Bearer x", "x-tenant": "", "X_Odd.Name~": "1",
	} {
		if err := webhooks.CheckHeaders(map[string]string{name: value}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, value := range map[string]string{
		"Host": "x", "Content-Type": "x", "content-length": "1", "Connection": "close", "Transfer-Encoding": "chunked",
		"webhook-id": "x", "Svix-Signature": "x", "X-Event-Seq": "1", "Proxy-Authorization": "x", "User-Agent": "x", "Idempotency-Key": "x", "TE": "x",
		"": "x", "Na me": "x", "Näme": "x", "X:Y": "x", "X\r\nY": "x",
		"X-Break": "a\r\nSvix-Id: 1", "X-Null": "a\x00", "X-Wide": "ä", "X-Space": " a", "X-Long": strings.Repeat("a", 4097),
	} {
		if err := webhooks.CheckHeaders(map[string]string{name: value}); !fault.Is(err, fault.Invalid) {
			t.Errorf("%q: %v", name, err)
		}
	}
	if webhooks.CheckHeaders(map[string]string{"x-a": "1", "X-A": "2"}) == nil {
		t.Error("one header may be given twice")
	}
}

func FuzzCheckHeaders(f *testing.F) {
	f.Add("X-Api-Key", "abc")
	f.Add("X\nY", "a\r\nb")
	f.Fuzz(func(t *testing.T, name, value string) {
		if webhooks.CheckHeaders(map[string]string{name: value}) != nil {
			return
		}
		req, err := http.NewRequest(http.MethodPost, "http://example.com/", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set(name, value)
		var wire strings.Builder
		if err := req.Write(&wire); err != nil {
			t.Fatalf("%q: %q cannot be sent: %v", name, value, err)
		}
		if got := strings.Count(wire.String(), "\r\n"); got != 6 { // request line, Host, User-Agent, Content-Length, reservedHeaders, end
			t.Errorf("%q: %q makes %d lines", name, value, got)
		}
	})
}

func TestMaskedHeaders(t *testing.T) {
	shown, sensitive := webhooks.SplitHeaders(map[string]string{"X-Tenant": "a", "X-Api-Key": "b", "Authorization": "c", "Cookie": "d"})
	if len(shown) != 1 || shown["X-Tenant"] != "a" {
		t.Errorf("shown %v", shown)
	}
	if strings.Join(sensitive, " ") != "Authorization Cookie X-Api-Key" {
		t.Errorf("sensitive %v", sensitive)
	}
}

// The waits are those of the reference, and up to a tenth longer.
func TestScheduleWaits(t *testing.T) {
	want := []time.Duration{5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 10 * time.Hour}
	for i, step := range want {
		for _, random := range []float64{0, 0.5, 0.999} {
			wait, ok := webhooks.DefaultSchedule.After(i+1, webhooks.Outcome{Code: 500, Problem: webhooks.StatusProblem}, random)
			if !ok || wait < step || wait > step+step/10 {
				t.Errorf("after try %d: %v", i+1, wait)
			}
		}
	}
	if _, ok := webhooks.DefaultSchedule.After(8, webhooks.Outcome{Code: 500}, 0); ok {
		t.Error("there is a ninth try")
	}
}

func TestScheduleRetryAfterAndSlowDown(t *testing.T) {
	for _, c := range []struct {
		name string
		try  int
		o    webhooks.Outcome
		want time.Duration
	}{
		{"asks for less", 2, webhooks.Outcome{Code: 503, RetryAfter: time.Second}, 5 * time.Minute},
		{"asks for a little more", 2, webhooks.Outcome{Code: 503, RetryAfter: 7 * time.Minute}, 7 * time.Minute},
		{"asks for too much", 2, webhooks.Outcome{Code: 503, RetryAfter: time.Hour}, 10 * time.Minute},
		{"first step, overloaded", 1, webhooks.Outcome{Code: 429}, time.Minute},
		{"first step, bad gateway", 1, webhooks.Outcome{Code: 502}, time.Minute},
		{"first step, gateway timeout", 1, webhooks.Outcome{Code: 504}, time.Minute},
		{"first step, timeout", 1, webhooks.Outcome{Problem: webhooks.TimeoutProblem}, time.Minute},
		{"first step, refused", 1, webhooks.Outcome{Problem: webhooks.RefusedProblem}, 5 * time.Second},
		{"second step, overloaded", 2, webhooks.Outcome{Code: 429}, 5 * time.Minute},
	} {
		if got, ok := webhooks.DefaultSchedule.After(c.try, c.o, 0); !ok || got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// The clock of the auto-off rule starts when failures spread over twelve hours within a
// day. Only a success stops it.
func TestHealth(t *testing.T) {
	start := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	at := func(h float64) time.Time { return start.Add(time.Duration(h * float64(time.Hour))) }
	fail := func(hours ...float64) (h webhooks.Health) {
		for _, hour := range hours {
			h = h.Failed(at(hour))
		}
		return h
	}
	if h := fail(0, 1, 11.9); !h.FailingSince.IsZero() {
		t.Error("the clock started within twelve hours")
	}
	if h := fail(0, 25, 26, 36); !h.FailingSince.IsZero() {
		t.Error("failures of different days started the clock")
	}
	h := fail(0, 1, 12)
	if !h.FailingSince.Equal(at(12)) {
		t.Errorf("the clock started at %v", h.FailingSince)
	}
	if h.HasFailedTooLong(at(12 + 119)) {
		t.Error("dead before five days")
	}
	if h = h.Failed(at(12 + 121)); !h.HasFailedTooLong(at(12 + 121)) {
		t.Error("alive after five days")
	}
	h = h.Succeeded(at(140))
	if h.HasFailedTooLong(at(400)) || !h.FirstFailureAt.IsZero() || !h.LastSuccessAt.Equal(at(140)) {
		t.Errorf("an answer left %+v", h)
	}
}

// An endpoint is dead only after five days without a success, in any mix of failures
// and successes.
func TestEndpointStaysEnabledAfterSuccess(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
		lastGood := now
		var h webhooks.Health
		for range rapid.IntRange(1, 80).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(1, 40*60).Draw(t, "minutes")) * time.Minute)
			if rapid.IntRange(0, 9).Draw(t, "luck") == 0 {
				h, lastGood = h.Succeeded(now), now
			} else {
				h = h.Failed(now)
			}
			if h.HasFailedTooLong(now) && now.Sub(lastGood) < 5*24*time.Hour {
				t.Fatalf("dead %v after a success", now.Sub(lastGood))
			}
		}
	})
}

func TestEndpointIDs(t *testing.T) {
	if err := quick.Check(func(id webhooks.EndpointID) bool {
		again, err := webhooks.ParseEndpointID(id.String())
		return err == nil && again == id
	}, nil); err != nil {
		t.Error(err)
	}
	for _, text := range []string{"", "ep_", "ep_x", "msg_00000000000000000000000000", "ep_ZZZZZZZZZZZZZZZZZZZZZZZZZZ"} {
		if _, err := webhooks.ParseEndpointID(text); !fault.Is(err, fault.NotFound) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
