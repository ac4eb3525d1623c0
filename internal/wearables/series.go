package wearables

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/blocks"
	"hale/internal/platform/store"
)

// Series is one user's measurements of one kind from one source. Its ID is
// the source_id of events; it counts from 1 inside the user.
type Series struct {
	ID         int64
	Team, User uuid.UUID
	Resource   string
	Type       string // the samples' type word, mostly empty
	Extra      string // ExtraText of their further words, mostly empty
	Source     Source
	Width      time.Duration // how much time one of its blocks covers
	// Oldest and Newest are when its first and its last sample start, UTC
	// microseconds, where SeriesOf read it.
	Oldest, Newest int64

	fuller []Series // those that it leaves samples to: see said.go
}

// identity is what tells a series apart from the user's others. It is finer
// than the key that the spec gives samples: two apps of one source type may
// write the same minute and must not overwrite each other.
type identity struct {
	resource, provider, sourceType, appID string
	device                                uuid.UUID
	sampleType, extra, sport              string
	workout                               uuid.UUID
}

// identityOf is the part of an identity that is the source.
func identityOf(s Source) identity {
	id := identity{
		provider: s.Provider, sourceType: s.Type, appID: s.AppID, sport: s.Sport,
	}
	if id.sourceType == "" {
		id.sourceType = "unknown"
	}
	if s.DeviceID != nil {
		id.device = *s.DeviceID
	}
	if s.WorkoutID != nil {
		id.workout = *s.WorkoutID
	}
	return id
}

func (id identity) source() Source {
	s := Source{Provider: id.provider, Type: id.sourceType, AppID: id.appID, Sport: id.sport}
	if id.device != uuid.Nil {
		s.DeviceID = &id.device
	}
	if id.workout != uuid.Nil {
		s.WorkoutID = &id.workout
	}
	return s
}

func (id identity) series(team, user uuid.UUID, no int64, width time.Duration) Series {
	return Series{
		ID: no, Team: team, User: user, Resource: id.resource, Type: id.sampleType, Extra: id.extra,
		Source: id.source(), Width: width,
	}
}

// findSeries reads the series of an identity; ok is false when there is none.
func findSeries(ctx context.Context, tx *store.Tx, team, user uuid.UUID, id identity) (s Series, ok bool, err error) {
	var no, width int64
	err = tx.QueryRow(ctx, `SELECT id, width_us FROM series
		WHERE team_id = $1 AND user_id = $2 AND resource = $3 AND provider = $4 AND source_type = $5 AND app_id = $6
			AND device_id = $7 AND sample_type = $8 AND extra = $9 AND sport = $10 AND workout_id = $11`,
		team, user, id.resource, id.provider, id.sourceType, id.appID,
		id.device, id.sampleType, id.extra, id.sport, id.workout).Scan(&no, &width)
	if errors.Is(err, store.ErrNoRows) {
		return Series{}, false, nil
	}
	return id.series(team, user, no, time.Duration(width)*time.Microsecond), err == nil, err
}

// createSeries adds a series. It returns errRace when another transaction
// took the number or made the same series.
func createSeries(ctx context.Context, tx *store.Tx, team, user uuid.UUID, id identity, width time.Duration) (Series, error) {
	var no int64
	if err := tx.QueryRow(ctx, `SELECT COALESCE(MAX(id), 0) + 1 FROM series WHERE team_id = $1 AND user_id = $2`,
		team, user).Scan(&no); err != nil {
		return Series{}, err
	}
	made, err := tx.Exec(ctx, `INSERT INTO series (team_id, user_id, id, resource, provider, source_type, app_id,
			device_id, sample_type, extra, sport, workout_id, width_us, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14) ON CONFLICT DO NOTHING`,
		team, user, no, id.resource, id.provider, id.sourceType, id.appID,
		id.device, id.sampleType, id.extra, id.sport, id.workout, width.Microseconds(), store.Micros(tx.Now()))
	if err == nil && made == 0 {
		err = errRace
	}
	return id.series(team, user, no, width), err
}

// dense is the mean step below which a series is a stream and gets narrow
// blocks.
const dense = 10 * time.Second

// widthFor chooses the block width of a new series by its first samples.
func widthFor(r *Resource, c *blocks.Columns) time.Duration {
	n := c.Len()
	if n >= 60 && time.Duration(c.Time[n-1]-c.Time[0])*time.Microsecond/time.Duration(n-1) < dense {
		return min(r.Width, time.Hour)
	}
	return r.Width
}

// bucketOf is the start of the block that holds an instant.
func (s *Series) bucketOf(us int64) int64 {
	width := s.Width.Microseconds()
	return floorDiv(us, width) * width
}

// mostCachedSeries bounds the memory for known series, some 400 bytes each.
const mostCachedSeries = 200_000

// seriesCache remembers series by identity; when full it starts over. Series
// are never renamed or renumbered, so an entry stays true.
type seriesCache struct {
	mu    sync.RWMutex
	known map[seriesKey]Series
}

type seriesKey struct {
	user uuid.UUID
	identity
}

func (c *seriesCache) get(user uuid.UUID, id identity) (Series, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	s, ok := c.known[seriesKey{user, id}]
	return s, ok
}

func (c *seriesCache) put(s Series, id identity) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil || len(c.known) >= mostCachedSeries {
		c.known = map[seriesKey]Series{}
	}
	c.known[seriesKey{s.User, id}] = s
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
		if r, ok := ResourceNamed(resource); ok {
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
		var id identity
		var width int64
		var oldest, newest sql.NullInt64
		if err := rows.Scan(&s.ID, &s.Team, &s.User, &id.resource, &id.sampleType, &id.extra, &id.provider, &id.sourceType,
			&id.appID, &id.device, &id.sport, &id.workout, &width, &oldest, &newest); err != nil {
			return nil, err
		}
		if !oldest.Valid || !newest.Valid {
			continue
		}
		s = id.series(s.Team, s.User, s.ID, time.Duration(width)*time.Microsecond)
		s.Oldest, s.Newest = oldest.Int64, newest.Int64
		s.fuller = like.fullerThan(id, s)
		all = append(all, s)
	}
	return all, rows.Err()
}
