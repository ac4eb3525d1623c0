package storage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/blocks"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// An import records what each of its batches changes, so that it can be undone. A shift
// records what it moves, so that it can be reversed, and values can be found at their new
// times. The records stay as long as the user.

// ImportChange lists what one batch of an import, or one part of a shift, changed.
type ImportChange struct {
	Import uuid.UUID `json:"-"` // the import or shift
	Seq    int64     `json:"-"` // counts from 1
	At     time.Time `json:"-"` // of its transaction

	Series    []SeriesChange  `json:"series,omitempty"`
	Summaries []SummaryChange `json:"summaries,omitempty"`
	Streams   []StreamChange  `json:"streams,omitempty"`
	// Shift was added to the times of all that moved, microseconds.
	Shift int64 `json:"shift,omitempty"`
}

// SeriesChange lists the changed samples of a series.
type SeriesChange struct {
	Series  int64  `json:"series"`
	Created []byte `json:"created,omitempty"` // a block with the times of new samples
	Before  []byte `json:"before,omitempty"`  // a block with the former version of the others
	Moved   []byte `json:"moved,omitempty"`   // of a shift: a block with the former times, and when each sample was stored
}

// SummaryChange is a new summary, or a changed one with its former version.
type SummaryChange struct {
	ID     uuid.UUID       `json:"id"`
	Before *SummaryVersion `json:"before,omitempty"`
	Was    int64           `json:"was,omitempty"` // of a shift: when it was stored before, milliseconds
	// Removed are the summaries that it has replaced.
	Removed []RemovedSummary `json:"removed,omitempty"`
}

// RemovedSummary is a summary that another one has replaced, with its stream.
type RemovedSummary struct {
	ID       uuid.UUID       `json:"id"`
	Record   uuid.UUID       `json:"record,omitzero"`
	Resource string          `json:"resource"`
	Provider string          `json:"provider"`
	Created  int64           `json:"created"`
	Version  int64           `json:"version"`
	Was      *SummaryVersion `json:"was"`
	N        int             `json:"n,omitempty"`         // of the stream
	Stream   []byte          `json:"stream,omitempty"`    // packed
	StreamAt int64           `json:"stream_at,omitempty"` // when the stream was stored, milliseconds
}

// SummaryVersion is a version of a summary that was replaced.
type SummaryVersion struct {
	SourceType, AppID string
	Device            uuid.UUID
	Day               string
	DayStated         bool
	Start, End        *int64
	Updated           int64
	Stated            int64 `json:",omitempty"` // when a push stated the same, microseconds
	Body              json.RawMessage
}

// Clone returns a copy that shares no time with the version.
func (v *SummaryVersion) Clone() *SummaryVersion {
	c := *v
	for _, at := range []**int64{&c.Start, &c.End} {
		if *at != nil {
			own := **at
			*at = &own
		}
	}
	return &c
}

// StreamChange is a new stream, or a changed one with its former columns, packed.
type StreamChange struct {
	Workout uuid.UUID `json:"workout"`
	N       int       `json:"n,omitempty"`
	Before  []byte    `json:"before,omitempty"`
	Was     int64     `json:"was,omitempty"` // when it was stored before, milliseconds; 0 if unknown
}

// IsEmpty reports whether the batch changed nothing.
func (c *ImportChange) IsEmpty() bool { return len(c.Series)+len(c.Summaries)+len(c.Streams) == 0 }

func placeOfChange(id uuid.UUID, seq int64) string {
	return "import_changes.data:" + id.String() + ":" + strconv.FormatInt(seq, 10)
}

// Write stores the changes of a batch, in its transaction.
func (c *ImportChange) Write(ctx context.Context, tx *store.Tx, team, user uuid.UUID) error {
	var seq int64
	err := tx.QueryRow(ctx, `SELECT COALESCE(MAX(seq), 0) + 1 FROM import_changes WHERE team_id = $1 AND user_id = $2 AND import_id = $3`,
		team, user, c.Import).Scan(&seq)
	if err != nil {
		return err
	}
	plain, err := json.Marshal(c)
	if err != nil {
		return err
	}
	sealed, err := tx.Seal(ctx, team, user, placeOfChange(c.Import, seq), plain)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `INSERT INTO import_changes (team_id, user_id, import_id, seq, at, data) VALUES ($1, $2, $3, $4, $5, $6)`,
		team, user, c.Import, seq, store.Micros(tx.Now()), sealed)
	return err
}

