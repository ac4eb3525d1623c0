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

// Handlers are the packages that reports go to. A nil handler ignores its part
// of a report.
type Handlers struct {
	Results   Results
	Visits    Visits
	Unmatched Unmatched
}

// Arrival is one report with its origin.
type Arrival struct {
	// ID identifies the report. It never changes.
	ID      uuid.UUID
	Network string
	// Key names the report for orders.Move. It never changes.
	Key        string
	ReceivedAt time.Time
	Report     networks.Report
}

// Results stores results. It also advances the order (partial_results,
// completed, corrected, redraw_available), with the arrival's key.
type Results interface {
	TakeResults(ctx context.Context, tx *store.Tx, o *orders.Order, a Arrival) error
}

// Visits applies reports about appointments. It also advances the order.
type Visits interface {
	TakeVisit(ctx context.Context, tx *store.Tx, o *orders.Order, a Arrival) error
}

// Unmatched stores results whose order is not certain.
type Unmatched interface {
	TakeUnmatched(ctx context.Context, tx *store.Tx, a Arrival, why Reason, candidates []orders.Order) error
	// TakeUnmatchedStatus stores that a report without results needs a person: the lab
	// rejected a sample, cancelled tests or is blocked.
	TakeUnmatchedStatus(ctx context.Context, tx *store.Tx, a Arrival, why Reason) error
}

// Reason says why a report is not applied to an order. It contains no personal
// data. For a report on another person, or without the facts that identify a
// person, it is a Problem of package identity. For codes that no program can
// assign it is a catalogue.CodeProblem.
type Reason string

// The other reasons. Candidates are the orders that were found and rejected.
const (
	NoOrder      Reason = "no_order"      // neither our number nor the sample id is known
	OtherNetwork Reason = "other_network" // the order was placed through another network
	OtherLab     Reason = "other_lab"     // the order is with another lab, or the sender is no known lab
	OtherAccount Reason = "other_account" // the order is with another account of the lab
	OtherOrder   Reason = "other_order"   // a further number on the report is of another open order
	OtherTests   Reason = "other_tests"   // the report has none of the order's tests
	OldValues    Reason = "old_values"    // a value of an ordered test was observed long before the order
	NoValues     Reason = "no_values"     // the report has only a document or notes
	WasCancelled Reason = "was_cancelled" // results of an order that was cancelled
	WrongMoment  Reason = "wrong_moment"  // results of an order that cannot have results yet
)

type queueArgs struct {
	Queue string `json:"lane"`
}

var queueKind = jobs.NewKind[queueArgs]("inbox.handle").With(jobs.Limits{Concurrency: 8, Timeout: 5 * time.Minute, Attempts: 100})

// Job returns the kind of job that a runner needs.
func (s *Service) Job() jobs.Handler { return queueKind.Do(s.handle) }

// The places of sealed columns.
const (
	rawPlace    = "inbox_messages.raw:"
	reportPlace = "inbox_reports.body:"
)

// Put stores a message. It returns nil when the message is on disk, from this
// call or an earlier one. A different message under a used key is stored as
// well.
func (s *Service) Put(ctx context.Context, m networks.Message) error {
	if m.Network == "" || m.Key == "" {
		return errors.New("inbox: a message needs a network and a key")
	}
	ctx = store.AsSystem(ctx)
	return s.DB.Write(ctx, func(tx *store.Tx) error {
		id := tx.NewUUID()
		kept, err := storeMessage(ctx, tx, id, m, owner{})
		if err == nil && !kept {
			kept, err = s.storeReused(ctx, tx, id, m)
		}
		if err != nil || !kept { // stored before
			return err
		}
		for i, report := range m.Reports {
			if err := storeReport(ctx, tx, id, i, report); err != nil {
				return err
			}
		}
		return nil
	})
}

