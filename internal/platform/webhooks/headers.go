package webhooks

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

const (
	maxHeaders     = 40
	maxHeaderBytes = 4096 // one value
)

// ours are the headers that we set on each request, or that belong to the
// connection; a custom header can not take their place. A name that ends in a
// hyphen stands for all that begin so.
var ours = []string{
	"host", "content-", "connection", "keep-alive", "transfer-encoding", "te", "trailer", "upgrade",
	"expect", "accept-encoding", "user-agent", "idempotency-key", "x-event-seq", "proxy-", "webhook-", "svix-",
}

// hints are the parts of header names whose values are secrets.
var hints = []string{"auth", "token", "secret", "key", "password", "cookie", "credential", "signature", "session"}

// CheckHeaders says what is wrong with the custom headers of an endpoint, or
// nothing. Two spellings of one name are one name.
func CheckHeaders(headers map[string]string) error {
	if len(headers) > maxHeaders {
		return fault.New(fault.Invalid, fmt.Sprintf("must not hold more than %d headers", maxHeaders)).At("body", "headers")
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
	case isOurs(name):
		return "is set by this service and can not be changed"
	case len(value) > maxHeaderBytes:
		return fmt.Sprintf("must not be longer than %d bytes", maxHeaderBytes)
	case strings.TrimSpace(value) != value:
		return "must not begin or end with a space"
	case strings.ContainsFunc(value, notFieldValue):
		return "must hold printable ASCII characters only"
	}
	return ""
}

func isOurs(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc(ours, func(o string) bool {
		return name == o || strings.HasSuffix(o, "-") && strings.HasPrefix(name, o)
	})
}

// notToken reports what RFC 9110 does not allow in a field name.
func notToken(c rune) bool {
	return !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' ||
		strings.ContainsRune("!#$%&'*+-.^_`|~", c))
}

func notFieldValue(c rune) bool { return c < ' ' && c != '\t' || c > '~' }

// Sensitive reports whether the value of a header is better not shown again.
func Sensitive(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc(hints, func(hint string) bool { return strings.Contains(name, hint) })
}

// Masked splits custom headers into those whose values may be shown and the
// sorted names of those whose values may not.
func Masked(headers map[string]string) (shown map[string]string, sensitive []string) {
	shown, sensitive = map[string]string{}, []string{}
	for name, value := range headers {
		if Sensitive(name) {
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
	if err := retarget(ctx, tx, &e, func(_ *string, h *map[string]string) { *h = headers }); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, `UPDATE webhook_endpoints SET target = $1 WHERE team_id = $2 AND id = $3`, e.target, team, id); err != nil {
		return fmt.Errorf("webhooks: changing headers: %w", err)
	}
	return touch(ctx, tx, team, id)
}
