package replies

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"hale/internal/platform/civil"
	"hale/internal/wearables"
	"hale/internal/wearables/storage"
)

// NightlyValues holds a provider's values about the night of a day from a separate
// document. Such values are a score, the heart rate variability and the respiratory
// rate.
type NightlyValues struct {
	Day    civil.Date
	Source wearables.Source // of the night
	Sleep  Sleep            // the stated values; the rest of the night stays
	// Name is the resource of the document, whose verdict was Waits; empty for
	// a part of one that is counted already.
	Name string
	Nth  int64 // of that resource; 0 for the one that is being taken
	// Found, when set, is called with the night, to place values that have a time of
	// day and no date. Values that it adds to the reader are stored.
	Found func(start, end time.Time, offset int32)
}

// mostNightly bounds the values that wait: a life of nights, with several documents of
// each.
const mostNightly = 1 << 18

// NightlyValues holds the values of a night until the end of the file: the night may follow,
// or have come with an earlier file. Without a night they are Unpaired.
func (r *Reader) Nightly(n NightlyValues) Verdict {
	if len(r.nightly) == mostNightly {
		return TooMany
	}
	if n.Name != "" && n.Nth == 0 {
		n.Nth = r.Nth(n.Name)
	}
	r.nightly = append(r.nightly, n)
	return Waits
}

// nightsAtOnce counts the days of stored nights that are read together.
const nightsAtOnce = 60

// joinNights adds the waiting values to their nights.
func (r *Reader) joinNights(ctx context.Context) error {
	byDay := map[civil.Date][]NightlyValues{}
	for _, n := range r.nightly {
		byDay[n.Day] = append(byDay[n.Day], n)
	}
	r.nightly = nil
	days := slices.SortedFunc(maps.Keys(byDay), civil.Date.Compare)
	for len(days) > 0 {
		n := 1
		for n < len(days) && days[n].DaysSince(days[0]) < nightsAtOnce {
			n++
		}
		stored, err := r.Stored(ctx, "sleep", days[0].String(), days[n-1].String())
		if err != nil {
			return err
		}
		nights := nightsOf(stored)
		for _, day := range days[:n] {
			for _, said := range byDay[day] {
				r.joinNight(said, nights[day])
			}
		}
		if err := r.flush(ctx, false); err != nil {
			return err
		}
		days = days[n:]
	}
	return ctx.Err()
}

func (r *Reader) joinNight(said NightlyValues, ofDay []storedNight) {
	night, ok := mainNight(ofDay, said.Source)
	became := Unpaired
	if ok {
		became = Mapped
		if said.Sleep != (Sleep{}) {
			r.Summary(wearables.Summary{
				Resource: "sleep", Key: SessionKey(night.Start, said.Source), Source: said.Source, Date: said.Day,
				Start: night.Start, End: night.Stop, Body: Encode(said.Sleep),
			})
		}
		if said.Found != nil {
			offset := wearables.NoOffset
			if night.Offset != nil {
				offset = *night.Offset
			}
			said.Found(night.Start, night.Stop, offset)
		}
	}
	if said.Name != "" {
		r.Waited(said.Name, became, said.Nth)
	}
}

// storedNight has the fields of a stored sleep that are needed to find it.
type storedNight struct {
	Start  time.Time  `json:"bedtime_start"`
	Stop   time.Time  `json:"bedtime_stop"`
	Date   civil.Date `json:"calendar_date"`
	Type   string     `json:"type"`
	Total  int64      `json:"total"` // seconds asleep
	Offset *int32     `json:"timezone_offset"`

	Score, Latency *int64

	source wearables.Source
}

// isOf reports whether a night has the kind and the app of a source.
func (n *storedNight) isOf(source wearables.Source) bool {
	return n.source.Type == source.Type && n.source.AppID == source.AppID
}

// nightsOf reads stored sleeps, by their day.
func nightsOf(stored []storage.StoredSummary) map[civil.Date][]storedNight {
	byDay := map[civil.Date][]storedNight{}
	for i := range stored {
		n := storedNight{source: stored[i].Source}
		if json.Unmarshal(stored[i].Body, &n) == nil && !n.Start.IsZero() {
			byDay[n.Date] = append(byDay[n.Date], n)
		}
	}
	return byDay
}

// mainNight returns the night that the values of a day belong to: the long sleep with
// the most sleep. A night of another source is not changed.
func mainNight(ofDay []storedNight, source wearables.Source) (best storedNight, found bool) {
	for _, n := range ofDay {
		if !n.isOf(source) {
			continue
		}
		long, was := n.Type == "long_sleep", best.Type == "long_sleep"
		if !found || long && !was || long == was && n.Total > best.Total {
			best, found = n, true
		}
	}
	return best, found
}

// StoredNight holds the stored values of a sleep.
type StoredNight struct {
	Stop time.Time
	Date civil.Date
	// Summarized reports whether the provider summarized the sleep. Stages alone do not contain
	// the time to fall asleep or a score.
	Summarized bool
}

// NightAt returns the stored sleep of a source that begins at an instant.
func NightAt(stored []storage.StoredSummary, start time.Time, source wearables.Source) (n StoredNight, ok bool) {
	for i := range stored {
		body := storedNight{source: stored[i].Source}
		if json.Unmarshal(stored[i].Body, &body) == nil && body.isOf(source) && body.Start.Unix() == start.Unix() {
			return StoredNight{body.Stop, body.Date, body.Score != nil || body.Latency != nil}, true
		}
	}
	return n, false
}
