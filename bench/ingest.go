package main

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"hale/internal/harness/load"
	"hale/internal/harness/proc"
	"hale/internal/harness/rawhttp"
)

const (
	// ingestUsers are people with a watch and a glucose sensor.
	ingestUsers = 1000
	// dayWriters push whole days, as phones do after a night without a network.
	// trickleWriters push the samples of five minutes.
	dayWriters     = 16
	trickleWriters = 64
)

// measureIngest pushes samples of a thousand people through HTTP: heart rate once a
// minute and glucose every five minutes. It first sends batches of days, then five
// minutes at a time. It times reads while other callers push.
func measureIngest(ctx context.Context, b *bench) error {
	users, err := makeUsers(ctx, b, scaledCount(ingestUsers)+1)
	if err != nil {
		return err
	}
	in := &ingest{bench: b, days: makeDays(scaledCount(ingestDays))}
	pushing, read := users[1:], users[0]
	in.users, in.gateway = pushing, rawhttp.Head(http.MethodPost, "/v2/timeseries", b.server.Address(), "x-service-api-key: "+b.key)
	for _, user := range pushing {
		in.pulse = append(in.pulse, b.pushHead(user, "/heartrate"))
		in.sugar = append(in.sugar, b.pushHead(user, "/glucose"))
		in.awake = append(in.awake, b.pushHead(user, ""))
	}
	if err := in.introduce(ctx); err != nil {
		return err
	}
	if err := in.wholeDays(ctx); err != nil {
		return err
	}
	if err := in.weigh(ctx); err != nil {
		return err
	}
	if err := in.trickle(ctx); err != nil {
		return err
	}
	if err := in.reads(ctx, read); err != nil {
		return err
	}
	return in.recordings(ctx, read)
}

// ingest holds the state that the parts of the measure share.
type ingest struct {
	*bench
	pulse, sugar, awake [][]byte // heads of requests, by user
	users               []string
	gateway             []byte // head of a request for several of them
	days                []day
	next                atomic.Int64 // the next user's day
	stored              atomic.Int64 // stored samples
}

func (b *bench) pushHead(user, resource string) []byte {
	return rawhttp.Head(http.MethodPost, "/v2/timeseries/"+user+resource, b.server.Address(), "x-service-api-key: "+b.key)
}

// send pushes one body of n samples.
func (in *ingest) send(w *rawhttp.Conn, head, body []byte, n int) error {
	answer, err := w.Do(head, body)
	if err == nil && answer.Status/100 != 2 {
		err = fmt.Errorf("a push was answered %d: %.300s", answer.Status, answer.Body)
	}
	in.stored.Add(int64(n))
	return err
}

// introduce lets each user push one sample of both kinds, unmeasured. The first push of a
// user creates the connection and the series.
func (in *ingest) introduce(ctx context.Context) error {
	plan := load.Plan{Address: in.server.Address(), Conns: dayWriters}
	return load.Once(ctx, plan, len(in.pulse), func(w *load.Worker, user int) error {
		if err := in.send(w.Conn, in.pulse[user], pushBody(-1, 0, 1, pulse), 1); err != nil {
			return err
		}
		return in.send(w.Conn, in.sugar[user], pushBody(-1, 0, 1, sugar), 1)
	})
}

// pushDay pushes both series of the next day of the next user.
func (in *ingest) pushDay(w *rawhttp.Conn) error {
	k := int(in.next.Add(1) - 1)
	user, d := k%len(in.pulse), &in.days[k/len(in.pulse)%len(in.days)]
	if err := in.send(w, in.pulse[user], d.pulse, minutesOfDay); err != nil {
		return err
	}
	return in.send(w, in.sugar[user], d.sugar, minutesOfDay/5)
}

// wholeDays pushes days as fast as answers arrive, twice. The second half shows whether
// memory grows with the number of stored samples.
func (in *ingest) wholeDays(ctx context.Context) error {
	plan := load.Plan{Address: in.server.Address(), Conns: dayWriters, For: in.period}
	var rate float64
	var halves [2]proc.Memory
	for half := range halves {
		if err := in.server.ResetPeak(); err != nil {
			return err
		}
		result, err := load.Run(ctx, plan, func(w *load.Worker, _ int) error { return in.pushDay(w.Conn) })
		if err != nil {
			return err
		}
		rate = max(rate, result.PerSecond()*samplesOfDay)
		if halves[half], err = in.server.Memory(); err != nil {
			return err
		}
	}
	bare, err := in.bareParseRate(ctx)
	if err != nil {
		return err
	}
	in.report.line("samples taken in day batches", perSecond(rate), ratio(rate, bare, "just parsing"), target(in.bench, "≥ 3,000,000/s, ≥ 40 %", ""))
	in.report.line("  peak memory, first and second half", mib(halves[1].Peak), mib(halves[0].Peak)+" in the first", "flat")
	return nil
}

// bareParseRate sends the same bodies to a server that parses them by hand, column by
// column, and stores nothing.
func (in *ingest) bareParseRate(ctx context.Context) (float64, error) {
	bare, err := startBare(ctx)
	if err != nil {
		return 0, err
	}
	defer bare.stop()
	head := rawhttp.Head(http.MethodPost, "/parse", bare.address)
	plan := load.Plan{Address: bare.address, Conns: dayWriters, For: in.period}
	result, err := load.Run(ctx, plan, func(w *load.Worker, n int) error {
		d := &in.days[n%len(in.days)]
		if err := in.send(w.Conn, head, d.pulse, 0); err != nil {
			return err
		}
		return in.send(w.Conn, head, d.sugar, 0)
	})
	return result.PerSecond() * samplesOfDay, err
}

