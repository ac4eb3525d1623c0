package merged_test

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hale/internal/platform/civil"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/wearables"
	"hale/internal/wearables/merged"
	"hale/internal/wearables/storage"
)

// Merged, daily and plain reads have each key of two apps once, with the later value. The
// order of the pushes changes values, and never the keys of the line.
func TestEachKeyOnceProperty(t *testing.T) {
	clock := testTime
	storetest.EachAt(t, func() time.Time { return clock }, func(t *testing.T, db *store.DB) {
		rapid.Check(t, func(rt *rapid.T) {
			p, other := newPerson(t, db), newPerson(t, db)
			resource := rapid.SampledFrom([]string{"heartrate", "glucose", "steps"}).Draw(rt, "resource")
			step := rapid.SampledFrom([]time.Duration{time.Second, time.Minute, 5 * time.Minute}).Draw(rt, "step")
			latest, apps := map[int64]float64{}, map[int64]map[string]bool{}
			var sent []wearables.Samples
			for n := range rapid.IntRange(2, 4).Draw(rt, "pushes") {
				app := []string{"com.a", "com.b"}[n%2]
				s := wearables.Samples{Resource: resource, Source: wearables.Source{Type: "watch", AppID: app}}
				for i := range 24 {
					if !rapid.Bool().Draw(rt, fmt.Sprint(n, i)) {
						continue
					}
					at := march.Add(8*time.Hour + time.Duration(i)*step).UnixMicro()
					value := float64(60 + n*7 + i%3)
					if resource == "glucose" {
						value /= 10
					}
					s.Time, s.Value = append(s.Time, at), append(s.Value, value)
					if resource == "steps" {
						s.End = append(s.End, at+step.Microseconds())
					}
					if apps[at] == nil {
						apps[at] = map[string]bool{}
					}
					latest[at], apps[at][app] = value, true
				}
				if len(s.Time) > 0 {
					sent = append(sent, s)
				}
			}
			for i := range sent {
				clock = clock.Add(time.Second)
				p.ingest(sent[i])
				other.ingest(sent[len(sent)-1-i])
			}
			q := p.query(resource)
			pieces := p.read(q, merged.Range{Span: day(0)}).Pieces
			var total, sum float64
			var order []int64
			for i, piece := range pieces {
				if piece.Value != latest[piece.Start] || i > 0 && pieces[i-1].Start == piece.Start {
					rt.Errorf("merged %v at %v, want %v", piece.Value, piece.Start, latest[piece.Start])
				}
				total += piece.Value
				order = append(order, piece.Start)
			}
			for at, by := range apps {
				if _, found := slices.BinarySearch(order, at); !found && (len(by) == 2 || resource == "steps") {
					rt.Errorf("nothing at %v", at)
				}
			}
			for _, d := range p.days(q, merged.DaysRange{First: civil.DateOf(march), Last: civil.DateOf(march)}).Days {
				if sum += d.Total; resource != "steps" {
					sum += d.Mean() * float64(d.Count)
				}
			}
			if diff := sum - total; diff > 1e-6 || diff < -1e-6 {
				rt.Errorf("daily %v, merged %v", sum, total)
			}
			if plain := p.latest(resource); !reflect.DeepEqual(plain, latest) {
				rt.Errorf("plain %v, want %v", plain, latest)
			}
			var reversed []int64
			for _, piece := range other.read(other.query(resource), merged.Range{Span: day(0)}).Pieces {
				reversed = append(reversed, piece.Start)
			}
			if !slices.Equal(order, reversed) {
				rt.Errorf("in the other order %v, was %v", reversed, order)
			}
		})
	})
}

// latest reads plain samples.
func (p person) latest(resource string) map[int64]float64 {
	found := map[int64]float64{}
	err := p.db.Read(p.ctx, func(tx *store.Tx) error {
		return readLatest(p.ctx, tx, p, resource, found)
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return found
}

func readLatest(ctx context.Context, tx *store.Tx, p person, resource string, found map[int64]float64) error {
	clear(found)
	all, err := storage.LatestSamples(ctx, tx, p.team.ID.UUID(), p.user.ID.UUID(), storage.SamplesQuery{Resource: resource, From: day(0).Start, To: day(0).End}, 1000)
	for _, s := range all {
		for i, at := range s.Time {
			if _, twice := found[at]; twice {
				p.t.Errorf("two plain samples at %v", at)
			}
			found[at] = s.Value[i]
		}
	}
	return err
}
