package matching

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/networks"
	"hale/internal/labs/orders"
	"hale/internal/people/users"
	"hale/internal/platform/audit"
	"hale/internal/platform/civil"
	"hale/internal/platform/fault"
	"hale/internal/platform/ids"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// The places of sealed columns.
const (
	summaryPlace = "unmatched_results.summary:"
	bodyPlace    = "unmatched_results.body:"
)

// subject returns the id whose key seals the result.
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
		return fmt.Errorf("matching: the stored data of %s: %w", i.ID, err)
	}
	return nil
}

const columns = `team_id, id, status, decision, account_differs, lab_id, network, report_key, partial, interpretation, action, user_id, order_id,
	created_at, updated_at, reviewed_at, summary, body, reviewed_by`

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
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, NULL, NULL, NULL, $11, $11, NULL, $12, $13, '') ON CONFLICT (team_id, id) DO NOTHING`,
		i.Team, i.ID, string(i.Status), string(i.Decision), i.AccountDiffers, i.Lab, i.Network, i.Key, i.Partial, string(i.Interpretation),
		i.CreatedAt, summary, body)
	if err != nil {
		return fmt.Errorf("matching: storing: %w", err)
	}
	return nil
}

// save writes the changes of a result that has the status from. When it has
// another status, another transaction was faster. The report is deleted once
// an order has it.
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
		updated_at = $10, reviewed_at = $11, summary = $12, body = $13, reviewed_by = $14 WHERE team_id = $1 AND id = $2 AND status = $3`,
		i.Team, i.ID, string(from), string(i.Status), string(i.Decision), i.AccountDiffers, wordOrNil(i.Action), idOrNil(i.User), idOrNil(i.Order),
		i.UpdatedAt, i.ReviewedAt, summary, body, i.ReviewedBy)
	switch {
	case err != nil:
		return fmt.Errorf("matching: changing %s: %w", i.ID, err)
	case n == 0:
		return store.ErrLostRace
	}
	return nil
}

func idOrNil[T any](id *ids.ID[T]) any {
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

// sealedItem is a result as stored, with its personal columns sealed.
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
		store.ScanTime(&s.CreatedAt), store.ScanTime(&s.UpdatedAt), store.ScanNullTime(&s.ReviewedAt), &s.summary, &s.body, &s.ReviewedBy)
	s.Action = Action(action.String)
	if !user.IsZero() {
		s.User = &user
	}
	if !order.IsZero() {
		s.Order = &order
	}
	return s, err
}

// open unseals the summary. No rows may be open.
func (s sealedItem) open(ctx context.Context, tx *store.Tx) (Item, error) {
	i := s.Item
	if s.summary == nil {
		return i, nil
	}
	i.Summary = &Summary{}
	return i, unseal(ctx, tx, &i, summaryPlace, s.summary, i.Summary)
}

// report returns the report; it is deleted once an order has it.
func (i *Item) report(ctx context.Context, tx *store.Tx) (networks.Report, error) {
	var r networks.Report
	if i.body == nil {
		return r, notFound()
	}
	return r, unseal(ctx, tx, i, bodyPlace, i.body, &r)
}

func notFound() error { return fault.New(fault.NotFound, "Unmatched result not found") }

// readItem returns a result in any status, without candidates.
func readItem(ctx context.Context, tx *store.Tx, team teams.ID, id ID) (Item, error) {
	s, err := scan(tx.QueryRow(ctx, `SELECT `+columns+` FROM unmatched_results WHERE team_id = $1 AND id = $2`, team, id))
	if errors.Is(err, store.ErrNoRows) {
		return Item{}, notFound()
	}
	if err != nil {
		return Item{}, fmt.Errorf("matching: reading %s: %w", id, err)
	}
	return s.open(ctx, tx)
}

// Get returns a result with its candidates, or a NotFound fault.
func Get(ctx context.Context, tx *store.Tx, team teams.ID, id ID) (Item, error) {
	i, err := readItem(ctx, tx, team, id)
	if err == nil && i.Status == Arrived {
		err = notFound()
	}
	if err != nil {
		return Item{}, err
	}
	if i.User != nil {
		audit.NotePeople(ctx, *i.User)
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
			i.Team, i.ID, n, c.User, c.Order, string(c.Kind), c.SamePerson, string(doc))
		if err != nil {
			return fmt.Errorf("matching: storing a candidate: %w", err)
		}
	}
	return nil
}

// candidatesWidth is the number of results in one statement.
const candidatesWidth = 25

