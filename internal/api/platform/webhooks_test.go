package platform_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"hale/internal/app/apptest"
	"hale/internal/platform/store/storetest"
)

// inbox records posts by message id, and refuses them while broken.
type inbox struct {
	*httptest.Server
	mu     sync.Mutex
	broken bool
	secret string
	bodies map[string]string
}

func newInbox(t *testing.T) *inbox {
	b := &inbox{bodies: map[string]string{}}
	b.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.broken {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		if hook, err := standardwebhooks.NewWebhook(b.secret); err != nil || hook.Verify(body, r.Header) != nil {
			t.Errorf("a post does not verify")
		}
		b.bodies[r.Header.Get("webhook-id")] = string(body)
	}))
	t.Cleanup(b.Close)
	return b
}

func (b *inbox) set(broken bool, secret string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.broken, b.secret = broken, secret
}

// await waits until n different messages have arrived.
func (b *inbox) await(t *testing.T, n int) {
	t.Helper()
	for end := time.Now().Add(90 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		b.mu.Lock()
		got := len(b.bodies)
		b.mu.Unlock()
		if got >= n {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%d of %d messages came", got, n)
		}
	}
}

type hookBody struct {
	ID          string
	URL         string
	Description string
	Disabled    bool
	State       string
	RateLimit   *int     `json:"rate_limit"`
	Content     string   `json:"content"`
	FilterTypes []string `json:"filter_types"`
}

// push stores one sample of a new user, which emits events.
func push(t *testing.T, a *apptest.Service, name string) {
	t.Helper()
	var user struct {
		UserID string `json:"user_id"`
	}
	a.Expect(200, "POST", "/v2/user/", fmt.Sprintf(`{"client_user_id":%q}`, name), &user)
	a.Expect(200, "POST", "/v2/timeseries/"+user.UserID+"/heartrate", `{"stage":"daily","provider":"apple_health_kit",
		"data":[{"timestamp":"2026-03-01T07:30:00Z","value":61,"unit":"bpm","source_type":"watch"}]}`, nil)
}

// The complete flow through the API: an endpoint is created, and events arrive signed,
// with the bytes of the feed. The receiver fails, recovers, and gets the missed events.
func TestWebhooksEndToEnd(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		a := apptest.Start(t, d)
		b := newInbox(t)
		var hook hookBody
		a.Expect(200, "POST", "/v2/webhooks", `{"url":"`+b.URL+`","filter_types":["user.created","provider.connection.created","daily.data.heartrate.created"]}`, &hook)
		var secret struct{ Key string }
		a.Get("/v2/webhooks/"+hook.ID+"/secret", &secret)
		b.set(false, secret.Key)

		push(t, a, "first")
		var page struct {
			Events []struct {
				Seq   int64
				ID    string
				Event json.RawMessage
			}
			Last int64
		}
		a.Get("/v2/events?after=0&limit=1000&wait=10", &page)
		b.await(t, len(page.Events))
		for i, e := range page.Events {
			if e.Seq != int64(i)+1 {
				t.Errorf("event %d has number %d", i, e.Seq)
			}
			if b.bodies[e.ID] != string(e.Event) {
				t.Errorf("%s has other bytes in the feed than in the webhook", e.ID)
			}
		}
		if page.Last < 1 {
			t.Fatal("nothing happened")
		}

		b.set(true, "")
		push(t, a, "second")
		awaitCounts(t, a, hook.ID, func(counts map[string]int64) bool { return counts["pending"] > 0 })
		var attempts struct {
			Data []struct {
				Code    *int              `json:"response_code"`
				Problem *string           `json:"problem"`
				Headers map[string]string `json:"request_headers"`
			}
		}
		for end := time.Now().Add(90 * time.Second); len(attempts.Data) == 0 && time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
			a.Get("/v2/webhooks/"+hook.ID+"/attempts?state=failed", &attempts)
		}
		if len(attempts.Data) == 0 || *attempts.Data[0].Code != 503 || *attempts.Data[0].Problem != "status" || attempts.Data[0].Headers["webhook-signature"] == "" {
			t.Fatalf("failed attempts: %+v", attempts.Data)
		}

		b.set(false, secret.Key)
		var again struct {
			Count int64
			Job   string `json:"job_id"`
		}
		a.Expect(200, "POST", "/v2/webhooks/"+hook.ID+"/replay", `{"from_seq":1,"dry_run":true}`, &again)
		if again.Count <= page.Last || again.Job != "" {
			t.Errorf("a replay would send %+v", again)
		}
		// A replay skips pending messages. Disabling and enabling the endpoint, with
		// send_held_since at the beginning, sends them now.
		a.Expect(200, "PATCH", "/v2/webhooks/"+hook.ID, `{"disabled":true}`, &hook)
		if !hook.Disabled || hook.State != "off" {
			t.Errorf("%+v", hook)
		}
		a.Expect(200, "PATCH", "/v2/webhooks/"+hook.ID, `{"disabled":false}`, &hook)
		a.Expect(200, "POST", "/v2/webhooks/"+hook.ID+"/recover", `{"since":"2020-01-01T00:00:00Z"}`, &again)
		if again.Job == "" {
			t.Error("no job recovers")
		}
		awaitCounts(t, a, hook.ID, func(counts map[string]int64) bool {
			return counts["pending"]+counts["failed"]+counts["held"] == 0 && counts["sent"] >= again.Count
		})
		var job struct{ Status string }
		a.Get("/v2/jobs/"+again.Job, &job)
		if job.Status != "succeeded" && job.Status != "running" {
			t.Errorf("the job is %s", job.Status)
		}
	})
}

