package inbox

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"hale/internal/labs/networks"
	"hale/internal/labs/orders"
	"hale/internal/people/users"
	"hale/internal/platform/jobs"
	"hale/internal/platform/store"
)

// Service is the inbox of all networks.
type Service struct {
	DB       *store.DB
	Handlers Handlers
	Log      *slog.Logger
}

var _ networks.Inbox = (*Service)(nil)

// Handlers are the domains that reports go to. A nil one leaves that part of
// reports alone.
type Handlers struct {
	Results   Results
	Visits    Visits
	Unmatched Unmatched
}

// Arrival is one report with where it came from.
type Arrival struct {
	// ID is the report's own, for ever.
	ID      uuid.UUID
	Network string
	// Key names the report for ever, for orders.Move.
	Key        string
	ReceivedAt time.Time
	Report     networks.Report
}

// Results stores results. It also advances the order (partial_results,
// completed, corrected, redraw_available), with the arrival's key.
type Results interface {
	TakeResults(ctx context.Context, tx *store.Tx, o *orders.Order, a Arrival) error
}

// Visits follows appointments. It also advances the order.
type Visits interface {
	TakeVisit(ctx context.Context, tx *store.Tx, o *orders.Order, a Arrival) error
}

// Unmatched keeps results whose order is not certain.
type Unmatched interface {
	TakeUnmatched(ctx context.Context, tx *store.Tx, a Arrival, why Reason, candidates []orders.Order) error
}

// Reason says why a report is not applied to an order.
type Reason string

// The reasons. Candidates are the orders that were found and not taken.
const (
	NoOrder      Reason = "no_order"      // neither our number nor the sample id is known
	OtherPerson  Reason = "other_person"  // the order is of somebody else
	OtherLab     Reason = "other_lab"     // the order is with another lab, or nobody knows whose report it is
	WasCancelled Reason = "was_cancelled" // results of an order that was cancelled
	WrongMoment  Reason = "wrong_moment"  // results of an order that cannot have any yet
)

type laneArgs struct {
	Lane string `json:"lane"`
}

var laneKind = jobs.Named[laneArgs]("inbox.handle").With(jobs.Limits{Concurrency: 8, Timeout: 5 * time.Minute, Attempts: 100})

// Job is the kind of job that a runner needs.
func (s *Service) Job() jobs.Handler { return laneKind.Do(s.handle) }

// The places of what is sealed.
const (
	rawPlace    = "inbox_messages.raw:"
	reportPlace = "inbox_reports.body:"
)

// Put stores a message. It returns nil when the message is on disk, now or
// since before. Another message under a key that was used is not the same one.
func (s *Service) Put(ctx context.Context, m networks.Message) error {
	if m.Network == "" || m.Key == "" {
		return errors.New("inbox: a message needs a network and a key")
	}
	ctx = store.AsSystem(ctx)
	return s.DB.Write(ctx, func(tx *store.Tx) error {
		id := tx.NewUUID()
		kept, err := keep(ctx, tx, id, m, owner{})
		if err == nil && !kept {
			kept, err = s.keepOther(ctx, tx, id, m)
		}
		if err != nil || !kept { // it is here
			return err
		}
		for i, report := range m.Reports {
			if err := put(ctx, tx, id, i, report); err != nil {
				return err
			}
		}
		return nil
	})
}

// keep stores a message and reports whether its key is new. That of nobody yet is
// the service's.
func keep(ctx context.Context, tx *store.Tx, id uuid.UUID, m networks.Message, of owner) (bool, error) {
	raw, err := tx.Seal(ctx, of.team, of.user, rawPlace+id.String(), m.Raw)
	if err != nil {
		return false, err
	}
	digest := sha256.Sum256(m.Raw)
	n, err := tx.Exec(ctx, `INSERT INTO inbox_messages (team_id, user_id, id, network, key, received_at, raw, digest) VALUES ($1, $8, $2, $3, $4, $5, $6, $7)
		ON CONFLICT (network, key) DO NOTHING`, of.team, id, m.Network, m.Key, store.Micros(tx.Now()), raw, digest[:], orNil(of.user))
	if err != nil {
		return false, fmt.Errorf("inbox: storing a message: %w", err)
	}
	return n == 1, nil
}

func orNil(id uuid.UUID) any {
	if id == uuid.Nil {
		return nil
	}
	return id
}

// keepOther stores a message whose key another one has, under a key with its
// own digest: a lab that begins to count anew uses its numbers again. It reports
// false when the message is the same.
func (s *Service) keepOther(ctx context.Context, tx *store.Tx, id uuid.UUID, m networks.Message) (bool, error) {
	var before []byte
	err := tx.QueryRow(ctx, `SELECT digest FROM inbox_messages WHERE network = $1 AND key = $2`, m.Network, m.Key).Scan(&before)
	if err != nil {
		return false, fmt.Errorf("inbox: comparing with an earlier message: %w", err)
	}
	digest := sha256.Sum256(m.Raw)
	if before == nil || bytes.Equal(before, digest[:]) {
		return false, nil
	}
	m.Key += "|" + hex.EncodeToString(digest[:])
	kept, err := keep(ctx, tx, id, m, owner{})
	if kept {
		s.Log.WarnContext(ctx, "a network numbers another message like an earlier one; both are kept", "network", m.Network, "message", id)
	}
	return kept, err
}

func put(ctx context.Context, tx *store.Tx, message uuid.UUID, n int, report networks.Report) error {
	lane, err := laneOf(ctx, tx, report)
	if err != nil {
		return err
	}
	doc, err := json.Marshal(report)
	if err != nil {
		return fmt.Errorf("inbox: marshalling a report: %w", err)
	}
	id := tx.NewUUID()
	body, err := tx.Seal(ctx, uuid.Nil, uuid.Nil, reportPlace+id.String(), doc)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `INSERT INTO inbox_reports (team_id, id, message_id, n, lane, state, received_at, body)
		VALUES ($1, $2, $3, $4, $5, 'queued', $6, $7)`, uuid.Nil, id, message, n, lane, store.Micros(tx.Now()), body)
	if err != nil {
		return fmt.Errorf("inbox: storing a report: %w", err)
	}
	_, err = laneKind.Enqueue(ctx, tx, laneArgs{lane}, jobs.Options{Key: lane})
	return err
}

// UserRecords returns the rows of users in this package.
func UserRecords() []users.Records { return users.RowsOf("inbox_messages", "inbox_reports") }
