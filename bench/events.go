package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"hale/internal/harness/load"
	"hale/internal/harness/rawhttp"
)

const (
	eventConns = 128
	// eventUsers is the number of users. The pushes go to them in turn.
	eventUsers = 2000
	// barePostsPerSecond times the period is the number of posts that the baseline sends.
	barePostsPerSecond = 10_000
)

// measureEvents follows changes from the API to a webhook's receiver.
func measureEvents(ctx context.Context, b *bench) error {
	inbox, err := openInbox()
	if err != nil {
		return err
	}
	defer inbox.close()
	if err := b.addEndpoint(ctx, inbox.url("/hook")); err != nil {
		return err
	}
	users, err := makeUsers(ctx, b, eventUsers)
	if err != nil {
		return err
	}
	pusher := &pusher{bench: b, inbox: inbox, users: users}

	if err := pusher.introduce(ctx); err != nil {
		return err
	}
	flood, err := pusher.flood(ctx)
	if err != nil {
		return err
	}
	bare, err := b.barePostRate(ctx, inbox.url("/bare"), inbox.meanSize())
	if err != nil {
		return err
	}
	b.report.line("events, committed to delivered", perSecond(flood.rate), ratio(flood.rate, bare, "bare signed posts"), target(b, "≥ 8,000/s, ≥ 20 %", "≥ 4,000/s, ≥ 20 %"))
	b.report.line("  accepted meanwhile", perSecond(flood.accepted), fmt.Sprintf("the last event came %v later", flood.behind.Round(time.Millisecond)), "")
	b.report.line("  server's processor time", fmt.Sprintf("%d µs/event", flood.cpu.Microseconds()), fmt.Sprintf("event of %d bytes", inbox.meanSize()), "")

	calm, err := pusher.paced(ctx, 1000)
	if err != nil {
		return err
	}
	b.report.line("commit to arrival at 1,000/s", "p99 "+millis(load.Quantile(calm.sinceAnswer, .99)), "p50 "+millis(load.Quantile(calm.sinceAnswer, .5)), "p99 ≤ 10 ms")
	b.report.line("  from when the request was due", "p99 "+millis(load.Quantile(calm.sinceDue, .99)), "p50 "+millis(load.Quantile(calm.sinceDue, .5)), "")

	if err := b.addEndpoint(ctx, inbox.url("/hang")); err != nil {
		return err
	}
	beside, err := pusher.paced(ctx, 1000)
	if err != nil {
		return err
	}
	b.report.line("  beside an endpoint that hangs", "p99 "+millis(load.Quantile(beside.sinceAnswer, .99)), "p50 "+millis(load.Quantile(beside.sinceAnswer, .5)), "as without it")
	return nil
}

// pusher makes events: each push is one new sample, so one change and one event. The
// second of the sample's time identifies the push for the receiver.
type pusher struct {
	*bench
	inbox *inbox
	users []string
	next  atomic.Int64
}

// firstSecond is the time of push number 0.
var firstSecond = time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)

func (p *pusher) push(w *rawhttp.Conn, heads [][]byte, slot int64) error {
	at := firstSecond.Add(time.Duration(slot) * time.Second)
	body := make([]byte, 0, 200)
	body = append(body, `{"stage":"daily","provider":"apple_health_kit","data":[{"timestamp":"`...)
	body = at.AppendFormat(body, time.RFC3339)
	body = append(body, `","value":`...)
	body = strconv.AppendInt(body, 60+slot%100, 10)
	body = append(body, `,"unit":"bpm","source_type":"watch"}]}`...)
	answer, err := w.Do(heads[slot%int64(len(heads))], body)
	if err == nil && answer.Status/100 != 2 {
		err = fmt.Errorf("a push was answered %d: %.300s", answer.Status, answer.Body)
	}
	return err
}

func (p *pusher) heads() [][]byte {
	heads := make([][]byte, len(p.users))
	for i, user := range p.users {
		heads[i] = rawhttp.Head("POST", pushPath(user), p.server.Address(), "x-service-api-key: "+p.key)
	}
	return heads
}

// introduce lets each user push once, unmeasured. The first push of a user creates a
// connection and a series, which happens only once.
func (p *pusher) introduce(ctx context.Context) error {
	heads := p.heads()
	first := p.next.Load()
	err := load.Once(ctx, load.Plan{Address: p.server.Address(), Conns: eventConns}, len(heads), func(w *load.Worker, _ int) error {
		return p.push(w.Conn, heads, p.next.Add(1)-1)
	})
	if err != nil {
		return err
	}
	_, err = p.inbox.wait(ctx, first, p.next.Load())
	return err
}

