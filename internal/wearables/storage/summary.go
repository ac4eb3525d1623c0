package storage

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/civil"
	"hale/internal/platform/store"
	"hale/internal/wearables"
	"hale/internal/wearables/providers"
)

// StoredSummary is the stored version of a summary.
type StoredSummary struct {
	ID         uuid.UUID
	Team, User uuid.UUID
	Resource   string
	Source     wearables.Source
	Body       []byte // canonical JSON of the stated fields
	CreatedAt  time.Time
	UpdatedAt  time.Time
	Measured   time.Time // of a profile: time of its height

	Day       string // calendar date; empty for a profile
	start     int64  // of a session, UTC microseconds; 0 for none
	end       int64
	Record    uuid.UUID // RecordID of the provider's own id; zero without
	DayStated bool      // Day is stated, not derived from the place
	Version   int64
	StatedAt  int64 // when a push stated the same version as an import, UTC microseconds; 0 for never
}

const summaryColumns = `team_id, user_id, id, resource, provider, source_type, app_id, device_id, calendar_date, day_stated, start_at, end_at, record_id, version, created_at, updated_at, stated_at, body`

// scan reads a row; the body stays sealed.
func (s *StoredSummary) scan(row interface{ Scan(...any) error }) error {
	var id SeriesKey
	var start, end *time.Time
	var record uuid.NullUUID
	var stated sql.NullInt64
	if err := row.Scan(&s.Team, &s.User, &s.ID, &s.Resource, &id.Provider, &id.SourceType, &id.AppID, &id.Device,
		&s.Day, &s.DayStated, store.ScanNullTime(&start), store.ScanNullTime(&end), &record, &s.Version, store.ScanTime(&s.CreatedAt), store.ScanTime(&s.UpdatedAt), &stated, &s.Body); err != nil {
		return err
	}
	s.Source, s.Record, s.StatedAt = id.Source(), record.UUID, stated.Int64
	if start != nil {
		s.start = store.Micros(*start)
	}
	if end != nil {
		s.end = store.Micros(*end)
	}
	if start != nil && s.Resource == wearables.ProfileResource {
		s.Measured = *start
	}
	return nil
}

// Open opens the body of a summary from SessionsBetween.
func (s *StoredSummary) Open(ctx context.Context, tx *store.Tx) (err error) {
	s.Body, err = tx.Unseal(ctx, s.Team, s.User, placeOfSummary(s.ID), s.Body)
	return err
}

// Begins returns the start of a session, UTC microseconds; 0 without one.
func (s *StoredSummary) Begins() int64 { return s.start }

// BeginsOrDay returns the start of a session, or of the UTC day of a summary; 0 of a
// profile.
func (s *StoredSummary) BeginsOrDay() int64 {
	if s.start != 0 {
		return s.start
	}
	if day, err := civil.ParseDate(s.Day); err == nil {
		return day.In(time.UTC).UnixMicro()
	}
	return 0
}

func ReadSummary(ctx context.Context, tx *store.Tx, team, user, id uuid.UUID) (s StoredSummary, err error) {
	if err := s.scan(tx.QueryRow(ctx, `SELECT `+summaryColumns+` FROM summaries
		WHERE team_id = $1 AND user_id = $2 AND id = $3`, team, user, id)); err != nil {
		return s, err
	}
	return s, s.Open(ctx, tx)
}

// SummaryByID returns a summary of any user of the team, or store.ErrNoRows.
func SummaryByID(ctx context.Context, tx *store.Tx, team, id uuid.UUID, resource string) (s StoredSummary, err error) {
	if err := s.scan(tx.QueryRow(ctx, `SELECT `+summaryColumns+` FROM summaries
		WHERE team_id = $1 AND id = $2 AND resource = $3`, team, id, resource)); err != nil {
		return s, err
	}
	return s, s.Open(ctx, tx)
}