func awaitCounts(t *testing.T, a *apptest.Service, hook string, ok func(map[string]int64) bool) {
	t.Helper()
	var account struct{ Counts map[string]int64 }
	for end := time.Now().Add(90 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		a.Get("/v2/webhooks/"+hook+"/reconcile", &account)
		if ok(account.Counts) {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("counts stay %v", account.Counts)
		}
	}
}

// The reference's paths lead to the same endpoints, for the key's own team only.
func TestWebhooksOfAnOrganisation(t *testing.T) {
	a := apptest.Start(t, storetest.NewSQLite(t))
	other := a.NewTeam("other")
	var user struct {
		TeamID string `json:"team_id"`
	}
	a.Expect(200, "POST", "/v2/user/", `{"client_user_id":"x"}`, &user)
	base := "/v1/org/" + user.TeamID + "/team/" + user.TeamID + "/sandbox/webhook"
	var hook hookBody
	a.Expect(200, "POST", base, `{"url":"https://example.com/hook","description":"d","rate_limit":5,"filter_types":["daily.data.sleep.created"]}`, &hook)
	if hook.RateLimit == nil || *hook.RateLimit != 5 || len(hook.FilterTypes) != 1 || !strings.HasPrefix(hook.ID, "ep_") {
		t.Errorf("%+v", hook)
	}
	a.Expect(200, "PATCH", base+"/"+hook.ID, `{"content":"ids"}`, &hook)
	if hook.Content != "ids" {
		t.Errorf("the content is %q", hook.Content)
	}
	a.Expect(200, "PATCH", base+"/"+hook.ID, `{"content":"full"}`, &hook)
	if hook.Content != "full" {
		t.Errorf("the content is %q", hook.Content)
	}
	a.Expect(422, "PATCH", base+"/"+hook.ID, `{"content":"half"}`, nil)
	a.Expect(200, "PATCH", base+"/"+hook.ID, `{"rate_limit":null,"filter_types":null,"description":"e","url":null,"disabled":null}`, &hook)
	if hook.RateLimit != nil || hook.FilterTypes != nil || hook.Description != "e" || hook.URL != "https://example.com/hook" || hook.Disabled {
		t.Errorf("after clearing: %+v", hook)
	}
	a.Expect(204, "PUT", base+"/"+hook.ID+"/headers", `{"headers":{"X-Tenant":"7","Authorization":"Bearer s3cret"}}`, nil)
	if _, text := a.Call("GET", base+"/"+hook.ID+"/headers", ""); string(text) != `{"headers":{"X-Tenant":"7"},"sensitive":["Authorization"]}`+"\n" {
		t.Errorf("headers: %s", text)
	}
	a.Expect(422, "PUT", base+"/"+hook.ID+"/headers", `{"headers":{"webhook-id":"x"}}`, nil)
	var before, after struct{ Key string }
	a.Get(base+"/"+hook.ID+"/secret", &before)
	a.Expect(204, "POST", base+"/"+hook.ID+"/secret/rotate", `{}`, nil)
	a.Get(base+"/"+hook.ID+"/secret", &after)
	if before.Key == after.Key || !strings.HasPrefix(after.Key, "whsec_") {
		t.Error("the secret did not change")
	}
	var list struct {
		Data []hookBody
		Next *string `json:"next_cursor"`
	}
	a.Get(base+"?limit=1", &list)
	if len(list.Data) != 1 || list.Next != nil {
		t.Errorf("%+v", list)
	}
	for _, path := range []string{
		strings.Replace(base, "sandbox", "production", 1),
		strings.Replace(base, "/org/"+user.TeamID, "/org/00000000-0000-4000-8000-000000000000", 1),
	} {
		a.Expect(404, "GET", path, "", nil)
	}
	for _, path := range []string{base, base + "/" + hook.ID, "/v2/webhooks/" + hook.ID, "/v2/webhooks/" + hook.ID + "/deliveries"} {
		other.Expect(404, "GET", path, "", nil)
	}
	a.Expect(204, "DELETE", base+"/"+hook.ID, "", nil)
	a.Expect(404, "GET", base+"/"+hook.ID, "", nil)
}

