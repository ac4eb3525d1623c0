package derive

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"sort"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/civil"
	"hale/internal/platform/store"
	"hale/internal/wearables"
	"hale/internal/wearables/merged"
)

// Segments of one source belong to one session if the pause between them is not longer
// than this. A phone that records only the time in bed has longer pauses.
const (
	longestPause      = 30 * 60 * secondUS
	longestPhonePause = 120 * 60 * secondUS
)

// session is one sleep as one source recorded it.
type session struct {
	source wearables.Source
	record string // the provider's own id; empty if it has none
	interval
	stages []Segment // in order, without overlap, neighbours differ
	inBed  bool      // the bounds come from time in bed
	offset int32     // at waking
	day    civil.Date
	heart  []float64
}

// nights derives sleep and sleep_cycle for the sessions that end on the wanted days, from
// segments that start in [from, to).
func (d *Deriver) nights(ctx context.Context, found tracks, wanted map[civil.Date]bool, from, to int64) ([]wearables.Summary, error) {
	var sessions []*session
	for _, s := range d.Sleep {
		sessions = append(sessions, s.sessions(from, to)...)
	}
	for _, s := range sessions {
		s.heart = valuesIn(found["heartrate"], s.interval, s.source)
	}
	slices.SortFunc(sessions, func(a, b *session) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(originOf(a.source).key(), originOf(b.source).key()))
	})
	sessions = sourceWithMost(sessions)
	if err := d.date(ctx, sessions); err != nil {
		return nil, err
	}
	var all []wearables.Summary
	for _, s := range sessions {
		if wanted[s.day] {
			all = append(all, d.sleepOf(s, found)...)
		}
	}
	return all, nil
}

// date finds the days that sessions end on.
func (d *Deriver) date(ctx context.Context, sessions []*session) error {
	if len(sessions) == 0 {
		return nil
	}
	return d.DB.Read(ctx, func(tx *store.Tx) (err error) {
		for _, s := range sessions {
			if s.day, err = d.dayOf(ctx, tx, "sleep", sessionKey(s.Start, s.source), s.End, s.offset); err != nil {
				return err
			}
		}
		return nil
	})
}

// between returns a copy of the segments that start in [from, to), in order, without
// empty ones and those longer than a day. It sorts the segments of s at the first call.
func (s *Sleeper) between(from, to int64) []Segment {
	inOrder := func(a, b Segment) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End), cmp.Compare(a.Stage, b.Stage))
	}
	if !slices.IsSortedFunc(s.Segments, inOrder) {
		slices.SortFunc(s.Segments, inOrder)
	}
	at := func(t int64) int {
		return sort.Search(len(s.Segments), func(i int) bool { return s.Segments[i].Start >= t })
	}
	part := slices.Clone(s.Segments[at(from):at(to)])
	return slices.DeleteFunc(part, func(g Segment) bool { return g.End <= g.Start || g.End-g.Start > dayUS })
}

// sessions returns the sessions whose segments start in [from, to). Each id is one session;
// the other segments are cut by their pauses.
func (s *Sleeper) sessions(from, to int64) []*session {
	byRecord := map[int32][]Segment{}
	for _, part := range s.between(from, to) {
		byRecord[part.record] = append(byRecord[part.record], part)
	}
	all := sessionsOf(s.Source, byRecord[0])
	delete(byRecord, 0)
	for _, number := range slices.Sorted(maps.Keys(byRecord)) {
		one := sessionOf(s.Source, byRecord[number])
		one.record = s.records[number-1]
		all = append(all, one)
	}
	return all
}

// sessionsOf cuts the segments of one source, which are in order, into sessions.
func sessionsOf(source wearables.Source, all []Segment) []*session {
	pause := longestPause
	if source.Type == "phone" && !slices.ContainsFunc(all, func(s Segment) bool { return s.Stage != InBed }) {
		pause = longestPhonePause
	}
	var sessions []*session
	first := 0
	var end int64
	for i, s := range all {
		// A session of more than a day is a mistake of the source: cut it.
		if i > 0 && (s.Start-end > pause || max(end, s.End)-all[first].Start > dayUS) {
			sessions = append(sessions, sessionOf(source, all[first:i]))
			first, end = i, 0
		}
		end = max(end, s.End)
	}
	if len(all) > 0 {
		sessions = append(sessions, sessionOf(source, all[first:]))
	}
	return sessions
}