// SummaryQuery selects summaries of a user.
type SummaryQuery struct {
	Resource string
	From, To string    // calendar dates, inclusive; empty means no bound
	Provider string    // empty means all
	Since    time.Time // changed then or later; zero means any
	Start    time.Time // of the session; zero means any

	After *StoredSummary // only summaries after this one; nil means all
	Limit int            // zero means all
}

// ListSummaries returns a user's summaries by day, and those of one day by start.
//
// Reference 7.2.
func ListSummaries(ctx context.Context, tx *store.Tx, team, user uuid.UUID, q SummaryQuery) ([]StoredSummary, error) {
	to := q.To
	if to == "" {
		to = "9999-12-31"
	}
	limit, from, after, begun := q.Limit, q.From, uuid.Nil, int64(math.MinInt64)
	if limit == 0 {
		limit = math.MaxInt32
	}
	if q.After != nil {
		from, after, begun = q.After.Day, q.After.ID, q.After.start
	}
	var since, start int64
	if !q.Since.IsZero() {
		since = store.Micros(q.Since)
	}
	if !q.Start.IsZero() {
		start = store.Micros(q.Start)
	}
	return summariesWhere(ctx, tx, `WHERE team_id = $1 AND user_id = $2 AND resource = $3 AND calendar_date BETWEEN $4 AND $5
			AND ($6 = '' OR provider = $6) AND updated_at >= $7 AND (start_at = $8 OR $8 = 0)
			AND (calendar_date > $4 OR COALESCE(start_at, 0) > $11 OR COALESCE(start_at, 0) = $11 AND id > $9)
		ORDER BY calendar_date, COALESCE(start_at, 0), id LIMIT $10`,
		team, user, q.Resource, from, to, q.Provider, since, start, after, limit, begun)
}

