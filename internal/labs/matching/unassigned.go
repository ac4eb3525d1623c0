package matching

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/critical"
	"hale/internal/labs/inbox"
	"hale/internal/labs/networks"
	"hale/internal/labs/orders"
	"hale/internal/labs/results"
	"hale/internal/platform/fault"
	"hale/internal/platform/jobs"
	"hale/internal/platform/secrets"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// Results for which no team could be found belong to no team. Operators assign
// them to a team or an order, or reject them. Reports without results that fit no order
// wait in the same list, if they reject, cancel or block tests. Operators only reject these.

// AssignmentState is the state of a result without a team.
type AssignmentState string

// The states. An unread row comes from an earlier version; a job reads it.
const (
	Unread        AssignmentState = "unread"
	Waiting       AssignmentState = "waiting"
	Assigned      AssignmentState = "assigned"
	RejectedByOps AssignmentState = "rejected"
)

// UnassignedResult is a result without a team.
type UnassignedResult struct {
	ID             ID
	State          AssignmentState
	Reason         inbox.Reason
	Lab            string // slug, as reported
	Interpretation orders.Interpretation
	ReceivedAt     time.Time
	DecidedAt      *time.Time
	DecidedBy      string
	Team           *teams.ID // assigned to
	Order          *orders.ID
	Note           string // the operator's
	Forgotten      bool   // the report is deleted
	// Status is the status of a report without results, or RefusedTests; empty for results.
	Status string
	// Report is the content of a report without values. Only GetUnassigned sets it.
	Report *ReportText
}

// RefusedTests is the status of a report that only refuses tests.
const RefusedTests = "tests_refused"

// ReportText is a report without values: a rejected sample, a cancellation, a block, or
// only notes. Personal.
type ReportText struct {
	OrderNumber string   `json:"order_number,omitempty"` // as reported
	Tests       []string `json:"tests,omitempty"`        // by the lab's codes; none means the whole order
	Detail      string   `json:"detail,omitempty"`
	Text        string   `json:"text,omitempty"` // the lab's
}

// newReportText returns the text of a report; nil if it has values.
func newReportText(r *networks.Report) *ReportText {
	if r.Results != nil && len(r.Results.Results) > 0 {
		return nil
	}
	texts := []string{r.Reason}
	if r.Results != nil {
		for _, m := range r.Results.Missing {
			texts = append(texts, m.Note)
		}
		texts = append(texts, r.Results.Comments...)
	}
	known := ""
	for _, text := range texts {
		if text = strings.TrimSpace(text); text != "" && !strings.Contains(known, text) {
			known = strings.TrimPrefix(known+"\n"+text, "\n")
		}
	}
	return &ReportText{OrderNumber: r.Placer, Tests: slices.Concat(r.Tests, r.Refused), Detail: r.Detail, Text: known}
}

// ReadText returns the text of a result that waits; nil if it has values, or if its
// report is deleted.
func (i *Item) ReadText(ctx context.Context, tx *store.Tx) (*ReportText, error) {
	if i.body == nil {
		return nil, nil
	}
	r, err := i.report(ctx, tx)
	if err != nil {
		return nil, err
	}
	return newReportText(&r), nil
}

// LogValue keeps the lab's words out of logs.
func (ReportText) LogValue() slog.Value { return slog.StringValue(secrets.Withheld) }

const unassignedNotePlace = "unassigned_results.note:"

// storeUnassigned stores that no team could be found for a report.
func storeUnassigned(ctx context.Context, tx *store.Tx, a inbox.Arrival, why inbox.Reason) error {
	worst, err := interpretWithoutTeam(ctx, tx, a.Report)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `INSERT INTO unassigned_results (team_id, id, state, reason, lab, interpretation, received_at, decided_by, forgotten)
		VALUES ($1, $2, 'waiting', $3, $4, $5, $6, '', FALSE) ON CONFLICT (id, team_id) DO NOTHING`,
		uuid.Nil, a.ID, string(why), a.Report.Lab, string(worst), a.ReceivedAt)
	if err != nil {
		return fmt.Errorf("matching: storing a result without a team: %w", err)
	}
	if worst != orders.Critical {
		return nil
	}
	return critical.NotifyOperators(ctx, tx, a.ID)
}

