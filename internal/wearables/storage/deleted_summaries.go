package storage

import (
	"bytes"
	"context"
	"errors"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/store"
	"hale/internal/wearables"
	"hale/internal/wearables/providers"
	"hale/internal/wearables/resources"
)

// deletedSummary contains the fingerprints of a deleted summary, or of a version that
// another one has replaced.
type deletedSummary struct {
	id                 uuid.UUID
	resource, provider string
	start              *int64
	fields             fingerprints // nil refuses every version
}

// Delete deletes the summary with its stream. If keep is set, the same record does not
// come back. It returns ErrStale if the summary was written since it was read.
func (s *StoredSummary) Delete(ctx context.Context, tx *store.Tx, keep bool) error {
	err := checkChanged(tx.Exec(ctx, `DELETE FROM summaries WHERE team_id = $1 AND user_id = $2 AND id = $3 AND version = $4`, s.Team, s.User, s.ID, s.Version))
	if err != nil {
		return err
	}
	if _, err := DeleteStream(ctx, tx, s); err != nil || !keep {
		return err
	}
	return s.Remember(ctx, tx)
}

// DeleteStream deletes the stream of a workout, and reports whether there was one.
func DeleteStream(ctx context.Context, tx *store.Tx, workout *StoredSummary) (bool, error) {
	n, err := tx.Exec(ctx, `DELETE FROM workout_streams WHERE team_id = $1 AND user_id = $2 AND workout_id = $3`, workout.Team, workout.User, workout.ID)
	return n > 0, err
}

// Remember stores the fingerprints of the fields of a summary that is deleted or moved, so
// that the same version does not come back. A record with another id may have its values.
func (s *StoredSummary) Remember(ctx context.Context, tx *store.Tx) error {
	d := deletedSummary{id: s.ID}
	if s.start != 0 {
		second := floorDiv(s.start, secondUS)
		d.start = &second
	}
	return s.remember(ctx, tx, d)
}

// RememberVersion stores the fingerprints of a version like Remember, for a summary that
// stays. The id identifies the version.
func (s *StoredSummary) RememberVersion(ctx context.Context, tx *store.Tx, id uuid.UUID) error {
	return s.remember(ctx, tx, deletedSummary{id: id})
}

func (s *StoredSummary) remember(ctx context.Context, tx *store.Tx, d deletedSummary) error {
	was := deletedSummary{id: d.id}
	err := tx.QueryRow(ctx, `SELECT fields FROM deleted_summaries WHERE team_id = $1 AND user_id = $2 AND id = $3`, s.Team, s.User, d.id).Scan((*[]byte)(&was.fields))
	if err != nil && !errors.Is(err, store.ErrNoRows) {
		return err
	}
	if err := was.open(ctx, tx, s.Team, s.User); err != nil {
		return err
	}
	f := was.fields
	if f == nil {
		f = newFingerprints()
	}
	fields, err := wearables.ParseDocument(s.Body)
	if err != nil {
		return err
	}
	var prints []fingerprint
	for name, v := range fields {
		prints = append(prints, f.of(fieldRecord(name, v)))
	}
	if d.start != nil {
		for _, fact := range sessionFacts(&s.Source, floorDiv(s.end, secondUS)) {
			prints = append(prints, f.of(fact))
		}
	}
	if d.id == s.ID && s.Record != uuid.Nil {
		prints = append(prints, f.of(hasRecord), f.of(recordFact(s.Record)))
	}
	d.resource, d.provider, d.fields = s.Resource, s.Source.Provider, f.add(prints)
	return d.write(ctx, tx, s.Team, s.User)
}

// sessionFacts returns the records that a session of an Apple Health export and the
// pushed one share. These are the end in seconds and the type of the source. An export
// adds isExported.
func sessionFacts(source *wearables.Source, end int64) [][]byte {
	facts := [][]byte{fieldRecord("\x00end", strconv.FormatInt(end, 10)), fieldRecord("\x00type", source.Type)}
	if source.IsAppleExport() {
		facts = append(facts, isExported)
	}
	return facts
}

var (
	isExported = fieldRecord("\x00export", "")
	hasRecord  = fieldRecord("\x00record", "")
)

// recordFact returns the record that a deleted summary with an id shares with its versions.
func recordFact(record uuid.UUID) []byte { return fieldRecord("\x00record", record.String()) }

// isOtherRecord reports whether the deleted summary had an id, and the key has another one.
func (d *deletedSummary) isOtherRecord(key *SummaryKey) bool {
	return key.Record != uuid.Nil && d.fields != nil && d.fields.has(d.fields.of(hasRecord)) && !d.fields.has(d.fields.of(recordFact(key.Record)))
}

