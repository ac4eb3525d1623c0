package merged_test

import (
	"fmt"
	"testing"
	"time"

	"hale/internal/platform/civil"
	"hale/internal/platform/store/storetest"
	"hale/internal/wearables"
	"hale/internal/wearables/merged"
)

// BenchmarkMonth merges 30 days of a watch's value a minute with a phone's
// every five, and writes the JSON: as one line, and by day.
func BenchmarkMonth(b *testing.B) {
	p := newPerson(b, storetest.NewSQLite(b).Open(b, func() time.Time { return testTime }))
	for i, resource := range []string{"steps", "heartrate"} {
		for every, source := range map[int]wearables.Source{1: watch, 5: phone} {
			s := steps(source, march, 30*1440, every)
			s.Resource = resource
			for k := range s.Value {
				s.Value[k] = float64(50*i + k%40 + 1)
			}
			p.ingest(s)
		}
		q := p.query(resource)
		b.Run(fmt.Sprint(resource, "/merged"), func(b *testing.B) {
			for b.Loop() {
				page := p.read(q, merged.Range{Span: merged.Span{Start: day(0).Start, End: day(29).End}})
				if len(page.Pieces) != 30*1440 {
					b.Fatal(len(page.Pieces))
				}
				merged.AppendPage(make([]byte, 0, 130*len(page.Pieces)), q.Resource, &page, "", false)
			}
		})
		b.Run(fmt.Sprint(resource, "/daily"), func(b *testing.B) {
			for b.Loop() {
				if page := p.days(q, merged.DaysRange{First: civil.DateOf(march), Last: civil.DateOf(march).AddDays(29)}); len(page.Days) != 30 {
					b.Fatal(len(page.Days))
				}
			}
		})
	}
}
