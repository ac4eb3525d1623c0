package withings

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"hale/internal/wearables"
	"hale/internal/wearables/derive"
	"hale/internal/wearables/formats/replies"
	"hale/internal/wearables/formats/sheet"
)

// stretch is a stretch of a night in one stage.
type stretch struct {
	start, end int64 // UTC seconds
	kind       string
	stage      int8
}

const (
	mostStretches = 1 << 19
	longestPause  = 30 * 60 // seconds between stretches of one night
	longest       = 24 * time.Hour
)

// stages maps the `state`. Typed sleep has no known stage.
var stages = []int8{derive.Awake, derive.Light, derive.Deep, derive.REM, derive.Asleep, derive.Asleep}

// measured are the fields of a stretch with a value by instant that have a
// home.
var measured = []struct{ field, resource, kind string }{
	{"hr", "heartrate", ""},
	{"rr", "respiratory_rate", ""},
	{"rmssd", "hrv", "rmssd"},
	{"sdnn_1", "hrv", "sdnn"},
}

// stretch takes a stretch of a night and what was measured meanwhile.
func (r *reader) stretch(d replies.Document) replies.Verdict {
	start, began := d.Unix("startdate")
	end, ended := d.Unix("enddate")
	if !began || !ended || !end.After(start) || end.Sub(start) > longest {
		return replies.BadDate
	}
	state, ok := d.Integer("state")
	if !ok || state < 0 || state >= int64(len(stages)) {
		return replies.BadValue
	}
	if len(r.stretches) == mostStretches {
		return replies.TooMany
	}
	s := stretch{start.Unix(), end.Unix(), sleepKind(d), stages[state]}
	r.stretches = append(r.stretches, s)
	for _, m := range measured {
		r.values(d, m.field, sheet.Key{Resource: m.resource, Type: m.kind, Source: source(s.kind)})
	}
	r.Homeless("sleep", d, "snoring", "mvt_score", "chest_movement_rate", "breathing_sounds")
	return replies.Mapped
}

// values takes a field that has values by their instants.
func (r *reader) values(d replies.Document, field string, key sheet.Key) {
	var all map[string]json.RawMessage
	if !d.Into(field, &all) {
		return
	}
	for text, raw := range all {
		seconds, err := strconv.ParseInt(text, 10, 64)
		at, ok := replies.InstantSince(seconds, time.Second)
		v, read := replies.NumberOf(raw)
		if err != nil || !ok || !read || v <= 0 {
			r.Part("sleep."+field, replies.BadValue)
			continue
		}
		r.Gather.At(key, at.UnixMicro(), sheet.OffsetAt(r.Zone, at.UnixMicro()), v)
	}
}

// nights makes nights of the stretches. A night that is stored, because its
// summary came or because stretches made it before, keeps its figures and gets
// its stages; any other is derived.
func (r *reader) nights(ctx context.Context) error {
	slices.SortFunc(r.stretches, func(a, b stretch) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end))
	})
	derived := map[string]*derive.Sleeper{}
	for len(r.stretches) > 0 {
		night := firstStretches(r.stretches)
		r.stretches = r.stretches[len(night):]
		kept, err := r.staged(ctx, night)
		if err != nil {
			return err
		}
		if kept {
			continue
		}
		kind := night[0].kind
		if derived[kind] == nil {
			derived[kind] = &derive.Sleeper{Source: source(kind)}
		}
		derived[kind].Segments = append(derived[kind].Segments, r.segments(night)...)
	}
	for _, sleeper := range derived {
		r.Sink.Sleep(sleeper)
	}
	return nil
}

// firstStretches are the stretches of the first night.
func firstStretches(all []stretch) []stretch {
	end := all[0].end
	for i, s := range all {
		if s.kind != all[0].kind || s.start-end > longestPause || max(end, s.end)-all[0].start > int64(longest/time.Second) {
			return all[:i]
		}
		end = max(end, s.end)
	}
	return all
}

func (r *reader) segments(night []stretch) []derive.Segment {
	all := make([]derive.Segment, len(night))
	for i, s := range night {
		end := s.end * 1e6
		all[i] = derive.Segment{Start: s.start * 1e6, End: end, Offset: sheet.OffsetAt(r.Zone, end), Stage: s.stage}
	}
	return all
}

// staged adds the stages to a night that is stored under their start, and reports
// whether there is one. It is that of a summary, which may end before its segments, or
// one from segments that has not grown since. The stages end with their segments,
// whether the summary came before them or after.
func (r *reader) staged(ctx context.Context, night []stretch) (bool, error) {
	start, end := time.Unix(night[0].start, 0).UTC(), time.Unix(night[0].end, 0).UTC()
	stages := replies.Stages{}
	for _, s := range night {
		stages.Add(s.start-night[0].start, s.end-night[0].start, s.stage)
		if last := time.Unix(s.end, 0).UTC(); last.After(end) {
			end = last
		}
	}
	stored, err := r.Stored(ctx, "sleep", start.AddDate(0, 0, -1).Format(time.DateOnly), end.AddDate(0, 0, 1).Format(time.DateOnly))
	if err != nil {
		return false, err
	}
	known, ok := replies.NightAt(stored, start, source(night[0].kind))
	if !ok || !known.Told && known.Stop.Before(end) {
		return false, nil
	}
	r.Summary(wearables.Summary{
		Resource: "sleep_cycle", Key: replies.SessionKey(start, source(night[0].kind)), Source: source(night[0].kind),
		Date: known.Date, Start: start, End: end, Body: replies.Encode(stages),
	})
	return true, nil
}