// TakeUnmatchedStatus stores that a report without results waits for an operator. It fits no
// order, and the patient may need a new sample.
func (q *Queue) TakeUnmatchedStatus(ctx context.Context, tx *store.Tx, a inbox.Arrival, why inbox.Reason) error {
	status := cmp.Or(a.Report.Status, RefusedTests)
	q.Log.WarnContext(ctx, "a laboratory's report of a rejected or blocked test has no order; hale results inbox list shows it",
		"report", a.ID, "reason", string(why), "status", status)
	worst, err := interpretWithoutTeam(ctx, tx, a.Report)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `INSERT INTO unassigned_results (team_id, id, state, reason, lab, interpretation, received_at, decided_by, forgotten, report_status)
		VALUES ($1, $2, 'waiting', $3, $4, $5, $6, '', FALSE, $7) ON CONFLICT (id, team_id) DO NOTHING`,
		uuid.Nil, a.ID, string(why), a.Report.Lab, string(worst), a.ReceivedAt, status)
	if err != nil {
		return fmt.Errorf("matching: storing a report without an order: %w", err)
	}
	if worst != orders.Critical {
		return nil
	}
	return critical.NotifyOperators(ctx, tx, a.ID)
}

// interpretWithoutTeam interprets a report with the catalogue that all teams of
// an environment share.
func interpretWithoutTeam(ctx context.Context, tx *store.Tx, r networks.Report) (orders.Interpretation, error) {
	if r.Results == nil {
		return orders.Unknown, nil
	}
	all, err := teams.List(ctx, tx)
	if err != nil || len(all) == 0 {
		return results.InterpretUnmatched(nil, catalogue.Lab{}, r.Results), err
	}
	one := all[max(0, slices.IndexFunc(all, func(t teams.Team) bool { return t.Environment == teams.Production }))]
	offered, err := catalogue.Load(ctx, tx, one.ID)
	if err != nil {
		return "", err
	}
	lab, _ := offered.LabBySlug(r.Lab)
	return results.InterpretUnmatched(offered, lab, r.Results), nil
}

const unassignedColumns = `id, state, reason, lab, interpretation, received_at, decided_at, decided_by, assigned_team, assigned_order, note, forgotten, report_status`

func scanUnassigned(row scanner) (u UnassignedResult, note []byte, err error) {
	var team teams.ID
	var order orders.ID
	err = row.Scan(&u.ID, &u.State, &u.Reason, &u.Lab, &u.Interpretation, store.ScanTime(&u.ReceivedAt), store.ScanNullTime(&u.DecidedAt),
		&u.DecidedBy, &team, &order, &note, &u.Forgotten, &u.Status)
	if !team.IsZero() {
		u.Team = &team
	}
	if !order.IsZero() {
		u.Order = &order
	}
	return u, note, err
}