// weigh prints the disk space of the stored samples and of their payloads.
func (in *ingest) weigh(ctx context.Context) error {
	n := float64(in.stored.Load())
	size, err := in.sampleBytes(ctx)
	if err != nil {
		return err
	}
	ledger, err := in.tableBytes(ctx, "payloads", "payload_chunks", "payload_items", "payload_keys")
	if err != nil {
		return err
	}
	in.report.line("  bytes per sample", fmt.Sprintf("%.2f B", float64(size.total)/n), fmt.Sprintf("of which indexes %.2f B", float64(size.indexes)/n), "≤ 1.5 B")
	in.report.line("  bytes of kept bodies, per sample", fmt.Sprintf("%.2f B", float64(ledger.total)/n), fmt.Sprintf("%.1f B as they came", bytesPerSample(in.days)), "")
	return nil
}

// trickle pushes the samples that a phone collects in five minutes: five heart rates
// and one glucose value. It measures three ways to send them:
//
//   - one request for each person;
//   - one request for each series;
//   - one request for the people of a writer, as from a gateway that collects the five
//     minutes of all its people. Each writer then has people of its own.
func (in *ingest) trickle(ctx context.Context) error {
	people := len(in.users)
	for _, t := range []trickle{
		{"samples taken five minutes at a time", "≥ 80,000/s", 1, 1, func(w *load.Worker, n int) error {
			user, day, minute := in.turn(w, n)
			return in.send(w.Conn, in.awake[user], awakeBody(day, minute), 6)
		}},
		{"  a request for each series", "", 1, 2, func(w *load.Worker, n int) error {
			user, day, minute := in.turn(w, n)
			day += 30
			if err := in.send(w.Conn, in.pulse[user], pushBody(day, minute, 5, pulse), 5); err != nil {
				return err
			}
			return in.send(w.Conn, in.sugar[user], pushBody(day, minute, 1, sugar), 1)
		}},
		{"  a request for the people of a writer", "≥ 80,000/s", float64(people) / trickleWriters, 1, func(w *load.Worker, n int) error {
			own := in.users[w.Index*people/trickleWriters : (w.Index+1)*people/trickleWriters]
			return in.send(w.Conn, in.gateway, gatheredBody(own, laterYear+60+n/288, n%288*5), 6*len(own))
		}},
	} {
		if err := in.fiveMinutes(ctx, t); err != nil {
			return err
		}
	}
	return nil
}

// trickle is a way to send the samples of five minutes.
type trickle struct {
	name, wanted     string
	people, requests float64 // in each round
	round            func(w *load.Worker, n int) error
}

// turn returns the user and the five minutes that a writer pushes in its round n: one
// user after another, then a later year.
func (in *ingest) turn(w *load.Worker, n int) (user, day, minute int) {
	k := n*trickleWriters + w.Index
	slot := k / len(in.users)
	return k % len(in.users), laterYear + slot/288, slot % 288 * 5
}

// fiveMinutes lets the writers push for one user after another, as fast as answers
// arrive.
func (in *ingest) fiveMinutes(ctx context.Context, t trickle) error {
	use, err := watch(in.server)
	if err != nil {
		return err
	}
	var rounds atomic.Int64
	plan := load.Plan{Address: in.server.Address(), Conns: trickleWriters, For: in.period}
	result, err := load.Run(ctx, plan, func(w *load.Worker, n int) error {
		rounds.Add(1)
		return t.round(w, n)
	})
	if err != nil {
		return err
	}
	cpu, err := use.perRequest(int(float64(rounds.Load()) * t.people))
	if err != nil {
		return err
	}
	requests := perSecond(result.PerSecond() * t.requests)
	in.report.line(t.name, perSecond(result.PerSecond()*t.people*6), fmt.Sprintf("%s requests, %d writers", requests, trickleWriters), target(in.bench, t.wanted, ""))
	in.report.line("    server's processor time", fmt.Sprintf("%d µs/person", cpu.Microseconds()), "p99 of the five minutes "+millis(result.Quantile(.99)), "")
	return nil
}

// readingPace counts the days per second that others push while reads are timed: the
// load of a hundred thousand people with a watch.
const readingPace = 70

// reads times reads of a day, a month and a year of one user, one after the
// other, while others push at a steady pace.
func (in *ingest) reads(ctx context.Context, user string) error {
	if _, err := in.pushYear(ctx, user); err != nil {
		return err
	}
	for _, span := range []struct {
		name   string
		days   int
		target string
	}{
		{"a day of heart rate under ingest", 1, ""},
		{"30 days of heart rate under ingest", 30, "p99 ≤ 10 ms"},
		{"a year of heart rate under ingest", yearDays() - 1, ""},
	} {
		background, stop := context.WithCancel(ctx)
		pushing := make(chan error, 1)
		go func() {
			plan := load.Plan{Address: in.server.Address(), Conns: 4, For: in.period + time.Minute, Rate: readingPace}
			_, err := load.Run(background, plan, func(w *load.Worker, _ int) error { return in.pushDay(w.Conn) })
			pushing <- err
		}()
		err := in.readSpans(ctx, user, span.name, span.days, span.target)
		stop()
		if stopped := <-pushing; err == nil && background.Err() == nil {
			err = stopped
		}
		if err != nil {
			return err
		}
	}
	return nil
}
