package main

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"hale/internal/harness/rawhttp"
)

// The program starts itself for its baselines; here that is the test binary.
func TestMain(m *testing.M) {
	for _, argument := range os.Args[1:] {
		if argument == "-bare-server" || argument == "-bare-posts" {
			main()
			return
		}
	}
	os.Exit(m.Run())
}

// Every measure runs once, briefly and on little data, so that all of them keep
// working. The test checks no figure; `make bench` does.
func TestEveryMeasureRuns(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the server and measures for a quarter of a minute")
	}
	*seededOrders, shrink = 200, 20
	var out bytes.Buffer
	if err := run(context.Background(), &out, []string{"sqlite", "postgres"}, "", 100*time.Millisecond, 1); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	for _, m := range measures {
		if !strings.Contains(out.String(), "sqlite · "+m.name) {
			t.Errorf("there is no figure of %s:\n%s", m.name, out.String())
		}
	}
}

// Growth measures every call at two small sizes, so that each call keeps working.
func TestGrowthRuns(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the server and measures for half a minute")
	}
	*growthPeople, *growthOrders, *growthDays = "200,400", "200,400", 0.1
	var out bytes.Buffer
	if err := runGrowth(context.Background(), &out, []string{"sqlite"}, 20*time.Millisecond); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	if !strings.Contains(out.String(), "at 200 and 400 people") || !strings.Contains(out.String(), "at 200 and 400 orders") {
		t.Errorf("a table is missing:\n%s", out.String())
	}
}

func TestReadingAnswers(t *testing.T) {
	answer := rawhttp.Response{Status: 200, Body: []byte(`{"user_id": "7", "next_cursor":null,"x":[{"timestamp":"a"},{"timestamp":"b"}]}`)}
	if id, err := textField(answer, "user_id"); err != nil || id != "7" {
		t.Errorf("user_id = %q, %v", id, err)
	}
	if cursor, err := textField(answer, "next_cursor"); err == nil {
		t.Errorf("a null cursor reads as %q", cursor)
	}
	if _, err := textField(rawhttp.Response{Status: 500}, "user_id"); err == nil {
		t.Error("a 500 has a field")
	}
	if n := countSamples(answer.Body); n != 2 {
		t.Errorf("counted %d samples, want 2", n)
	}
	event := []byte(`{"event_type":"daily.data.heartrate.created","data":{"data":[{"timestamp":"2025-01-01T00:02:05+00:00","value":60}]}}`)
	if slot, ok := slotOf(event); !ok || slot != 125 {
		t.Errorf("slot = %d, %v, want 125", slot, ok)
	}
}

// The baseline of parsing reads all values of the bodies.
func TestBareParseReadsTheBodies(t *testing.T) {
	at, values, ok := parseColumns(pushBody(3, 10, 288, sugar))
	if !ok || len(at) != 288 || len(values) != 288 {
		t.Fatalf("%d times, %d values, %v", len(at), len(values), ok)
	}
	var body struct {
		Data []struct {
			Timestamp time.Time
			Value     float64
		}
	}
	if err := json.Unmarshal(pushBody(3, 10, 288, sugar), &body); err != nil {
		t.Fatal(err)
	}
	for i, sample := range body.Data {
		if sample.Timestamp.Unix() != at[i] || math.Abs(sample.Value-values[i]) > 1e-9 {
			t.Fatalf("sample %d is %v at %d, want %v at %d", i, values[i], at[i], sample.Value, sample.Timestamp.Unix())
		}
	}
}

func TestThousands(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567"} {
		if got := thousands(n); got != want {
			t.Errorf("thousands(%d) = %s, want %s", n, got, want)
		}
	}
}