// Handled reports whether all reports of a message were handled.
func (s *Service) Handled(ctx context.Context, tx *store.Tx, network, key string) (bool, error) {
	var queued bool
	err := tx.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM inbox_messages m JOIN inbox_reports r ON r.message_id = m.id
		WHERE m.network = $1 AND m.key = $2 AND r.state = 'queued')`, network, key).Scan(&queued)
	if err != nil {
		return false, fmt.Errorf("inbox: looking for queued reports: %w", err)
	}
	return !queued, nil
}

// storeMessage stores a message and reports whether its key is new. A message
// without an owner is sealed with the service's key.
func storeMessage(ctx context.Context, tx *store.Tx, id uuid.UUID, m networks.Message, of owner) (bool, error) {
	raw, err := tx.Seal(ctx, of.team, of.user, rawPlace+id.String(), m.Raw)
	if err != nil {
		return false, err
	}
	digest := sha256.Sum256(m.Raw)
	n, err := tx.Exec(ctx, `INSERT INTO inbox_messages (team_id, user_id, id, network, key, received_at, raw, digest) VALUES ($1, $8, $2, $3, $4, $5, $6, $7)
		ON CONFLICT (network, key) DO NOTHING`, of.team, id, m.Network, m.Key, store.Micros(tx.Now()), raw, digest[:], nullableID(of.user))
	if err != nil {
		return false, fmt.Errorf("inbox: storing a message: %w", err)
	}
	return n == 1, nil
}

func nullableID(id uuid.UUID) any {
	if id == uuid.Nil {
		return nil
	}
	return id
}

// storeReused stores a message whose key another message has already. It uses a
// key with the message's own digest. This happens when a lab restarts its
// counter and uses its numbers again. It reports false when the messages are
// equal.
func (s *Service) storeReused(ctx context.Context, tx *store.Tx, id uuid.UUID, m networks.Message) (bool, error) {
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
	kept, err := storeMessage(ctx, tx, id, m, owner{})
	if kept {
		s.Log.WarnContext(ctx, "a network reused a message number for a different message; both are stored", "network", m.Network, "message", id)
	}
	return kept, err
}

func storeReport(ctx context.Context, tx *store.Tx, message uuid.UUID, n int, report networks.Report) error {
	queue, err := queueOf(ctx, tx, report)
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
		VALUES ($1, $2, $3, $4, $5, 'queued', $6, $7)`, uuid.Nil, id, message, n, queue, store.Micros(tx.Now()), body)
	if err != nil {
		return fmt.Errorf("inbox: storing a report: %w", err)
	}
	_, err = queueKind.Enqueue(ctx, tx, queueArgs{queue}, jobs.Options{Key: queue})
	return err
}

var _ orders.Answers = (*Service)(nil)

// TakeAnswer stores a lab's answer to an order and applies its reports at
// once. The user is known, so the rows are sealed with that user's key from
// the start. An answer that is stored already changes nothing. Results in an
// answer must name the order's patient, as in any other message.
func (s *Service) TakeAnswer(ctx context.Context, tx *store.Tx, o *orders.Order, m networks.Message) error {
	of := owner{o.Team.UUID(), o.User.UUID(), o.ID.UUID()}
	message := tx.NewUUID()
	kept, err := storeMessage(ctx, tx, message, m, of)
	if err != nil || !kept {
		return err
	}
	for n, report := range m.Reports {
		a := Arrival{ID: tx.NewUUID(), Network: m.Network, Key: reportKey(m.Network, m.Key, int64(n)), ReceivedAt: tx.Now(), Report: report}
		if err := s.takeAnswered(ctx, tx, o, a, message, n); err != nil {
			return err
		}
	}
	return nil
}

// takeAnswered applies and stores the n-th report of an answer.
func (s *Service) takeAnswered(ctx context.Context, tx *store.Tx, o *orders.Order, a Arrival, message uuid.UUID, n int) error {
	var why Reason
	var err error
	if a.Report.Results != nil {
		if why, err = mismatch(ctx, tx, o, a); err != nil {
			return err
		}
	}
	state := "unmatched"
	if why == "" {
		state = "applied"
		if err := s.apply(ctx, tx, o, a); err != nil {
			return err
		}
	}
	doc, err := json.Marshal(a.Report)
	if err != nil {
		return fmt.Errorf("inbox: marshalling a report: %w", err)
	}
	body, err := tx.Seal(ctx, o.Team.UUID(), o.User.UUID(), reportPlace+a.ID.String(), doc)
	if err != nil {
		return err
	}
	now := store.Micros(tx.Now())
	_, err = tx.Exec(ctx, `INSERT INTO inbox_reports (team_id, user_id, order_id, id, message_id, n, lane, state, reason, received_at, handled_at, body)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $11, $9, $9, $10)`,
		o.Team.UUID(), o.User.UUID(), o.ID.UUID(), a.ID, message, n, "order:"+o.ID.String(), state, now, body, string(why))
	if err != nil {
		return fmt.Errorf("inbox: storing a report: %w", err)
	}
	if why == "" || s.Handlers.Unmatched == nil {
		return nil
	}
	return s.Handlers.Unmatched.TakeUnmatched(ctx, tx, a, why, []orders.Order{*o})
}
