package progress

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestLinesEveryTenSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		m := Start(&out, Options{Label: "upload", Unit: Bytes, Total: 40 << 20})
		time.Sleep(500 * time.Millisecond) // between two ticks, so that none meets an Add
		for range 25 {
			m.Add(1 << 20)
			time.Sleep(time.Second)
		}
		m.Finish(true)
		want := "upload: 10.0 MiB of 40.0 MiB (25%), 1.0 MiB/s, 30s left\n" +
			"upload: 20.0 MiB of 40.0 MiB (50%), 1.0 MiB/s, 20s left\n" +
			"upload: 25.0 MiB of 40.0 MiB (62%), 1.0 MiB/s, done in 26s\n"
		if got := out.String(); got != want {
			t.Errorf("printed\n%swant\n%s", got, want)
		}
	})
}

func TestUnknownTotalShowsNeitherShareNorRest(t *testing.T) {
	now := time.Unix(100, 0)
	s := state{label: "events", done: 1500, began: now.Add(-time.Second), note: "tail"}
	if got := s.line(now); got != "events: 1,500, 1,500/s, tail" {
		t.Errorf("line = %q", got)
	}
}

func TestStoppedWorkIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		m := Start(&out, Options{Label: "import", Total: 10})
		m.Set(4, 10, "2 records")
		time.Sleep(2 * time.Second)
		m.Finish(false)
		m.Finish(true)
		if got := out.String(); got != "import: 4 of 10 (40%), 2/s, stopped after 2s, 2 records\n" {
			t.Errorf("printed %q", got)
		}
	})
}

func TestCountsNeverRunBackwards(t *testing.T) {
	var out bytes.Buffer
	m := Start(&out, Options{Label: "x"})
	m.Set(7, 10, "")
	m.Set(3, 10, "late")
	m.Finish(true)
	if got := out.String(); !strings.HasPrefix(got, "x: 7 of 10 (70%)") {
		t.Errorf("printed %q", got)
	}
}

func TestReaderCounts(t *testing.T) {
	var out bytes.Buffer
	m := Start(&out, Options{Label: "r", Unit: Bytes, Total: 3000})
	if _, err := io.Copy(io.Discard, m.Reader(strings.NewReader(strings.Repeat("x", 3000)))); err != nil {
		t.Fatal(err)
	}
	m.Finish(true)
	if !strings.Contains(out.String(), "2.9 KiB of 2.9 KiB (100%)") {
		t.Errorf("printed %q", out.String())
	}
}

func TestBarEnds(t *testing.T) {
	for _, ok := range []bool{true, false} {
		for _, total := range []int64{0, 5} {
			var out bytes.Buffer
			m := Start(&out, Options{Label: "bar", Total: total, Terminal: true})
			m.Add(2)
			m.Finish(ok)
			word := map[bool]string{true: "done in", false: "stopped after"}[ok]
			if !strings.Contains(out.String(), word) || !strings.Contains(out.String(), "bar ") {
				t.Errorf("ok %t, total %d: drew %q", ok, total, out.String())
			}
		}
	}
}

func TestSizeAndCountFormat(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 1023: "1023 B", 1 << 10: "1.0 KiB", 1 << 20: "1.0 MiB", 1020 << 10: "1.0 MiB", 3 << 40: "3.0 TiB"} {
		if got := Size(n); got != want {
			t.Errorf("Size(%d) = %s, want %s", n, got, want)
		}
	}
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", -1234567: "-1,234,567"} {
		if got := Count(n); got != want {
			t.Errorf("Count(%d) = %s, want %s", n, got, want)
		}
	}
	for d, want := range map[time.Duration]string{
		850 * time.Millisecond: "850ms", 7 * time.Second: "7s", 200 * time.Second: "3m20s", 125 * time.Minute: "2h5m",
	} {
		if got := shortDuration(d); got != want {
			t.Errorf("short(%v) = %s, want %s", d, got, want)
		}
	}
}
