package results

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"hale/internal/labs/networks"
	"hale/internal/labs/orders"
	"hale/internal/labs/pdfs"
	"hale/internal/people/users"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// UserRecords returns the rows of users in this package.
func UserRecords() []users.Records {
	return users.RowsOf("lab_reports", "lab_report_documents", "lab_results")
}

// The places of sealed columns.
const (
	reportPlace   = "lab_reports.body:"
	documentPlace = "lab_report_documents.body:"
	versionPlace  = "lab_results.body:"
)

// storeReport stores a report and its document.
func storeReport(ctx context.Context, tx *store.Tx, o *orders.Order, r Report, doc, pdf []byte) error {
	team, user := o.Team.UUID(), o.User.UUID()
	body, err := tx.Seal(ctx, team, user, reportPlace+r.id.String(), doc)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `INSERT INTO lab_reports (team_id, id, order_id, user_id, received_at, body) VALUES ($1, $2, $3, $4, $5, $6)`,
		o.Team, r.id, o.ID, o.User, store.Micros(tx.Now()), body)
	if err != nil {
		return fmt.Errorf("results: storing a report of %s: %w", o.ID, err)
	}
	if len(pdf) == 0 {
		return nil
	}
	if body, err = tx.Seal(ctx, team, user, documentPlace+r.id.String(), pdf); err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `INSERT INTO lab_report_documents (team_id, report_id, user_id, body) VALUES ($1, $2, $3, $4)`, o.Team, r.id, o.User, body)
	if err != nil {
		return fmt.Errorf("results: storing a document of %s: %w", o.ID, err)
	}
	return nil
}

