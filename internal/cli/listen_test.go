package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"hale/internal/harness/loopback"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

const testKey = "sk_key_for_the_listen_tests_0123456789"

// feedServer serves the feed of three events, the second of an erased user,
// and then holds the line open, as a real server does. Its first answer is a
// refusal, as of a server that restarts.
func feedServer(t *testing.T) *httptest.Server {
	t.Helper()
	var calls atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+testKey {
			t.Errorf("headers %v", r.Header)
		}
		if calls.Add(1) == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		after := r.URL.Query().Get("after")
		if after != "4" {
			<-r.Context().Done()
			return
		}
		if got := r.URL.Query()["types"]; len(got) != 2 {
			t.Errorf("types %v", got)
		}
		fmt.Fprint(w, `{"events":[
			{"seq":5,"id":"msg_5","event_type":"daily.data.sleep.created","event":{"b":1,  "a":"ä"}},
			{"seq":6,"id":"msg_6","event_type":"daily.data.sleep.updated","event":null},
			{"seq":7,"id":"msg_7","event_type":"daily.data.sleep.updated","event":{"x":2}}],
			"next_after":7,"last":7,"has_more":false}`)
	}))
	t.Cleanup(server.Close)
	return server
}

func TestListenForwardsSignedEvents(t *testing.T) {
	term := newTerminal("HALE_API_KEY="+testKey, "HALE_URL="+feedServer(t).URL)
	term.now = time.Now // receivers compare the timestamp with their own clock
	ctx, end := context.WithTimeout(t.Context(), 90*time.Second)
	defer end()

	printed := newTerminal("HALE_API_KEY=" + testKey)
	if code := printed.run(ctx, []string{"listen", "--print-secret"}); code != 0 {
		t.Fatalf("--print-secret: %d %s", code, &printed.err)
	}
	verifier, err := standardwebhooks.NewWebhook(strings.TrimSpace(printed.out.String()))
	if err != nil {
		t.Fatal(err)
	}
	var bodies []string
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		bodies = append(bodies, string(body))
		if err := verifier.Verify(body, r.Header); err != nil {
			t.Errorf("signature: %v", err)
		}
		for _, name := range []string{"Id", "Timestamp", "Signature"} {
			if r.Header.Get("Svix-"+name) != r.Header.Get("Webhook-"+name) {
				t.Errorf("the twins of %s differ", name)
			}
		}
		if r.Header.Get("X-Event-Seq") == "7" {
			end() // Ctrl-C while the receiver is at it
			<-r.Context().Done()
		}
	}))
	defer receiver.Close()

	code := term.run(ctx, []string{"listen", "--forward-to", receiver.URL + "/hook", "--after", "4", "-o", "jsonl", "--types", "a,b"})
	if code != 0 {
		t.Errorf("exit code %d after Ctrl-C: %s", code, &term.err)
	}
	if want := "{\"b\":1,  \"a\":\"ä\"}\n{\"x\":2}"; strings.Join(bodies, "\n") != want {
		t.Errorf("bodies %q: the very bytes of the feed are sent", bodies)
	}
	var lines []forwardedEvent
	for line := range strings.Lines(term.out.String()) {
		var f forwardedEvent
		if err := json.Unmarshal([]byte(line), &f); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, f)
	}
	if len(lines) < 2 || lines[0].Status != 200 || lines[1].Error != "the user has been erased" {
		t.Errorf("lines %+v", lines)
	}
	for _, want := range []string{"service unavailable; trying again", "continue with --after 6"} {
		if !strings.Contains(term.err.String(), want) {
			t.Errorf("stderr lacks %q: %s", want, &term.err)
		}
	}
}

