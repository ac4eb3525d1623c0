package partners

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"

	"hale/internal/labs/networks"
	"hale/internal/platform/webhooks"
)

// client posts to one partner.
type client struct {
	Partner
	name    string
	secrets []webhooks.ValidSecret
	http    *http.Client
	now     func() time.Time
	check   func() error // of Network.CheckSending; nil allows all
}

func newClient(name string, p Partner, now func() time.Time) (*client, error) {
	secrets, err := p.readSecrets()
	if err != nil {
		return nil, fmt.Errorf("secret_file: %w", err)
	}
	transport := &http.Transport{MaxIdleConnsPerHost: 4, IdleConnTimeout: time.Minute, TLSHandshakeTimeout: 10 * time.Second}
	return &client{Partner: p, name: name, secrets: secrets, now: now, http: &http.Client{
		Transport: transport, Timeout: cmp.Or(p.Timeout, 20*time.Second),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// maxAnswer bounds the bytes of an answer.
const maxAnswer = 1 << 20

// post sends a body under an id, signed, and decodes the answer; answer may be
// nil. A repeated post has the same id. networks.ErrSlotTaken, *networks.Refusal
// and errGone are final; any other error may be retried.
func (c *client) post(ctx context.Context, path string, id uuid.UUID, body, answer any) error {
	if c.check != nil {
		if err := c.check(); err != nil {
			return err
		}
	}
	text, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("partners: marshalling for %s: %w", path, err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(c.URL, "/")+path, bytes.NewReader(text))
	if err != nil {
		return fmt.Errorf("partners: %s: %w", path, err)
	}
	key := strings.Trim(strings.ReplaceAll(path, "/", "-"), "-") + "-" + id.String()
	timestamp, signature := c.signer().Sign(key, c.now(), text)
	for name, value := range map[string]string{
		"Content-Type": "application/json", "webhook-id": key, "webhook-timestamp": timestamp, "webhook-signature": signature,
	} {
		request.Header.Set(name, value)
	}
	response, err := c.http.Do(request)
	if err != nil {
		return fmt.Errorf("partners: %s does not answer: %w", c.name, errors.Unwrap(err)) // without the URL
	}
	defer response.Body.Close()
	content, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	if err != nil {
		return fmt.Errorf("partners: reading an answer of %s: %w", c.name, err)
	}
	return c.read(response.StatusCode, content, answer)
}

// signer signs with every valid secret, so a post has a signature for each.
func (c *client) signer() *webhooks.Signer { return webhooks.NewSigner(c.secrets) }

// errGone is the answer for a kit or visit that the partner does not have.
var errGone = errors.New("partners: unknown at the partner")

func (c *client) read(status int, content []byte, answer any) error {
	switch {
	case status == http.StatusNotFound || status == http.StatusGone:
		return errGone
	case status == http.StatusConflict:
		return networks.ErrSlotTaken
	case status == http.StatusUnprocessableEntity:
		var refusal struct {
			Reason string `json:"reason"`
		}
		if err := json.Unmarshal(content, &refusal); err != nil || refusal.Reason == "" {
			refusal.Reason = "the partner gave no reason"
		}
		return &networks.Refusal{Reason: refusal.Reason}
	case status < 200 || status > 299:
		return fmt.Errorf("partners: %s answered %d", c.name, status)
	case len(content) > maxAnswer:
		return fmt.Errorf("partners: the answer of %s is too large", c.name)
	case answer == nil:
		return nil
	}
	if err := json.Unmarshal(content, answer); err != nil {
		return fmt.Errorf("partners: an answer of %s cannot be read", c.name) // it may have names
	}
	return nil
}
