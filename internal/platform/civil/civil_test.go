package civil

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestParseDate(t *testing.T) {
	for text, ok := range map[string]bool{
		"2026-02-28": true, "2024-02-29": true, "0001-01-01": true, "9999-12-31": true,
		"2026-02-29": false, "2026-13-01": false, "2026-00-10": false, "2026-01-00": false, "0000-01-01": false,
		"2026-1-01": false, "2026-01-01T00:00:00Z": false, "2026/01/01": false, " 2026-01-01": false, "２026-01-1": false, "": false,
	} {
		d, err := ParseDate(text)
		if (err == nil) != ok {
			t.Errorf("%q: %v, %v", text, d, err)
		}
		if ok && d.String() != text {
			t.Errorf("%q came back as %q", text, d)
		}
	}
}

func TestDaysAreThoseOfTheCalendar(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := DateOf(time.Unix(rapid.Int64Range(-5e10, 2e11).Draw(t, "at"), 0).UTC())
		n := rapid.IntRange(-4000, 4000).Draw(t, "days")
		later := d.AddDays(n)
		if later.DaysSince(d) != n || later.Compare(d) != sign(n) || later.AddDays(-n) != d {
			t.Fatalf("%s + %d = %s", d, n, later)
		}
		back, err := ParseDate(d.String())
		if err != nil || back != d {
			t.Fatalf("%s came back as %s: %v", d, back, err)
		}
	})
}

func sign(n int) int {
	switch {
	case n < 0:
		return -1
	case n > 0:
		return 1
	}
	return 0
}

func TestZone(t *testing.T) {
	for name, ok := range map[string]bool{
		"Europe/Helsinki": true, "UTC": true, "Asia/Kathmandu": true,
		"": false, "Local": false, "Mars/Olympus": false, "../../etc/passwd": false, "Europe//Helsinki": false, "./Europe/Helsinki": false,
		"localtime": false, "posixrules": false, "Factory": false, "posix/Europe/Helsinki": false, "right/Europe/Helsinki": false, "America/Argentina/Buenos_Aires": true, "Etc/GMT+1": true, "/etc/localtime": false, "Europe/Helsinki\x00": false,
	} {
		if _, err := Zone(name); (err == nil) != ok {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// A day starts at its first instant, even if a zone change skips midnight.
func TestADayWithoutMidnight(t *testing.T) {
	loc, err := Zone("America/Santiago")
	if err != nil {
		t.Fatal(err)
	}
	d := MustParse("2025-09-07")
	if got := d.In(loc); DateOf(got) != d || got.Hour() != 1 {
		t.Errorf("%s starts at %s", d, got)
	}
}

func FuzzParseDate(f *testing.F) {
	f.Add("2026-02-28")
	f.Add("2026-02-30")
	f.Fuzz(func(t *testing.T, text string) {
		d, err := ParseDate(text)
		_, std := time.Parse(time.DateOnly, text)
		if (err == nil) != (std == nil) && !strings.HasPrefix(text, "0000") {
			t.Fatalf("%q: %v here, %v there", text, err, std)
		}
		if err == nil && d.String() != text {
			t.Fatalf("%q came back as %q", text, d)
		}
	})
}
