package app_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// webhookReceiver is a receiver of a team's webhooks that refuses unsigned messages.
type webhookReceiver struct {
	t      *testing.T
	secret []byte

	mu     sync.Mutex
	events map[string]receivedEvent // by the id of the event
}

// receivedEvent holds the fields of a delivery that a test checks.
type receivedEvent struct {
	seq   int64
	order string
	text  string // see summarise
}

func (c *clinic) newReceiver() *webhookReceiver {
	c.t.Helper()
	p := &webhookReceiver{t: c.t, events: map[string]receivedEvent{}}
	server := httptest.NewServer(p)
	c.t.Cleanup(server.Close)
	var made struct{ ID string }
	var secret struct{ Key string }
	c.Expect(200, "POST", "/v2/webhooks", fmt.Sprintf(`{"url":%q}`, server.URL), &made)
	c.Get("/v2/webhooks/"+made.ID+"/secret", &secret)
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret.Key, "whsec_"))
	if err != nil || len(key) == 0 {
		c.t.Fatalf("the secret: %v", err)
	}
	p.secret = key
	return p
}

func (p *webhookReceiver) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	id := r.Header.Get("webhook-id")
	mac := hmac.New(sha256.New, p.secret)
	fmt.Fprintf(mac, "%s.%s.%s", id, r.Header.Get("webhook-timestamp"), body)
	if r.Header.Get("webhook-signature") != "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)) {
		p.t.Errorf("%s is not signed", id)
	}
	seq, err := strconv.ParseInt(r.Header.Get("x-event-seq"), 10, 64)
	if err != nil {
		p.t.Errorf("%s has no number: %v", id, err)
	}
	l := receivedEvent{seq: seq}
	l.order, l.text = summarise(p.t, body)
	p.mu.Lock()
	defer p.mu.Unlock()
	if before, again := p.events[id]; again && before != l {
		p.t.Errorf("%s came as %+v and as %+v", id, before, l)
	}
	p.events[id] = l
}

// summarise returns the order that an event is about, and the event in a few
// words. Examples are "new received.walk_in_test.ordered" of an order, and
// "visit scheduled" of a visit.
func summarise(t *testing.T, body []byte) (order, text string) {
	t.Helper()
	var e struct {
		Type string `json:"event_type"`
		Data struct {
			ID          string `json:"id"`
			OrderID     string `json:"order_id"`
			EventStatus string `json:"event_status"`
			LastEvent   struct {
				Status string `json:"status"`
			} `json:"last_event"`
		} `json:"data"`
	}
	if err := json.Unmarshal(body, &e); err != nil {
		t.Errorf("an event that is not JSON: %v", err)
	}
	switch e.Type {
	case "labtest.order.created":
		return e.Data.ID, "new " + e.Data.LastEvent.Status
	case "labtest.order.updated":
		return e.Data.ID, e.Data.LastEvent.Status
	case "labtest.appointment.created":
		return e.Data.OrderID, "new visit " + e.Data.EventStatus
	case "labtest.appointment.updated":
		return e.Data.OrderID, "visit " + e.Data.EventStatus
	}
	if e.Data.OrderID != "" {
		return e.Data.OrderID, e.Type
	}
	return e.Data.ID, e.Type
}

// eventsOf lists the events of an order, by their numbers.
func (p *webhookReceiver) eventsOf(order string) (texts []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []receivedEvent
	for _, l := range p.events {
		if l.order == order {
			all = append(all, l)
		}
	}
	slices.SortFunc(all, func(a, b receivedEvent) int { return int(a.seq - b.seq) })
	for _, l := range all {
		texts = append(texts, l.text)
	}
	return texts
}
