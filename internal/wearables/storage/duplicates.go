package storage

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/blocks"
	"hale/internal/platform/store"
	"hale/internal/wearables"
	"hale/internal/wearables/resources"
)

// A sample has one key: resource, provider, source type and timestamp. Series are
// finer, so several series may have a sample of one key. Each sample records when it
// was stored, and the latest one counts.
//
// Words. An app may send a measurement without its words first and with them
// later, or a stored body is reprocessed with a newer mapping. Of a sample with words
// and one without, of the same source, type and time, every read has the later one.
// Samples with different words are different: a thermometer in the ear, one on the
// forehead. Of two apps the same holds where reads have one sample of each key.
//
// Types. Of two samples that differ in nothing but their types, every read has the later
// one if the resource says so. See resources.Resource.Replaces.
//
// Apps. Grouped reads have a group for each app. LatestSamples and aggregate queries
// keep one sample of each key.
//
// Exports. An Apple Health export repeats what the phone has pushed from the same
// HealthKit store: see transports.go.
//
// Spec: Events, timeseries events: the compound key.

// twin is a series with samples of the same keys as another one. Of two samples that
// were stored in the same millisecond, that of the preferred twin counts.
type twin struct {
	Series
	preferred bool
	pushed    bool // has what the phone pushed, of a series of an export
	sameKey   bool // a pushed sample of the same time counts, whatever its value
}

// linkVersions links the series that differ in nothing but words or types, and whose
// samples replace each other.
func linkVersions(all []Series) {
	if !slices.ContainsFunc(all, func(s Series) bool { return s.Extra != "" || looseType(s.Resource) }) {
		return
	}
	same := map[SeriesKey][]int{}
	for i := range all {
		key := all[i].keyWithoutWords()
		for _, k := range same[key] {
			if a, b := &all[k], &all[i]; a.replaces(b) {
				link(a, b)
			}
		}
		same[key] = append(same[key], i)
	}
}

// keyWithoutWords returns the key without the words, and without a type that does not
// always separate samples.
func (s *Series) keyWithoutWords() SeriesKey {
	key := s.key()
	if key.Extra = ""; looseType(key.Resource) {
		key.Type = ""
	}
	return key
}

// looseType reports whether samples of different types may replace each other.
func looseType(resource string) bool {
	r, ok := resources.Find(resource)
	return ok && (r.OneType || r.LateType)
}

// replacesType reports whether the types of two series allow that a sample of one replaces
// one of the other.
func (s *Series) replacesType(o *Series) bool {
	r, ok := resources.Find(s.Resource)
	return s.Type == o.Type || ok && r.Replaces(s.Type, o.Type)
}

// replaces reports whether the types and words of two series allow that a sample of one
// replaces one of the other.
func (s *Series) replaces(o *Series) bool {
	return s.replacesType(o) && (s.Extra == o.Extra || s.Extra == "" || o.Extra == "")
}

// Replaces reports whether two series differ in nothing but types or words, and their
// samples replace each other.
func (key SeriesKey) Replaces(o SeriesKey) bool {
	a, b := key.Series(uuid.Nil, uuid.Nil, 0, 0), o.Series(uuid.Nil, uuid.Nil, 0, 0)
	return key != o && a.keyWithoutWords() == b.keyWithoutWords() && a.replaces(&b)
}

// Versions returns the series of SeriesOf whose samples may replace those of s, or be
// replaced by them. They have the same app and device.
func (s *Series) Versions() (all []Series) {
	for i := range s.twins {
		if !s.twins[i].pushed {
			all = append(all, s.twins[i].Series)
		}
	}
	return all
}

// Replaced returns the times of the samples in c, of this series, that those of a version
// have replaced. s is from SeriesOf.
func (s *Series) Replaced(ctx context.Context, tx *store.Tx, c *blocks.Columns) (times []int64, err error) {
	alone := *s
	alone.twins = slices.DeleteFunc(slices.Clone(s.twins), func(t twin) bool { return t.pushed })
	var left blocks.Columns
	left.Append(c)
	if err := alone.removeReplaced(ctx, tx, 0, &left); err != nil {
		return nil, err
	}
	for _, at := range c.Time {
		if _, found := slices.BinarySearch(left.Time, at); !found {
			times = append(times, at)
		}
	}
	return times, nil
}

// ReadStored appends the samples of a series that start in [from, to) to dst, also those
// that reads leave out.
func (s *Series) ReadStored(ctx context.Context, tx *store.Tx, from, to int64, dst *blocks.Columns) error {
	alone := *s
	alone.twins = nil
	_, err := alone.read(ctx, tx, from, to, math.MaxInt, true, dst)
	return err
}

