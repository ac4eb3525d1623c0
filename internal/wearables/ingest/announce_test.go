package ingest_test

import (
	"bytes"
	"testing"
	"time"

	"hale/internal/wearables"
)

// Events about many samples are stored by their columns. Their text must equal
// that of a read of the same samples, letter by letter.
func TestEventsOfManySamples(t *testing.T) {
	forEachEngine(t, func(f fixture) {
		for _, resource := range []string{"heartrate", "steps", "blood_pressure", "insulin_injection", "glucose"} {
			r, ok := wearables.ResourceNamed(resource)
			if !ok {
				t.Fatal(resource)
			}
			samples := func(from time.Time, n int) wearables.Samples {
				s := wearables.Samples{Resource: resource, Source: watch()}
				if len(r.Types) > 0 {
					s.Type = r.Types[0]
				}
				for i := range n {
					at := from.Add(time.Duration(i) * 61 * time.Minute).UnixMicro()
					s.Time, s.Value = append(s.Time, at+int64(i%3)*250_000), append(s.Value, 61+float64(i%7)/2)
					if resource == "glucose" {
						s.Value[i] /= 10
					}
					if r.Interval {
						s.End = append(s.End, at+60_000_000)
					}
					if r.Pair {
						s.Value2 = append(s.Value2, 41)
					}
					s.Offset = append(s.Offset, []int32{wearables.NoOffset, 3600}[i/20%2])
				}
				return s
			}
			f.ingest(wearables.Batch{Samples: []wearables.Samples{samples(day, 1)}}) // makes the series
			many := samples(day.AddDate(0, 0, 1), 100)
			f.ingest(wearables.Batch{Samples: []wearables.Samples{many}})
			all := f.events()
			want := append([]byte(`"data":`), wearables.AppendAll(nil, []wearables.Samples{many})...)
			if last := all[len(all)-1]; !bytes.Contains(last.Data, want) || last.Type != "daily.data."+r.Event+".created" {
				t.Errorf("%s: announced as %s\n%s\nwanted\n%s", resource, last.Type, last.Data, want)
			}
		}
	})
}

// Values that do not fit into one event are announced by a second one.
func TestSamplesOfSeveralEvents(t *testing.T) {
	forEachEngine(t, func(f fixture) {
		values := make([]float64, 7*1440)
		for i := range values {
			values[i] = 60 + float64(i%50)
		}
		f.ingest(wearables.Batch{Samples: []wearables.Samples{heartRates(day, 60)}})
		f.ingest(wearables.Batch{Samples: []wearables.Samples{heartRates(day.AddDate(0, 0, 1), values...)}})
		n, sent := 0, f.events()[1:]
		for _, e := range sent {
			if len(e.Data) > 256<<10 {
				t.Errorf("an event of %d bytes", len(e.Data))
			}
			n += bytes.Count(e.Data, []byte(`"timestamp"`))
		}
		if n != len(values) || len(sent) < 4 {
			t.Errorf("%d samples in %d events", n, len(sent))
		}
	})
}
