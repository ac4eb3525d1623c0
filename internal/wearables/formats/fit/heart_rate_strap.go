package fit

import (
	"cmp"
	"math"
	"slices"

	"github.com/muktihari/fit/profile/mesgdef"
	"github.com/muktihari/fit/profile/untyped/fieldnum"

	"hale/internal/wearables"
	"hale/internal/wearables/formats/files"
)

// strap holds heart rates that a chest strap stored, for instance under water, and
// transferred when the activity was saved. Their times use the strap's own clock; one
// message gives its time of day.
//
// FIT Profile, hr: event_timestamp counts 1/1024 s, event_timestamp_12 has its last
// twelve bits.
type strap struct {
	hasClock bool
	at       int64  // of the event below, UTC microseconds
	event    uint32 // 1/1024 s
	seconds  []strapSecond
	read     int64 // messages that were kept
	first    int64 // number of the first of them within their type
}

// strapSecond adds up the heart rates since the second before.
type strapSecond struct {
	at  int64 // UTC microseconds, a whole second
	bpm float64
	n   int
}

const (
	second = int64(1e6)
	// A tick is 1/1024 s: 15625/16 microseconds.
	tickOver, tickUnder = 15625, 16
)

// takeStrap keeps the heart rates of a message, by the second.
func (p *part) takeStrap(m *mesgdef.Hr) messageOutcome {
	if !p.records() {
		return skipped
	}
	s := &p.strap
	if at, ok := instant(m.Timestamp); ok && len(m.EventTimestamp) > 0 && !m.IsExpandedField(fieldnum.HrEventTimestamp) {
		s.hasClock, s.at, s.event = true, at, m.EventTimestamp[0]
		if part := m.FractionalTimestampScaled(); !math.IsNaN(part) {
			s.at += int64(part * 1e6)
		}
	}
	if !s.hasClock {
		return badDate
	}
	result := badValue
	for i := range min(len(m.EventTimestamp), len(m.FilteredBpm)) {
		bpm := heartRateOrNaN(m.FilteredBpm[i])
		since := int64(m.EventTimestamp[i]-s.event) * tickOver / tickUnder
		if math.IsNaN(bpm) || since > files.LongestWorkout.Microseconds() {
			continue
		}
		if !s.add(s.at+since, bpm) {
			return tooMany
		}
		result = mapped
	}
	if result == mapped {
		if s.read++; s.read == 1 {
			s.first = p.outcome.Type("hr").Read
		}
	}
	return result
}

// add adds a heart rate to its second; false when there are too many.
func (s *strap) add(at int64, bpm float64) bool {
	at = (at + second - 1) / second * second
	if n := len(s.seconds); n > 0 && s.seconds[n-1].at == at {
		s.seconds[n-1].bpm += bpm
		s.seconds[n-1].n++
		return true
	}
	if len(s.seconds) >= files.MaxMoments {
		return false
	}
	s.seconds = append(s.seconds, strapSecond{at, bpm, 1})
	return true
}

// breakOff leaves out the second in which the file breaks off: not all of its
// beats are there.
func (s *strap) breakOff() { s.seconds = s.seconds[:max(0, len(s.seconds)-1)] }

// isStrap reports whether the file belongs to a strap alone. It has no other content,
// not even a file type, and follows its activity in the chain.
func (p *part) isStrap() bool {
	return !p.named && p.strap.read > 0 && len(p.moments)+len(p.sessions)+len(p.series)+len(p.levels)+len(p.resting) == 0
}

// join takes over the values of the strap's own file.
func (p *part) join(more *part) {
	p.end, p.cut = more.end, p.cut || more.cut
	if len(p.strap.seconds)+len(more.strap.seconds) > files.MaxMoments {
		p.turn("hr", more.strap.read, func(c *files.TypeCount) *int64 { return &c.TooMany })
		p.outcome.LeftAt(p.outcome.Type("hr"), more.strap.first, "too_many")
		return
	}
	p.strap.seconds = append(p.strap.seconds, more.strap.seconds...)
	p.strap.read += more.strap.read
}

// sort puts the seconds in order and joins the parts of one second.
func (s *strap) sort() {
	slices.SortStableFunc(s.seconds, func(a, b strapSecond) int { return cmp.Compare(a.at, b.at) })
	kept := s.seconds[:0]
	for _, one := range s.seconds {
		if n := len(kept); n > 0 && kept[n-1].at == one.at {
			kept[n-1].bpm += one.bpm
			kept[n-1].n += one.n
			continue
		}
		kept = append(kept, one)
	}
	s.seconds = kept
}

func (s *strapSecond) mean() float64 { return s.bpm / float64(s.n) }

// wear assigns the strap's heart rates to the workouts at their time. Values before,
// between and after them are aside.
func (p *part) wear(all []files.Recording) {
	s := &p.strap
	if len(s.seconds) == 0 {
		return
	}
	s.sort()
	rest, used := s.seconds, false
	var outside []strapSecond
	for i := range all {
		r := &all[i]
		begin, _ := slices.BinarySearchFunc(rest, r.Start, bySecond)
		end, _ := slices.BinarySearchFunc(rest, r.End+1, bySecond)
		outside = append(outside, rest[:begin]...)
		used = fill(r, rest[begin:max(begin, end)]) || used
		rest = rest[max(begin, end):]
	}
	outside = append(outside, rest...)
	p.setAside(outside)
	if !used && len(outside) == 0 {
		p.turn("hr", s.read, func(c *files.TypeCount) *int64 { return &c.Copies })
		p.outcome.Copies += s.read
	}
}

func bySecond(s strapSecond, at int64) int { return cmp.Compare(s.at, at) }

// fill completes a workout's course with the strap's seconds within it. A
// record covers the time since the record before. If it has a heart rate of its
// own, the strap's values for that time are copies. fill returns false if all
// of them are copies.
//
// FIT SDK, merging of hr messages into records.
func fill(r *files.Recording, some []strapSecond) (used bool) {
	n := len(r.Course) // records; appended moments follow them
	own := func(i int) bool { return !math.IsNaN(r.Course[i].HeartRate) }
	closed := n > 0 && own(n-1)
	i := 0
	for k := range some {
		for i < n && r.Course[i].Time < some[k].at {
			i++
		}
		if i < n && own(i) || i == n && closed || len(r.Course) >= files.MaxMoments {
			continue
		}
		used = true
		if i < n && r.Course[i].Time == some[k].at {
			r.Course[i].HeartRate = some[k].mean()
			continue
		}
		x := files.MomentAt(some[k].at)
		x.HeartRate = some[k].mean()
		r.Course = append(r.Course, x) // put in order when it is stored
	}
	return used
}

// setAside keeps the heart rates outside of the workouts.
func (p *part) setAside(some []strapSecond) {
	if len(some) == 0 {
		return
	}
	series := wearables.Samples{Resource: "heartrate"}
	for i := range some {
		series.Time, series.Value = append(series.Time, some[i].at), append(series.Value, some[i].mean())
	}
	p.aside = append(p.aside, &series)
}

// turn moves n messages from the count of mapped ones to another count.
func (p *part) turn(name string, n int64, to func(*files.TypeCount) *int64) {
	count := p.outcome.Type(name)
	count.Mapped -= n
	*to(count) += n
	p.outcome.Mapped -= n
}
