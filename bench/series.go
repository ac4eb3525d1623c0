package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"hale/internal/harness/load"
	"hale/internal/harness/rawhttp"
)

// yearDays returns the length of the pushed year in days. A shortened year still has 32
// days, so that a month can be read.
func yearDays() int { return max(32, scaledCount(365)) }

// yearStart is the first minute of the pushed year.
var yearStart = time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)

// measureSeries pushes a year of heart rates, one a minute, in batches of a
// day. It measures how much disk space they take, and reads a month of them
// back.
func measureSeries(ctx context.Context, b *bench) error {
	users, err := makeUsers(ctx, b, 1)
	if err != nil {
		return err
	}
	user := users[0]
	took, err := b.pushYear(ctx, user)
	if err != nil {
		return err
	}
	pushed := float64(yearDays() * minutesOfDay)
	b.report.line("samples pushed in day batches", perSecond(pushed/took.Seconds()), "one caller, every batch durable and announced", "")
	if err := b.readMonths(ctx, user); err != nil {
		return err
	}
	size, err := b.sampleBytes(ctx)
	if err != nil {
		return err
	}
	b.report.line("bytes per stored heart rate", fmt.Sprintf("%.2f B", float64(size.total)/pushed), fmt.Sprintf("of which indexes %.2f B", float64(size.indexes)/pushed), "≤ 1.5 B")
	return nil
}

// pushYear pushes a batch of 1,440 samples for each day. The values change in small
// steps, as heart rates do.
func (b *bench) pushYear(ctx context.Context, user string) (time.Duration, error) {
	conn, err := rawhttp.Dial(ctx, b.server.Address(), time.Minute)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	head := rawhttp.Head("POST", pushPath(user), b.server.Address(), "x-service-api-key: "+b.key)
	rng := rand.New(rand.NewPCG(1, 2))
	beat := 70
	start := time.Now()
	for day := range yearDays() {
		body := []byte(`{"stage":"daily","provider":"apple_health_kit","data":[`)
		for minute := range 24 * 60 {
			if minute > 0 {
				body = append(body, ',')
			}
			beat = min(180, max(45, beat+rng.IntN(9)-4))
			at := yearStart.AddDate(0, 0, day).Add(time.Duration(minute) * time.Minute)
			body = append(body, `{"timestamp":"`...)
			body = at.AppendFormat(body, time.RFC3339)
			body = append(body, `","value":`...)
			body = strconv.AppendInt(body, int64(beat), 10)
			body = append(body, `,"unit":"bpm","source_type":"watch"}`...)
		}
		answer, err := conn.Do(head, append(body, `]}`...))
		if err != nil {
			return 0, err
		}
		if answer.Status/100 != 2 {
			return 0, fmt.Errorf("a push was answered %d: %.300s", answer.Status, answer.Body)
		}
	}
	return time.Since(start), nil
}

// readMonths reads 30 days of heart rates many times, with one caller.
func (b *bench) readMonths(ctx context.Context, user string) error {
	return b.readSpans(ctx, user, "30 days of heart rate, JSON", 30, "p99 ≤ 10 ms")
}

// readSpans reads a number of successive days of the pushed year many times, each time
// from a random first day.
func (b *bench) readSpans(ctx context.Context, user, name string, days int, target string) error {
	conn, err := rawhttp.Dial(ctx, b.server.Address(), time.Minute)
	if err != nil {
		return err
	}
	defer conn.Close()
	var waits []time.Duration
	size, pages := 0, 0
	warm := scaledCount(20) // readings that do not count
	for n, end := 0, time.Now().Add(b.period); n < 2*warm || time.Now().Before(end); n++ {
		first := yearStart.AddDate(0, 0, 1+rand.IntN(yearDays()-days))
		var took time.Duration
		if size, pages, took, err = b.readSpan(conn, user, first, days); err != nil {
			return err
		}
		if n >= warm {
			waits = append(waits, took)
		}
	}
	slices.Sort(waits)
	b.report.line(name, "p99 "+millis(load.Quantile(waits, .99)),
		fmt.Sprintf("p50 %s, %s B in %d pages", millis(load.Quantile(waits, .5)), thousands(int64(size)), pages), target)
	return nil
}

// readSpan reads all pages of some days and checks that every sample is there. took is
// the time from sending each request to the last byte of its answer. It excludes the
// check of the answers.
func (b *bench) readSpan(conn *rawhttp.Conn, user string, first time.Time, days int) (size, pages int, took time.Duration, err error) {
	query := url.Values{
		"start_date": {first.Format(time.RFC3339)},
		"end_date":   {first.Add(time.Duration(days)*24*time.Hour - time.Second).Format(time.RFC3339)},
	}
	samples := 0
	for {
		path := "/v2/timeseries/" + user + "/heartrate/grouped?" + query.Encode()
		start := time.Now()
		answer, err := conn.Do(rawhttp.Head(http.MethodGet, path, b.server.Address(), "x-service-api-key: "+b.key), nil)
		took += time.Since(start)
		if err != nil {
			return 0, 0, 0, err
		}
		if answer.Status != http.StatusOK {
			return 0, 0, 0, fmt.Errorf("%d days were answered %d: %.300s", days, answer.Status, answer.Body)
		}
		size += len(answer.Body)
		samples += countSamples(answer.Body)
		pages++
		cursor, err := textField(answer, "next_cursor")
		if err != nil || cursor == "" {
			break
		}
		query.Set("next_cursor", cursor)
	}
	if want := days * minutesOfDay; samples != want {
		return 0, 0, 0, fmt.Errorf("%d days have %d samples, not %d", days, samples, want)
	}
	return size, pages, took, nil
}
