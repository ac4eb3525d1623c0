package senders_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/uuid"
	standard "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"hale/internal/people/messages"
	"hale/internal/people/messages/senders"
	"hale/internal/platform/ids"
)

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

var text = messages.Outgoing{
	ID: ids.FromUUID[messages.Message](uuid.MustParse("019f0000-0000-7000-8000-000000000002")), Team: "Example Clinic",
	Recipient: "+15125550132", Text: "Ada, your kit is on its way to you. Example Clinic",
}

func gateway(t *testing.T, url string) *senders.Gateway {
	t.Helper()
	g, err := senders.NewGateway(url, secret, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// A library of the signature scheme verifies the post.
func TestSMSIsSigned(t *testing.T) {
	verifier, err := standard.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	var body []byte
	var bad error
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ = io.ReadAll(r.Body)
		bad = verifier.Verify(body, r.Header)
		if id := r.Header.Get("webhook-id"); id != "sms_"+text.ID.String() || r.Method != http.MethodPost {
			bad = errors.Join(bad, errors.New("posted as "+id))
		}
		w.WriteHeader(http.StatusAccepted)
	}))
	defer server.Close()
	if err := gateway(t, server.URL).Send(t.Context(), text); err != nil || bad != nil {
		t.Fatalf("%v, %v", err, bad)
	}
	var got map[string]string
	if err := json.Unmarshal(body, &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"id": text.ID.String(), "to": text.Recipient, "text": text.Text, "team": text.Team}
	if len(got) != len(want) {
		t.Errorf("%v", got)
	}
	for name, value := range want {
		if got[name] != value {
			t.Errorf("%s is %q", name, got[name])
		}
	}
}

func TestAnswersOfTheGateway(t *testing.T) {
	for code, want := range map[int]*messages.Problem{
		200: nil, 202: nil, 204: nil,
		301: {Word: "refused", Final: true}, 400: {Word: "refused", Final: true}, 401: {Word: "refused", Final: true},
		410: {Word: "refused", Final: true}, 422: {Word: "refused", Final: true},
		408: {Word: "deferred"}, 425: {Word: "deferred"}, 429: {Word: "deferred"}, 500: {Word: "deferred"}, 503: {Word: "deferred"},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "http://127.0.0.1:1/")
			w.WriteHeader(code)
		}))
		err := gateway(t, server.URL).Send(t.Context(), text)
		server.Close()
		var got *messages.Problem
		if want == nil && err != nil || want != nil && (!errors.As(err, &got) || *got != *want) {
			t.Errorf("%d: %v", code, err)
		}
	}
}

func TestUnreachableGateway(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	var got *messages.Problem
	if err := gateway(t, server.URL).Send(t.Context(), text); !errors.As(err, &got) || got.Word != "unreachable" || got.Final {
		t.Errorf("%v", err)
	}
	slow := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	}))
	defer slow.Close()
	ctx, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer stop()
	if err := gateway(t, slow.URL).Send(ctx, text); !errors.As(err, &got) || got.Word != "timeout" {
		t.Errorf("%v", err)
	}
}

func TestSettingsOfTheGateway(t *testing.T) {
	for _, c := range []struct{ url, secret string }{
		{"ftp://example.org", secret}, {"", secret}, {"https://example.org", "hello"}, {"https://example.org", ""}, {"https://", secret},
	} {
		if _, err := senders.NewGateway(c.url, c.secret, time.Now); err == nil {
			t.Errorf("%q with %q was accepted", c.url, c.secret)
		}
	}
}
