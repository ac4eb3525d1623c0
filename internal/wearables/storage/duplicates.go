package storage

import (
	"context"
	"errors"
	"math"

	"github.com/google/uuid"

	"hale/internal/platform/blocks"
	"hale/internal/platform/store"
	"hale/internal/wearables"
	"hale/internal/wearables/resources"
)

// A sample has one key: resource, provider, source type and timestamp. Series are
// finer, so several series may have a sample of one key. Each sample records when it
// was stored, and the latest one counts.
//
// Words. An app may send a measurement without its words first and with them
// later, or a stored body is reprocessed with a newer mapping. Of a sample with words
// and one without, of the same source, type and time, every read has the later one.
// Samples with different words are different: a thermometer in the ear, one on the
// forehead.
//
// Apps. Grouped reads have a group for each app. LatestSamples and aggregate queries
// keep one sample of each key.
//
// Exports. An Apple Health export repeats what the phone has pushed from the same
// HealthKit store: see transports.go.
//
// Spec: Events, timeseries events: the compound key.

// twin is a series with samples of the same keys as another one. Of two samples that
// were stored in the same millisecond, that of the preferred twin counts.
type twin struct {
	Series
	preferred bool
	pushed    bool // has what the phone pushed, of a series of an export
	sameKey   bool // a pushed sample of the same time counts, whatever its value
}

// linkWords links each series without words with those that differ from it in nothing
// but their words.
func linkWords(all []Series) {
	worded := map[SeriesKey][]int{}
	for i := range all {
		if all[i].Extra != "" {
			key := all[i].keyWithoutWords()
			worded[key] = append(worded[key], i)
		}
	}
	if len(worded) == 0 {
		return
	}
	for i := range all {
		if all[i].Extra != "" {
			continue
		}
		for _, k := range worded[all[i].keyWithoutWords()] {
			link(&all[i], &all[k])
		}
	}
}

func (s *Series) keyWithoutWords() SeriesKey {
	key := s.key()
	key.Extra = ""
	return key
}

// link makes two series twins. The second one is preferred.
func link(a, b *Series) {
	first, second := *a, *b
	first.twins, second.twins = nil, nil
	a.twins = append(a.twins, twin{Series: second, preferred: true})
	b.twins = append(b.twins, twin{Series: first})
}

// LatestOnly links the series of one key, so that reading one leaves out samples that
// another has later.
func LatestOnly[K comparable](all []Series, keyOf func(*Series) K) {
	same := map[K][]int{}
	for i := range all {
		key := keyOf(&all[i])
		for _, k := range same[key] {
			switch a, b := &all[k], &all[i]; {
			case a.Source.IsAppleExport() == b.Source.IsAppleExport():
				link(a, b)
			case a.Source.IsAppleExport():
				a.linkPushed(b, true)
			default:
				b.linkPushed(a, true)
			}
		}
		same[key] = append(same[key], i)
	}
}

// sampleKey is the key of the samples of a series without their time, as the
// specification has it.
type sampleKey struct {
	Resource, Provider, SourceType, Type, Extra, Sport string
	Workout                                            uuid.UUID
}

func (s *Series) sampleKey() sampleKey {
	key := s.key()
	return sampleKey{key.Resource, key.Provider, key.SourceType, key.Type, key.Extra, key.Sport, key.Workout}
}

// HasKeyOf reports whether samples of two series have one key if they have one time.
func (s *Series) HasKeyOf(o *Series) bool { return s.sampleKey() == o.sampleKey() }

// removeReplaced removes from dst, after begin, the samples that a twin has too, later.
func (s *Series) removeReplaced(ctx context.Context, tx *store.Tx, begin int, dst *blocks.Columns) error {
	for i := range s.twins {
		t := &s.twins[i]
		if t.pushed {
			if err := s.removePushed(ctx, tx, t, begin, dst); err != nil {
				return err
			}
			continue
		}
		if dst.Len() == begin || !t.Within(dst.Time[begin], dst.Time[dst.Len()-1]+1) {
			continue
		}
		var found blocks.Columns
		if _, err := t.read(ctx, tx, dst.Time[begin], dst.Time[dst.Len()-1]+1, math.MaxInt, true, &found); err != nil {
			return err
		}
		k := found.Len() - 1
		for end := dst.Len(); end > begin; end-- {
			first := end
			for first > begin {
				for k >= 0 && found.Time[k] > dst.Time[first-1] {
					k--
				}
				if k < 0 || found.Time[k] < dst.Time[first-1] || found.Written[k] < dst.Written[first-1] ||
					found.Written[k] == dst.Written[first-1] && !t.preferred {
					break
				}
				first--
			}
			if first < end {
				dst.Cut(first, end)
				end = first
			}
		}
	}
	return nil
}

// ErrTooMany says that a read without pages has more samples than it may.
var ErrTooMany = errors.New("storage: too many samples")

// LatestSamples returns the samples of a query without pages, one of each key: of
// several it keeps the one that was stored last. Samples of different types or
// words have different keys. With more than most samples it returns ErrTooMany.
func LatestSamples(ctx context.Context, tx *store.Tx, team, user uuid.UUID, q SamplesQuery, most int) ([]wearables.Samples, error) {
	if q.Resource == resources.Hypnogram {
		return listHypnograms(ctx, tx, team, user, q)
	}
	series, err := SeriesOf(ctx, tx, team, user, q.Resource)
	if err != nil {
		return nil, err
	}
	LatestOnly(series, func(s *Series) SeriesKey {
		return SeriesKey{Resource: s.Resource, Provider: s.Source.Provider, SourceType: s.Source.Type, Type: s.Type, Extra: s.Extra}
	})
	var groups []wearables.Samples
	for i := range series {
		s := &series[i]
		if q.Provider != "" && s.Source.Provider != q.Provider || !s.Within(q.From, q.To) {
			continue
		}
		var c blocks.Columns
		more, err := s.read(ctx, tx, q.From, q.To, most, false, &c)
		if err != nil {
			return nil, err
		}
		if more {
			return nil, ErrTooMany
		}
		if most -= c.Len(); c.Len() == 0 {
			continue
		}
		group := wearables.Samples{Resource: s.Resource, Type: s.Type, Extra: s.Extra, Source: s.Source}
		group.SetColumns(&c)
		groups = append(groups, group)
	}
	return groups, nil
}