// summariesWhere reads and unseals summaries.
func summariesWhere(ctx context.Context, tx *store.Tx, where string, args ...any) ([]StoredSummary, error) {
	all, err := sealedWhere(ctx, tx, where, args...)
	if err != nil {
		return nil, err
	}
	for i := range all {
		if err := all[i].Open(ctx, tx); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// sealedWhere reads summaries; their bodies stay sealed.
func sealedWhere(ctx context.Context, tx *store.Tx, where string, args ...any) ([]StoredSummary, error) {
	rows, err := tx.Query(ctx, `SELECT `+summaryColumns+` FROM summaries `+where, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []StoredSummary
	for rows.Next() {
		var s StoredSummary
		if err := s.scan(rows); err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, errors.Join(rows.Err(), rows.Close())
}

// AppendSummary appends the JSON of a summary: every field of its resource, null if
// unknown.
//
// Reference 7.5.
func AppendSummary(dst []byte, s *StoredSummary, logos providers.Logos) ([]byte, error) {
	d, ok := wearables.DocumentNamed(s.Resource)
	if !ok {
		return dst, fmt.Errorf("storage: a summary of the unknown resource %q", s.Resource)
	}
	var known map[string]json.RawMessage
	if err := json.Unmarshal(s.Body, &known); err != nil {
		return dst, fmt.Errorf("storage: a summary of %s: %w", s.Resource, err)
	}
	if d.Name == "sleep" {
		for name, v := range wearables.SleepFollows(s.Body) {
			known[name] = wearables.AppendCanonical(nil, v)
		}
	}
	for i, f := range d.Fields {
		dst = append(dst, "{,"[min(i, 1)])
		dst = append(wearables.AppendText(dst, f.Name), ':')
		switch v := known[f.Name]; {
		case v == nil, f.Name == "wheelchair_use" && string(v) == "false": // reference 7.5: true or null
			dst = s.appendOwn(dst, f, logos)
		case f.Kind == wearables.Moment:
			dst = appendMoment(dst, v)
		default:
			dst = append(dst, v...)
		}
	}
	return append(dst, '}'), nil
}

// appendMoment appends a stored instant in UTC. It is stored as it was written,
// because its offset may be the only statement of the place.
func appendMoment(dst []byte, raw json.RawMessage) []byte {
	var at time.Time
	if json.Unmarshal(raw, &at) != nil {
		return append(dst, raw...)
	}
	return wearables.AppendTime(dst, at.UnixMicro())
}

// appendOwn appends a field that is not in the body: a column, or a field that is
// not stated.
func (s *StoredSummary) appendOwn(dst []byte, f wearables.Field, logos providers.Logos) []byte {
	switch f.Name {
	case "id":
		return wearables.AppendUUID(dst, s.ID)
	case "user_id":
		return wearables.AppendUUID(dst, s.User)
	case "source":
		return wearables.AppendSource(dst, s.Source, logos)
	case "created_at":
		return wearables.AppendTime(dst, s.CreatedAt.UnixMicro())
	case "updated_at":
		return wearables.AppendTime(dst, s.UpdatedAt.UnixMicro())
	case "source_provider":
		return wearables.AppendText(dst, s.Source.Provider)
	case "source_type":
		return wearables.AppendText(dst, s.Source.Type)
	case "source_app_id":
		return wearables.AppendTextOrNull(dst, s.Source.AppID)
	case "source_device_id":
		return wearables.AppendUUIDOrNull(dst, s.Source.DeviceID)
	}
	if f.Name == "provider_id" && s.Resource == "meal" { // reference 7.5: equals id
		return wearables.AppendUUID(dst, s.ID)
	}
	if f.Default != "" {
		return append(dst, f.Default...)
	}
	return append(dst, "null"...)
}

// StatedDay returns the day if it is stated; zero if it was derived from the place,
// and for a profile.
func (s *StoredSummary) StatedDay() civil.Date {
	day, err := civil.ParseDate(s.Day)
	if err != nil || !s.DayStated {
		return civil.Date{}
	}
	return day
}

// maxOverlapping bounds the workouts of one app at one time.
const maxOverlapping = 100

// WorkoutsBetween returns a user's workouts of a provider and an app that start by
// last and end at first or later, by day.
func WorkoutsBetween(ctx context.Context, tx *store.Tx, team, user uuid.UUID, provider, app string, first, last time.Time) ([]StoredSummary, error) {
	from, to := civil.DateOf(first.UTC()).AddDays(-1), civil.DateOf(last.UTC()).AddDays(1) // of any zone
	return summariesWhere(ctx, tx, `WHERE team_id = $1 AND user_id = $2 AND resource = 'workouts' AND calendar_date BETWEEN $3 AND $4
			AND provider = $5 AND app_id = $6 AND start_at <= $7 AND end_at >= $8
		ORDER BY calendar_date, id LIMIT $9`,
		team, user, from.String(), to.String(), provider, app, store.Micros(last), store.Micros(first), maxOverlapping)
}

// Write stores a version of the summary, of a session with its bounds. It
// returns ErrStale unless the version before it is stored.
func (s *StoredSummary) Write(ctx context.Context, tx *store.Tx, start, end time.Time) error {
	sealed, err := tx.Seal(ctx, s.Team, s.User, placeOfSummary(s.ID), s.Body)
	if err != nil {
		return err
	}
	key := KeyOfSource(s.Source)
	return checkChanged(tx.Exec(ctx, `INSERT INTO summaries (team_id, user_id, id, resource, provider, source_type, app_id, device_id,
			calendar_date, day_stated, start_at, end_at, version, created_at, updated_at, body, record_id, stated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)
		ON CONFLICT (user_id, id) DO UPDATE SET source_type = excluded.source_type, app_id = excluded.app_id,
			device_id = excluded.device_id, calendar_date = excluded.calendar_date, day_stated = excluded.day_stated,
			start_at = COALESCE(excluded.start_at, summaries.start_at), end_at = COALESCE(excluded.end_at, summaries.end_at),
			version = excluded.version, updated_at = excluded.updated_at, body = excluded.body,
			record_id = COALESCE(excluded.record_id, summaries.record_id), stated_at = excluded.stated_at
			WHERE summaries.version = excluded.version - 1`,
		s.Team, s.User, s.ID, s.Resource, key.Provider, key.SourceType, key.AppID, key.Device,
		s.Day, s.DayStated, store.MicrosOrNil(&start), store.MicrosOrNil(&end),
		s.Version, store.Micros(s.CreatedAt), store.Micros(s.UpdatedAt), sealed, idOrNil(s.Record), numberOrNil(s.StatedAt)))
}

// WriteStated records that a push has stated the stored version, which is of an import.
func (s *StoredSummary) WriteStated(ctx context.Context, tx *store.Tx) error {
	return checkChanged(tx.Exec(ctx, `UPDATE summaries SET stated_at = $5 WHERE team_id = $1 AND user_id = $2 AND id = $3 AND version = $4`,
		s.Team, s.User, s.ID, s.Version, store.Micros(tx.Now())))
}

// WriteDay stores Day, DayStated and Record of a version, which its body does not show.
func (s *StoredSummary) WriteDay(ctx context.Context, tx *store.Tx) error {
	return checkChanged(tx.Exec(ctx, `UPDATE summaries SET calendar_date = $5, day_stated = $6, record_id = COALESCE($7, record_id)
		WHERE team_id = $1 AND user_id = $2 AND id = $3 AND version = $4`,
		s.Team, s.User, s.ID, s.Version, s.Day, s.DayStated, idOrNil(s.Record)))
}

// WriteMarks stores the body of a version with another list of computed fields.
func (s *StoredSummary) WriteMarks(ctx context.Context, tx *store.Tx) error {
	sealed, err := tx.Seal(ctx, s.Team, s.User, placeOfSummary(s.ID), s.Body)
	if err != nil {
		return err
	}
	return checkChanged(tx.Exec(ctx, `UPDATE summaries SET body = $5 WHERE team_id = $1 AND user_id = $2 AND id = $3 AND version = $4`,
		s.Team, s.User, s.ID, s.Version, sealed))
}

// WriteMeasured stores Measured of a version, unless a later one is stored.
func (s *StoredSummary) WriteMeasured(ctx context.Context, tx *store.Tx) error {
	return checkChanged(tx.Exec(ctx, `UPDATE summaries SET start_at = $1 WHERE team_id = $2 AND user_id = $3 AND id = $4 AND version = $5
		AND (start_at IS NULL OR start_at < $1)`, s.Measured, s.Team, s.User, s.ID, s.Version))
}

// placeOfSummary names the place that the body of a summary is sealed for.
func placeOfSummary(id uuid.UUID) string { return "summaries.body:" + id.String() }

// SummaryOfRecord returns the summary of a provider's record, or store.ErrNoRows. See
// wearables.RecordID.
func SummaryOfRecord(ctx context.Context, tx *store.Tx, team, user, record uuid.UUID) (s StoredSummary, err error) {
	if err := s.scan(tx.QueryRow(ctx, `SELECT `+summaryColumns+` FROM summaries
		WHERE team_id = $1 AND user_id = $2 AND record_id = $3 ORDER BY id LIMIT 1`, team, user, record)); err != nil {
		return s, err
	}
	return s, s.Open(ctx, tx)
}

// SessionsBetween returns a user's sessions of a resource and provider that share time
// with the range, by day. Open opens their bodies.
func SessionsBetween(ctx context.Context, tx *store.Tx, team, user uuid.UUID, resource, provider string, start, end time.Time) ([]StoredSummary, error) {
	from, to := civil.DateOf(start.UTC()).AddDays(-2), civil.DateOf(end.UTC()).AddDays(2) // of any zone, and of any session's end
	return sealedWhere(ctx, tx, `WHERE team_id = $1 AND user_id = $2 AND resource = $3 AND calendar_date BETWEEN $4 AND $5
			AND provider = $6 AND start_at < $7 AND end_at > $8
		ORDER BY calendar_date, id LIMIT $9`,
		team, user, resource, from.String(), to.String(), provider, store.Micros(end), store.Micros(start), maxOverlapping)
}

// SessionsOfDays returns a user's sessions of a resource by calendar date, with their
// bodies sealed. Empty days mean no bound, and an empty provider means all.
func SessionsOfDays(ctx context.Context, tx *store.Tx, team, user uuid.UUID, resource, provider, first, last string) ([]StoredSummary, error) {
	return sealedWhere(ctx, tx, `WHERE team_id = $1 AND user_id = $2 AND resource = $3 AND calendar_date BETWEEN $4 AND $5
			AND ($6 = '' OR provider = $6) AND start_at IS NOT NULL AND end_at IS NOT NULL ORDER BY calendar_date, id`,
		team, user, resource, first, cmp.Or(last, "9999-12-31"), provider)
}

// WorkoutOf returns the id of the stored workout of a stream, or store.ErrNoRows. It
// finds the workout with the id of its key, or the one that was recorded at that time.
func WorkoutOf(ctx context.Context, tx *store.Tx, team, user uuid.UUID, source wearables.Source, key uuid.UUID, span wearables.Range) (uuid.UUID, error) {
	was, missing := ReadSummary(ctx, tx, team, user, key)
	if missing != nil && !errors.Is(missing, store.ErrNoRows) {
		return key, missing
	}
	from, to := store.Micros(span.Start), store.Micros(span.End)
	if missing == nil && was.start <= to && was.end >= from {
		return key, nil
	}
	stored, err := SessionsBetween(ctx, tx, team, user, "workouts", source.Provider, span.Start, span.End)
	for i := range stored {
		s := &stored[i]
		if 2*(min(s.end, to)-max(s.start, from)) > to-from && source.SameRecorder(&s.Source) {
			return s.ID, nil
		}
	}
	return key, cmp.Or(err, missing)
}

// Bounds returns the start and end of a session, UTC microseconds; 0 for none.
func (s *StoredSummary) Bounds() (start, end int64) { return s.start, s.end }

// Remove deletes a version of a summary that another one has replaced, and its stream.
// It returns ErrStale if there is another version.
func (s *StoredSummary) Remove(ctx context.Context, tx *store.Tx) error {
	if _, err := tx.Exec(ctx, `DELETE FROM workout_streams WHERE team_id = $1 AND user_id = $2 AND workout_id = $3`,
		s.Team, s.User, s.ID); err != nil {
		return err
	}
	return checkChanged(tx.Exec(ctx, `DELETE FROM summaries WHERE team_id = $1 AND user_id = $2 AND id = $3 AND version = $4`,
		s.Team, s.User, s.ID, s.Version))
}

func idOrNil(id uuid.UUID) *uuid.UUID {
	if id == uuid.Nil {
		return nil
	}
	return &id
}

// ReadPackedStream returns the version of a workout's stream and its packed
// columns, or store.ErrNoRows.
func ReadPackedStream(ctx context.Context, tx *store.Tx, team, user, workout uuid.UUID) (version int64, packed []byte, err error) {
	var sealed []byte
	if err := tx.QueryRow(ctx, `SELECT version, data FROM workout_streams
		WHERE team_id = $1 AND user_id = $2 AND workout_id = $3`, team, user, workout).Scan(&version, &sealed); err != nil {
		return 0, nil, err
	}
	packed, err = tx.Unseal(ctx, team, user, placeOfStream(workout), sealed)
	return version, packed, err
}

// ReadStreamVersion returns the length of a workout's stream and its packed columns.
func ReadStreamVersion(ctx context.Context, tx *store.Tx, team, user, workout uuid.UUID) (n int, packed []byte, err error) {
	_, packed, err = ReadPackedStream(ctx, tx, team, user, workout)
	if err != nil {
		return 0, nil, err
	}
	err = tx.QueryRow(ctx, `SELECT n FROM workout_streams WHERE team_id = $1 AND user_id = $2 AND workout_id = $3`, team, user, workout).Scan(&n)
	return n, packed, err
}

// ReadStream returns the stream of a workout; without one, an empty stream.
func ReadStream(ctx context.Context, tx *store.Tx, workout *StoredSummary) (*wearables.Stream, error) {
	_, packed, err := ReadPackedStream(ctx, tx, workout.Team, workout.User, workout.ID)
	if errors.Is(err, store.ErrNoRows) {
		return &wearables.Stream{}, nil
	}
	if err != nil {
		return nil, err
	}
	return wearables.UnpackStream(packed)
}

// WriteStream stores a version of a workout's stream of n elements. It returns
// ErrStale unless the version before it is stored.
func WriteStream(ctx context.Context, tx *store.Tx, workout *StoredSummary, version int64, n int, packed []byte) error {
	return RestoreStream(ctx, tx, workout, version, n, packed, 0)
}

// RestoreStream stores a former stream like WriteStream. It keeps the time at which the
// stream was stored, in milliseconds: its import can be undone too. 0 means now.
func RestoreStream(ctx context.Context, tx *store.Tx, workout *StoredSummary, version int64, n int, packed []byte, at int64) error {
	sealed, err := tx.Seal(ctx, workout.Team, workout.User, placeOfStream(workout.ID), packed)
	if err != nil {
		return err
	}
	now := cmp.Or(at*1000, store.Micros(tx.Now()))
	return checkChanged(tx.Exec(ctx, `INSERT INTO workout_streams (team_id, user_id, workout_id, version, n, created_at, updated_at, data)
		VALUES ($1, $2, $3, $4, $5, $6, $6, $7)
		ON CONFLICT (user_id, workout_id) DO UPDATE
			SET version = excluded.version, n = excluded.n, updated_at = excluded.updated_at, data = excluded.data
			WHERE workout_streams.version = excluded.version - 1`,
		workout.Team, workout.User, workout.ID, version, n, now, sealed))
}

// RewriteStream stores other columns of a stream; found is false without one. A stream of an
// import keeps its time, so that the import can be undone.
func RewriteStream(ctx context.Context, tx *store.Tx, workout *StoredSummary, n int, packed []byte) (found bool, err error) {
	sealed, err := tx.Seal(ctx, workout.Team, workout.User, placeOfStream(workout.ID), packed)
	if err != nil {
		return false, err
	}
	rows, err := tx.Exec(ctx, `UPDATE workout_streams SET version = version + 1, n = $4, data = $5,
			updated_at = CASE WHEN EXISTS (SELECT 1 FROM import_changes c WHERE c.team_id = $1 AND c.user_id = $2 AND c.at = workout_streams.updated_at)
				THEN updated_at ELSE $6 END
		WHERE team_id = $1 AND user_id = $2 AND workout_id = $3`,
		workout.Team, workout.User, workout.ID, n, sealed, store.Micros(tx.Now()))
	return rows > 0, err
}

const streamMessage = "The stream is too large for an event. Read it at /v2/timeseries/workouts/{workout_id}/stream."

// AppendStreamNotice appends the payload of the event about a stream, which does not hold
// the stream.
//
// Spec: Events, workout stream events.
func AppendStreamNotice(dst []byte, workout *StoredSummary, logos providers.Logos) []byte {
	var known struct {
		ProviderID string          `json:"provider_id"`
		Sport      json.RawMessage `json:"sport"`
	}
	_ = json.Unmarshal(workout.Body, &known) // absent fields stay empty
	dst = wearables.AppendUUID(append(dst, `{"user_id":`...), workout.User)
	dst = wearables.AppendUUID(append(dst, `,"workout_id":`...), workout.ID)
	dst = wearables.AppendText(append(dst, `,"provider_id":`...), known.ProviderID)
	dst = wearables.AppendText(append(dst, `,"message":`...), streamMessage)
	dst = wearables.AppendSource(append(dst, `,"source":`...), workout.Source, logos)
	dst = append(dst, `,"sport":`...)
	if known.Sport == nil {
		known.Sport = []byte("null")
	}
	return append(append(dst, known.Sport...), '}')
}

// placeOfStream names the place that the columns of a stream are sealed for.
func placeOfStream(workout uuid.UUID) string { return "workout_streams.data:" + workout.String() }

// numberOrNil returns nil, which becomes NULL, for 0.
func numberOrNil(n int64) *int64 {
	if n == 0 {
		return nil
	}
	return &n
}
