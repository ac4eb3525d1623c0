package derive

import (
	"context"
	"encoding/json"
	"time"

	"hale/internal/platform/civil"
	"hale/internal/platform/store"
	"hale/internal/wearables"
	"hale/internal/wearables/storage"
)

// Zoneless is a workout that was stored without heart-rate zones.
type Zoneless struct {
	Key        string // of its Summary
	stored     storage.StoredSummary
	start, end int64 // UTC microseconds
	day        civil.Date
}

// ZonelessWorkout reads a stored workout; ok is false when it has zones, or no
// bounds to look for heart rate in, or a key that is not that of a session:
// those were made by a reader that has seen its heart rate already.
func ZonelessWorkout(s *storage.StoredSummary) (w Zoneless, ok bool) {
	wire, err := storage.AppendSummary(nil, s, "")
	if err != nil {
		return w, false
	}
	var body struct {
		Start  time.Time  `json:"time_start"`
		End    time.Time  `json:"time_end"`
		Date   civil.Date `json:"calendar_date"`
		Zones  []int64    `json:"hr_zones"`
		Offset int32      `json:"timezone_offset"`
	}
	if json.Unmarshal(wire, &body) != nil || len(body.Zones) > 0 || body.Start.IsZero() || !body.End.After(body.Start) {
		return w, false
	}
	w = Zoneless{
		Key:    body.Start.UTC().Format(time.RFC3339Nano) + "|" + s.Source.Type + "|" + s.Source.AppID,
		stored: *s, start: body.Start.UnixMicro(), end: body.End.UnixMicro(), day: body.Date,
	}
	if w.day.IsZero() {
		w.day = localDate(w.start, body.Offset)
	}
	return w, wearables.SummaryID(s.User, s.Source.Provider, s.Resource, w.Key) == s.ID && w.end-w.start <= longestWorkout
}

// nearEnd is how close to the end of a workout its heart rate has to come
// before all of it is taken to be there.
const nearEnd = 2 * 60 * secondUS

// Zones are the seconds in each of the six zones, of the heart rate that the
// provider's series or the workout's own stream has; nil while there is none,
// and unless partly is given, while it does not reach to the end.
//
// Reference 7.5, workouts.
func (d *Deriver) Zones(ctx context.Context, tx *store.Tx, w *Zoneless, partly bool) ([]int64, error) {
	hearts, err := d.seriesNamed(ctx, tx, "heartrate")
	if err != nil {
		return nil, err
	}
	found, err := load(ctx, tx, hearts, w.start, w.end+1)
	if err != nil {
		return nil, err
	}
	heart := bestTrack(found["heartrate"], w.stored.Source)
	if heart == nil {
		if heart, err = streamed(ctx, tx, w); err != nil {
			return nil, err
		}
	}
	if heart == nil || !partly && w.end-heart.Time[heart.Len()-1] > nearEnd {
		return nil, nil
	}
	return zones(heart, w.end, d.maximum(w.day)), nil
}

// streamed is the heart rate of a workout's stream; nil when it has none.
func streamed(ctx context.Context, tx *store.Tx, w *Zoneless) (*track, error) {
	s, err := storage.ReadStream(ctx, tx, &w.stored)
	if err != nil {
		return nil, err
	}
	t := &track{}
	for i, v := range s.HeartRate {
		if v > 0 { // not where it is missing
			t.Time, t.Value = append(t.Time, s.Time[i]), append(t.Value, v)
		}
	}
	if t.Len() == 0 {
		return nil, nil
	}
	return t, nil
}

// WithZones is the workout with its zones, to be stored.
func (w *Zoneless) WithZones(all []int64) wearables.Summary {
	return wearables.Summary{
		Resource: "workouts", Key: w.Key, Source: w.stored.Source, Date: w.stored.StatedDay(),
		Start: instant(w.start), End: instant(w.end),
		Body: encode(struct {
			Zones []int64 `json:"hr_zones"`
		}{all}),
	}
}

// BirthFrom reads what a stored profile says of the person's age.
func BirthFrom(s *storage.StoredSummary) *Person {
	var body struct {
		Birth civil.Date `json:"birth_date"`
	}
	if json.Unmarshal(s.Body, &body) != nil || body.Birth.IsZero() {
		return nil
	}
	return &Person{Birth: body.Birth}
}