// readReports reads the reports of an order, without documents.
func readReports(ctx context.Context, tx *store.Tx, o *orders.Order) ([]Report, error) {
	rows, err := tx.Query(ctx, `SELECT id, body FROM lab_reports WHERE team_id = $1 AND order_id = $2 ORDER BY id`, o.Team, o.ID)
	if err != nil {
		return nil, fmt.Errorf("results: reading the reports of %s: %w", o.ID, err)
	}
	defer rows.Close()
	var all []Report
	var sealed [][]byte
	for rows.Next() {
		var id uuid.UUID
		var body []byte
		if err := rows.Scan(&id, &body); err != nil {
			return nil, fmt.Errorf("results: reading the reports of %s: %w", o.ID, err)
		}
		all, sealed = append(all, Report{id: id}), append(sealed, body)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return nil, fmt.Errorf("results: reading the reports of %s: %w", o.ID, err)
	}
	for i := range all {
		doc, err := tx.Unseal(ctx, o.Team.UUID(), o.User.UUID(), reportPlace+all[i].id.String(), sealed[i])
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(doc, &all[i]); err != nil {
			return nil, fmt.Errorf("results: a stored report of %s: %w", o.ID, err)
		}
		if all[i].digest, err = digestOf(all[i], doc); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// digestOf returns the digest of a stored report, without its review and the
// times of its message.
func digestOf(r Report, doc []byte) ([sha256.Size]byte, error) {
	if r.Review != nil || !r.Sent.IsZero() || !r.Received.IsZero() || r.DateOnly {
		r.Review, r.Sent, r.Received, r.DateOnly = nil, time.Time{}, time.Time{}, false
		var err error
		if doc, err = json.Marshal(r); err != nil {
			return [sha256.Size]byte{}, fmt.Errorf("results: marshalling a report: %w", err)
		}
	}
	return sha256.Sum256(doc), nil
}

// storeRevision stores a revision.
func storeRevision(ctx context.Context, tx *store.Tx, o *orders.Order, r Revision, document uuid.UUID) error {
	doc, err := json.Marshal(r.Version)
	if err != nil {
		return fmt.Errorf("results: marshalling a version: %w", err)
	}
	body, err := tx.Seal(ctx, o.Team.UUID(), o.User.UUID(), r.place(), doc)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `INSERT INTO lab_results (team_id, order_id, revision, user_id, created_at, status, corrected, interpretation, has_missing, document, body)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
		o.Team, o.ID, r.Number, o.User, store.Micros(r.CreatedAt), string(r.Status), r.Corrected, string(r.Interpretation), r.HasMissing(),
		nullableID(document), body)
	if err != nil {
		return fmt.Errorf("results: storing revision %d of %s: %w", r.Number, o.ID, err)
	}
	return nil
}

func nullableID(id uuid.UUID) any {
	if id == uuid.Nil {
		return nil
	}
	return id
}

func (r *Revision) place() string { return fmt.Sprintf("%s%s/%d", versionPlace, r.Order, r.Number) }

const revisionColumns = `revision, created_at, document, body`

// latestRevision returns an order's newest revision and the report whose
// document counts; nil when there is none.
func latestRevision(ctx context.Context, tx *store.Tx, o *orders.Order) (*Revision, uuid.UUID, error) {
	return readRevision(ctx, tx, o, `SELECT `+revisionColumns+` FROM lab_results WHERE team_id = $1 AND order_id = $2 ORDER BY revision DESC LIMIT 1`, o.Team, o.ID)
}

func readRevision(ctx context.Context, tx *store.Tx, o *orders.Order, query string, args ...any) (*Revision, uuid.UUID, error) {
	r := Revision{Order: o.ID}
	var document uuid.NullUUID
	var body []byte
	err := tx.QueryRow(ctx, query, args...).Scan(&r.Number, store.ScanTime(&r.CreatedAt), &document, &body)
	if errors.Is(err, store.ErrNoRows) {
		return nil, uuid.Nil, nil
	}
	if err != nil {
		return nil, uuid.Nil, fmt.Errorf("results: reading the results of %s: %w", o.ID, err)
	}
	r.HasPDF = document.Valid
	doc, err := tx.Unseal(ctx, o.Team.UUID(), o.User.UUID(), r.place(), body)
	if err != nil {
		return nil, uuid.Nil, err
	}
	if err := json.Unmarshal(doc, &r.Version); err != nil {
		return nil, uuid.Nil, fmt.Errorf("results: the stored results of %s: %w", o.ID, err)
	}
	return &r, document.UUID, nil
}

// Get returns a revision of an order's results; 0 is the latest. It is
// NotFound when there is none (yet).
func Get(ctx context.Context, tx *store.Tx, o *orders.Order, number int) (Revision, error) {
	r, _, err := getRevision(ctx, tx, o, number)
	r.fillCollectionTime(o)
	return r, err
}

// fillCollectionTime sets the order's time of collection on the samples when the lab
// gives none. It is an instant, and is written in the zone of the patient's address or
// otherwise in UTC.
func (v *Version) fillCollectionTime(o *orders.Order) {
	if o.CollectedAt == nil || !collectionTime(v.Samples).Time.IsZero() {
		return
	}
	offset := 0
	if zone := o.HomeZone(); zone != nil {
		_, offset = o.CollectedAt.In(zone).Zone()
	}
	for i := range v.Samples {
		v.Samples[i].Specimen.Collected = networks.Moment{Time: *o.CollectedAt, Offset: &offset}
	}
}

// StatedCollection returns the time of collection as the lab wrote it, with its offset.
// It is zero if no report has one.
func StatedCollection(ctx context.Context, tx *store.Tx, o *orders.Order) (networks.Moment, error) {
	r, _, err := latestRevision(ctx, tx, o)
	if err != nil {
		return networks.Moment{}, err
	}
	if r != nil {
		return collectionTime(r.UsedSamplesFirst()), nil
	}
	reports, err := readReports(ctx, tx, o) // perhaps documents
	if err != nil {
		return networks.Moment{}, err
	}
	setOrder(reports)
	return collectionTime(merge(reports, o.SampleID).samples), nil
}

func getRevision(ctx context.Context, tx *store.Tx, o *orders.Order, number int) (Revision, uuid.UUID, error) {
	latest, document, err := latestRevision(ctx, tx, o)
	r := latest
	if number > 0 && err == nil {
		r, document, err = readRevision(ctx, tx, o, `SELECT `+revisionColumns+` FROM lab_results WHERE team_id = $1 AND order_id = $2 AND revision = $3`,
			o.Team, o.ID, number)
	}
	switch {
	case err != nil:
		return Revision{}, uuid.Nil, err
	case r == nil && number > 0:
		return Revision{}, uuid.Nil, fault.Newf(fault.NotFound, "Results for order %s have no revision %d", o.ID, number)
	case r == nil:
		return Revision{}, uuid.Nil, fault.Newf(fault.NotFound, "Results are not available for order %s", o.ID)
	}
	if r.Number < latest.Number {
		r.ReplacedBy = latest.Number
	}
	return *r, document, nil
}

// Summary is a revision without the results.
type Summary struct {
	Revision
	HasMissing bool
}

// History lists the revisions of an order's results, oldest first. Their
// versions have only the status, the correction and the interpretation.
func History(ctx context.Context, tx *store.Tx, o *orders.Order) ([]Summary, error) {
	rows, err := tx.Query(ctx, `SELECT revision, created_at, status, corrected, interpretation, has_missing, document FROM lab_results
		WHERE team_id = $1 AND order_id = $2 ORDER BY revision`, o.Team, o.ID)
	if err != nil {
		return nil, fmt.Errorf("results: reading the revisions of %s: %w", o.ID, err)
	}
	defer rows.Close()
	var all []Summary
	for rows.Next() {
		s := Summary{Revision: Revision{Order: o.ID}}
		var document uuid.NullUUID
		err := rows.Scan(&s.Number, store.ScanTime(&s.CreatedAt), &s.Status, &s.Corrected, &s.Interpretation, &s.HasMissing, &document)
		if err != nil {
			return nil, fmt.Errorf("results: reading the revisions of %s: %w", o.ID, err)
		}
		s.HasPDF = document.Valid
		all = append(all, s)
	}
	return all, rows.Err()
}

// PDF returns the lab's own document of a revision; 0 is the latest. It is nil
// when the lab sent none, and NotFound when there are no results.
func PDF(ctx context.Context, tx *store.Tx, o *orders.Order, number int) ([]byte, error) {
	_, document, err := getRevision(ctx, tx, o, number)
	if err != nil || document == uuid.Nil {
		return nil, err
	}
	var body []byte
	err = tx.QueryRow(ctx, `SELECT body FROM lab_report_documents WHERE team_id = $1 AND report_id = $2`, o.Team, document).Scan(&body)
	if err != nil {
		return nil, fmt.Errorf("results: reading a document of %s: %w", o.ID, err)
	}
	return tx.Unseal(ctx, o.Team.UUID(), o.User.UUID(), documentPlace+document.String(), body)
}

// MergePDFs merges documents into one. It refuses a document that cannot be
// read.
func MergePDFs(documents [][]byte) ([]byte, error) {
	merged, err := pdfs.Join(documents)
	if err != nil {
		return nil, fault.New(fault.Conflict, "The documents of this transaction cannot be merged; get them order by order")
	}
	return merged, nil
}

// OrderResults is an order with its latest results.
type OrderResults struct {
	Order orders.Order
	Revision
}

// OfUser returns the latest results of each of a user's orders, oldest order first.
func OfUser(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID) ([]OrderResults, error) {
	rows, err := tx.Query(ctx, `SELECT order_id FROM lab_results WHERE team_id = $1 AND user_id = $2 AND revision = 1`, team, user)
	if err != nil {
		return nil, fmt.Errorf("results: reading the results of a user: %w", err)
	}
	defer rows.Close()
	var found []orders.ID
	for rows.Next() {
		var id orders.ID
		if err := rows.Scan(&id); err != nil {
			return nil, fmt.Errorf("results: reading the results of a user: %w", err)
		}
		found = append(found, id)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return nil, fmt.Errorf("results: reading the results of a user: %w", err)
	}
	slices.SortFunc(found, func(a, b orders.ID) int { return bytes.Compare(a[:], b[:]) }) // by age
	all := make([]OrderResults, 0, len(found))
	for _, id := range found {
		o, err := orders.Get(ctx, tx, team, id)
		if fault.Is(err, fault.NotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		r, err := Get(ctx, tx, &o, 0)
		if err != nil {
			return nil, err
		}
		all = append(all, OrderResults{o, r})
	}
	return all, nil
}
