package storage

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/store"
	"hale/internal/wearables"
)

// Session is a stored sleep or workout without its body.
type Session struct {
	ID, Team, User, Record uuid.UUID // Record is zero if the provider stated none
	Resource               string
	Source                 wearables.Source
	start, end, updated    int64
}

const selectSessions = `SELECT team_id, user_id, resource, id, provider, source_type, app_id, device_id, record_id, start_at, end_at, updated_at
	FROM summaries WHERE resource IN ('sleep', 'workouts') AND start_at IS NOT NULL AND end_at IS NOT NULL`

// DuplicateSessions calls fn with each duplicate session of a user. A duplicate was
// stored before the rules of identity existed. If it were sent today, it would count as
// a version of a newer stored session. A zero user means all users of all teams.
func DuplicateSessions(ctx context.Context, tx *store.Tx, team, user uuid.UUID, fn func(*Session)) error {
	query, args := selectSessions, []any{}
	if user != uuid.Nil {
		query, args = query+` AND team_id = $1 AND user_id = $2`, []any{team, user}
	}
	rows, err := tx.Query(ctx, query+` ORDER BY user_id, resource, provider`, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	var group []Session
	flush := func() {
		for _, i := range olderVersions(group) {
			fn(&group[i])
		}
		group = group[:0]
	}
	for rows.Next() {
		var s Session
		var key SeriesKey
		var record *uuid.UUID
		if err := rows.Scan(&s.Team, &s.User, &s.Resource, &s.ID, &key.Provider, &key.SourceType, &key.AppID, &key.Device, &record, &s.start, &s.end, &s.updated); err != nil {
			return err
		}
		if s.Source = key.Source(); record != nil {
			s.Record = *record
		}
		if len(group) > 0 && !group[0].isOfGroup(&s) {
			flush()
		}
		group = append(group, s)
	}
	flush()
	return errors.Join(rows.Err(), rows.Close())
}

func (s *Session) isOfGroup(o *Session) bool {
	return s.User == o.User && s.Resource == o.Resource && s.Source.Provider == o.Source.Provider
}

// olderVersions returns the positions of sessions of one user, resource and provider that
// are versions of a newer one. A phone may send a part of a night after the whole night:
// then the part is the older version. If the part has an id, both stay.
func olderVersions(all []Session) (older []int) {
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(all[b].updated, all[a].updated), slices.Compare(all[a].ID[:], all[b].ID[:]))
	})
	records, byDay := map[uuid.UUID]bool{}, map[int64][]int{}
	day := (24 * time.Hour).Microseconds()
	for _, i := range order {
		s := &all[i]
		first, last := floorDiv(s.start, day), floorDiv(s.end, day)
		known := s.Record != uuid.Nil && records[s.Record]
		var parts []int
		for d := first; d <= last && !known; d++ {
			for _, k := range byDay[d] {
				switch newer := &all[k]; {
				case !s.isVersionOf(newer):
				case !newer.isFragmentOf(s):
					known = true
				case newer.Record == uuid.Nil && !slices.Contains(parts, k):
					parts = append(parts, k)
				}
			}
		}
		if known {
			older = append(older, i)
			continue
		}
		for _, k := range parts {
			older = append(older, k)
			for d := range byDay {
				byDay[d] = slices.DeleteFunc(byDay[d], func(o int) bool { return o == k })
			}
		}
		records[s.Record] = true
		for d := first; d <= last; d++ {
			byDay[d] = append(byDay[d], i)
		}
	}
	return older
}

// isVersionOf reports whether two sessions of different records are one by their time.
func (s *Session) isVersionOf(o *Session) bool {
	return (s.Record == uuid.Nil || o.Record == uuid.Nil) && s.Source.SameRecorder(&o.Source) &&
		wearables.ShareMostTime(s.Resource, s.start, s.end, o.start, o.end)
}

// isFragmentOf reports whether a sleep is only a part of another one.
func (s *Session) isFragmentOf(o *Session) bool {
	return wearables.IsFragment(s.Resource, s.start, s.end, o.start, o.end)
}
