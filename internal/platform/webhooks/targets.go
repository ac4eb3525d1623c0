package webhooks

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// target holds the settings that posts to an endpoint need, as of one revision.
type target struct {
	revision int64
	number   int64 // of the URL and headers, for the attempt log
	on       bool  // due deliveries may be sent
	rate     int   // posts per second; 0 is no limit
	content  Content
	url      *url.URL
	header   http.Header // custom headers, canonical names
	secrets  []ValidSecret
	health   Health
}

func targetPlace(column string, id EndpointID, number int64) string {
	return "webhook_targets." + column + ":" + id.String() + ":" + strconv.FormatInt(number, 10)
}

// addTarget stores a URL and headers under a number. Earlier ones stay, because
// attempts refer to them.
func addTarget(ctx context.Context, tx *store.Tx, team teams.ID, id EndpointID, number int64, address string, headers map[string]string) error {
	plain, err := json.Marshal(headers)
	if err != nil {
		return fmt.Errorf("webhooks: headers: %w", err)
	}
	sealedURL, err := tx.Seal(ctx, team.UUID(), uuid.Nil, targetPlace("url", id, number), []byte(address))
	if err != nil {
		return err
	}
	sealedHeaders, err := tx.Seal(ctx, team.UUID(), uuid.Nil, targetPlace("headers", id, number), plain)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `INSERT INTO webhook_targets (team_id, endpoint_id, number, url, headers, created_at) VALUES ($1, $2, $3, $4, $5, $6)`,
		team, id, number, sealedURL, sealedHeaders, store.Micros(tx.Now()))
	if err != nil {
		return fmt.Errorf("webhooks: storing a target: %w", err)
	}
	return nil
}

// readTarget reads the URL and headers of a number.
func readTarget(ctx context.Context, tx *store.Tx, team teams.ID, id EndpointID, number int64) (address string, headers map[string]string, err error) {
	var sealedURL, sealedHeaders []byte
	err = tx.QueryRow(ctx, `SELECT url, headers FROM webhook_targets WHERE team_id = $1 AND endpoint_id = $2 AND number = $3`,
		team, id, number).Scan(&sealedURL, &sealedHeaders)
	if err != nil {
		return "", nil, fmt.Errorf("webhooks: reading a target: %w", err)
	}
	plainURL, err := tx.Unseal(ctx, team.UUID(), uuid.Nil, targetPlace("url", id, number), sealedURL)
	if err != nil {
		return "", nil, err
	}
	plainHeaders, err := tx.Unseal(ctx, team.UUID(), uuid.Nil, targetPlace("headers", id, number), sealedHeaders)
	if err != nil {
		return "", nil, err
	}
	if err := json.Unmarshal(plainHeaders, &headers); err != nil {
		return "", nil, fmt.Errorf("webhooks: stored headers: %w", err)
	}
	return string(plainURL), headers, nil
}

// loadTarget reads the target of an endpoint.
func loadTarget(ctx context.Context, tx *store.Tx, team teams.ID, id EndpointID, now time.Time) (*target, error) {
	e, err := Get(ctx, tx, team, id)
	if err != nil {
		return nil, err
	}
	address, headers, err := readTarget(ctx, tx, team, id, e.target)
	if err != nil {
		return nil, err
	}
	t := &target{revision: e.revision, number: e.target, on: e.State == On && !e.holding, content: e.Content, header: http.Header{}, health: e.Health}
	if e.RateLimit != nil {
		t.rate = *e.RateLimit
	}
	if t.url, err = url.Parse(address); err != nil {
		return nil, fmt.Errorf("webhooks: the URL of %s does not parse", id)
	}
	for name, value := range headers {
		t.header.Set(name, value)
	}
	t.secrets, err = ValidSecrets(ctx, tx, team, id, now)
	return t, err
}

// The rules of custom headers. The patterns state those of headerProblem as regular
// expressions, for the OpenAPI document.
const (
	MaxHeaders         = 40
	MaxHeaderBytes     = 4096 // one value
	HeaderNamePattern  = "^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$"
	HeaderValuePattern = `^(?:[!-~](?:[\t -~]*[!-~])?)?$`
)