func fieldRecord(name string, v any) []byte {
	return wearables.AppendCanonical(append([]byte(name), 0), v)
}

func placeOfDeletedSummary(id uuid.UUID) string { return "deleted_summaries.fields:" + id.String() }

func (d *deletedSummary) scan(row store.Scanner) error {
	return row.Scan(&d.id, &d.resource, &d.provider, &d.start, (*[]byte)(&d.fields)) // it may be NULL
}

// open unseals the fingerprints.
func (d *deletedSummary) open(ctx context.Context, tx *store.Tx, team, user uuid.UUID) (err error) {
	if d.fields == nil {
		return nil
	}
	d.fields, err = tx.Unseal(ctx, team, user, placeOfDeletedSummary(d.id), d.fields)
	if err == nil && len(d.fields) < saltSize {
		err = errors.New("storage: damaged fingerprints of a summary")
	}
	return err
}

// covers reports whether all fields were deleted with the summary. Bounds of a session are
// compared in seconds.
func (d *deletedSummary) covers(key *SummaryKey, fields map[string]any) bool {
	bounds := []string{}
	if document, ok := wearables.DocumentNamed(key.Resource); ok && d.hasBounds(key) {
		bounds = append(bounds, document.Start, document.End, "duration")
	}
	for name, v := range fields {
		if d.fields != nil && v != nil && !slices.Contains(bounds, name) && !d.fields.has(d.fields.of(fieldRecord(name, v))) {
			return false
		}
	}
	return true
}

// isOtherTransport reports whether the deleted session is that of the key, and one of them
// is of an Apple Health export. Their fields differ, and an export corrects nothing.
func (d *deletedSummary) isOtherTransport(key *SummaryKey) bool {
	return key.Source.MayHaveTransports() && d.hasBounds(key) && (key.Source.IsAppleExport() || d.fields.has(d.fields.of(isExported)))
}

// hasBounds reports whether the deleted session has the bounds of the key, in seconds, and
// the type of its source.
func (d *deletedSummary) hasBounds(key *SummaryKey) bool {
	if d.fields == nil || d.start == nil || key.Start.IsZero() || *d.start != key.Start.Unix() {
		return false
	}
	for _, fact := range sessionFacts(&key.Source, key.End.Unix()) {
		if !bytes.Equal(fact, isExported) && !d.fields.has(d.fields.of(fact)) {
			return false
		}
	}
	return true
}

// SummaryKey identifies a summary that is not stored. Provider records and starts of
// sessions identify it also if its id is another one.
type SummaryKey struct {
	ID, Record uuid.UUID
	Resource   string
	Source     wearables.Source
	Start, End time.Time
}

// IsDeletedSummary reports whether a summary was deleted, and has no new value since.
func IsDeletedSummary(ctx context.Context, tx *store.Tx, team, user uuid.UUID, key SummaryKey, fields map[string]any) (bool, error) {
	all, err := deletedWithKey(ctx, tx, team, user, &key)
	return err == nil && slices.ContainsFunc(all, func(d deletedSummary) bool { return d.covers(&key, fields) || d.isOtherTransport(&key) }), err
}

// IsDeletedSession reports whether a session was deleted, whatever its values. It has the id
// of the key, or its bounds in seconds and its type of source.
func IsDeletedSession(ctx context.Context, tx *store.Tx, team, user uuid.UUID, key SummaryKey) (bool, error) {
	all, err := deletedWithKey(ctx, tx, team, user, &key)
	return err == nil && slices.ContainsFunc(all, func(d deletedSummary) bool { return d.id == key.ID || d.hasBounds(&key) }), err
}

// deletedWithKey returns the fingerprints of the summaries with the id, the record or the
// start of a key. Of a key with a record, it leaves out those of another record.
func deletedWithKey(ctx context.Context, tx *store.Tx, team, user uuid.UUID, key *SummaryKey) (all []deletedSummary, err error) {
	start := int64(math.MaxInt64)
	if !key.Start.IsZero() {
		start = key.Start.Unix()
	}
	const columns = `SELECT id, resource, provider, start_at, fields FROM deleted_summaries WHERE team_id = $1 AND user_id = $2 AND `
	rows, err := tx.Query(ctx, columns+`id IN ($3, $4) UNION ALL `+columns+`resource = $5 AND provider = $6 AND start_at = $7`,
		team, user, key.ID, key.Record, key.Resource, key.Source.Provider, start)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var d deletedSummary
		if err := d.scan(rows); err != nil {
			return nil, err
		}
		all = append(all, d)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return nil, err
	}
	for i := range all {
		if err := all[i].open(ctx, tx, team, user); err != nil {
			return nil, err
		}
	}
	return slices.DeleteFunc(all, func(d deletedSummary) bool { return d.isOtherRecord(key) }), nil
}