// ReadImportChange reads the first batch of an import after one that is not undone; ok is
// false at the end.
func ReadImportChange(ctx context.Context, tx *store.Tx, team, user, id uuid.UUID, after int64) (c ImportChange, ok bool, err error) {
	return readChange(ctx, tx, team, user, id, "seq > $4 AND undone_at IS NULL ORDER BY seq", after)
}

// ReadChange reads one batch, also an undone one.
func ReadChange(ctx context.Context, tx *store.Tx, team, user uuid.UUID, key ChangeKey) (c ImportChange, err error) {
	c, ok, err := readChange(ctx, tx, team, user, key.Import, "seq = $4", key.Seq)
	if err == nil && !ok {
		err = store.ErrNoRows
	}
	return c, err
}

// ReadChangeBefore reads the last part of a shift before one; ok is false at the beginning.
func ReadChangeBefore(ctx context.Context, tx *store.Tx, team, user, id uuid.UUID, before int64) (c ImportChange, ok bool, err error) {
	return readChange(ctx, tx, team, user, id, "seq < $4 ORDER BY seq DESC", before)
}

func readChange(ctx context.Context, tx *store.Tx, team, user, id uuid.UUID, which string, seq int64) (c ImportChange, ok bool, err error) {
	rows, err := tx.Query(ctx, `SELECT seq, at, data FROM import_changes
		WHERE team_id = $1 AND user_id = $2 AND import_id = $3 AND `+which+` LIMIT 1`, team, user, id, seq)
	if err != nil {
		return c, false, err
	}
	defer rows.Close()
	var sealed []byte
	for rows.Next() {
		ok = true
		if err := rows.Scan(&c.Seq, store.ScanTime(&c.At), &sealed); err != nil {
			return c, false, err
		}
	}
	if err := rows.Err(); err != nil || !ok {
		return c, false, err
	}
	if err := rows.Close(); err != nil {
		return c, false, err
	}
	plain, err := tx.Unseal(ctx, team, user, placeOfChange(id, c.Seq), sealed)
	if err != nil {
		return c, false, err
	}
	if err := json.Unmarshal(plain, &c); err != nil {
		return c, false, fmt.Errorf("storage: the changes of an import: %w", err)
	}
	c.Import = id
	return c, true, nil
}

// ImportTimes returns when the batches of an import were stored, in the unit of
// blocks.Columns.Written.
func ImportTimes(ctx context.Context, tx *store.Tx, team, user, id uuid.UUID) (map[int64]bool, error) {
	rows, err := tx.Query(ctx, `SELECT at FROM import_changes WHERE team_id = $1 AND user_id = $2 AND import_id = $3`, team, user, id)
	if err != nil {
		return nil, err
	}
	return readTimes(rows)
}

// readTimes reads rows of one time, microseconds, as milliseconds.
func readTimes(rows *store.Rows) (map[int64]bool, error) {
	defer rows.Close()
	all := map[int64]bool{}
	for rows.Next() {
		var at int64
		if err := rows.Scan(&at); err != nil {
			return nil, err
		}
		all[at/1000] = true
	}
	return all, rows.Err()
}

// ChangeKey identifies a batch of an import, or a part of a shift.
type ChangeKey struct {
	Import uuid.UUID
	Seq    int64
}

// Key returns the key of the batch.
func (c *ImportChange) Key() ChangeKey { return ChangeKey{c.Import, c.Seq} }

// ChangesByTime returns the undone batches by their times, in milliseconds.
func ChangesByTime(ctx context.Context, tx *store.Tx, team, user uuid.UUID) (map[int64][]ChangeKey, error) {
	all := map[int64][]ChangeKey{}
	return all, addChanges(ctx, tx, all, `undone_at IS NOT NULL`, team, user)
}

// AddChanges adds the parts of a shift to batches by their times.
func AddChanges(ctx context.Context, tx *store.Tx, team, user, shift uuid.UUID, all map[int64][]ChangeKey) error {
	return addChanges(ctx, tx, all, `import_id = $3`, team, user, shift)
}

