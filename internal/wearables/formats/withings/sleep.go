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

// night reads the summary of a sleep.
func (r *reader) night(d replies.Document) replies.Verdict {
	start, began := d.Unix("startdate")
	end, ended := d.Unix("enddate")
	if !began || !ended {
		return replies.BadDate
	}
	data := d.Inner("data")
	n := replies.Night{
		ID: d.Word("id"), Source: source(sleepKind(d)), Start: start, End: end, Offset: r.OffsetIn(d.Text("timezone"), end),
		Sleep: replies.Sleep{
			Total: data.Whole("total_sleep_time"), Awake: data.Whole("wakeupduration"),
			Light: data.Whole("lightsleepduration"), Deep: data.Whole("deepsleepduration"), REM: data.Whole("remsleepduration"),
			Latency:  cmp.Or(data.Whole("sleep_latency"), data.Whole("durationtosleep")),
			HRLowest: replies.RoundNumber(data.Positive("hr_min")), HRAverage: replies.RoundNumber(data.Positive("hr_average")),
			Respiratory: data.Positive("rr_average"), Score: replies.RoundNumber(data.Positive("sleep_score")),
		},
	}
	if day, ok := d.Day("date"); ok {
		n.Date = day
	}
	s := &n.Sleep
	s.Total = cmp.Or(s.Total, replies.Sum(s.Light, s.Deep, s.REM))
	if ratio := data.Amount("sleep_efficiency"); ratio != nil && *ratio <= 1 {
		s.Efficiency = replies.Times(ratio, 100)
	}
	if d.States("completed") && !d.Flag("completed") { // the night continues
		s.Type = "unknown"
	}
	became := r.Night(n)
	if became == replies.Mapped {
		r.SkipFields("sleep summary", data, "apnea_hypopnea_index", "breathing_disturbances_intensity", "snoring", "mvt_score_avg")
	}
	return became
}

// stretch is a part of a night in one stage.
type stretch struct {
	start, end int64 // UTC seconds
	kind       string
	stage      int8
}

const (
	mostStretches = 1 << 19
	longestPause  = 30 * 60 // seconds between stretches of one night
	maxNight      = 24 * time.Hour
)

// stages maps the `state`. Typed sleep has no known stage.
var stages = []int8{derive.Awake, derive.Light, derive.Deep, derive.REM, derive.Asleep, derive.Asleep}

// measuredFields lists the fields of a stretch that have values by instant and a series.
var measuredFields = []struct{ field, resource, kind string }{
	{"hr", "heartrate", ""},
	{"rr", "respiratory_rate", ""},
	{"rmssd", "hrv", "rmssd"},
	{"sdnn_1", "hrv", "sdnn"},
}

// stretch reads a stretch of a night and the values that were measured during it.
func (r *reader) stretch(d replies.Document) replies.Verdict {
	start, began := d.Unix("startdate")
	end, ended := d.Unix("enddate")
	if !began || !ended || !end.After(start) || end.Sub(start) > maxNight {
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
	for _, m := range measuredFields {
		r.values(d, m.field, sheet.Key{Resource: m.resource, Type: m.kind, Source: source(s.kind)})
	}
	r.SkipFields("sleep", d, "snoring", "mvt_score", "chest_movement_rate", "breathing_sounds")
	return replies.Mapped
}

// values reads a field that has values by their instants.
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

// nights groups the stretches into nights. Some nights are already stored, from their
// summary or from earlier stretches. Such a night keeps its values and gets its stages.
// Other nights are derived.
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

// firstStretches returns the stretches that belong to the night of the first one.
func firstStretches(all []stretch) []stretch {
	end := all[0].end
	for i, s := range all {
		if s.kind != all[0].kind || s.start-end > longestPause || max(end, s.end)-all[0].start > int64(maxNight/time.Second) {
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

// staged adds the stages to the stored night with the same start, and reports whether
// there is one. The night may come from a summary, which may end before its stretches. Or
// it comes from stretches, and has not grown since. The stages end with their stretches,
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
	if !ok || !known.Summarized && known.Stop.Before(end) {
		return false, nil
	}
	r.Summary(wearables.Summary{
		Resource: "sleep_cycle", Key: replies.SessionKey(start, source(night[0].kind)), Source: source(night[0].kind),
		Date: known.Date, Start: start, End: end, Body: replies.Encode(stages),
	})
	return true, nil
}