type flood struct {
	rate     float64 // events a second, until the last one arrived
	accepted float64 // pushes a second that were answered meanwhile
	behind   time.Duration
	cpu      time.Duration // of the server, for each event
}

// flood pushes as fast as answers arrive and waits for the last event.
func (p *pusher) flood(ctx context.Context) (flood, error) {
	heads := p.heads()
	first := p.next.Load()
	use, err := watch(p.server)
	if err != nil {
		return flood{}, err
	}
	start := time.Now()
	plan := load.Plan{Address: p.server.Address(), Conns: eventConns, For: p.period}
	if _, err := load.Run(ctx, plan, func(w *load.Worker, _ int) error {
		return p.push(w.Conn, heads, p.next.Add(1)-1)
	}); err != nil {
		return flood{}, err
	}
	answered := time.Now()
	slots := p.next.Load() - first
	last, err := p.inbox.wait(ctx, first, p.next.Load())
	if err != nil {
		return flood{}, err
	}
	cpu, err := use.perRequest(int(slots))
	return flood{
		rate: float64(slots) / last.Sub(start).Seconds(), accepted: float64(slots) / answered.Sub(start).Seconds(),
		behind: max(0, last.Sub(answered)), cpu: cpu,
	}, err
}

type arrivals struct {
	sinceAnswer, sinceDue []time.Duration // sorted
}

// paced pushes at a fixed rate and measures the time of each event.
func (p *pusher) paced(ctx context.Context, rate float64) (arrivals, error) {
	heads := p.heads()
	first := p.next.Load()
	const conns = 16
	most := int64(rate*p.period.Seconds()) + conns
	due, answered := make([]time.Time, most), make([]time.Time, most)
	start := time.Now()
	plan := load.Plan{Address: p.server.Address(), Conns: conns, For: p.period, Rate: rate}
	every := time.Duration(float64(conns) / rate * float64(time.Second))
	if _, err := load.Run(ctx, plan, func(w *load.Worker, n int) error {
		slot := p.next.Add(1) - 1
		if slot-first >= most {
			return errors.New("more pushes than planned")
		}
		due[slot-first] = start.Add(every*time.Duration(n) + every*time.Duration(w.Index)/conns)
		err := p.push(w.Conn, heads, slot)
		answered[slot-first] = time.Now()
		return err
	}); err != nil {
		return arrivals{}, err
	}
	if _, err := p.inbox.wait(ctx, first, p.next.Load()); err != nil {
		return arrivals{}, err
	}
	return p.inbox.arrivals(first, p.next.Load(), due, answered), nil
}

// barePostRate starts another process that sends signed posts with bodies of size bytes
// to url. It returns the posts per second that this process measures and prints.
func (b *bench) barePostRate(ctx context.Context, url string, size int) (float64, error) {
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	cmd := exec.CommandContext(ctx, self, "-bare-posts", url, "-bare-size", strconv.Itoa(size),
		"-bare-count", strconv.Itoa(int(barePostsPerSecond*b.period.Seconds())))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return 0, err
	}
	return strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
}

// makeUsers creates n users, one request after another on a few connections.
func makeUsers(ctx context.Context, b *bench, n int) ([]string, error) {
	conn, err := rawhttp.Dial(ctx, b.server.Address(), 30*time.Second)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	head := rawhttp.Head("POST", "/v2/user", b.server.Address(), "x-service-api-key: "+b.key)
	users := make([]string, n)
	for i := range users {
		answer, err := conn.Do(head, fmt.Appendf(nil, `{"client_user_id":"bench-user-%d"}`, i))
		if err != nil {
			return nil, err
		}
		if users[i], err = textField(answer, "user_id"); err != nil {
			return nil, err
		}
	}
	return users, nil
}

// call sends one JSON request and decodes the answer into out, unless nil.
func (b *bench) call(ctx context.Context, method, path string, body, out any) error {
	conn, err := rawhttp.Dial(ctx, b.server.Address(), time.Minute)
	if err != nil {
		return err
	}
	defer conn.Close()
	var text []byte
	if body != nil {
		if text, err = json.Marshal(body); err != nil {
			return err
		}
	}
	answer, err := conn.Do(rawhttp.Head(method, path, b.server.Address(), "x-service-api-key: "+b.key), text)
	if err != nil {
		return err
	}
	if answer.Status/100 != 2 {
		return fmt.Errorf("%s %s was answered %d: %.300s", method, path, answer.Status, answer.Body)
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(answer.Body, out)
}
