package storage

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"time"

	"github.com/google/uuid"

	"hale/internal/people/users"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
	"hale/internal/wearables"
)

// Series is one user's measurements of one kind from one source. Its ID is
// the source_id of events; it counts from 1 inside the user.
type Series struct {
	ID         int64
	Team, User uuid.UUID
	Resource   string
	Type       string // the samples' type word, mostly empty
	Extra      string // ExtraText of their further words, mostly empty
	Source     wearables.Source
	Width      time.Duration // how much time one of its blocks covers
	// Oldest and Newest are the starts of its first and last sample, UTC
	// microseconds. SeriesOf reads them.
	Oldest, Newest int64

	twins []twin // series with samples of the same keys: see duplicates.go
}

// SeriesKey identifies a series of a user. It is finer than the key of a sample in
// the specification. Two apps of one source type may write the same minute, and
// neither overwrites the other. See LatestSamples.
type SeriesKey struct {
	Resource, Provider, SourceType, AppID string
	Device                                uuid.UUID
	Type, Extra, Sport                    string
	Workout                               uuid.UUID
}

// KeyOfSource returns the key with the fields of a source.
func KeyOfSource(s wearables.Source) SeriesKey {
	key := SeriesKey{
		Provider: s.Provider, SourceType: s.Type, AppID: s.AppID, Sport: s.Sport,
	}
	if key.SourceType == "" {
		key.SourceType = "unknown"
	}
	if s.DeviceID != nil {
		key.Device = *s.DeviceID
	}
	if s.WorkoutID != nil {
		key.Workout = *s.WorkoutID
	}
	return key
}

// Source returns the source.
func (key SeriesKey) Source() wearables.Source {
	s := wearables.Source{Provider: key.Provider, Type: key.SourceType, AppID: key.AppID, Sport: key.Sport}
	if key.Device != uuid.Nil {
		s.DeviceID = &key.Device
	}
	if key.Workout != uuid.Nil {
		s.WorkoutID = &key.Workout
	}
	return s
}

// Compare orders keys.
func (key SeriesKey) Compare(o SeriesKey) int {
	return strings.Compare(key.text(), o.text())
}

func (key SeriesKey) text() string {
	return strings.Join([]string{
		key.Resource, key.Provider, key.SourceType, key.AppID, key.Type, key.Extra, key.Sport, string(key.Device[:]), string(key.Workout[:]),
	}, "\x00")
}

// Series returns the series with a number.
func (key SeriesKey) Series(team, user uuid.UUID, no int64, width time.Duration) Series {
	return Series{
		ID: no, Team: team, User: user, Resource: key.Resource, Type: key.Type, Extra: key.Extra,
		Source: key.Source(), Width: width,
	}
}

// FindSeries reads the series of a key; ok is false if there is none.
func FindSeries(ctx context.Context, tx *store.Tx, team, user uuid.UUID, key SeriesKey) (s Series, ok bool, err error) {
	var no, width int64
	err = tx.QueryRow(ctx, `SELECT id, width_us FROM series
		WHERE team_id = $1 AND user_id = $2 AND resource = $3 AND provider = $4 AND source_type = $5 AND app_id = $6
			AND device_id = $7 AND sample_type = $8 AND extra = $9 AND sport = $10 AND workout_id = $11`,
		team, user, key.Resource, key.Provider, key.SourceType, key.AppID,
		key.Device, key.Type, key.Extra, key.Sport, key.Workout).Scan(&no, &width)
	if errors.Is(err, store.ErrNoRows) {
		return Series{}, false, nil
	}
	return key.Series(team, user, no, time.Duration(width)*time.Microsecond), err == nil, err
}

// CreateSeries adds a series. It returns ErrStale if another transaction took the
// number or added the same series.
func CreateSeries(ctx context.Context, tx *store.Tx, team, user uuid.UUID, key SeriesKey, width time.Duration) (Series, error) {
	var no int64
	if err := tx.QueryRow(ctx, `SELECT COALESCE(MAX(id), 0) + 1 FROM series WHERE team_id = $1 AND user_id = $2`,
		team, user).Scan(&no); err != nil {
		return Series{}, err
	}
	made, err := tx.Exec(ctx, `INSERT INTO series (team_id, user_id, id, resource, provider, source_type, app_id,
			device_id, sample_type, extra, sport, workout_id, width_us, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14) ON CONFLICT DO NOTHING`,
		team, user, no, key.Resource, key.Provider, key.SourceType, key.AppID,
		key.Device, key.Type, key.Extra, key.Sport, key.Workout, width.Microseconds(), store.Micros(tx.Now()))
	if err == nil && made == 0 {
		err = ErrStale
	}
	return key.Series(team, user, no, width), err
}

