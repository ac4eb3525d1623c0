package sink_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"hale/internal/harness/sink"
)

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

func TestVerdictsAreCached(t *testing.T) {
	s := listen(t, sink.Faults{})
	for _, body := range []string{"{}", "{}"} {
		if status := post(t, s, "msg_1", body, secret); status != http.StatusNoContent {
			t.Fatalf("a good delivery was answered %d", status)
		}
	}
	if m := s.Messages()["msg_1"]; m.Tries != 2 || m.Accepted != 2 {
		t.Errorf("remembers %d tries and %d accepted, want 2 and 2", m.Tries, m.Accepted)
	}
	if p := s.Problems(); len(p) > 0 {
		t.Errorf("good deliveries made problems: %v", p)
	}

	post(t, s, "msg_1", `{"other":true}`, secret)
	post(t, s, "msg_2", "{}", "whsec_b3RoZXJvdGhlcm90aGVyb3RoZXI=")
	post(t, s, "", "{}", secret)
	if p := s.Problems(); len(p) != 3 {
		t.Errorf("another body, a wrong signature and a missing id made %d problems: %v", len(p), p)
	}
	if _, taken := s.Messages()["msg_2"]; taken {
		t.Error("a delivery with a wrong signature counts as received")
	}
}

func TestOnlyTheFirstDeliveryFails(t *testing.T) {
	s := listen(t, sink.Faults{Unavailable: 1})
	if first, second := post(t, s, "msg_1", "{}", secret), post(t, s, "msg_1", "{}", secret); first != 503 || second != 204 {
		t.Errorf("answered %d then %d, want 503 then 204", first, second)
	}
	if m := s.Messages()["msg_1"]; m.Tries != 2 || m.Accepted != 1 {
		t.Errorf("remembers %d tries and %d accepted, want 2 and 1", m.Tries, m.Accepted)
	}
	s = listen(t, sink.Faults{Reset: 1})
	if status := post(t, s, "msg_1", "{}", secret); status != 0 {
		t.Errorf("a reset was answered %d", status)
	}
}

func listen(t *testing.T, f sink.Faults) *sink.Sink {
	t.Helper()
	s, err := sink.Listen(f)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if err := s.SetSecret(secret); err != nil {
		t.Fatal(err)
	}
	return s
}

// post signs with the reference library and answers the status, 0 for none.
func post(t *testing.T, s *sink.Sink, id, body, secret string) int {
	t.Helper()
	signer, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	signature, err := signer.Sign(id, now, []byte(body))
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL(), strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for _, prefix := range []string{"webhook-", "svix-"} {
		request.Header.Set(prefix+"id", id)
		request.Header.Set(prefix+"timestamp", strconv.FormatInt(now.Unix(), 10))
		request.Header.Set(prefix+"signature", signature)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0
	}
	defer response.Body.Close()
	return response.StatusCode
}