// ReservedHeaders lists the headers that the service sets on each request, and those
// of the connection. No custom header may have such a name. A name that ends in a
// hyphen covers every name that begins with it.
var ReservedHeaders = []string{
	"host", "content-", "connection", "keep-alive", "transfer-encoding", "te", "trailer", "upgrade",
	"expect", "accept-encoding", "user-agent", "idempotency-key", "x-event-seq", "proxy-", "webhook-", "svix-",
}

// secretHints lists parts of the names of headers with secret values.
var secretHints = []string{"auth", "token", "secret", "key", "password", "cookie", "credential", "signature", "session"}

// CheckHeaders returns the faults of an endpoint's custom headers. Two spellings of
// one name are one name.
func CheckHeaders(headers map[string]string) error {
	if len(headers) > MaxHeaders {
		return fault.New(fault.Invalid, fmt.Sprintf("must not hold more than %d headers", MaxHeaders)).At("body", "headers")
	}
	seen := map[string]bool{}
	var found []*fault.Error
	for name, value := range headers {
		canonical := http.CanonicalHeaderKey(name)
		if problem := headerProblem(name, value); problem != "" {
			found = append(found, fault.New(fault.Invalid, problem).At("body", "headers", name))
		} else if seen[canonical] {
			found = append(found, fault.New(fault.Invalid, "is given twice").At("body", "headers", name))
		}
		seen[canonical] = true
	}
	if len(found) == 0 {
		return nil
	}
	return fault.Join(found...)
}

func headerProblem(name, value string) string {
	switch {
	case name == "" || len(name) > 128 || strings.ContainsFunc(name, notToken):
		return "must be a header name: letters, digits and hyphens"
	case isReserved(name):
		return "is set by this service and can not be changed"
	case len(value) > MaxHeaderBytes:
		return fmt.Sprintf("must not be longer than %d bytes", MaxHeaderBytes)
	case strings.TrimSpace(value) != value:
		return "must not begin or end with a space"
	case strings.ContainsFunc(value, notFieldValue):
		return "must hold printable ASCII characters only"
	}
	return ""
}

func isReserved(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc(ReservedHeaders, func(o string) bool {
		return name == o || strings.HasSuffix(o, "-") && strings.HasPrefix(name, o)
	})
}

// notToken reports a character that RFC 9110 does not allow in a field name.
func notToken(c rune) bool {
	return !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' ||
		strings.ContainsRune("!#$%&'*+-.^_`|~", c))
}

func notFieldValue(c rune) bool { return c < ' ' && c != '\t' || c > '~' }

// IsSensitiveHeader reports whether the value of a header is probably a secret.
func IsSensitiveHeader(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc(secretHints, func(hint string) bool { return strings.Contains(name, hint) })
}

// SplitHeaders splits custom headers into those whose values may be shown, and the
// sorted names of the others.
func SplitHeaders(headers map[string]string) (shown map[string]string, sensitive []string) {
	shown, sensitive = map[string]string{}, []string{}
	for name, value := range headers {
		if IsSensitiveHeader(name) {
			sensitive = append(sensitive, name)
		} else {
			shown[name] = value
		}
	}
	slices.Sort(sensitive)
	return shown, sensitive
}

// Headers reads the custom headers of an endpoint.
func Headers(ctx context.Context, tx *store.Tx, team teams.ID, id EndpointID) (map[string]string, error) {
	e, err := Get(ctx, tx, team, id)
	if err != nil {
		return nil, err
	}
	_, headers, err := readTarget(ctx, tx, team, id, e.target)
	return headers, err
}

// SetHeaders replaces the custom headers of an endpoint.
func SetHeaders(ctx context.Context, tx *store.Tx, team teams.ID, id EndpointID, headers map[string]string) error {
	if err := CheckHeaders(headers); err != nil {
		return err
	}
	e, err := Get(ctx, tx, team, id)
	if err != nil {
		return err
	}
	if err := changeTarget(ctx, tx, &e, func(_ *string, h *map[string]string) { *h = headers }); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, `UPDATE webhook_endpoints SET target = $1 WHERE team_id = $2 AND id = $3`, e.target, team, id); err != nil {
		return fmt.Errorf("webhooks: changing headers: %w", err)
	}
	return touch(ctx, tx, team, id)
}