// A receiver that is away loses no event, and is mentioned once.
func TestListenWaitsForAReceiver(t *testing.T) {
	term := newTerminal("HALE_API_KEY=" + testKey)
	secret, err := term.listenSecret("")
	if err != nil {
		t.Fatal(err)
	}
	address, err := loopback.FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(300*time.Millisecond, func() {
		if socket, err := net.Listen("tcp", address); err == nil {
			_ = http.Serve(socket, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
		}
	})
	term.format = formatTable
	l := newListener(term.shell, "http://"+address+"/hook", secret, 0)
	if err := l.forward(t.Context(), feedEvent{Seq: 1, ID: "msg_1", Type: "t", Event: []byte("{}")}); err != nil {
		t.Fatal(err)
	}
	if got := term.err.String(); strings.Count(got, "waiting for the receiver: connect: connection refused; event 1 is next") != 1 {
		t.Errorf("said %q", got)
	}
	if got := term.out.String(); !strings.Contains(got, "204") || l.sent != 1 {
		t.Errorf("printed %q", got)
	}
}

// A run whose receiver never answered continues where it began.
func TestListenContinuesAtTheBeginning(t *testing.T) {
	term := newTerminal("HALE_API_KEY=" + testKey)
	secret, err := term.listenSecret("")
	if err != nil {
		t.Fatal(err)
	}
	l := newListener(term.shell, "http://127.0.0.1:1/hook", secret, 41)
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if err := l.forward(stopped, feedEvent{Seq: 42, ID: "msg", Type: "t", Event: []byte("{}")}); err == nil {
		t.Error("the event was forwarded")
	}
	l.printTotals()
	if got := term.err.String(); !strings.HasSuffix(got, "0 forwarded; continue with --after 41\n") {
		t.Errorf("said %q", got)
	}
}

// A refused event is posted again before the next one. Without a terminal, each reason is
// one line.
func TestListenRetriesARefusedEvent(t *testing.T) {
	term := newTerminal("HALE_API_KEY=" + testKey)
	secret, err := term.listenSecret("")
	if err != nil {
		t.Fatal(err)
	}
	var posted []string
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		posted = append(posted, r.Header.Get("X-Event-Seq"))
		if len(posted) == 2 || len(posted) == 3 {
			w.WriteHeader(http.StatusInternalServerError)
		}
	}))
	defer receiver.Close()
	term.format = formatTable
	l := newListener(term.shell, receiver.URL, secret, 0)
	for seq := range int64(3) {
		if err := l.forward(t.Context(), feedEvent{Seq: seq + 1, ID: "msg", Type: "t", Event: []byte("{}")}); err != nil {
			t.Fatal(err)
		}
	}
	l.printTotals()
	if got := strings.Join(posted, " "); got != "1 2 2 2 3" {
		t.Errorf("posted %s", got)
	}
	if got := term.err.String(); got != "waiting for the receiver: it answers 500; event 2 is next\n3 forwarded; continue with --after 3\n" {
		t.Errorf("said %q", got)
	}
	if got := strings.Count(term.out.String(), "\n"); got != 3 {
		t.Errorf("printed %d lines: %s", got, &term.out)
	}
}

// The next run continues at the event that the receiver refused last.
func TestListenContinuesAtTheRefusedEvent(t *testing.T) {
	term := newTerminal("HALE_API_KEY=" + testKey)
	secret, err := term.listenSecret("")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Event-Seq") == "2" {
			w.WriteHeader(http.StatusInternalServerError)
			time.AfterFunc(100*time.Millisecond, stop) // Ctrl-C while the command waits
		}
	}))
	defer receiver.Close()
	l := newListener(term.shell, receiver.URL, secret, 0)
	for seq := range int64(2) {
		err = l.forward(ctx, feedEvent{Seq: seq + 1, ID: "msg", Type: "t", Event: []byte("{}")})
	}
	if err == nil {
		t.Error("the refused event was forwarded")
	}
	l.printTotals()
	if got := term.err.String(); !strings.HasSuffix(got, "1 forwarded; continue with --after 1\n") {
		t.Errorf("said %q", got)
	}
}

// An example has no number.
func TestTriggerSendsNoEventNumber(t *testing.T) {
	term := newTerminal("HALE_API_KEY=" + testKey)
	secret, err := term.listenSecret("")
	if err != nil {
		t.Fatal(err)
	}
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if got, ok := r.Header["X-Event-Seq"]; ok {
			t.Errorf("X-Event-Seq: %s", got)
		}
	}))
	defer receiver.Close()
	if status, err := newListener(term.shell, receiver.URL, secret, 0).post(t.Context(), feedEvent{ID: "msg_example_1", Type: "t", Event: []byte("{}")}); status != http.StatusOK {
		t.Errorf("status %d, %v", status, err)
	}
}

func TestListenSecret(t *testing.T) {
	secretOf := func(key, given string) string {
		t.Helper()
		secret, err := newTerminal("HALE_API_KEY=" + key).listenSecret(given)
		if err != nil {
			t.Fatal(err)
		}
		return secret.Reveal()
	}
	first := secretOf(testKey, "")
	if again := secretOf(testKey, ""); again != first {
		t.Error("the secret of a key changes")
	}
	if first == secretOf(testKey+"x", "") {
		t.Error("two keys have one secret")
	}
	const own = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX"
	if secretOf(testKey, own) != own {
		t.Error("the given secret is not used")
	}
	if _, err := newTerminal().listenSecret(""); exitCode(err) != exitAuth {
		t.Errorf("no key: %v", err)
	}
	if _, err := newTerminal().listenSecret("whsec_short"); exitCode(err) != exitUsage {
		t.Errorf("bad secret: %v", err)
	}
}
