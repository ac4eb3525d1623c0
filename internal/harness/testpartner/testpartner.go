// Package testpartner is an independent fulfilment partner: a warehouse that ships
// kits, and a company that visits patients. It follows docs/fulfilment.md and
// shares no code with the service.
package testpartner

import (
	"bytes"
	"context"
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
	"time"
)

// Partner is the partner.
type Partner struct {
	// Name is its name in the settings of the service, Secret the whsec_ secret.
	Name, Secret string
	// Hours are the hours of the day, in UTC, at which visits begin.
	Hours []int

	server *httptest.Server
	mu     sync.Mutex
	posts  map[string][]byte // bodies by id
	kits   map[string]Kit
	visits map[string]Visit
	faults []string
	down   bool
	sent   int
}

// Kit is a kit to ship.
type Kit struct {
	OrderID  string `json:"order_id"`
	SampleID string `json:"sample_id"`
	Lab      string `json:"lab"`
	Tests    []struct{ Code, Name string }
	ShipTo   Address `json:"ship_to"`
	// Cancelled reports that the order was cancelled before the kit left.
	Cancelled bool `json:"-"`
}

// Address is an address.
type Address struct {
	Name, City, State, Zip string
	FirstLine              string `json:"first_line"`
}

// Visit is a visit to make.
type Visit struct {
	ID       string     `json:"id"`
	OrderID  string     `json:"order_id"`
	Provider string     `json:"provider"`
	SlotKey  string     `json:"slot_key"`
	Start    *time.Time `json:"start_at"`
	Patient  struct {
		FirstName string `json:"first_name"`
		LastName  string `json:"last_name"`
		Born      string `json:"dob"`
	} `json:"patient"`
	Address   Address `json:"address"`
	BookingID string  `json:"-"`
	Cancelled bool    `json:"-"`
}

// Open starts the partner's server and returns its URL.
func (p *Partner) Open() string {
	p.posts, p.kits, p.visits = map[string][]byte{}, map[string]Kit{}, map[string]Visit{}
	p.server = httptest.NewServer(http.HandlerFunc(p.answer))
	return p.server.URL + "/hale"
}

// Close stops the server.
func (p *Partner) Close() { p.server.Close() }

// SetDown makes the partner answer 503.
func (p *Partner) SetDown(down bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down = down
}

// Faults returns the posts that broke the protocol.
func (p *Partner) Faults() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.faults)
}

// Kit returns the kit of an order.
func (p *Partner) Kit(order string) (Kit, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	k, ok := p.kits[order]
	return k, ok
}

// Visits returns the visits of an order, also the cancelled ones.
func (p *Partner) Visits(order string) []Visit {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []Visit
	for _, v := range p.visits {
		if v.OrderID == order {
			all = append(all, v)
		}
	}
	slices.SortFunc(all, func(a, b Visit) int { return strings.Compare(a.BookingID, b.BookingID) })
	return all
}

func (p *Partner) answer(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	body, err := io.ReadAll(r.Body)
	id := r.Header.Get("webhook-id")
	fault := ""
	switch {
	case err != nil:
		fault = err.Error()
	case r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json":
		fault = "not a post of JSON"
	case id == "" || !p.isSigned(id, r.Header.Get("webhook-timestamp"), r.Header.Get("webhook-signature"), body):
		fault = "the signature is wrong"
	case p.posts[id] != nil && !bytes.Equal(p.posts[id], body):
		fault = "one id names two posts"
	}
	if fault != "" {
		p.faults = append(p.faults, r.URL.Path+": "+fault)
		http.Error(w, fault, http.StatusBadRequest)
		return
	}
	if p.down {
		http.Error(w, "closed", http.StatusServiceUnavailable)
		return
	}
	p.posts[id] = body
	status, answer := p.do(strings.TrimPrefix(r.URL.Path, "/hale"), body)
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(answer); err != nil {
		p.faults = append(p.faults, err.Error())
	}
}

type object map[string]any