// key returns the key of the series.
func (s *Series) key() SeriesKey {
	key := KeyOfSource(s.Source)
	key.Resource, key.Type, key.Extra = s.Resource, s.Type, s.Extra
	return key
}

// Bucket returns the start of the block that contains an instant.
func (s *Series) Bucket(us int64) int64 {
	width := s.Width.Microseconds()
	return floorDiv(us, width) * width
}

// Every workout has its own series, so a user may have thousands. One statement
// reads when they start and end, with two lookups for each.
const (
	selectSeries = `SELECT id, team_id, user_id, resource, sample_type, extra, provider, source_type, app_id, device_id, sport, workout_id, width_us,
			(SELECT b.t_min FROM sample_blocks b WHERE b.team_id = s.team_id AND b.user_id = s.user_id AND b.series_id = s.id AND b.n > 0
				ORDER BY b.bucket LIMIT 1),
			(SELECT b.t_max FROM sample_blocks b WHERE b.team_id = s.team_id AND b.user_id = s.user_id AND b.series_id = s.id AND b.n > 0
				ORDER BY b.bucket DESC LIMIT 1)
		FROM series s WHERE team_id = $1 AND user_id = $2`
	inSeriesOrder = ` ORDER BY provider, source_type, app_id, device_id, sport, workout_id, sample_type, resource, extra DESC, id`
)

// SeriesOf lists a user's series of a resource that have samples. Series of one source
// are adjacent, and a series without words follows those with words. An empty resource
// means all.
func SeriesOf(ctx context.Context, tx *store.Tx, team, user uuid.UUID, resource string) ([]Series, error) {
	return seriesOf(ctx, tx, team, user, resource, false)
}

// seriesOf lists series like SeriesOf. If empty is set, it also lists series whose
// samples were all deleted.
func seriesOf(ctx context.Context, tx *store.Tx, team, user uuid.UUID, resource string, empty bool) ([]Series, error) {
	query, args := selectSeries, []any{team, user}
	if resource != "" {
		if r, ok := wearables.ResourceNamed(resource); ok {
			resource = r.Name
		}
		query, args = query+` AND resource = $3`, append(args, resource)
	}
	rows, err := tx.Query(ctx, query+inSeriesOrder, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []Series
	for rows.Next() {
		var s Series
		var key SeriesKey
		var width int64
		var oldest, newest sql.NullInt64
		if err := rows.Scan(&s.ID, &s.Team, &s.User, &key.Resource, &key.Type, &key.Extra, &key.Provider, &key.SourceType,
			&key.AppID, &key.Device, &key.Sport, &key.Workout, &width, &oldest, &newest); err != nil {
			return nil, err
		}
		if !empty && (!oldest.Valid || !newest.Valid) {
			continue
		}
		s = key.Series(s.Team, s.User, s.ID, time.Duration(width)*time.Microsecond)
		s.Oldest, s.Newest = oldest.Int64, newest.Int64
		all = append(all, s)
	}
	linkVersions(all)
	linkTransports(all)
	return all, rows.Err()
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// Microseconds in a second and in a day.
const (
	secondUS = 1_000_000
	dayUS    = 24 * 3600 * secondUS
)

// UserRecords returns the rows of users in this package.
func UserRecords() []users.Records {
	samples := users.Records{Name: "sample_blocks", Erase: eraseBlocks}
	return append(users.RowsOf("series", "summaries", "deleted_summaries", "sample_records", "import_changes", "workout_streams", "history_announced", "resource_statistics"), samples)
}

// eraseAtOnce bounds the blocks that one transaction deletes, so that years of data
// do not occupy the writer.
const eraseAtOnce = 2000

// eraseBlocks deletes some blocks of a user and reports whether there may be more.
func eraseBlocks(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID) (more bool, err error) {
	n, err := tx.Exec(ctx, `DELETE FROM sample_blocks WHERE team_id = $1 AND user_id = $2 AND (series_id, bucket) IN (
		SELECT series_id, bucket FROM sample_blocks WHERE team_id = $1 AND user_id = $2 ORDER BY series_id, bucket LIMIT $3)`,
		team.UUID(), user.UUID(), eraseAtOnce)
	return n == eraseAtOnce, err
}
