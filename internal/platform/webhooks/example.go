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

// Trial describes an example that was posted, and its answer. It is no event: it has no
// number, is not in the feed and is not retried.
type Trial struct {
	ID      events.ID
	At      time.Time
	Outcome Outcome
	Headers map[string]string // of the request; secret ones are masked
	Body    []byte
}

// SendExample posts an example of an event type to an endpoint, signed like an event,
// and waits for the answer. It ignores the state and the filter of the endpoint.
func SendExample(ctx context.Context, db *store.DB, cfg Config, team teams.ID, id EndpointID, eventType string) (Trial, error) {
	if cfg.CheckSending != nil {
		if err := cfg.CheckSending(); err != nil {
			return Trial{}, err
		}
	}
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
	if body, err = t.content.of(body); err != nil {
		return Trial{}, err
	}
	id7, err := uuid.NewV7()
	if err != nil {
		return Trial{}, fault.New(fault.Unavailable, "no random numbers")
	}
	trial := Trial{ID: events.ID(id7), At: db.Now(), Body: body}
	m := message{id: trial.ID.String(), body: body}
	timestamp, signature := NewSigner(t.secrets).Sign(m.id, trial.At, body)
	transport := newTransport(cfg.Guard, cfg.Dial, cfg.TLS)
	defer transport.CloseIdleConnections()
	trial.Outcome = post(ctx, transport, t, headersOf(t.header, m, timestamp, signature), body, db.Now)
	trial.Headers = sentHeaders(custom, &Attempt{Event: trial.ID, At: trial.At, signature: signature})
	return trial, nil
}
