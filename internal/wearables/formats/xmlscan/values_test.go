package xmlscan

import (
	"strconv"
	"testing"
)

func FuzzNumber(f *testing.F) {
	for _, seed := range []string{"81", "0.00288", "-1.5", "31.73680251737436", "1e3", ".5", "5.", "-", "9007199254740993", "NaN", "0x1p4"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		got, ok := Number(in)
		if !ok {
			return
		}
		want, err := strconv.ParseFloat(string(in), 64)
		if err != nil || got != want {
			t.Fatalf("%q: %v, strconv says %v, %v", in, got, want, err)
		}
	})
}