func addChanges(ctx context.Context, tx *store.Tx, all map[int64][]ChangeKey, which string, args ...any) error {
	rows, err := tx.Query(ctx, `SELECT import_id, seq, at FROM import_changes WHERE team_id = $1 AND user_id = $2 AND `+which, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var key ChangeKey
		var at int64
		if err := rows.Scan(&key.Import, &key.Seq, &at); err != nil {
			return err
		}
		all[at/1000] = append(all[at/1000], key)
	}
	return errors.Join(rows.Err(), rows.Close())
}

// Forget deletes the record of an undone batch.
func (c *ImportChange) Forget(ctx context.Context, tx *store.Tx, team, user uuid.UUID) error {
	_, err := tx.Exec(ctx, `DELETE FROM import_changes WHERE team_id = $1 AND user_id = $2 AND import_id = $3 AND seq = $4`, team, user, c.Import, c.Seq)
	return err
}

// MarkUndone marks a batch as undone. Its record stays, because later versions have
// replaced some of its values.
func (c *ImportChange) MarkUndone(ctx context.Context, tx *store.Tx, team, user uuid.UUID) error {
	_, err := tx.Exec(ctx, `UPDATE import_changes SET undone_at = $5 WHERE team_id = $1 AND user_id = $2 AND import_id = $3 AND seq = $4`,
		team, user, c.Import, c.Seq, store.Micros(tx.Now()))
	return err
}

// TimeRange is a range of times of storage of a user, milliseconds, both included.
type TimeRange struct {
	User        uuid.UUID
	First, Last int64
}

// Include widens the range, which may be empty.
func (r *TimeRange) Include(first, last int64) {
	if r.Last == 0 {
		r.First = first
	}
	r.First, r.Last = min(r.First, first), max(r.Last, last)
}

// ChangeTimes returns when imports and shifts stored values of a user, within a range of
// milliseconds.
func ChangeTimes(ctx context.Context, tx *store.Tx, team, user uuid.UUID, first, last int64) (map[int64]bool, error) {
	rows, err := tx.Query(ctx, `SELECT at FROM import_changes WHERE team_id = $1 AND user_id = $2 AND at BETWEEN $3 AND $4`,
		team, user, first*1000, last*1000+999)
	if err != nil {
		return nil, err
	}
	return readTimes(rows)
}

// WithChanges returns the users for which imports or shifts stored values within the ranges.
func WithChanges(ctx context.Context, tx *store.Tx, team teams.ID, all []TimeRange) (map[uuid.UUID]bool, error) {
	found := map[uuid.UUID]bool{}
	if len(all) == 0 {
		return found, nil
	}
	var b store.Batch
	for _, r := range all {
		b.Query(func(row store.Scanner) error {
			var at int64
			found[r.User] = true
			return row.Scan(&at)
		}, `SELECT at FROM import_changes WHERE team_id = $1 AND user_id = $2 AND at BETWEEN $3 AND $4 LIMIT 1`, team, r.User, r.First*1000, r.Last*1000+999)
	}
	return found, tx.Run(ctx, &b)
}

// PackTimes packs the times of samples.
func PackTimes(times []int64) ([]byte, error) {
	return blocks.Append(nil, &blocks.Columns{Time: times, Value: make([]float64, len(times))})
}

// Version returns the version of a stored summary, to be restored later.
func (s *StoredSummary) version(end *int64) *SummaryVersion {
	key := KeyOfSource(s.Source)
	v := &SummaryVersion{
		SourceType: key.SourceType, AppID: key.AppID, Device: key.Device,
		Day: s.Day, DayStated: s.DayStated, End: end, Updated: store.Micros(s.UpdatedAt), Stated: s.StatedAt, Body: s.Body,
	}
	if s.start != 0 {
		v.Start = &s.start
	}
	return v
}

// ReadVersion reads the stored version of a summary, to be restored later.
func ReadVersion(ctx context.Context, tx *store.Tx, team, user, id uuid.UUID) (*SummaryVersion, error) {
	s, err := ReadSummary(ctx, tx, team, user, id)
	if err != nil {
		return nil, err
	}
	var end *int64
	err = tx.QueryRow(ctx, `SELECT end_at FROM summaries WHERE team_id = $1 AND user_id = $2 AND id = $3`, team, user, id).Scan(&end)
	return s.version(end), err
}