func sessionOf(source wearables.Source, all []Segment) *session {
	s := &session{source: source, interval: interval{Start: all[0].Start, End: all[0].End}}
	s.source.Sport, s.source.WorkoutID = "", nil
	for _, part := range all {
		if part.End >= s.End {
			s.End, s.offset = part.End, part.Offset
		}
		s.inBed = s.inBed || part.Stage == InBed
	}
	s.stages = hypnogram(all)
	return s
}

// hypnogram joins sorted segments. Where two overlap, a named stage has precedence over
// unstaged sleep, and an earlier segment over a later one. Gaps remain.
func hypnogram(all []Segment) []Segment {
	var named, unstaged []Segment
	for _, s := range all {
		switch s.Stage {
		case InBed:
		case Asleep:
			unstaged = append(unstaged, s)
		default:
			named = append(named, s)
		}
	}
	stages := equalJoined(named)
	named = slices.Clone(stages)
	for _, s := range unstaged {
		stages = append(stages, partsOutside(s, named)...)
	}
	slices.SortStableFunc(stages, func(a, b Segment) int { return cmp.Compare(a.Start, b.Start) })
	return equalJoined(stages)
}

// partsOutside returns the parts of s outside the taken segments, which are in order and do
// not overlap.
func partsOutside(s Segment, taken []Segment) []Segment {
	var left []Segment
	i := sort.Search(len(taken), func(i int) bool { return taken[i].End > s.Start })
	for ; i < len(taken) && taken[i].Start < s.End; i++ {
		if piece := s; s.Start < taken[i].Start {
			piece.End = taken[i].Start
			left = append(left, piece)
		}
		s.Start = taken[i].End
	}
	if s.Start < s.End {
		left = append(left, s)
	}
	return left
}

// equalJoined cuts each segment where the one before ends, and joins adjacent segments
// of one stage.
func equalJoined(all []Segment) []Segment {
	var out []Segment
	for _, s := range all {
		if n := len(out); n > 0 {
			s.Start = max(s.Start, out[n-1].End)
			if s.Start >= s.End {
				continue
			}
			if out[n-1].Stage == s.Stage && out[n-1].End == s.Start {
				out[n-1].End = s.End
				continue
			}
		}
		out = append(out, s)
	}
	return out
}

// sourceWithMost drops sessions that another source recorded better. Two sessions
// compete if they share more than half of the shorter one. The session with stages
// wins, then the one with heart rate, then the longer one. The samples of both stay
// stored.
func sourceWithMost(all []*session) []*session {
	order := slices.Clone(all)
	slices.SortStableFunc(order, func(a, b *session) int {
		return cmp.Or(
			-cmp.Compare(a.detail(), b.detail()),
			-cmp.Compare(min(len(a.heart), 1), min(len(b.heart), 1)),
			-cmp.Compare(a.End-a.Start, b.End-b.Start),
			cmp.Compare(merged.Rank(a.source.Type), merged.Rank(b.source.Type)))
	})
	var kept []*session
	for _, s := range order {
		shadowed := slices.ContainsFunc(kept, func(k *session) bool {
			shared := min(s.End, k.End) - max(s.Start, k.Start)
			return originOf(s.source) != originOf(k.source) && 2*shared > min(s.End-s.Start, k.End-k.Start)
		})
		if !shadowed {
			kept = append(kept, s)
		}
	}
	slices.SortStableFunc(kept, func(a, b *session) int { return cmp.Compare(a.Start, b.Start) })
	return kept
}

// detail returns 2 for a session with stages, 1 for one with unstaged sleep, and 0 for
// one with only the time in bed.
func (s *session) detail() int {
	if len(s.stages) == 0 {
		return 0
	}
	if slices.ContainsFunc(s.stages, func(p Segment) bool { return p.Stage != Asleep && p.Stage != Awake }) {
		return 2
	}
	return 1
}

// sleepBody contains the derived wire fields of a sleep, in seconds unless noted.
//
// Reference 7.5.
type sleepBody struct {
	Type        string   `json:"type"`
	Offset      *int32   `json:"timezone_offset"`
	Duration    int64    `json:"duration"`
	Total       int64    `json:"total"`
	Awake       int64    `json:"awake"`
	Light       int64    `json:"light"`
	REM         int64    `json:"rem"`
	Deep        int64    `json:"deep"`
	HRLowest    *int64   `json:"hr_lowest"`
	HRAverage   *int64   `json:"hr_average"`
	Efficiency  *float64 `json:"efficiency"`
	Latency     *int64   `json:"latency"`
	AverageHRV  *float64 `json:"average_hrv"`
	Respiratory *float64 `json:"respiratory_rate"`
}