func (p *Partner) do(path string, body []byte) (status int, answer any) {
	switch path {
	case "/kits":
		var k Kit
		if err := json.Unmarshal(body, &k); err != nil || k.OrderID == "" || k.ShipTo.FirstLine == "" {
			return 422, object{"reason": "the kit has no order or address"}
		}
		if _, known := p.kits[k.OrderID]; !known {
			p.kits[k.OrderID] = k
		}
		return 200, object{}
	case "/kits/cancel":
		var k Kit
		if err := json.Unmarshal(body, &k); err != nil {
			return 400, object{}
		}
		kit, known := p.kits[k.OrderID]
		if !known {
			return 404, object{}
		}
		kit.Cancelled = true
		p.kits[k.OrderID] = kit
		return 200, object{}
	case "/slots":
		return 200, object{"slots": p.slots(body)}
	case "/visits":
		return p.book(body)
	case "/visits/cancel":
		var b struct {
			BookingID string `json:"booking_id"`
		}
		if err := json.Unmarshal(body, &b); err != nil {
			return 400, object{}
		}
		for id, v := range p.visits {
			if v.BookingID == b.BookingID {
				v.Cancelled = true
				p.visits[id] = v
				return 200, object{}
			}
		}
		return 404, object{}
	}
	p.faults = append(p.faults, "no such operation: "+path)
	return 404, object{}
}

func (p *Partner) slots(body []byte) []object {
	var q struct {
		Start string `json:"start_date"`
		Days  int    `json:"days"`
	}
	all := []object{}
	if err := json.Unmarshal(body, &q); err != nil {
		return all
	}
	first, err := time.Parse("2006-01-02", q.Start)
	if err != nil {
		return all
	}
	for d := range q.Days {
		for _, hour := range p.Hours {
			at := first.AddDate(0, 0, d).Add(time.Duration(hour) * time.Hour)
			all = append(all, object{"key": at.Format(time.RFC3339), "start_at": at, "end_at": at.Add(time.Hour), "price_cents": 7900, "free": 1})
		}
	}
	return all
}

// book books each visit once, and each slot once.
func (p *Partner) book(body []byte) (int, any) {
	var v Visit
	if err := json.Unmarshal(body, &v); err != nil || v.ID == "" || v.Patient.LastName == "" || v.Patient.Born == "" {
		return 422, object{"reason": "the visit has no patient"}
	}
	if known, again := p.visits[v.ID]; again {
		return 200, object{"booking_id": known.BookingID, "external_id": "X-" + known.BookingID}
	}
	for _, other := range p.visits {
		if v.SlotKey != "" && other.SlotKey == v.SlotKey && !other.Cancelled {
			return 409, object{}
		}
	}
	v.BookingID = fmt.Sprintf("B%04d", len(p.visits)+1)
	p.visits[v.ID] = v
	return 200, object{"booking_id": v.BookingID, "external_id": "X-" + v.BookingID}
}

// isSigned checks a signature of Standard Webhooks, no older than five minutes.
func (p *Partner) isSigned(id, timestamp, signatures string, body []byte) bool {
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || time.Since(time.Unix(seconds, 0)).Abs() > 5*time.Minute {
		return false
	}
	return slices.Contains(strings.Fields(signatures), p.Sign(id, timestamp, body))
}

// Sign returns the signature of a body.
func (p *Partner) Sign(id, timestamp string, body []byte) string {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(p.Secret, "whsec_"))
	if err != nil {
		return ""
	}
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%s.%s", id, timestamp, body)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// Report posts a report about an order to the service, and returns the status and
// body of the answer. change may alter the request before it is sent; nil alters
// nothing.
func (p *Partner) Report(ctx context.Context, base, body string, change func(r *http.Request)) (int, string, error) {
	p.mu.Lock()
	p.sent++
	id := fmt.Sprintf("report-%d", p.sent)
	p.mu.Unlock()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/v3/fulfilment/"+p.Name, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	timestamp := strconv.FormatInt(time.Now().Unix(), 10)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("webhook-id", id)
	r.Header.Set("webhook-timestamp", timestamp)
	r.Header.Set("webhook-signature", p.Sign(id, timestamp, []byte(body)))
	if change != nil {
		change(r)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	return answer.StatusCode, string(text), err
}