// DeleteRecord prevents a record of a provider from being stored, even if the record is
// not known yet.
func DeleteRecord(ctx context.Context, tx *store.Tx, team, user uuid.UUID, provider, resource string, record uuid.UUID) error {
	d := deletedSummary{id: record, resource: resource, provider: provider}
	return d.write(ctx, tx, team, user)
}

// IsDeletedRecord reports whether DeleteRecord was called for a record.
func IsDeletedRecord(ctx context.Context, tx *store.Tx, team, user, record uuid.UUID) (known bool, err error) {
	err = tx.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM deleted_summaries WHERE team_id = $1 AND user_id = $2 AND id = $3 AND fields IS NULL)`,
		team, user, record).Scan(&known)
	return known, err
}

// deletedSummaries returns the next rows of the table deleted_summaries after an id, at
// most copiedAtOnce.
func deletedSummaries(ctx context.Context, tx *store.Tx, team, user, after uuid.UUID) (all []deletedSummary, err error) {
	rows, err := tx.Query(ctx, `SELECT id, resource, provider, start_at, fields FROM deleted_summaries WHERE team_id = $1 AND user_id = $2 AND id > $3 ORDER BY id LIMIT $4`,
		team, user, after, copiedAtOnce)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var d deletedSummary
		if err := d.scan(rows); err != nil {
			return nil, err
		}
		all = append(all, d)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return nil, err
	}
	for i := range all {
		if err := all[i].open(ctx, tx, team, user); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func (d *deletedSummary) write(ctx context.Context, tx *store.Tx, team, user uuid.UUID) error {
	var sealed []byte
	if d.fields != nil {
		var err error
		if sealed, err = tx.Seal(ctx, team, user, placeOfDeletedSummary(d.id), d.fields); err != nil {
			return err
		}
	}
	_, err := tx.Exec(ctx, `INSERT INTO deleted_summaries (team_id, user_id, id, resource, provider, start_at, deleted_at, fields)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
		ON CONFLICT (user_id, id) DO UPDATE SET start_at = excluded.start_at, deleted_at = excluded.deleted_at, fields = excluded.fields`,
		team, user, d.id, d.resource, d.provider, d.start, store.Micros(tx.Now()), sealed)
	return err
}

// DeletedData describes deleted data of one resource for its event.
type DeletedData struct {
	Deletion          uuid.UUID // zero without a row of its own
	User              uuid.UUID
	Resource          string // its name in events
	Deleted, Restored int64
	Oldest, Newest    int64       // starts of the data, UTC microseconds
	IDs               []uuid.UUID // of summaries
	Providers         []string    // sorted
}

// DeletedSummary describes one deleted summary.
func DeletedSummary(s *StoredSummary) DeletedData {
	at := s.BeginsOrDay()
	return DeletedData{
		User: s.User, Resource: s.Resource, Deleted: 1, Oldest: at, Newest: at, IDs: []uuid.UUID{s.ID}, Providers: []string{s.Source.Provider},
	}
}

// EventType returns the type of the event.
func (d *DeletedData) EventType() string { return resources.DailyEvent(d.Resource, resources.Deleted) }

// AppendTo appends the payload of the event.
func (d *DeletedData) AppendTo(dst []byte, logos providers.Logos) []byte {
	dst = wearables.AppendUUID(append(dst, `{"user_id":`...), d.User)
	if d.Deletion != uuid.Nil {
		dst = wearables.AppendUUID(append(dst, `,"deletion_id":`...), d.Deletion)
	}
	dst = wearables.AppendText(append(dst, `,"resource":`...), d.Resource)
	dst = strconv.AppendInt(append(dst, `,"deleted":`...), d.Deleted, 10)
	dst = strconv.AppendInt(append(dst, `,"restored":`...), d.Restored, 10)
	dst = wearables.AppendTime(append(dst, `,"start_date":`...), d.Oldest)
	dst = wearables.AppendTime(append(dst, `,"end_date":`...), d.Newest)
	dst = append(dst, `,"ids":[`...)
	for i, id := range d.IDs {
		dst = wearables.AppendUUID(append(dst, ","[:min(i, 1)]...), id)
	}
	source := wearables.Source{Type: "multiple_sources"}
	if len(d.Providers) == 1 {
		source = wearables.Source{Provider: d.Providers[0]}
	}
	dst = append(dst, `],"providers":[`...)
	for i, provider := range d.Providers {
		dst = wearables.AppendText(append(dst, ","[:min(i, 1)]...), provider)
	}
	return append(wearables.AppendSource(append(dst, `],"source":`...), source, logos), '}')
}