// ListUnassigned returns results in a state, critical ones and then the oldest first,
// without notes, and how many there are in all.
func ListUnassigned(ctx context.Context, tx *store.Tx, state AssignmentState, limit int) (all []UnassignedResult, total int, err error) {
	if err := tx.QueryRow(ctx, `SELECT COUNT(*) FROM unassigned_results WHERE state = $1`, string(state)).Scan(&total); err != nil {
		return nil, 0, fmt.Errorf("matching: counting results without a team: %w", err)
	}
	rows, err := tx.Query(ctx, `SELECT `+unassignedColumns+` FROM unassigned_results WHERE state = $1
		ORDER BY CASE WHEN interpretation = 'critical' THEN 0 ELSE 1 END, received_at, id LIMIT $2`, string(state), limit)
	if err != nil {
		return nil, 0, fmt.Errorf("matching: listing results without a team: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		u, _, err := scanUnassigned(rows)
		if err != nil {
			return nil, 0, fmt.Errorf("matching: listing results without a team: %w", err)
		}
		all = append(all, u)
	}
	return all, total, rows.Err()
}

// GetUnassigned returns a result without a team. The summary is nil when the
// report is deleted, or belongs to a team now.
func GetUnassigned(ctx context.Context, tx *store.Tx, id ID) (UnassignedResult, *Summary, error) {
	u, note, err := scanUnassigned(tx.QueryRow(ctx, `SELECT `+unassignedColumns+` FROM unassigned_results WHERE id = $1`, id))
	if errors.Is(err, store.ErrNoRows) {
		return UnassignedResult{}, nil, notFound()
	}
	if err != nil {
		return UnassignedResult{}, nil, fmt.Errorf("matching: reading %s: %w", id, err)
	}
	if note != nil {
		plain, err := tx.Unseal(ctx, uuid.Nil, uuid.Nil, unassignedNotePlace+id.String(), note)
		if err != nil {
			return UnassignedResult{}, nil, err
		}
		u.Note = string(plain)
	}
	if u.State == Assigned || u.Forgotten {
		return u, nil, nil
	}
	if u.Status != "" {
		r, err := inbox.ReadReport(ctx, tx, id.UUID())
		if err != nil || r == nil {
			return u, nil, err
		}
		u.Report = newReportText(r)
		s := summarise(*r)
		return u, &s, nil
	}
	a, err := inbox.ReadArrival(ctx, tx, id.UUID())
	if err != nil {
		return UnassignedResult{}, nil, err
	}
	u.Report = newReportText(&a.Report)
	s := summarise(a.Report)
	return u, &s, nil
}

// OperatorDecision is a decision about a result without a team.
type OperatorDecision struct {
	By   string // the operator
	Note string
	// ConfirmIdentity is that of Choice.
	ConfirmIdentity bool
}

func (d OperatorDecision) check() error {
	if utf8.RuneCountInString(d.Note) > maxNote {
		return fault.Newf(fault.Invalid, "a note has at most %d characters", maxNote).At("note")
	}
	return nil
}

// requireWaiting reads a row that waits for an operator.
func requireWaiting(ctx context.Context, tx *store.Tx, id ID) (UnassignedResult, error) {
	u, _, err := GetUnassigned(ctx, tx, id)
	if err == nil && u.State != Waiting {
		err = fault.Newf(fault.Conflict, "this result is %s already", u.State)
	}
	return u, err
}

// readWaiting reads a result that an operator may assign.
func readWaiting(ctx context.Context, tx *store.Tx, id ID) (inbox.Arrival, error) {
	u, err := requireWaiting(ctx, tx, id)
	if err != nil {
		return inbox.Arrival{}, err
	}
	var a inbox.Arrival
	if u.Status == "" {
		if a, err = inbox.ReadArrival(ctx, tx, id.UUID()); err != nil {
			return a, err
		}
	}
	if u.Status != "" || inbox.IsRejection(a.Report) { // rows of earlier versions may lack the status
		return inbox.Arrival{}, fault.Newf(fault.Unprocessable, "this report (%s) has no results to assign: ask the laboratory and the team, then reject it with what you did",
			cmp.Or(u.Status, a.Report.Status, RefusedTests))
	}
	return a, nil
}

// recordDecision records a decision.
func recordDecision(ctx context.Context, tx *store.Tx, id ID, to AssignmentState, d OperatorDecision, team *teams.ID, order *orders.ID) error {
	var note []byte
	if d.Note != "" {
		var err error
		if note, err = tx.Seal(ctx, uuid.Nil, uuid.Nil, unassignedNotePlace+id.String(), []byte(d.Note)); err != nil {
			return err
		}
	}
	n, err := tx.Exec(ctx, `UPDATE unassigned_results SET state = $2, decided_at = $3, decided_by = $4, assigned_team = $5, assigned_order = $6, note = $7
		WHERE id = $1 AND team_id = $8 AND state = 'waiting'`, id, string(to), tx.Now(), d.By, idOrNil(team), idOrNil(order), note, uuid.Nil)
	switch {
	case err != nil:
		return fmt.Errorf("matching: deciding about %s: %w", id, err)
	case n == 0:
		return store.ErrLostRace
	}
	return nil
}

// AssignToTeam gives a result to a team. A job then looks for its order, as for
// any other result of the team.
func AssignToTeam(ctx context.Context, tx *store.Tx, id ID, team teams.ID, d OperatorDecision) error {
	a, err := readWaiting(ctx, tx, id)
	if err != nil {
		return err
	}
	if err := d.check(); err != nil {
		return err
	}
	if _, err := teams.Get(ctx, tx, team); err != nil {
		return err
	}
	if err := recordDecision(ctx, tx, id, Assigned, d, &team, nil); err != nil {
		return err
	}
	return takeForTeam(ctx, tx, team, a)
}

// teamAssignment returns the decision of the operator who assigned a result to a team;
// nil if none did. The row belongs to no team, so the reading is the system's.
func teamAssignment(ctx context.Context, db *store.DB, team teams.ID, id ID) (by *results.Review, err error) {
	ctx = store.AsSystem(ctx)
	err = db.Read(ctx, func(tx *store.Tx) error {
		by = nil
		u, _, err := GetUnassigned(ctx, tx, id)
		if fault.Is(err, fault.NotFound) {
			return nil
		}
		if err == nil && u.State == Assigned && u.DecidedAt != nil && u.Team != nil && *u.Team == team {
			by = &results.Review{Result: id.UUID(), By: u.DecidedBy, At: *u.DecidedAt, Note: u.Note}
		}
		return err
	})
	return by, err
}

// takeForTeam puts a report into the queue of its team, to be judged.
func takeForTeam(ctx context.Context, tx *store.Tx, team teams.ID, a inbox.Arrival) error {
	id, err := putForTeam(ctx, tx, team, a)
	if err != nil {
		return err
	}
	_, err = matchKind.Enqueue(ctx, tx, matchArgs{team, id}, jobs.Options{Team: team.UUID(), Key: id.String()})
	return err
}

func putForTeam(ctx context.Context, tx *store.Tx, team teams.ID, a inbox.Arrival) (ID, error) {
	id, err := Put(ctx, tx, team, a)
	if err != nil {
		return ID{}, err
	}
	return id, inbox.Transfer(ctx, tx, a.ID, team.UUID(), id.UUID())
}

// AssignToOrder gives a result to an order, or to one in its place, and returns
// that order, as AcceptResult does.
func AssignToOrder(ctx context.Context, tx *store.Tx, id ID, order orders.ID, d OperatorDecision) (orders.Order, error) {
	a, err := readWaiting(ctx, tx, id)
	if err != nil {
		return orders.Order{}, err
	}
	if err := d.check(); err != nil {
		return orders.Order{}, err
	}
	o, err := orders.Find(ctx, tx, order)
	if err != nil {
		return orders.Order{}, err
	}
	if _, err := putForTeam(ctx, tx, o.Team, a); err != nil {
		return orders.Order{}, err
	}
	if err := queueForOperator(ctx, tx, o.Team, id, order); err != nil {
		return orders.Order{}, err
	}
	choice := Choice{Order: &order, By: d.By, ConfirmIdentity: d.ConfirmIdentity}
	if d.Note != "" {
		choice.Note = &d.Note
	}
	given, err := acceptResult(ctx, tx, o.Team, id, choice, OperatorReview)
	if err != nil {
		return orders.Order{}, err
	}
	return given, recordDecision(ctx, tx, id, Assigned, d, &o.Team, &given.ID)
}

// queueForOperator judges an arrived report against one order, and leaves the
// decision to an operator.
func queueForOperator(ctx context.Context, tx *store.Tx, team teams.ID, id ID, order orders.ID) error {
	i, r, err := readArrived(ctx, tx, team, id)
	if err != nil {
		return err
	}
	among, err := readOrders(ctx, tx, team, []orders.ID{order})
	if err != nil {
		return err
	}
	v := judge(newReportFacts(i.Network, r), among)
	i.Decision, i.AccountDiffers, i.Candidates, i.UpdatedAt, i.Status = v.Decision, v.AccountDiffers, v.Candidates, tx.Now(), OperatorReview
	if err := save(ctx, tx, &i, Arrived, true); err != nil {
		return err
	}
	return setCandidates(ctx, tx, &i)
}

// RejectUnassigned decides that a result belongs to no team. The report is
// deleted after RejectedRetention.
func RejectUnassigned(ctx context.Context, tx *store.Tx, id ID, d OperatorDecision) error {
	if _, err := requireWaiting(ctx, tx, id); err != nil {
		return err
	}
	if err := d.check(); err != nil {
		return err
	}
	if strings.TrimSpace(d.Note) == "" {
		return fault.New(fault.Invalid, "a rejection needs a reason").At("note")
	}
	return recordDecision(ctx, tx, id, RejectedByOps, d, nil, nil)
}

// UnassignedCounts sums up the results that wait for an operator.
type UnassignedCounts struct {
	Waiting, Critical int
	WithoutResults    int       // rejected samples, cancellations and blocks
	Oldest            time.Time // zero when there is none
}

// CountUnassigned counts the results that wait for an operator.
func CountUnassigned(ctx context.Context, tx *store.Tx) (UnassignedCounts, error) {
	var c UnassignedCounts
	var oldest *time.Time
	err := tx.QueryRow(ctx, `SELECT COUNT(*), COUNT(CASE WHEN interpretation = 'critical' THEN 1 END),
		COUNT(CASE WHEN report_status <> '' THEN 1 END), MIN(received_at) FROM unassigned_results
		WHERE state = 'waiting'`).Scan(&c.Waiting, &c.Critical, &c.WithoutResults, store.ScanNullTime(&oldest))
	if err != nil {
		return c, fmt.Errorf("matching: counting results without a team: %w", err)
	}
	if oldest != nil {
		c.Oldest = *oldest
	}
	return c, nil
}

// readUnread reads a batch of rows of an earlier version, and reports whether
// there may be more. A report without results needs no operator.
func readUnread(ctx context.Context, tx *store.Tx) (more bool, err error) {
	all, err := unassignedIDs(ctx, tx, `SELECT id FROM unassigned_results WHERE state = 'unread' ORDER BY received_at, id LIMIT $1`, forgetBatch)
	if err != nil {
		return false, err
	}
	for _, id := range all {
		a, err := inbox.ReadArrival(ctx, tx, id.UUID())
		if err != nil && !fault.Is(err, fault.NotFound) {
			return false, err
		}
		if err != nil || a.Report.Results == nil {
			if _, err := tx.Exec(ctx, `DELETE FROM unassigned_results WHERE id = $1`, id); err != nil {
				return false, fmt.Errorf("matching: reading earlier results without a team: %w", err)
			}
			continue
		}
		worst, err := interpretWithoutTeam(ctx, tx, a.Report)
		if err != nil {
			return false, err
		}
		if _, err := tx.Exec(ctx, `UPDATE unassigned_results SET state = 'waiting', lab = $2, interpretation = $3 WHERE id = $1`, id, a.Report.Lab, string(worst)); err != nil {
			return false, fmt.Errorf("matching: reading earlier results without a team: %w", err)
		}
	}
	return len(all) == forgetBatch, nil
}

// endUndecided rejects a batch of results without a team that arrived before a time, and
// reports whether there may be more.
func endUndecided(ctx context.Context, tx *store.Tx, before time.Time) (more bool, err error) {
	all, err := unassignedIDs(ctx, tx, `SELECT id FROM unassigned_results WHERE state = 'waiting' AND received_at < $2 ORDER BY received_at, id LIMIT $1`,
		forgetBatch, store.Micros(before))
	if err != nil {
		return false, err
	}
	for _, id := range all {
		d := OperatorDecision{By: "hale", Note: "no operator decided in time"}
		if err := recordDecision(ctx, tx, id, RejectedByOps, d, nil, nil); err != nil {
			return false, err
		}
	}
	return len(all) == forgetBatch, nil
}

// forgetUnassigned deletes a batch of reports that operators rejected before a
// time, and reports whether there may be more. The decision stays.
func forgetUnassigned(ctx context.Context, tx *store.Tx, before time.Time) (more bool, err error) {
	all, err := unassignedIDs(ctx, tx, `SELECT id FROM unassigned_results WHERE state = 'rejected' AND forgotten = FALSE AND decided_at < $2 LIMIT $1`,
		forgetBatch, store.Micros(before))
	if err != nil {
		return false, err
	}
	for _, id := range all {
		if err := inbox.Discard(ctx, tx, id.UUID()); err != nil {
			return false, err
		}
		if _, err := tx.Exec(ctx, `UPDATE unassigned_results SET forgotten = TRUE, note = NULL WHERE id = $1`, id); err != nil {
			return false, fmt.Errorf("matching: forgetting a result without a team: %w", err)
		}
	}
	return len(all) == forgetBatch, nil
}

func unassignedIDs(ctx context.Context, tx *store.Tx, query string, args ...any) ([]ID, error) {
	rows, err := tx.Query(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("matching: reading results without a team: %w", err)
	}
	defer rows.Close()
	var all []ID
	for rows.Next() {
		var id ID
		if err := rows.Scan(&id); err != nil {
			return nil, fmt.Errorf("matching: reading results without a team: %w", err)
		}
		all = append(all, id)
	}
	return all, rows.Err()
}
