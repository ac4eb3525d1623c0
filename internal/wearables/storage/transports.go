package storage

import (
	"context"
	"math"
	"sort"

	"github.com/google/uuid"

	"hale/internal/platform/blocks"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// An Apple Health export has the samples that the phone may have pushed already, under
// other app ids and in whole seconds. Every read leaves out a sample of the export that
// the phone has pushed, so the order of import and push does not matter. The phone has
// pushed a sample in any of these cases:
//
//   - A pushed sample of the same source type and value starts in the same second.
//   - The source is a phone or a watch, and a pushed sample of that type starts in the
//     same second.
//   - The source is a phone or a watch, and a pushed interval of that type contains the
//     middle of the export's sample. The interval lasts at most an hour. Phones push sums
//     of some minutes; exports have single records.

// longestSum is the longest pushed interval that replaces samples of an export.
const longestSum = 3600 * secondUS

// linkTransports links the series of exports with the series that phones pushed.
func linkTransports(all []Series) {
	var pushed map[SeriesKey][]int
	for i := range all {
		if !all[i].Source.IsAppleExport() {
			continue
		}
		if pushed == nil {
			pushed = pushedSeries(all)
		}
		for _, k := range pushed[all[i].keyWithoutApp()] {
			if all[i].replacesType(&all[k]) {
				all[i].linkPushed(&all[k], false)
			}
		}
	}
}

// linkPushed links a series of an export with a pushed one.
func (s *Series) linkPushed(pushed *Series, sameKey bool) {
	other := *pushed
	other.twins = nil
	s.twins = append(s.twins, twin{Series: other, preferred: true, pushed: true, sameKey: sameKey})
}

func pushedSeries(all []Series) map[SeriesKey][]int {
	pushed := map[SeriesKey][]int{}
	for i := range all {
		if !all[i].Source.IsAppleExport() {
			key := all[i].keyWithoutApp()
			pushed[key] = append(pushed[key], i)
		}
	}
	return pushed
}

// keyWithoutApp returns the key without the fields that an export names differently: the
// app, the device and the words.
func (s *Series) keyWithoutApp() SeriesKey {
	key := s.keyWithoutWords()
	key.AppID, key.Device = "", SeriesKey{}.Device
	return key
}

// removePushed removes from dst, after begin, the samples of an export that the phone has
// pushed.
func (s *Series) removePushed(ctx context.Context, tx *store.Tx, t *twin, begin int, dst *blocks.Columns) error {
	if dst.Len() == begin {
		return nil
	}
	from, to := dst.Time[begin]-longestSum, dst.Time[dst.Len()-1]+longestSum
	if !t.Within(from, to) {
		return nil
	}
	var found blocks.Columns
	if _, err := t.read(ctx, tx, from, to, math.MaxInt, true, &found); err != nil {
		return err
	}
	p := newPushedSamples(&found, s.Source.IsOtherTransport(&t.Source))
	p.sameKey = t.sameKey
	for end := dst.Len(); end > begin; end-- {
		first := end
		for first > begin && p.has(dst, first-1) {
			first--
		}
		if first < end {
			dst.Cut(first, end)
			end = first + 1
		}
	}
	return nil
}

// pushedSamples contains the samples of a phone, in order of time.
type pushedSamples struct {
	*blocks.Columns
	sameDevice bool
	sameKey    bool
	until      []int64 // the latest end of the sums up to each sample
}

func newPushedSamples(c *blocks.Columns, sameDevice bool) pushedSamples {
	p := pushedSamples{Columns: c, sameDevice: sameDevice}
	if !sameDevice || len(c.End) == 0 {
		return p
	}
	latest := int64(math.MinInt64)
	for i, end := range c.End {
		if end-c.Time[i] <= longestSum {
			latest = max(latest, end)
		}
		p.until = append(p.until, latest)
	}
	return p
}

// has reports whether sample i of an export is among the pushed ones.
func (p *pushedSamples) has(c *blocks.Columns, i int) bool {
	second := floorDiv(c.Time[i], secondUS) * secondUS
	at := sort.Search(len(p.Time), func(k int) bool { return p.Time[k] >= second })
	for k := at; k < len(p.Time) && p.Time[k] < second+secondUS; k++ {
		if p.sameDevice || p.Value[k] == c.Value[i] || p.sameKey && p.Time[k] == c.Time[i] {
			return true
		}
	}
	if p.until == nil || len(c.End) == 0 {
		return false
	}
	middle := c.Time[i] + (c.End[i]-c.Time[i])/2
	last := sort.Search(len(p.Time), func(k int) bool { return p.Time[k] > middle }) - 1
	return last >= 0 && p.until[last] > middle
}

// WithoutPushed removes from c the samples that the phone has pushed, because reads leave
// them out. c belongs to a series of an export.
func (s *Series) WithoutPushed(ctx context.Context, tx *store.Tx, c *blocks.Columns) error {
	if c.Len() == 0 {
		return nil
	}
	all, err := SeriesOf(ctx, tx, s.Team, s.User, s.Resource)
	if err != nil {
		return err
	}
	for i := range all {
		if o := &all[i]; !o.Source.IsAppleExport() && o.keyWithoutApp() == s.keyWithoutApp() && o.replacesType(s) {
			if err := s.removePushed(ctx, tx, &twin{Series: *o, pushed: true}, 0, c); err != nil {
				return err
			}
		}
	}
	return nil
}

// ofExports selects the series of exports. The index series_of_exports has the same
// condition. The 5 is the version of a digest: Apple's own
// ids, which phones push, have a random UUID.
const ofExports = `provider = 'apple_health_kit' AND (app_id LIKE 'com.apple.health.________-____-5%' OR app_id LIKE 'healthkit.source.%')`

// ResourcesOfExports returns the resources of which a user has samples from an export.
func ResourcesOfExports(ctx context.Context, tx *store.Tx, team, user uuid.UUID) (resources []string, err error) {
	rows, err := tx.Query(ctx, `SELECT DISTINCT resource FROM series WHERE team_id = $1 AND user_id = $2 AND `+ofExports, team, user)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		resources = append(resources, name)
	}
	return resources, rows.Err()
}

