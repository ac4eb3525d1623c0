package derive

import (
	"context"
	"encoding/json"
	"math"
	"slices"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/civil"
	"hale/internal/platform/store"
	"hale/internal/wearables"
	"hale/internal/wearables/merged"
	"hale/internal/wearables/storage"
)

const (
	secondUS = int64(1e6)
	dayUS    = 86400 * secondUS
)

// track holds the samples of one stored series around the requested days.
type track struct {
	wearables.Samples
	written []int64 // when each sample was stored
}

// tracks contains the series of one provider, by resource.
type tracks map[string][]*track

// seriesNamed lists a provider's series of some resources.
func (d *Deriver) seriesNamed(ctx context.Context, tx *store.Tx, resources ...string) ([]storage.Series, error) {
	var found []storage.Series
	for _, name := range resources {
		all, err := storage.SeriesOf(ctx, tx, d.User.Team.UUID(), d.User.ID.UUID(), name)
		if err != nil {
			return nil, err
		}
		for _, s := range all {
			if s.Source.Provider == d.Provider {
				found = append(found, s)
			}
		}
	}
	return found, nil
}

// load reads the samples of series that start in [from, to).
func load(ctx context.Context, tx *store.Tx, all []storage.Series, from, to int64) (tracks, error) {
	found := tracks{}
	for _, s := range all {
		t := &track{}
		var err error
		if t.Samples, t.written, err = storage.ReadWritten(ctx, tx, s, from, to); err != nil {
			return nil, err
		}
		if t.Len() > 0 {
			found[s.Resource] = append(found[s.Resource], t)
		}
	}
	return found, nil
}

// offset returns the offset of sample i in seconds east of UTC: the stated one, or that
// of the zone.
func (t *track) offset(i int, zone *time.Location) int32 {
	if len(t.Offset) > 0 && t.Offset[i] != wearables.NoOffset {
		return t.Offset[i]
	}
	return offsetIn(zone, t.Time[i])
}

// end returns the end of sample i; for a measurement it is its start.
func (t *track) end(i int) int64 {
	if len(t.End) > 0 {
		return max(t.End[i], t.Time[i])
	}
	return t.Time[i]
}

// offsetIn returns the offset of a zone at an instant, in seconds east of UTC. Without a
// zone it is 0.
func offsetIn(zone *time.Location, micros int64) int32 {
	if zone == nil {
		return 0
	}
	_, offset := time.UnixMicro(micros).In(zone).Zone()
	return int32(offset)
}

// dayNumber counts local days since 1970-01-01.
func dayNumber(micros int64, offset int32) int64 {
	local := micros + int64(offset)*secondUS
	if local < 0 {
		return (local+1)/dayUS - 1
	}
	return local / dayUS
}

func dateOfNumber(n int64) civil.Date { return civil.DateOf(time.Unix(n*86400, 0).UTC()) }

func numberOfDate(d civil.Date) int64 { return d.In(time.UTC).Unix() / 86400 }

// localDate returns the calendar day of an instant at an offset.
func localDate(micros int64, offset int32) civil.Date { return dateOfNumber(dayNumber(micros, offset)) }

// between returns the positions of the samples that start in [from, to).
func (t *track) between(from, to int64) (int, int) {
	return search(t.Time, from), search(t.Time, to)
}

// search returns the index of the first time that is not before at, or len(times) if
// there is none.
func search(times []int64, at int64) int {
	low, high := 0, len(times)
	for low < high {
		if mid := (low + high) / 2; times[mid] < at {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low
}

// origin identifies the recorder of a value: a source without its sport and workout.
// Origins are comparable.
type origin struct {
	kind, app string
	device    uuid.UUID
}

func originOf(s wearables.Source) origin {
	o := origin{kind: s.Type, app: s.AppID}
	if s.DeviceID != nil {
		o.device = *s.DeviceID
	}
	return o
}

// key returns the text of the origin in the key of a summary.
func (o origin) key() string {
	if o.device == uuid.Nil {
		return o.kind + "|" + o.app
	}
	return o.kind + "|" + o.app + "|" + o.device.String()
}

// sourceOf returns the common source of several values, or multiple_sources.
func (d *Deriver) sourceOf(all []wearables.Source) wearables.Source {
	if len(all) == 0 || slices.ContainsFunc(all, func(s wearables.Source) bool { return originOf(s) != originOf(all[0]) }) {
		return wearables.Source{Provider: d.Provider, Type: "multiple_sources"}
	}
	s := all[0]
	s.Sport, s.WorkoutID = "", nil
	return s
}

// roundTo rounds to a number of decimals. Only final results are rounded, never the
// terms of a sum.
func roundTo(v float64, decimals int) *float64 {
	p := math.Pow10(decimals)
	r := math.Round(v*p) / p
	if math.IsInf(r, 0) || math.IsNaN(r) {
		return nil
	}
	return &r
}

func roundToOrNil(v *float64, decimals int) *float64 {
	if v == nil {
		return nil
	}
	return roundTo(*v, decimals)
}

// roundToInt rounds to an integer.
func roundToInt(v float64) *int64 {
	if math.IsNaN(v) || math.Abs(v) > 1<<53 {
		return nil
	}
	n := int64(math.Round(v))
	return &n
}

func roundToIntOrNil(v *float64) *int64 {
	if v == nil {
		return nil
	}
	return roundToInt(*v)
}

// encode returns the JSON of a body. All types of this package can be encoded as JSON.
func encode(body any) json.RawMessage {
	raw, err := json.Marshal(body)
	if err != nil {
		panic("derive: " + err.Error())
	}
	return raw
}

// instant converts microseconds to a UTC time.
func instant(micros int64) time.Time { return time.UnixMicro(micros).UTC() }

// sessionKey identifies a session of one provider by its start and its recorder. It
// does not use the end or the values, which may be revised.
func sessionKey(start int64, s wearables.Source) string {
	return instant(start).Format("2006-01-02T15:04:05.999999Z") + "|" + originOf(s).key()
}

// offsetOrNil returns nil for an offset that was not stated.
func offsetOrNil(offset int32) *int32 {
	if offset == wearables.NoOffset {
		return nil
	}
	return &offset
}

// interval is a stretch of time.
type interval = merged.Span
