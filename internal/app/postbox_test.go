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

// postbox is a receiver of a team's webhooks that believes nothing unsigned.
type postbox struct {
	t      *testing.T
	secret []byte

	mu   sync.Mutex
	mail map[string]letter // by the id of the event
}

// letter holds the fields of a delivery that a story checks.
type letter struct {
	seq   int64
	about string // the order
	says  string // see sayingOf
}

func (c *clinic) postbox() *postbox {
	c.t.Helper()
	p := &postbox{t: c.t, mail: map[string]letter{}}
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

func (p *postbox) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
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
	l := letter{seq: seq}
	l.about, l.says = sayingOf(p.t, body)
	p.mu.Lock()
	defer p.mu.Unlock()
	if before, again := p.mail[id]; again && before != l {
		p.t.Errorf("%s came as %+v and as %+v", id, before, l)
	}
	p.mail[id] = l
}

// sayingOf returns the order that an event is about, and the event in a few
// words. Examples are "new received.walk_in_test.ordered" of an order, and
// "visit scheduled" of a visit.
func sayingOf(t *testing.T, body []byte) (order, says string) {
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
		t.Errorf("an event that does not read: %v", err)
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

// of lists what came about an order, by its number.
func (p *postbox) of(order string) (says []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []letter
	for _, l := range p.mail {
		if l.about == order {
			all = append(all, l)
		}
	}
	slices.SortFunc(all, func(a, b letter) int { return int(a.seq - b.seq) })
	for _, l := range all {
		says = append(says, l.says)
	}
	return says
}