// WithExports returns which of some users have samples from an export.
func WithExports(ctx context.Context, tx *store.Tx, team teams.ID, users []uuid.UUID) (map[uuid.UUID]bool, error) {
	found := map[uuid.UUID]bool{}
	take := func(row store.Scanner) error {
		var id uuid.UUID
		err := row.Scan(&id)
		found[id] = true
		return err
	}
	var b store.Batch
	err := store.Chunks(users, []int{64, 16, 4, 1}, func(part []uuid.UUID) error {
		args := []any{team}
		for _, id := range part {
			args = append(args, id)
		}
		b.Query(take, `SELECT DISTINCT user_id FROM series WHERE team_id = $1 AND user_id IN `+store.Placeholders(2, len(part))+` AND `+ofExports, args...)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return found, tx.Run(ctx, &b)
}

// ExportsOf returns the series of exports whose samples reads leave out if a pushed series
// has them too.
func (s *Series) ExportsOf(ctx context.Context, tx *store.Tx) (exports []Series, err error) {
	all, err := SeriesOf(ctx, tx, s.Team, s.User, s.Resource)
	for i := range all {
		if o := &all[i]; o.Source.IsAppleExport() && o.keyWithoutApp() == s.keyWithoutApp() && o.replacesType(s) {
			exports = append(exports, *o)
		}
	}
	return exports, err
}

// HiddenSamples are samples of exports that reads start to leave out, or stop leaving
// out.
type HiddenSamples struct {
	N           int64
	First, Last int64 // UTC microseconds
}

// Add adds the samples of an export's series that a change of a pushed series hides, or
// no longer hides. before and after contain the changed samples, in time order. Call Add
// before the changed samples are stored.
func (h *HiddenSamples) Add(ctx context.Context, tx *store.Tx, export, pushed *Series, before, after *blocks.Columns) error {
	if after.Len() == 0 {
		return nil
	}
	from, to := after.Time[0]-longestSum, after.Time[after.Len()-1]+longestSum
	if !export.Within(from, to) {
		return nil
	}
	var all, visible blocks.Columns
	alone := *export
	alone.twins = nil
	if _, err := alone.read(ctx, tx, from, to, math.MaxInt, true, &all); err != nil {
		return err
	}
	if _, err := export.read(ctx, tx, from, to, math.MaxInt, true, &visible); err != nil {
		return err
	}
	sameDevice := export.Source.IsOtherTransport(&pushed.Source)
	was, is := newPushedSamples(before, sameDevice), newPushedSamples(after, sameDevice)
	k := 0
	for i, at := range all.Time {
		for k < visible.Len() && visible.Time[k] < at {
			k++
		}
		shown := k < visible.Len() && visible.Time[k] == at
		if hides := is.has(&all, i); hides == shown && (shown || was.has(&all, i)) {
			h.add(at)
		}
	}
	return nil
}

func (h *HiddenSamples) add(at int64) {
	if h.N++; h.N == 1 {
		h.First = at
	}
	h.First, h.Last = min(h.First, at), max(h.Last, at)
}

// AroundHidden extends a range of deleted samples by the export samples that they may
// have hidden.
func AroundHidden(first, last int64) (from, to int64) { return first - longestSum, last + longestSum }