func TestWebhookRefusals(t *testing.T) {
	a := apptest.Start(t, storetest.NewSQLite(t))
	for body, loc := range map[string]string{
		`{}`:                   `["body","url"]`,
		`{"url":"gopher://x"}`: `["body","url"]`,
		`{"url":"https://example.com","filter_types":["no.such"]}`:                          `["body","filter_types"]`,
		`{"url":"https://example.com","content":"some"}`:                                    `["body","content"]`,
		`{"url":"https://example.com","rate_limit":0}`:                                      `["body","rate_limit"]`,
		`{"url":"https://example.com","secret":"hunter2-hunter2"}`:                          `["body","secret"]`,
		`{"url":"https://example.com","description":"` + strings.Repeat("x", 2001) + `"}`:   `["body","description"]`,
		`{"url":"https://example.com","secret":"whsec_` + strings.Repeat("QUJD", 30) + `"}`: `["body","secret"]`,
		`{"url":"https://user:pw@example.com/"}`:                                            `["body","url"]`,
	} {
		status, text := a.Call("POST", "/v2/webhooks", body)
		if status != 422 || !strings.Contains(string(text), `"loc":`+loc) {
			t.Errorf("%.80s: %d %s", body, status, text)
		}
		if strings.Contains(string(text), "hunter2") || strings.Contains(string(text), "pw@") {
			t.Errorf("the answer repeats a secret: %s", text)
		}
	}
	var hook hookBody
	a.Expect(200, "POST", "/v2/webhooks", `{"url":"https://example.com"}`, &hook)
	for path, body := range map[string]string{
		"/replay":        `{}`,
		"/recover":       `{}`,
		"/example":       `{"event_type":"no.such"}`,
		"/secret/rotate": `{"overlap_seconds":604801}`,
	} {
		a.Expect(422, "POST", "/v2/webhooks/"+hook.ID+path, body, nil)
	}
	status, text := a.Call("PATCH", "/v2/webhooks/"+hook.ID, `{"disabled":true,"send_held_since":"2026-03-01T12:00:00Z"}`)
	if status != 422 || !strings.Contains(string(text), `"loc":["body","send_held_since"]`) {
		t.Errorf("held events for an endpoint that stays off: %d %s", status, text)
	}
	a.Expect(422, "PUT", "/v2/webhooks/"+hook.ID+"/headers", `{"headers":{"Idempotency-Key":"x"}}`, nil)
	a.Expect(404, "POST", "/v2/webhooks/"+hook.ID+"/replay", `{"message_id":"msg_00000000000000000000000000"}`, nil)
	a.Expect(422, "POST", "/v2/webhooks/"+hook.ID+"/replay", `{"message_id":"msg_00000000000000000000000000","from_seq":1}`, nil)
	a.Expect(422, "GET", "/v2/webhooks/"+hook.ID+"/reconcile?from=10&to=1", "", nil)
	a.Expect(404, "GET", "/v2/webhooks/ep_nonsense", "", nil)
	a.Expect(422, "GET", "/v2/events?types=no.such", "", nil)
	a.Expect(422, "GET", "/v2/events?wait=31", "", nil)
}
