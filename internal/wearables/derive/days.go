package derive

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"hale/internal/people/users"
	"hale/internal/platform/civil"
	"hale/internal/platform/store"
	"hale/internal/wearables"
	"hale/internal/wearables/storage"
)

// Ingester stores derived summaries; *ingest.Ingester implements it.
type Ingester interface {
	Ingest(ctx context.Context, user users.User, b wearables.Batch) (wearables.Result, error)
}

// Deriver derives the summaries of one user's data from one provider.
type Deriver struct {
	DB       *store.DB
	Ingester Ingester
	User     users.User
	Provider string
	Stage    wearables.Stage // Daily when empty
	Push     bool            // announce historical values too
	Facts    Facts           // what the provider states about days; may be nil
	Person   *Person         // what it states about the person; may be nil
	Sleep    []*Sleeper      // what its sources know of sleep; see Sleeper.DaysOf
	// TotalsStated means that the provider states the totals of days. Then steps,
	// distance and energy of its series, which may cover only some hours of a day, are
	// not added up.
	TotalsStated bool
	// HeartStated means that the provider states the average, lowest and highest heart rate
	// of days.
	HeartStated bool
	// Pushed means that phones push the samples. A day for which the phone pushed an activity
	// gets no derived activity.
	Pushed bool
	// Progress, if set, is called with the number of finished days.
	Progress func(done, total int)
	// Stored, if set, is called with the outcome of every batch of summaries.
	Stored func(wearables.Batch, wearables.Result)
}

// A stretch of days is read at once. Two weeks of heart rate at one sample a
// second fit into some forty megabytes.
const stretch = 14

// marginBefore and marginAfter extend a stretch, because samples before or
// after it may belong to its days. Offsets reach from -12 to +14 hours.
// Intervals and nights last up to a day.
const (
	marginBefore = 2 * dayUS
	marginAfter  = dayUS
)

// dayResources are the series from which the summaries of days and nights are derived.
var dayResources = []string{
	"steps", "distance", "calories_active", "calories_basal", "floors_climbed", "wheelchair_push", "heartrate",
	"body_weight", "body_fat", "body_mass_index", "lean_body_mass", "waist_circumference",
	"hrv", "respiratory_rate",
}

// Days derives the summaries of the days.
func (d *Deriver) Days(ctx context.Context, days []civil.Date) error {
	days = slices.Clone(days)
	slices.SortFunc(days, civil.Date.Compare)
	days = slices.Compact(days)
	for done := 0; done < len(days); {
		n := done + 1
		for n < len(days) && days[n].DaysSince(days[done]) < stretch {
			n++
		}
		if err := d.stretch(ctx, days[done:n]); err != nil {
			return err
		}
		done = n
		if d.Progress != nil {
			d.Progress(done, len(days))
		}
	}
	return nil
}

func (d *Deriver) stretch(ctx context.Context, days []civil.Date) error {
	from := numberOfDate(days[0])*dayUS - marginBefore
	to := (numberOfDate(days[len(days)-1])+1)*dayUS + marginAfter
	var found tracks
	var stated map[civil.Date]wearables.Source
	var pushed map[civil.Date]bool
	err := d.DB.Scan(ctx, func(tx *store.Tx) error {
		all, err := d.seriesNamed(ctx, tx, dayResources...)
		if err != nil {
			return err
		}
		if found, err = load(ctx, tx, all, from, to); err != nil {
			return err
		}
		if stated, err = d.statedSources(ctx, tx, days); err != nil {
			return err
		}
		pushed, err = d.pushedActivities(ctx, tx, days)
		return err
	})
	if err != nil {
		return err
	}
	wanted := map[civil.Date]bool{}
	for _, day := range days {
		wanted[day] = true
	}
	var all []wearables.Summary
	for _, s := range d.activities(found, days, stated) {
		if !pushed[s.Date] {
			all = append(all, s)
		}
	}
	all = append(all, d.bodies(found, wanted)...)
	nights, err := d.nights(ctx, found, wanted, from, to)
	if err != nil {
		return err
	}
	return d.store(ctx, append(all, nights...))
}