// ReadRemoved reads a summary that is about to be removed, to be stored again later.
func (s *StoredSummary) ReadRemoved(ctx context.Context, tx *store.Tx) (r RemovedSummary, err error) {
	r = RemovedSummary{
		ID: s.ID, Record: s.Record, Resource: s.Resource, Provider: s.Source.Provider, Created: store.Micros(s.CreatedAt), Version: s.Version,
	}
	if r.Was, err = ReadVersion(ctx, tx, s.Team, s.User, s.ID); err != nil || s.Resource != "workouts" {
		return r, err
	}
	r.N, r.Stream, err = ReadStreamVersion(ctx, tx, s.Team, s.User, s.ID)
	if errors.Is(err, store.ErrNoRows) {
		return r, nil
	}
	if err == nil {
		r.StreamAt, _, err = StreamTime(ctx, tx, s.Team, s.User, s.ID)
	}
	return r, err
}

// WriteBack stores a removed summary again, with its stream. ok is false if there is a
// summary with its id.
func (r *RemovedSummary) WriteBack(ctx context.Context, tx *store.Tx, team, user uuid.UUID) (s StoredSummary, ok bool, err error) {
	if s, err = ReadSummary(ctx, tx, team, user, r.ID); err == nil || !errors.Is(err, store.ErrNoRows) {
		return s, false, err
	}
	key := SeriesKey{Provider: r.Provider, SourceType: r.Was.SourceType, AppID: r.Was.AppID, Device: r.Was.Device}
	s = StoredSummary{
		ID: r.ID, Team: team, User: user, Resource: r.Resource, Source: key.Source(), Body: r.Was.Body, Record: r.Record, Version: r.Version + 1,
		CreatedAt: store.FromMicros(r.Created), UpdatedAt: store.FromMicros(r.Was.Updated), Day: r.Was.Day, DayStated: r.Was.DayStated,
		StatedAt: r.Was.Stated,
	}
	var start, end time.Time
	if r.Was.Start != nil {
		start, s.start = store.FromMicros(*r.Was.Start), *r.Was.Start
	}
	if r.Was.End != nil {
		end, s.end = store.FromMicros(*r.Was.End), *r.Was.End
	}
	if err := s.Write(ctx, tx, start, end); err != nil || len(r.Stream) == 0 {
		return s, true, err
	}
	return s, true, RestoreStream(ctx, tx, &s, 1, r.N, r.Stream, r.StreamAt)
}

// IsOfImport reports whether an import stored something in the transaction of a time.
func IsOfImport(ctx context.Context, tx *store.Tx, team, user uuid.UUID, at time.Time) (found bool, err error) {
	err = tx.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM import_changes WHERE team_id = $1 AND user_id = $2 AND at = $3)`,
		team, user, store.Micros(at)).Scan(&found)
	return found, err
}

// Restore replaces the stored version of a summary by a former one.
func (s *StoredSummary) Restore(ctx context.Context, tx *store.Tx, v *SummaryVersion) error {
	sealed, err := tx.Seal(ctx, s.Team, s.User, placeOfSummary(s.ID), v.Body)
	if err != nil {
		return err
	}
	// The version keeps its time: it may be of another import, which can be undone too.
	return checkChanged(tx.Exec(ctx, `UPDATE summaries SET source_type = $5, app_id = $6, device_id = $7, calendar_date = $8, day_stated = $9,
			start_at = $10, end_at = $11, version = version + 1, updated_at = $12, body = $13, stated_at = $14
		WHERE team_id = $1 AND user_id = $2 AND id = $3 AND version = $4`,
		s.Team, s.User, s.ID, s.Version, v.SourceType, v.AppID, v.Device, v.Day, v.DayStated, v.Start, v.End, v.Updated, sealed, numberOrNil(v.Stated)))
}

// StreamTime returns when the stream of a workout was stored, in milliseconds; 0 without
// one.
func StreamTime(ctx context.Context, tx *store.Tx, team, user, workout uuid.UUID) (at int64, version int64, err error) {
	rows, err := tx.Query(ctx, `SELECT updated_at, version FROM workout_streams WHERE team_id = $1 AND user_id = $2 AND workout_id = $3`, team, user, workout)
	if err != nil {
		return 0, 0, err
	}
	defer rows.Close()
	for rows.Next() {
		if err := rows.Scan(&at, &version); err != nil {
			return 0, 0, err
		}
	}
	return at / 1000, version, rows.Err()
}
