package matching

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"hale/internal/labs/networks"
	"hale/internal/labs/orders"
	"hale/internal/people/users"
	"hale/internal/platform/fault"
	"hale/internal/platform/ids"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// The places of what is sealed.
const (
	summaryPlace = "unmatched_results.summary:"
	bodyPlace    = "unmatched_results.body:"
)

// subject is with whose key the result is sealed.
func (i *Item) subject() uuid.UUID {
	if i.User != nil {
		return i.User.UUID()
	}
	return i.ID.UUID()
}

func seal(ctx context.Context, tx *store.Tx, i *Item, place string, value any) ([]byte, error) {
	doc, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("matching: marshalling %s: %w", i.ID, err)
	}
	return tx.Seal(ctx, i.Team.UUID(), i.subject(), place+i.ID.String(), doc)
}

func unseal(ctx context.Context, tx *store.Tx, i *Item, place string, sealed []byte, into any) error {
	doc, err := tx.Unseal(ctx, i.Team.UUID(), i.subject(), place+i.ID.String(), sealed)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(doc, into); err != nil {
		return fmt.Errorf("matching: what is stored of %s: %w", i.ID, err)
	}
	return nil
}

const columns = `team_id, id, status, decision, account_differs, lab_id, network, report_key, partial, interpretation, action, user_id, order_id,
	created_at, updated_at, reviewed_at, summary, body`

// insert stores a result that has just arrived.
func insert(ctx context.Context, tx *store.Tx, i *Item, report networks.Report) error {
	summary, err := seal(ctx, tx, i, summaryPlace, i.Summary)
	if err != nil {
		return err
	}
	body, err := seal(ctx, tx, i, bodyPlace, report)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `INSERT INTO unmatched_results (`+columns+`)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, NULL, NULL, NULL, $11, $11, NULL, $12, $13) ON CONFLICT (team_id, id) DO NOTHING`,
		i.Team, i.ID, string(i.Status), string(i.Decision), i.AccountDiffers, i.Lab, i.Network, i.Key, i.Partial, string(i.Interpretation),
		i.CreatedAt, summary, body)
	if err != nil {
		return fmt.Errorf("matching: storing: %w", err)
	}
	return nil
}

// save writes what changes of a result that stands at a status; somebody else
// was faster when it does not. The report goes once an order has it.
func save(ctx context.Context, tx *store.Tx, i *Item, from Status, keepBody bool) error {
	var summary, body any
	var err error
	if i.Summary != nil {
		if summary, err = seal(ctx, tx, i, summaryPlace, i.Summary); err != nil {
			return err
		}
	}
	if keepBody {
		body = i.body
	}
	n, err := tx.Exec(ctx, `UPDATE unmatched_results SET status = $4, decision = $5, account_differs = $6, action = $7, user_id = $8, order_id = $9,
		updated_at = $10, reviewed_at = $11, summary = $12, body = $13 WHERE team_id = $1 AND id = $2 AND status = $3`,
		i.Team, i.ID, string(from), string(i.Status), string(i.Decision), i.AccountDiffers, wordOrNil(i.Action), idOrNil(i.User), idOrNil(i.Order),
		i.UpdatedAt, i.ReviewedAt, summary, body)
	switch {
	case err != nil:
		return fmt.Errorf("matching: changing %s: %w", i.ID, err)
	case n == 0:
		return store.ErrLostRace
	}
	return nil
}

func idOrNil[T any](id *ids.Of[T]) any {
	if id == nil {
		return nil
	}
	return *id
}

func wordOrNil(a Action) any {
	if a == "" {
		return nil
	}
	return string(a)
}

type scanner interface{ Scan(dest ...any) error }

// sealedItem is a result as stored: what is personal still closed.
type sealedItem struct {
	Item
	summary []byte
}

func scan(from scanner) (sealedItem, error) {
	var s sealedItem
	var action sql.NullString
	var user users.ID
	var order orders.ID
	err := from.Scan(&s.Team, &s.ID, &s.Status, &s.Decision, &s.AccountDiffers, &s.Lab, &s.Network, &s.Key, &s.Partial, &s.Interpretation, &action, &user, &order,
		store.ScanTime(&s.CreatedAt), store.ScanTime(&s.UpdatedAt), store.ScanNullTime(&s.ReviewedAt), &s.summary, &s.body)
	s.Action = Action(action.String)
	if !user.IsZero() {
		s.User = &user
	}
	if !order.IsZero() {
		s.Order = &order
	}
	return s, err
}

