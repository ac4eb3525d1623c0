package aggregate

import (
	"slices"

	"hale/internal/wearables/aggregate/query"
	"hale/internal/wearables/storage"
)

// To the outside a sample is known by its resource, provider, kind of source
// and time. Two apps on one phone that write the same minute are kept apart
// inside, and would be two rows of one thing here: a sum would count it twice,
// and a group would have it twice. Such a sample counts once, that of the app
// whose name comes first, unless the query asks about apps or devices.
//
// Spec: Events, timeseries events: the compound key.
type outsideKeys struct {
	times map[outside][]int64 // of series that were read, sorted
	many  map[outside]bool    // keys that several series have
}

// outside is what is seen of a series from the outside. A distance belongs to
// its workout and sport too.
type outside struct{ provider, kind, word, extra, sport, workout string }

func outsideOf(s *storage.Series) outside {
	o := outside{s.Source.Provider, s.Source.Type, s.Type, s.Extra, s.Source.Sport, ""}
	if s.Source.WorkoutID != nil {
		o.workout = s.Source.WorkoutID.String()
	}
	return o
}

// outsideKeysOf looks for series that are one to the outside.
func outsideKeysOf(p *query.Plan, all []storage.Series) *outsideKeys {
	k := &outsideKeys{times: map[outside][]int64{}, many: map[outside]bool{}}
	asked := slices.ContainsFunc(p.Inputs, func(in query.Input) bool {
		return in.Column.From == query.FromApp || in.Column.From == query.FromDevice
	})
	if asked {
		return k
	}
	seen := map[outside]bool{}
	for i := range all {
		o := outsideOf(&all[i])
		k.many[o] = k.many[o] || seen[o]
		seen[o] = true
	}
	return k
}

// taken are the times that series read before have under the same key.
func (k *outsideKeys) taken(s *storage.Series) []int64 {
	if o := outsideOf(s); k.many[o] {
		return k.times[o]
	}
	return nil
}

// note remembers the times of a series that was read, for those that follow.
func (k *outsideKeys) note(s *storage.Series, times []int64) {
	o := outsideOf(s)
	if !k.many[o] {
		return
	}
	all := append(k.times[o], times...)
	slices.Sort(all)
	k.times[o] = slices.Compact(all)
}