// cycleBody contains the wire fields of a sleep_cycle.
type cycleBody struct {
	SleepID uuid.UUID `json:"sleep_id"`
	Starts  []int64   `json:"stage_start_offset_second"`
	Ends    []int64   `json:"stage_end_offset_second"`
	Types   []int     `json:"stage_type"`
}

// sleepOf returns the sleep of a session, and its sleep_cycle if it has stages.
func (d *Deriver) sleepOf(s *session, found tracks) []wearables.Summary {
	key := sessionKey(s.Start, s.source)
	sleep := wearables.Summary{
		Resource: "sleep", Key: key, Record: s.record, Source: s.source,
		Date: s.day, Start: instant(s.Start), End: instant(s.End),
	}
	body := s.body()
	if hrv := valuesIn(found["hrv"], s.interval, s.source); len(hrv) > 0 {
		body.AverageHRV = roundTo(mean(hrv), 1)
	}
	if rate := valuesIn(found["respiratory_rate"], s.interval, s.source); len(rate) > 0 {
		body.Respiratory = roundTo(mean(rate), 1)
	}
	sleep.Body = encode(body)
	if len(s.stages) == 0 {
		return []wearables.Summary{sleep}
	}
	cycle := sleep
	cycle.Resource = "sleep_cycle"
	cycle.Body = encode(s.cycle(wearables.SummaryID(d.User.ID.UUID(), d.Provider, "sleep", key)))
	return []wearables.Summary{sleep, cycle}
}

// body adds up the stages. Time asleep without a stage counts in total, so the parts
// need not add up. Without stages of being awake, the rest of the time counts as awake.
// A session with only the time in bed has neither.
func (s *session) body() sleepBody {
	length := s.End - s.Start
	b := sleepBody{
		Type: wearables.SleepType(time.Duration(length) * time.Microsecond), Offset: offsetOrNil(s.offset), Duration: length / secondUS,
	}
	by := map[int8]int64{}
	for _, p := range s.stages {
		by[p.Stage] += p.End - p.Start
	}
	b.Deep, b.Light, b.REM, b.Awake = by[Deep]/secondUS, by[Light]/secondUS, by[REM]/secondUS, by[Awake]/secondUS
	b.Total = b.Deep + b.Light + b.REM + by[Asleep]/secondUS
	if len(s.stages) > 0 {
		if b.Awake == 0 {
			b.Awake = b.Duration - b.Total
		}
		b.Efficiency = wearables.SleepEfficiency(b.Total, b.Duration)
	}
	if s.inBed {
		b.Latency = s.latency()
	}
	if len(s.heart) > 0 {
		lowest := math.Inf(1)
		for _, v := range s.heart {
			lowest = min(lowest, v)
		}
		b.HRLowest, b.HRAverage = roundToInt(lowest), roundToInt(mean(s.heart))
	}
	return b
}

// latency returns the seconds from going to bed to the first sleep, or nil without sleep
// stages.
func (s *session) latency() *int64 {
	for _, p := range s.stages {
		if p.Stage != Awake {
			return roundToInt(float64((p.Start - s.Start) / secondUS))
		}
	}
	return nil
}

func (s *session) cycle(sleep uuid.UUID) cycleBody {
	b := cycleBody{SleepID: sleep}
	for _, p := range s.stages {
		start, end := (p.Start-s.Start)/secondUS, (p.End-s.Start)/secondUS
		if end > start {
			b.Starts, b.Ends, b.Types = append(b.Starts, start), append(b.Ends, end), append(b.Types, int(p.Stage))
		}
	}
	return b
}

// valuesIn returns the values of one source during an interval: the session's own
// source if it has any, otherwise the source with the most.
func valuesIn(all []*track, v interval, own wearables.Source) []float64 {
	var best []float64
	for _, t := range all {
		i, j := t.between(v.Start, v.End)
		if i == j {
			continue
		}
		if originOf(t.Source) == originOf(own) {
			return t.Value[i:j]
		}
		if j-i > len(best) {
			best = t.Value[i:j]
		}
	}
	return best
}

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}
