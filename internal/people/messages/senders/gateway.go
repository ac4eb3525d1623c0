package senders

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"sync"
	"time"

	"hale/internal/people/messages"
	"hale/internal/platform/webhooks"
)

// Gateway posts SMS as signed JSON to a URL of the operator, who passes them to a
// carrier. It signs them like webhooks. Create it with NewGateway.
type Gateway struct {
	url    string
	now    func() time.Time
	client *http.Client

	mu     sync.Mutex
	signer *webhooks.Signer
}

// sms is the body of a post.
type sms struct {
	ID   messages.ID `json:"id"` // the same in every attempt
	To   string      `json:"to"` // E.164
	Text string      `json:"text"`
	Team string      `json:"team"` // name
}

const (
	maxAnswer      = 64 << 10 // bytes read, so that the connection can be reused
	gatewayTimeout = 20 * time.Second
)

// NewGateway returns a gateway for a URL and a secret (whsec_…).
func NewGateway(address, secret string, now func() time.Time) (*Gateway, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, errors.New("senders: the SMS gateway needs a URL that begins with http:// or https://")
	}
	key, err := webhooks.ParseSecret(secret)
	if err != nil {
		return nil, errors.New("senders: the secret of the SMS gateway must be whsec_ and the base64 of 24 to 64 bytes")
	}
	return &Gateway{
		url: address, now: now, signer: webhooks.NewSigner([]webhooks.ValidSecret{{Secret: key}}),
		client: &http.Client{
			Timeout:       gatewayTimeout,
			Transport:     &http.Transport{MaxIdleConnsPerHost: 8, IdleConnTimeout: time.Minute},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}, nil
}

// Send posts one SMS. An answer of 2xx means that the gateway accepted it. An answer
// of 4xx is final, except for 408, 425 and 429.
func (g *Gateway) Send(ctx context.Context, m messages.Outgoing) error {
	body, err := json.Marshal(sms{m.ID, m.Recipient, m.Text, m.Team})
	if err != nil {
		return &messages.Problem{Word: "bad_message", Final: true}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, g.url, bytes.NewReader(body))
	if err != nil {
		return &messages.Problem{Word: "bad_gateway_url", Final: true}
	}
	id := "sms_" + m.ID.String()
	g.mu.Lock()
	timestamp, signature := g.signer.Sign(id, g.now(), body)
	g.mu.Unlock()
	for name, value := range map[string]string{
		"content-type": "application/json", "user-agent": "Hale-SMS/1.0",
		"webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signature,
	} {
		req.Header.Set(name, value)
	}
	res, err := g.client.Do(req)
	if err != nil {
		var timeout interface{ Timeout() bool }
		if errors.As(err, &timeout) && timeout.Timeout() {
			return &messages.Problem{Word: "timeout"}
		}
		return &messages.Problem{Word: "unreachable"}
	}
	defer res.Body.Close()
	_, _ = io.CopyN(io.Discard, res.Body, maxAnswer)
	switch code := res.StatusCode; {
	case code/100 == 2:
		return nil
	case code == http.StatusRequestTimeout, code == http.StatusTooEarly, code == http.StatusTooManyRequests, code >= 500:
		return &messages.Problem{Word: "deferred"}
	}
	return &messages.Problem{Word: "refused", Final: true}
}
