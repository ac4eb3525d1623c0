package derive

import (
	"context"
	"time"

	"hale/internal/platform/civil"
	"hale/internal/platform/store"
	"hale/internal/wearables"
	"hale/internal/wearables/storage"
)

const (
	secondUS = int64(1e6)
	dayUS    = 86400 * secondUS
)

// track is what one stored series holds around the days in question.
type track struct {
	wearables.Samples
}

// tracks are the series of one provider, by resource.
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
		if err := storage.ReadSeries(ctx, tx, s, from, to, &t.Samples); err != nil {
			return nil, err
		}
		if t.Len() > 0 {
			found[s.Resource] = append(found[s.Resource], t)
		}
	}
	return found, nil
}

// offset is the seconds east of UTC of sample i.
func (t *track) offset(i int, zone *time.Location) int32 {
	if len(t.Offset) > 0 && t.Offset[i] != wearables.NoOffset {
		return t.Offset[i]
	}
	return offsetIn(zone, t.Time[i])
}

// end is where sample i ends; a measurement ends where it starts.
func (t *track) end(i int) int64 {
	if len(t.End) > 0 {
		return max(t.End[i], t.Time[i])
	}
	return t.Time[i]
}

// offsetIn resolves a zone at an instant; without a zone it is UTC.
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

// localDate is the calendar day of an instant at an offset.
func localDate(micros int64, offset int32) civil.Date { return dateOfNumber(dayNumber(micros, offset)) }

// between returns the positions of the samples that start in [from, to).
func (t *track) between(from, to int64) (int, int) {
	return search(t.Time, from), search(t.Time, to)
}

// search is the position of the first time that is not before at.
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
