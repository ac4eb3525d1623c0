package critical

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"

	"hale/internal/labs/orders"
	"hale/internal/people/users"
	"hale/internal/platform/events"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// The types of event.
const (
	EscalatedEvent    = "labtest.critical_result.escalated"
	AcknowledgedEvent = "labtest.critical_result.acknowledged"
	ClosedEvent       = "labtest.critical_result.closed"
)

// payload is the data of the events. It has no name of a person.
type payload struct {
	ID             ID              `json:"id"`
	OrderID        *orders.ID      `json:"order_id"`
	ResultID       *uuid.UUID      `json:"unmatched_result_id"`
	JobID          *uuid.UUID      `json:"parsing_job_id"`
	UserID         *users.ID       `json:"user_id"`
	TeamID         teams.ID        `json:"team_id"`
	State          State           `json:"state"`
	RaisedAt       orders.Instant  `json:"raised_at"`
	DueAt          orders.Instant  `json:"due_at"`
	EscalatedAt    *orders.Instant `json:"escalated_at"`
	EndedAt        *orders.Instant `json:"ended_at"`
	AcknowledgedAt *orders.Instant `json:"acknowledged_at"`
}

func (n *Notice) payload() payload {
	p := payload{
		ID: n.ID, OrderID: n.Order, ResultID: n.Result, JobID: n.Report, UserID: n.User, TeamID: n.Team, State: n.State,
		RaisedAt: orders.Instant(n.RaisedAt), DueAt: orders.Instant(n.DueAt), EscalatedAt: instantOrNil(n.EscalatedAt), EndedAt: instantOrNil(n.EndedAt),
	}
	if n.State == Acknowledged {
		p.AcknowledgedAt = instantOrNil(n.EndedAt)
	}
	return p
}

func instantOrNil(t *time.Time) *orders.Instant {
	if t == nil {
		return nil
	}
	at := orders.Instant(*t)
	return &at
}

// announce emits an event about a notice. It belongs to the user, or to the
// team alone while the user is not known. A user who is being erased gets none.
func announce(ctx context.Context, tx *store.Tx, n *Notice, kind string) error {
	data, err := json.Marshal(n.payload())
	if err != nil {
		return fmt.Errorf("critical: marshalling a %s: %w", kind, err)
	}
	e := events.New{Team: n.Team.UUID(), Type: kind, Data: data}
	if n.User != nil {
		name, err := users.ClientUserID(ctx, tx, n.Team, *n.User)
		if fault.Is(err, fault.NotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		e.User, e.ClientUserID = n.User.UUID(), name
	}
	_, err = events.Emit(ctx, tx, e)
	return err
}

// EventTypes returns the types of events that this package emits.
func EventTypes() []events.Type {
	at := time.Date(2026, 3, 5, 8, 0, 0, 0, time.UTC)
	later := at.Add(time.Hour)
	example := func(change func(n *Notice)) func(uuid.UUID) json.RawMessage {
		return func(user uuid.UUID) json.RawMessage {
			order, of := orders.ID(exampleID(5)), users.ID(user)
			n := Notice{ID: ID(exampleID(10)), Team: teams.ID(exampleID(6)), User: &of, Order: &order, State: Open, RaisedAt: at, DueAt: later}
			change(&n)
			doc, err := json.Marshal(n.payload())
			if err != nil {
				panic(err) // a plain struct
			}
			return doc
		}
	}
	return []events.Type{
		{Name: EscalatedEvent, Sentence: "A critical result was not acknowledged in time.", Example: example(func(n *Notice) { n.EscalatedAt = &later })},
		{Name: AcknowledgedEvent, Sentence: "A person was notified of a critical result.", Example: example(func(n *Notice) { n.State, n.EndedAt = Acknowledged, &later })},
		{Name: ClosedEvent, Sentence: "A critical result needs no acknowledgement any more.", Example: example(func(n *Notice) {
			result := exampleID(11)
			n.Order, n.User, n.Result, n.State, n.EndedAt = nil, nil, &result, Closed, &later
		})},
	}
}

func exampleID(n byte) uuid.UUID {
	id := uuid.MustParse("00000000-0000-4000-8000-000000000000")
	id[15] = n
	return id
}
