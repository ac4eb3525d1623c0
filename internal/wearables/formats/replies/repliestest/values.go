package repliestest

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"hale/internal/wearables"
)

// OnlySummary returns the only element of a list of bodies, and fails the test if there
// are none or several.
func OnlySummary(t *testing.T, all []map[string]any) map[string]any {
	t.Helper()
	if len(all) != 1 {
		t.Fatalf("%d summaries, want one", len(all))
	}
	return all[0]
}

// List formats the elements of a list with spaces between them.
func List(v any) string { return strings.Trim(fmt.Sprint(v), "[]") }

// Seconds adds values to a map. The keys of values are seconds since 1970 as text.
func Seconds(t *testing.T, to map[int64]float64, values map[string]float64) {
	t.Helper()
	for text, v := range values {
		at, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		to[at*1e6] = v
	}
}

// SameSamples compares a series with values by their instants in microseconds.
func SameSamples(t *testing.T, got wearables.Samples, want map[int64]float64) {
	t.Helper()
	if got.Len() != len(want) {
		t.Errorf("%s has %d samples, want %d", got.Resource, got.Len(), len(want))
	}
	for i, at := range got.Time {
		if v, ok := want[at]; !ok || v != got.Value[i] {
			t.Errorf("%s at %v is %v, want %v", got.Resource, time.UnixMicro(at).UTC(), got.Value[i], v)
			return
		}
	}
}
