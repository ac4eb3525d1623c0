package applehealth

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestMomentAgreesWithTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		zone := time.FixedZone("", 60*rapid.IntRange(-15*60, 15*60).Draw(t, "offset"))
		want := time.Unix(rapid.Int64Range(-62135510400, 253402214400).Draw(t, "unix"), 0).In(zone)
		micros, offset, ok := parseMoment([]byte(want.Format(momentLayout)))
		_, wantOffset := want.Zone()
		if !ok || micros != want.UnixMicro() || int(offset) != wantOffset {
			t.Fatalf("%s: %d %d %v, want %d %d", want, micros, offset, ok, want.UnixMicro(), wantOffset)
		}
	})
}

func TestMomentRefuses(t *testing.T) {
	for _, in := range []string{
		"", "2017-03-30", "2017-03-30T09:29:59 +0200", "2017-02-29 09:29:59 +0200", "2017-13-01 09:29:59 +0200",
		"2017-03-30 24:00:00 +0200", "2017-03-30 09:60:00 +0200", "2017-03-30 09:29:59 *0200", "2017-03-30 09:29:59 +1600",
		"2017-03-30 09:29:59 +02:0", "20x7-03-30 09:29:59 +0200", "2017-00-30 09:29:59 +0200", "2017-03-00 09:29:59 +0200",
	} {
		if _, _, ok := parseMoment([]byte(in)); ok {
			t.Errorf("%q was read", in)
		}
	}
}

func FuzzMoment(f *testing.F) {
	f.Add([]byte("2017-03-30 09:29:59 +0200"))
	f.Fuzz(func(t *testing.T, in []byte) {
		micros, offset, ok := parseMoment(in)
		if !ok {
			return
		}
		got := time.UnixMicro(micros).In(time.FixedZone("", int(offset)))
		// "-0000" is the one text that comes back different.
		if text := got.Format(momentLayout); text != string(in) && text[:20] != string(in[:20]) {
			t.Fatalf("%q became %q", in, text)
		}
	})
}
