package webhooks

import (
	"context"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/events"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// Trial is an example that was posted, and what came back. It is no event: it
// has no number, is in no feed and is not repeated.
type Trial struct {
	ID      events.ID
	At      time.Time
	Outcome Outcome
	Headers map[string]string // of the request; secret ones are masked
	Body    []byte
}

// SendExample posts an example of an event type to an endpoint, signed like
// the real ones, and waits for the answer. It works for endpoints that are off
// and for types that the filter keeps out.
func SendExample(ctx context.Context, db *store.DB, cfg Config, team teams.ID, id EndpointID, eventType string) (Trial, error) {
	body, err := events.CatalogueOf(db).Example(team.UUID(), eventType, "body", "event_type")
	if err != nil {
		return Trial{}, err
	}
	var t *target
	var custom map[string]string
	err = db.Read(ctx, func(tx *store.Tx) (err error) {
		if t, err = loadTarget(ctx, tx, team, id, tx.Now()); err != nil {
			return err
		}
		_, custom, err = readTarget(ctx, tx, team, id, t.number)
		return err
	})
	if err != nil {
		return Trial{}, err
	}
	fresh, err := uuid.NewV7()
	if err != nil {
		return Trial{}, fault.New(fault.Unavailable, "no random numbers")
	}
	trial := Trial{ID: events.ID(fresh), At: db.Now(), Body: body}
	m := message{id: trial.ID.String(), body: body}
	timestamp, signature := NewSigner(t.secrets).Sign(m.id, trial.At, body)
	transport := newTransport(cfg.Guard, cfg.Dial, cfg.TLS)
	defer transport.CloseIdleConnections()
	trial.Outcome = post(ctx, transport, t, headersOf(t.header, m, timestamp, signature), body, db.Now)
	trial.Headers = sentHeaders(custom, &Attempt{Event: trial.ID, At: trial.At, signature: signature})
	return trial, nil
}
