package webhooks

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// target is what sending to an endpoint needs to know, as of one revision.
type target struct {
	revision int64
	number   int64 // of the URL and headers, for the attempt log
	on       bool  // what is due may be sent
	rate     int   // posts per second; 0 is no limit
	url      *url.URL
	header   http.Header // custom headers, canonical names
	secrets  []ValidSecret
	health   Health
}

func targetPlace(column string, id EndpointID, number int64) string {
	return "webhook_targets." + column + ":" + id.String() + ":" + strconv.FormatInt(number, 10)
}

// addTarget stores a URL and headers under the next number. Old ones stay:
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

// readTarget reads a URL and headers as they were at a number.
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

// loadTarget reads all that sending to an endpoint needs.
func loadTarget(ctx context.Context, tx *store.Tx, team teams.ID, id EndpointID, now time.Time) (*target, error) {
	e, err := Get(ctx, tx, team, id)
	if err != nil {
		return nil, err
	}
	address, headers, err := readTarget(ctx, tx, team, id, e.target)
	if err != nil {
		return nil, err
	}
	t := &target{revision: e.revision, number: e.target, on: e.State == On && !e.holding, header: http.Header{}, health: e.Health}
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
