package garmin

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"hale/internal/wearables"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/replies"
	"hale/internal/wearables/formats/sheet"
)

// batches counts the samples that are stored at once.
type batches struct {
	replies.Sink
	all []int
	sum map[string]float64
}

func (b *batches) Samples(_ context.Context, all []wearables.Samples) error {
	n := 0
	for _, s := range all {
		n += s.Len()
		for _, v := range s.Value {
			b.sum[s.Resource] += v
		}
	}
	b.all = append(b.all, n)
	return nil
}

// The epochs of years are stored in several batches, and none is lost.
func TestEpochsAreStoredInBatches(t *testing.T) {
	sink := &batches{sum: map[string]float64{}}
	r := &reader{Reader: &replies.Reader{Report: &files.Report{}, Sink: sink}, epochs: map[epochKey]epoch{}}
	one := 1.0
	for i := range int64(sheet.FlushSize) {
		for _, kind := range []string{"WALKING", "SEDENTARY"} {
			r.epochs[epochKey{i * quarter * 1e6, kind}] = epoch{seconds: quarter, steps: &one, metres: &one, kcal: &one}
		}
	}
	if err := r.endEpochs(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := sink.Samples(t.Context(), r.Gather.Take()); err != nil {
		t.Fatal(err)
	}
	for _, n := range sink.all {
		if n > sheet.FlushSize+2 {
			t.Errorf("%v at once", sink.all)
		}
	}
	for _, resource := range []string{"steps", "distance", "calories_active"} {
		if sink.sum[resource] != 2*sheet.FlushSize {
			t.Errorf("%s: %v", resource, sink.sum)
		}
	}
}

// A file's names of activities and weighings are kept until its end, so no name longer
// than real names is kept.
func TestNamesAreBounded(t *testing.T) {
	r := &reader{Reader: &replies.Reader{Report: &files.Report{}}}
	long := strings.Repeat("x", 1<<20)
	epochs, ok := replies.Parse(fmt.Appendf(nil, `{"startTimeInSeconds": 1741017600, "durationInSeconds": 900, "steps": 1, "activityType": %q}`, long))
	weight, good := replies.Parse(fmt.Appendf(nil, `{"samplePk": %q, "timestampGMT": 1741017600000, "date": 1741017600000, "weight": 70000}`, long))
	if !ok || !good || r.epoch(epochs) != replies.Mapped || r.weighing(weight) != replies.Mapped || r.weighing(weight) != replies.Copy {
		t.Fatalf("%v %v", r.epochs, r.weighed)
	}
	for key := range r.epochs {
		if len(key.kind) > 300 {
			t.Errorf("%d bytes of a sort of activity", len(key.kind))
		}
	}
	for id := range r.weighed {
		if len(id) > 300 {
			t.Errorf("%d bytes of an id", len(id))
		}
	}
}
