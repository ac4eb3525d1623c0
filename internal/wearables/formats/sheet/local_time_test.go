package sheet

import (
	"testing"
	"time"

	"hale/internal/platform/civil"
	"hale/internal/wearables"
)

func wallAt(t *testing.T, s string) time.Time {
	t.Helper()
	at, err := time.Parse("2006-01-02 15:04", s)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func TestWallClockWithoutAZone(t *testing.T) {
	at, offset := (&Wall{}).Instant(wallAt(t, "2024-07-01 08:00"))
	if got := time.UnixMicro(at).UTC().Format(time.RFC3339); got != "2024-07-01T08:00:00Z" || offset != wearables.NoOffset {
		t.Errorf("%s %d", got, offset)
	}
}

// A document in order of time passes through the hour of October twice. It has
// no times in the hour that the clock skips in March.
func TestWallClockOnDaysOfAChange(t *testing.T) {
	berlin, err := civil.Zone("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	w := &Wall{Zone: berlin}
	for _, test := range []struct{ name, wall, want string }{
		{"before", "2024-10-27 01:45", "2024-10-27T01:45:00+02:00"},
		{"first pass", "2024-10-27 02:15", "2024-10-27T02:15:00+02:00"},
		{"first pass", "2024-10-27 02:45", "2024-10-27T02:45:00+02:00"},
		{"second pass", "2024-10-27 02:00", "2024-10-27T02:00:00+01:00"},
		{"second pass", "2024-10-27 02:45", "2024-10-27T02:45:00+01:00"},
		{"after", "2024-10-27 03:00", "2024-10-27T03:00:00+01:00"},
		{"winter", "2025-01-10 12:00", "2025-01-10T12:00:00+01:00"},
		{"last before", "2025-03-30 01:59", "2025-03-30T01:59:00+01:00"},
		{"jumped over", "2025-03-30 02:30", "2025-03-30T03:30:00+02:00"},
		{"summer", "2025-03-30 04:00", "2025-03-30T04:00:00+02:00"},
	} {
		at, offset := w.Instant(wallAt(t, test.wall))
		zone := time.FixedZone("", int(offset))
		if got := time.UnixMicro(at).In(zone).Format(time.RFC3339); got != test.want {
			t.Errorf("%s, %s: %s, want %s", test.name, test.wall, got, test.want)
		}
	}
}

// A time in the hour that occurs twice means the first pass, unless the time of the row
// before is later than that.
func TestWallClockOfARepeatedHour(t *testing.T) {
	sydney, err := civil.Zone("Australia/Sydney")
	if err != nil {
		t.Fatal(err)
	}
	at, offset := (&Wall{Zone: sydney}).Instant(wallAt(t, "2025-04-06 02:30"))
	if offset != 11*3600 || at != time.Date(2025, 4, 5, 15, 30, 0, 0, time.UTC).UnixMicro() {
		t.Errorf("%v %d", time.UnixMicro(at).UTC(), offset)
	}
}

func TestNumber(t *testing.T) {
	for s, want := range map[string]float64{"5.6": 5.6, "5,6": 5.6, "1e2": 100, "-3": -3, "0": 0} {
		if got, ok := Number(s); !ok || got != want {
			t.Errorf("%q is %v, %v", s, got, ok)
		}
	}
	for _, s := range []string{"", "Low", "NaN", "Inf", "0x1p4", "1_000", "1e999", "1,2,3", "1.2,3"} {
		if got, ok := Number(s); ok {
			t.Errorf("%q is %v", s, got)
		}
	}
}