// link makes two series twins. The one with words is preferred, otherwise the second one.
func link(a, b *Series) {
	if a.Extra != "" && b.Extra == "" {
		a, b = b, a
	}
	first, second := *a, *b
	first.twins, second.twins = nil, nil
	a.twins = append(a.twins, twin{Series: second, preferred: true})
	b.twins = append(b.twins, twin{Series: first})
}

// LatestOnly links the series of one key, so that reading one leaves out samples that
// another has later. keyOf leaves out the type and the words: they do not always separate.
func LatestOnly[K comparable](all []Series, keyOf func(*Series) K) {
	same := map[K][]int{}
	for i := range all {
		key := keyOf(&all[i])
		for _, k := range same[key] {
			switch a, b := &all[k], &all[i]; {
			case !a.replaces(b):
			case a.Source.IsAppleExport() == b.Source.IsAppleExport():
				link(a, b)
			case a.Source.IsAppleExport():
				a.linkPushed(b, true)
			default:
				b.linkPushed(a, true)
			}
		}
		same[key] = append(same[key], i)
	}
}

// sampleKey is the key of the samples of a series without their time, type and words, as
// the specification has it.
type sampleKey struct {
	Resource, Provider, SourceType, Sport string
	Workout                               uuid.UUID
}

func (s *Series) sampleKey() sampleKey {
	key := s.key()
	return sampleKey{key.Resource, key.Provider, key.SourceType, key.Sport, key.Workout}
}

// WithoutApp returns the key without what separates series whose samples have one key.
func (key SeriesKey) WithoutApp() SeriesKey {
	key.AppID, key.Device, key.Extra = "", uuid.Nil, ""
	if looseType(key.Resource) {
		key.Type = ""
	}
	return key
}

// HasKeyOf reports whether samples of two series have one key if they have one time.
func (s *Series) HasKeyOf(o *Series) bool { return s.sampleKey() == o.sampleKey() && s.replaces(o) }

// removeReplaced removes from dst, after begin, the samples that a twin has too, later.
func (s *Series) removeReplaced(ctx context.Context, tx *store.Tx, begin int, dst *blocks.Columns) error {
	for i := range s.twins {
		t := &s.twins[i]
		if t.pushed {
			if err := s.removePushed(ctx, tx, t, begin, dst); err != nil {
				return err
			}
			continue
		}
		if dst.Len() == begin || !t.Within(dst.Time[begin], dst.Time[dst.Len()-1]+1) {
			continue
		}
		var found blocks.Columns
		if _, err := t.read(ctx, tx, dst.Time[begin], dst.Time[dst.Len()-1]+1, math.MaxInt, true, &found); err != nil {
			return err
		}
		k := found.Len() - 1
		for end := dst.Len(); end > begin; end-- {
			first := end
			for first > begin {
				for k >= 0 && found.Time[k] > dst.Time[first-1] {
					k--
				}
				if k < 0 || found.Time[k] < dst.Time[first-1] || found.Written[k] < dst.Written[first-1] ||
					found.Written[k] == dst.Written[first-1] && !t.preferred {
					break
				}
				first--
			}
			if first < end {
				dst.Cut(first, end)
				end = first
			}
		}
	}
	return nil
}

// ErrTooMany says that a read without pages has more samples than it may.
var ErrTooMany = errors.New("storage: too many samples")

// LatestSamples returns the samples of a query without pages, one of each key: of
// several it keeps the one that was stored last. Samples of different types or
// words have different keys. With more than most samples it returns ErrTooMany.
func LatestSamples(ctx context.Context, tx *store.Tx, team, user uuid.UUID, q SamplesQuery, most int) ([]wearables.Samples, error) {
	if q.Resource == resources.Hypnogram {
		return listHypnograms(ctx, tx, team, user, q)
	}
	series, err := SeriesOf(ctx, tx, team, user, q.Resource)
	if err != nil {
		return nil, err
	}
	LatestOnly(series, func(s *Series) SeriesKey {
		return SeriesKey{Resource: s.Resource, Provider: s.Source.Provider, SourceType: s.Source.Type}
	})
	var groups []wearables.Samples
	for i := range series {
		s := &series[i]
		if q.Provider != "" && s.Source.Provider != q.Provider || !s.Within(q.From, q.To) {
			continue
		}
		var c blocks.Columns
		more, err := s.read(ctx, tx, q.From, q.To, most, false, &c)
		if err != nil {
			return nil, err
		}
		if more {
			return nil, ErrTooMany
		}
		if most -= c.Len(); c.Len() == 0 {
			continue
		}
		group := wearables.Samples{Resource: s.Resource, Type: s.Type, Extra: s.Extra, Source: s.Source}
		group.SetColumns(&c)
		groups = append(groups, group)
	}
	return groups, nil
}

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