// addCandidates reads the candidates of some results, with the current status
// of their orders. Erased orders are no candidates.
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
			WHERE c.team_id = $1 AND c.result_id IN `+store.Placeholders(2, candidatesWidth)+` ORDER BY c.result_id, c.n`, args...)
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
		if err := rows.Scan(&id, &c.User, &c.Order, &c.Kind, &c.SamePerson, &doc, &c.Transaction, &c.Status, &c.Method); err != nil {
			return fmt.Errorf("matching: reading candidates: %w", err)
		}
		if err := json.Unmarshal([]byte(doc), &c.Grounds); err != nil {
			return fmt.Errorf("matching: a stored candidate: %w", err)
		}
		add(id, c)
	}
	return rows.Err()
}

// ReviewCounts sums up the results of known teams that wait for an operator.
type ReviewCounts struct {
	Waiting, Critical int
	Oldest            time.Time // zero when there is none
}

// CountReviews counts the results of production teams that wait for an operator. They
// are of teams without a queue, or a team was unsure of them.
func CountReviews(ctx context.Context, tx *store.Tx) (ReviewCounts, error) {
	var c ReviewCounts
	err := c.add(ctx, tx, `JOIN teams t ON t.id = r.team_id WHERE r.status = 'pending_ops_review' AND t.environment = 'production'`)
	if err != nil {
		return c, err
	}
	all, err := teams.List(ctx, tx)
	for _, t := range all {
		// A team that never had a queue has no results that wait for it.
		if err == nil && t.Environment == teams.Production && t.Settings.ResultReviews != nil && WaitsForOperator(t, TeamReview) {
			err = c.add(ctx, tx, `WHERE r.team_id = $1 AND r.status = 'pending_customer_review'`, t.ID)
		}
	}
	return c, err
}

func (c *ReviewCounts) add(ctx context.Context, tx *store.Tx, condition string, args ...any) error {
	var waiting, critical int
	var oldest *time.Time
	err := tx.QueryRow(ctx, `SELECT COUNT(*), COUNT(CASE WHEN r.interpretation = 'critical' THEN 1 END), MIN(r.created_at) FROM unmatched_results r `+condition, args...).
		Scan(&waiting, &critical, store.ScanNullTime(&oldest))
	if err != nil {
		return fmt.Errorf("matching: counting results in review: %w", err)
	}
	c.Waiting, c.Critical = c.Waiting+waiting, c.Critical+critical
	if oldest != nil && (c.Oldest.IsZero() || oldest.Before(c.Oldest)) {
		c.Oldest = *oldest
	}
	return nil
}

// Filter narrows the queue; empty fields do not.
//
// Reference 1.17, GET /v3/unmatched_result.
type Filter struct {
	Statuses  []Status // results that wait for a decision when empty
	Decisions []Decision
	// Interpretations narrow to normal, abnormal, critical or unknown results.
	Interpretations []orders.Interpretation
	LabSlugs        []string
	From, To        *time.Time // times of creation, both included
	Search          string     // part of the patient's name, or the birth date
	After           *Position
	Limit           int
	// CriticalFirst lists critical results first, then the oldest; not with After or Search.
	CriticalFirst bool
}

// Position is the place of a result in the list.
type Position struct {
	At int64 `json:"t"` // microseconds
	ID ID    `json:"i"`
}

// PositionOf returns the position of a result.
func PositionOf(i *Item) Position { return Position{store.Micros(i.CreatedAt), i.ID} }

// List returns a page of a team's queue, newest first unless the filter says
// otherwise, and how many results there are in all.
func List(ctx context.Context, tx *store.Tx, team teams.ID, f Filter) (page []Item, total int, err error) {
	q, ok, err := f.conditions(ctx, tx, team)
	if err != nil || !ok {
		return nil, 0, err
	}
	if f.Search != "" {
		page, total, err = f.search(ctx, tx, q)
	} else {
		page, total, err = f.listPage(ctx, tx, q)
	}
	if err != nil || len(page) == 0 {
		return nil, total, err
	}
	return page, total, addCandidates(ctx, tx, team, page)
}

// query is a condition with its arguments.
type query struct {
	text string
	args []any
}

func (q *query) addCondition(condition string, args ...any) {
	for _, a := range args {
		q.args = append(q.args, a)
		condition = strings.Replace(condition, "?", fmt.Sprintf("$%d", len(q.args)), 1)
	}
	q.text += " AND " + condition
}

// conditions returns the filter in SQL, without position and search. ok is
// false when no result can match.
func (f *Filter) conditions(ctx context.Context, tx *store.Tx, team teams.ID) (q query, ok bool, err error) {
	q = query{"team_id = $1", []any{team}}
	statuses := f.Statuses
	if len(statuses) == 0 {
		statuses = []Status{TeamReview, OperatorReview}
	}
	q.text += store.AmongValues(&q.args, "status", statuses) + store.AmongValues(&q.args, "decision", f.Decisions) +
		store.AmongValues(&q.args, "interpretation", f.Interpretations)
	if f.From != nil {
		q.addCondition("created_at >= ?", store.Micros(*f.From))
	}
	if f.To != nil {
		q.addCondition("created_at <= ?", store.Micros(*f.To))
	}
	if len(f.LabSlugs) == 0 {
		return q, true, nil
	}
	offered, err := catalogue.Load(ctx, tx, team)
	if err != nil {
		return q, false, err
	}
	labs := offered.LabsBySlug(f.LabSlugs)
	q.text += store.AmongValues(&q.args, "lab_id", labs)
	return q, len(labs) > 0, nil
}

// listPage reads a page of a filter that the database can apply.
func (f *Filter) listPage(ctx context.Context, tx *store.Tx, q query) (page []Item, total int, err error) {
	if err := tx.QueryRow(ctx, `SELECT COUNT(*) FROM unmatched_results WHERE `+q.text, q.args...).Scan(&total); err != nil {
		return nil, 0, fmt.Errorf("matching: counting: %w", err)
	}
	page, err = rowsAfter(ctx, tx, q, f.After, f.Limit, f.CriticalFirst)
	return page, total, err
}

// rowsAfter reads the results after a position, newest first or critical ones first.
func rowsAfter(ctx context.Context, tx *store.Tx, q query, after *Position, limit int, criticalFirst bool) ([]Item, error) {
	order := "created_at DESC, id DESC"
	if criticalFirst {
		order = "CASE WHEN interpretation = 'critical' THEN 0 ELSE 1 END, created_at, id"
	}
	if after != nil {
		q.args = append([]any(nil), q.args...)
		q.addCondition("(created_at, id) < (?, ?)", after.At, after.ID)
	}
	q.args = append(q.args, limit)
	rows, err := tx.Query(ctx, `SELECT `+columns+` FROM unmatched_results WHERE `+q.text+
		fmt.Sprintf(` ORDER BY %s LIMIT $%d`, order, len(q.args)), q.args...)
	if err != nil {
		return nil, fmt.Errorf("matching: listing: %w", err)
	}
	defer rows.Close()
	var sealed []sealedItem
	for rows.Next() {
		s, err := scan(rows)
		if err != nil {
			return nil, fmt.Errorf("matching: listing: %w", err)
		}
		sealed = append(sealed, s)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("matching: listing: %w", err)
	}
	all := make([]Item, len(sealed))
	for n, s := range sealed {
		if all[n], err = s.open(ctx, tx); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// searchBatch is the number of rows that a search opens at a time.
const searchBatch = 200

// search reads the whole queue: names are sealed, and the queue is short
// enough to open every row.
func (f *Filter) search(ctx context.Context, tx *store.Tx, q query) (page []Item, total int, err error) {
	wanted := matchPerson(f.Search)
	for after := (*Position)(nil); ; {
		some, err := rowsAfter(ctx, tx, q, after, searchBatch, false)
		if err != nil {
			return nil, 0, err
		}
		for n := range some {
			i := &some[n]
			if i.Summary == nil || !wanted(i.Summary.Patient) {
				continue
			}
			total++
			if len(page) < f.Limit && (f.After == nil || PositionOf(i).isAfter(*f.After)) {
				page = append(page, *i)
			}
		}
		if len(some) < searchBatch {
			return page, total, nil
		}
		last := PositionOf(&some[len(some)-1])
		after = &last
	}
}

// isAfter reports whether a position comes after another in the list.
func (p Position) isAfter(other Position) bool {
	return p.At < other.At || p.At == other.At && p.ID.String() < other.ID.String()
}

// matchPerson returns a test for the person that the input describes. The input
// is a birth date, or part of the first name, the last name or both in either
// order.
func matchPerson(input string) func(Person) bool {
	if day, err := civil.ParseDate(strings.TrimSpace(input)); err == nil {
		return func(p Person) bool { return p.DOB == day }
	}
	part := orders.Fold(input)
	return func(p Person) bool {
		return part != "" && strings.Contains(orders.Fold(p.FirstName+" "+p.LastName+" "+p.FirstName), part)
	}
}