// open unseals what reviewers are shown. No rows may be open.
func (s sealedItem) open(ctx context.Context, tx *store.Tx) (Item, error) {
	i := s.Item
	if s.summary == nil {
		return i, nil
	}
	i.Summary = &Summary{}
	return i, unseal(ctx, tx, &i, summaryPlace, s.summary, i.Summary)
}

// report is the report itself; it is gone once an order has it.
func (i *Item) report(ctx context.Context, tx *store.Tx) (networks.Report, error) {
	var r networks.Report
	if i.body == nil {
		return r, notThere()
	}
	return r, unseal(ctx, tx, i, bodyPlace, i.body, &r)
}

func notThere() error { return fault.New(fault.NotFound, "Unmatched result not found") }

// read returns a result in any status, without candidates.
func read(ctx context.Context, tx *store.Tx, team teams.ID, id ID) (Item, error) {
	s, err := scan(tx.QueryRow(ctx, `SELECT `+columns+` FROM unmatched_results WHERE team_id = $1 AND id = $2`, team, id))
	if errors.Is(err, store.ErrNoRows) {
		return Item{}, notThere()
	}
	if err != nil {
		return Item{}, fmt.Errorf("matching: reading %s: %w", id, err)
	}
	return s.open(ctx, tx)
}

// Get returns a result with its candidates, or a NotFound fault.
func Get(ctx context.Context, tx *store.Tx, team teams.ID, id ID) (Item, error) {
	i, err := read(ctx, tx, team, id)
	if err == nil && i.Status == Arrived {
		err = notThere()
	}
	if err != nil {
		return Item{}, err
	}
	all := []Item{i}
	return all[0], addCandidates(ctx, tx, team, all)
}

// setCandidates replaces a result's candidates.
func setCandidates(ctx context.Context, tx *store.Tx, i *Item) error {
	if _, err := tx.Exec(ctx, `DELETE FROM unmatched_candidates WHERE team_id = $1 AND result_id = $2`, i.Team, i.ID); err != nil {
		return fmt.Errorf("matching: removing candidates: %w", err)
	}
	for n, c := range i.Candidates {
		doc, err := json.Marshal(c.Grounds)
		if err != nil {
			return fmt.Errorf("matching: marshalling a candidate: %w", err)
		}
		_, err = tx.Exec(ctx, `INSERT INTO unmatched_candidates (team_id, result_id, n, user_id, order_id, kind, alike, body) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
			i.Team, i.ID, n, c.User, c.Order, string(c.Kind), c.Alike, string(doc))
		if err != nil {
			return fmt.Errorf("matching: storing a candidate: %w", err)
		}
	}
	return nil
}

// candidatesWidth is how many results one statement is given.
const candidatesWidth = 25

// addCandidates reads the candidates of some results, with where their orders
// stand now. Orders that were erased are none any more.
func addCandidates(ctx context.Context, tx *store.Tx, team teams.ID, all []Item) error {
	at := map[ID]int{}
	for n := range all {
		at[all[n].ID] = n
	}
	for from := 0; from < len(all); from += candidatesWidth {
		args := []any{team}
		for n := range candidatesWidth {
			args = append(args, all[min(from+n, len(all)-1)].ID)
		}
		rows, err := tx.Query(ctx, `SELECT c.result_id, c.user_id, c.order_id, c.kind, c.alike, c.body, o.transaction_id, o.status, o.method FROM unmatched_candidates c
			JOIN orders o ON o.team_id = c.team_id AND o.id = c.order_id
			WHERE c.team_id = $1 AND c.result_id IN `+store.List(2, candidatesWidth)+` ORDER BY c.result_id, c.n`, args...)
		if err != nil {
			return fmt.Errorf("matching: reading candidates: %w", err)
		}
		if err := scanCandidates(rows, func(id ID, c Candidate) { all[at[id]].Candidates = append(all[at[id]].Candidates, c) }); err != nil {
			return err
		}
	}
	return nil
}

func scanCandidates(rows *store.Rows, add func(ID, Candidate)) error {
	defer rows.Close()
	for rows.Next() {
		var id ID
		var c Candidate
		var doc string
		if err := rows.Scan(&id, &c.User, &c.Order, &c.Kind, &c.Alike, &doc, &c.Transaction, &c.Status, &c.Method); err != nil {
			return fmt.Errorf("matching: reading candidates: %w", err)
		}
		if err := json.Unmarshal([]byte(doc), &c.Grounds); err != nil {
			return fmt.Errorf("matching: a stored candidate: %w", err)
		}
		add(id, c)
	}
	return rows.Err()
}
