package storage

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"time"

	"hale/internal/platform/store"
	"hale/internal/wearables"

	"github.com/google/uuid"
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
	// Oldest and Newest are when its first and its last sample start, UTC
	// microseconds, where SeriesOf read it.
	Oldest, Newest int64

	fuller []Series // those that it leaves samples to: see said.go
}

// SeriesKey is what tells a series apart from the user's others. It is finer
// than the key that the spec gives samples: two apps of one source type may
// write the same minute and must not overwrite each other.
type SeriesKey struct {
	Resource, Provider, SourceType, AppID string
	Device                                uuid.UUID
	Type, Extra, Sport                    string
	Workout                               uuid.UUID
}

// KeyOfSource is the part of an identity that is the source.
func KeyOfSource(s wearables.Source) SeriesKey {
	id := SeriesKey{
		Provider: s.Provider, SourceType: s.Type, AppID: s.AppID, Sport: s.Sport,
	}
	if id.SourceType == "" {
		id.SourceType = "unknown"
	}
	if s.DeviceID != nil {
		id.Device = *s.DeviceID
	}
	if s.WorkoutID != nil {
		id.Workout = *s.WorkoutID
	}
	return id
}

func (id SeriesKey) Source() wearables.Source {
	s := wearables.Source{Provider: id.Provider, Type: id.SourceType, AppID: id.AppID, Sport: id.Sport}
	if id.Device != uuid.Nil {
		s.DeviceID = &id.Device
	}
	if id.Workout != uuid.Nil {
		s.WorkoutID = &id.Workout
	}
	return s
}

// Compare orders keys.
func (id SeriesKey) Compare(o SeriesKey) int {
	return strings.Compare(id.text(), o.text())
}

func (id SeriesKey) text() string {
	return strings.Join([]string{
		id.Resource, id.Provider, id.SourceType, id.AppID, id.Type, id.Extra, id.Sport, string(id.Device[:]), string(id.Workout[:]),
	}, "\x00")
}

func (id SeriesKey) Series(team, user uuid.UUID, no int64, width time.Duration) Series {
	return Series{
		ID: no, Team: team, User: user, Resource: id.Resource, Type: id.Type, Extra: id.Extra,
		Source: id.Source(), Width: width,
	}
}

// FindSeries reads the series of an identity; ok is false when there is none.
func FindSeries(ctx context.Context, tx *store.Tx, team, user uuid.UUID, id SeriesKey) (s Series, ok bool, err error) {
	var no, width int64
	err = tx.QueryRow(ctx, `SELECT id, width_us FROM series
		WHERE team_id = $1 AND user_id = $2 AND resource = $3 AND provider = $4 AND source_type = $5 AND app_id = $6
			AND device_id = $7 AND sample_type = $8 AND extra = $9 AND sport = $10 AND workout_id = $11`,
		team, user, id.Resource, id.Provider, id.SourceType, id.AppID,
		id.Device, id.Type, id.Extra, id.Sport, id.Workout).Scan(&no, &width)
	if errors.Is(err, store.ErrNoRows) {
		return Series{}, false, nil
	}
	return id.Series(team, user, no, time.Duration(width)*time.Microsecond), err == nil, err
}

// CreateSeries adds a series. It returns errRace when another transaction
// took the number or made the same series.
func CreateSeries(ctx context.Context, tx *store.Tx, team, user uuid.UUID, id SeriesKey, width time.Duration) (Series, error) {
	var no int64
	if err := tx.QueryRow(ctx, `SELECT COALESCE(MAX(id), 0) + 1 FROM series WHERE team_id = $1 AND user_id = $2`,
		team, user).Scan(&no); err != nil {
		return Series{}, err
	}
	made, err := tx.Exec(ctx, `INSERT INTO series (team_id, user_id, id, resource, provider, source_type, app_id,
			device_id, sample_type, extra, sport, workout_id, width_us, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14) ON CONFLICT DO NOTHING`,
		team, user, no, id.Resource, id.Provider, id.SourceType, id.AppID,
		id.Device, id.Type, id.Extra, id.Sport, id.Workout, width.Microseconds(), store.Micros(tx.Now()))
	if err == nil && made == 0 {
		err = ErrStale
	}
	return id.Series(team, user, no, width), err
}

// Bucket is the start of the block that holds an instant.
func (s *Series) Bucket(us int64) int64 {
	width := s.Width.Microseconds()
	return floorDiv(us, width) * width
}

// Every workout has a series of its own, so a list may be of thousands. One
// statement tells which of them reach into a time: two lookups for each.
const (
	selectSeries = `SELECT id, team_id, user_id, resource, sample_type, extra, provider, source_type, app_id, device_id, sport, workout_id, width_us,
			(SELECT b.t_min FROM sample_blocks b WHERE b.team_id = s.team_id AND b.user_id = s.user_id AND b.series_id = s.id
				ORDER BY b.bucket LIMIT 1),
			(SELECT b.t_max FROM sample_blocks b WHERE b.team_id = s.team_id AND b.user_id = s.user_id AND b.series_id = s.id
				ORDER BY b.bucket DESC LIMIT 1)
		FROM series s WHERE team_id = $1 AND user_id = $2`
	inSeriesOrder = ` ORDER BY provider, source_type, app_id, device_id, sport, workout_id, sample_type, resource, extra DESC, id`
)

// SeriesOf lists a user's series of a resource that have samples, those of one
// source side by side, and one without words behind its like with some. An
// empty resource means all.
func SeriesOf(ctx context.Context, tx *store.Tx, team, user uuid.UUID, resource string) ([]Series, error) {
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
	var like likeness
	for rows.Next() {
		var s Series
		var id SeriesKey
		var width int64
		var oldest, newest sql.NullInt64
		if err := rows.Scan(&s.ID, &s.Team, &s.User, &id.Resource, &id.Type, &id.Extra, &id.Provider, &id.SourceType,
			&id.AppID, &id.Device, &id.Sport, &id.Workout, &width, &oldest, &newest); err != nil {
			return nil, err
		}
		if !oldest.Valid || !newest.Valid {
			continue
		}
		s = id.Series(s.Team, s.User, s.ID, time.Duration(width)*time.Microsecond)
		s.Oldest, s.Newest = oldest.Int64, newest.Int64
		s.fuller = like.fullerThan(id, s)
		all = append(all, s)
	}
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
