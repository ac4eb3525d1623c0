package garmin

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/replies"
	"hale/internal/wearables/formats/sheet"
)

var (
	stepCount = sheet.Key{Resource: "steps", Source: watch}
	distance  = sheet.Key{Resource: "distance", Source: watch}
	energy    = sheet.Key{Resource: "calories_active", Source: watch}
)

// epochKey identifies an epoch. A quarter of an hour has one epoch for each type of
// activity.
type epochKey struct {
	start int64 // UTC microseconds
	kind  string
}

type epoch struct {
	offset              int32
	seconds             float64
	steps, metres, kcal *float64
}

// quarter is the length of epochs, in seconds. The time of one is the part that its
// activity took.
const quarter = 900

// mostEpochs bounds those of a file: five years of three a quarter.
const mostEpochs = 1 << 19

// epoch takes the activity of a quarter of an hour. A later version of an epoch replaces
// it.
func (r *reader) epoch(d replies.Document) replies.Verdict {
	start, ok := r.start(d)
	length := d.Amount("durationInSeconds")
	if !ok || length == nil || *length > 86400 {
		return replies.BadDate
	}
	one := epoch{
		offset: start.offset, seconds: max(*length, quarter),
		steps: d.Amount("steps"), metres: d.Amount("distanceInMeters"), kcal: d.Amount("activeKilocalories"),
	}
	if one.steps == nil && one.metres == nil && one.kcal == nil {
		return replies.BadValue
	}
	key := epochKey{start.micros(), cmp.Or(files.Text(d.Text("activityType")), "one")}
	if _, known := r.epochs[key]; !known && len(r.epochs) == mostEpochs {
		return replies.TooMany
	}
	if r.epochs == nil {
		r.epochs = map[epochKey]epoch{}
	}
	r.epochs[key] = one
	r.Homeless("epoch", d, "meanHeartRateInBeatsPerMinute")
	return replies.Mapped
}

// endEpochs adds up the activities of each quarter: a series has one value at
// a time.
func (r *reader) endEpochs(ctx context.Context) error {
	inOrder := func(a, b epochKey) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.kind, b.kind)) }
	keys := slices.SortedFunc(maps.Keys(r.epochs), inOrder) // so that sums are the same to the last digit
	for i := 0; i < len(keys); {
		start := keys[i].start
		sum := epoch{offset: r.epochs[keys[i]].offset}
		for ; i < len(keys) && keys[i].start == start; i++ {
			one := r.epochs[keys[i]]
			sum.seconds = max(sum.seconds, one.seconds)
			plus(&sum.steps, one.steps)
			plus(&sum.metres, one.metres)
			plus(&sum.kcal, one.kcal)
		}
		end := start + int64(sum.seconds*1e6)
		for _, f := range []struct {
			key sheet.Key
			v   *float64
		}{{stepCount, sum.steps}, {distance, sum.metres}, {energy, sum.kcal}} {
			if f.v != nil {
				r.Gather.Span(f.key, start, end, sum.offset, *f.v)
			}
		}
		if r.Gather.N >= sheet.Full {
			if err := r.Sink.Samples(ctx, r.Gather.Take()); err != nil {
				return err
			}
		}
	}
	r.epochs = nil
	return nil
}

// plus adds an amount; the sum is a value of its own.
func plus(sum **float64, v *float64) {
	if v == nil {
		return
	}
	total := *v
	if *sum != nil {
		total += **sum
	}
	*sum = &total
}

// steps takes those of a quarter of an hour of Connect's.
func (r *reader) steps(d replies.Document) replies.Verdict {
	start, began := clock(d.Raw("startGMT"))
	end, ended := clock(d.Raw("endGMT"))
	n := d.Amount("steps")
	switch {
	case !began || !ended || !end.After(start) || end.Sub(start) > 24*time.Hour:
		return replies.BadDate
	case n == nil:
		return replies.BadValue
	}
	r.Gather.Span(stepCount, start.UnixMicro(), end.UnixMicro(), r.OffsetIn("", start), *n)
	return replies.Mapped
}