// store hands summaries on.
func (d *Deriver) store(ctx context.Context, summaries []wearables.Summary) error {
	if len(summaries) == 0 {
		return nil
	}
	return d.ingest(ctx, wearables.Batch{Summaries: summaries})
}

func (d *Deriver) ingest(ctx context.Context, b wearables.Batch) error {
	b.Provider, b.Stage, b.Push, b.Imported, b.Derived = d.Provider, d.Stage, d.Push, !d.Pushed, d.Pushed
	b.Ends = d.Pushed && d.Stage == wearables.Historical // the end of an import announces the others
	if b.Stage == "" {
		b.Stage = wearables.Daily
	}
	result, err := d.Ingester.Ingest(ctx, d.User, b)
	if err == nil && d.Stored != nil {
		d.Stored(b, result)
	}
	return err
}

// zone returns the user's fallback zone, for samples without an offset.
func (d *Deriver) zone() *time.Location { return wearables.FallbackFor(d.User, d.Provider) }

// OfDays reports whether activities or bodies follow from a resource, by its name in
// events. A pushed activity replaces the derived one of its day.
func OfDays(event string) bool {
	if event == "activity" {
		return true
	}
	r, ok := wearables.ResourceNamed(event)
	return ok && slices.Contains(dayResources, r.Name) && r.Name != "hrv" && r.Name != "respiratory_rate"
}

// DaysOf adds the local days to set whose summaries may change with the
// samples.
func DaysOf(set map[civil.Date]bool, s *wearables.Samples, zone *time.Location) {
	if !slices.Contains(dayResources, s.Resource) {
		return
	}
	t := track{Samples: *s}
	last := int64(-1 << 62)
	add := func(n int64) {
		if n != last {
			set[dateOfNumber(n)] = true
			last = n
		}
	}
	for i := range t.Time {
		offset := t.offset(i, zone)
		add(dayNumber(t.Time[i], offset))
		add(dayNumber(t.end(i), offset))
	}
}

// DaysOf adds the days to set whose nights the segments may belong to. A night
// counts for the day it ends on, so a stage also touches the day after. Without
// an offset it may be a day of the zone, or of UTC.
func (s *Sleeper) DaysOf(set map[civil.Date]bool, zone *time.Location) {
	for _, g := range s.Segments {
		first := dayNumber(g.End, offsetOrZero(g.Offset))
		last := first + 1
		if g.Offset == wearables.NoOffset {
			n := dayNumber(g.End, offsetIn(zone, g.End))
			first, last = min(first, n), max(last, n+1)
		}
		for n := first; n <= last; n++ {
			set[dateOfNumber(n)] = true
		}
	}
}

// dayOf returns the local day of an instant of a session. Without a stated offset, a
// new session uses the fallback zone; a stored session keeps its offset.
func (d *Deriver) dayOf(ctx context.Context, tx *store.Tx, resource, key string, at int64, offset int32) (civil.Date, error) {
	if offset != wearables.NoOffset {
		return localDate(at, offset), nil
	}
	id := wearables.SummaryID(d.User.ID.UUID(), d.Provider, resource, key)
	was, err := storage.SummaryByID(ctx, tx, d.User.Team.UUID(), id, resource)
	switch {
	case errors.Is(err, store.ErrNoRows):
		return localDate(at, offsetIn(d.zone(), at)), nil
	case err != nil:
		return civil.Date{}, err
	}
	var known struct {
		Offset int32 `json:"timezone_offset"`
	}
	if err := json.Unmarshal(was.Body, &known); err != nil {
		return civil.Date{}, fmt.Errorf("derive: a stored %s: %w", resource, err)
	}
	return localDate(at, known.Offset), nil
}

// offsetOrZero returns 0 for an offset that was not stated.
func offsetOrZero(offset int32) int32 {
	if offset == wearables.NoOffset {
		return 0
	}
	return offset
}
