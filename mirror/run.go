package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"hale/internal/harness/proc"
)

// trial is one run: a server, actors and copies.
type trial struct {
	server    *proc.Server
	api       *client
	out       io.Writer
	seed      uint64
	feed      *replica // from the feed
	hooks     *replica // from webhooks
	late      *replica // from a backfill in the middle, and the feed after it
	lateAfter int64    // the event that the backfill contains
	programs  []*program
	receiver  *receiver
	endpoint  string
	after     int64 // last number of the feed that was read
	world     *world
	kills     int
	feedFills bool // numbers that the receiver lost are taken from the feed
}

func newTrial(o proc.Options, seed uint64, out io.Writer) (*trial, error) {
	server, err := proc.New(o)
	if err != nil {
		return nil, err
	}
	t := &trial{server: server, api: newClient(server.Address()), out: out, seed: seed, feed: newReplica(), hooks: newReplica(), late: newReplica()}
	t.world = &world{api: t.api}
	t.feed.reads = true
	t.receiver, err = listen(t.hooks, t.secret)
	return t, err
}

func (t *trial) close() {
	for _, p := range t.programs {
		p.close()
	}
	_ = t.server.Close()
	_ = t.receiver.server.Close()
}

// secret reads the secret of the endpoint; empty if the server is away.
func (t *trial) secret() string {
	a, err := t.api.once(context.Background(), http.MethodGet, "/v2/webhooks/"+t.endpoint+"/secret", "", nil)
	if err != nil {
		return ""
	}
	return textField(a.body, "key")
}

func (t *trial) run(ctx context.Context, s settings) error {
	if _, err := t.server.Start(ctx); err != nil {
		return err
	}
	team, err := t.server.Command(ctx, "teams", "list", "-o", "id")
	if err != nil {
		return err
	}
	if _, err := t.server.Command(ctx, "teams", "settings", strings.TrimSpace(team), "result_reviews_enabled=on"); err != nil {
		return err
	}
	if t.endpoint, err = t.register(ctx, t.receiver.address); err != nil {
		return err
	}
	if err := t.world.prepare(ctx); err != nil {
		return err
	}
	if err := t.registerPrograms(ctx); err != nil {
		return err
	}
	working, stop := context.WithTimeout(ctx, s.length)
	defer stop()
	var work sync.WaitGroup
	for n := range uint64(actors) {
		work.Go(func() { t.world.act(working, rand.New(rand.NewPCG(t.seed, n))) })
	}
	var backfilled error
	work.Go(func() {
		time.Sleep(s.length / 3) // something exists then
		backfilled = t.backfill(ctx)
	})
	err = t.disturb(working, s.length, s.kills)
	work.Wait()
	if err := errors.Join(err, backfilled); err != nil {
		return err
	}
	t.receiver.setAway(false)
	if err := t.settle(ctx, quietPeriods[0]); err != nil {
		return err
	}
	t.feedFills, t.after = true, 0 // the receiver reads what it lost, and the late copy what came later
	var all []*comparison
	for _, quiet := range quietPeriods {
		if err := t.settle(ctx, quiet); err != nil {
			return err
		}
		if all, err = t.compare(ctx); err != nil {
			return err
		}
		if areEqual(all) {
			break
		}
	}
	return t.report(all)
}

// register registers an address for every type of event.
func (t *trial) register(ctx context.Context, address string) (endpoint string, err error) {
	a, err := t.api.get(ctx, "/v2/webhooks/event_types")
	if err != nil {
		return "", err
	}
	var types []string
	for _, one := range listField(a.body, "event_types") {
		types = append(types, textField(one, "event_type"))
	}
	a, err = t.api.ask(ctx, http.MethodPost, "/v2/webhooks", "endpoint-"+address, object{"url": "http://" + address + "/hook", "filter_types": types})
	if err == nil && a.status != http.StatusOK {
		err = fmt.Errorf("the endpoint was refused: %s", a.text)
	}
	return textField(a.body, "id"), err
}

// disturb reads the feed, kills the server, rotates the secret and takes the receiver
// away, until the time is over. It starts the programs after half of it, or earlier.
func (t *trial) disturb(ctx context.Context, length time.Duration, kills bool) error {
	r := rand.New(rand.NewPCG(t.seed, 1000))
	half := time.NewTimer(length / 2)
	defer half.Stop()
	for ctx.Err() == nil {
		if err := t.readFeed(ctx); err != nil && ctx.Err() == nil {
			return err
		}
		switch x := r.IntN(20); {
		case x == 0 && kills:
			t.server.Kill()
			t.kills++
			if _, err := t.server.Start(context.WithoutCancel(ctx)); err != nil {
				return err
			}
		case x == 1:
			for _, endpoint := range t.endpoints() {
				_, _ = t.api.once(ctx, http.MethodPost, "/v2/webhooks/"+endpoint+"/secret/rotate", "", []byte("{}")) // may be killed
			}
		case x == 2:
			t.receiver.setAway(true)
		case x < 6:
			t.receiver.setAway(false)
		case x == 6 && r.IntN(5) == 0:
			if err := t.restartPrograms(); err != nil {
				return err
			}
		}
		select {
		case <-half.C:
			if err := t.restartPrograms(); err != nil {
				return err
			}
		case <-time.After(200 * time.Millisecond):
		case <-ctx.Done():
		}
	}
	return nil
}

// endpoints returns the ids of all endpoints.
func (t *trial) endpoints() []string {
	all := []string{t.endpoint}
	for _, p := range t.programs {
		all = append(all, p.endpoint)
	}
	return all
}

// readFeed reads the events that are there.
func (t *trial) readFeed(ctx context.Context) error {
	for {
		a, err := t.api.get(ctx, fmt.Sprintf("/v2/events?after=%d&limit=1000", t.after))
		if err != nil {
			return err
		}
		for _, e := range listField(a.body, "events") {
			seq := number(e["seq"])
			if seq != t.after+1 {
				return fmt.Errorf("event %d follows event %d", seq, t.after)
			}
			t.after = seq
			if envelope, ok := e["event"].(object); ok {
				t.feed.take(seq, envelope)
				t.hooks.mu.Lock()
				lost := !t.hooks.seen[seq]
				t.hooks.mu.Unlock()
				if lost && t.feedFills {
					t.hooks.take(seq, envelope)
				}
				if t.feedFills && seq > t.lateAfter {
					t.late.take(seq, envelope)
				}
			}
		}
		if err := t.readAnnounced(ctx); err != nil {
			return err
		}
		if a.body["has_more"] != true {
			return nil
		}
	}
}

// quietPeriods are the pauses without an event after which all work counts as done. Copies
// that differ wait for jobs that run later: summaries follow samples after half a minute.
var quietPeriods = []time.Duration{3 * time.Second, 40 * time.Second}

// settle waits until nothing changes any more.
func (t *trial) settle(ctx context.Context, quiet time.Duration) error {
	for before := int64(-1); before != t.after; {
		if before = t.after; before > 0 {
			select {
			case <-time.After(quiet):
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		if err := t.readFeed(ctx); err != nil {
			return err
		}
	}
	return nil
}

// compare reads the histories and compares all copies with the API.
func (t *trial) compare(ctx context.Context) (all []*comparison, err error) {
	for _, one := range []struct {
		name string
		of   *replica
	}{{"feed", t.feed}, {"webhooks", t.hooks}, {"backfill", t.late}} {
		if err := t.pull(ctx, one.of); err != nil {
			return nil, err
		}
		all = append(all, &comparison{name: one.name, api: t.api, replica: one.of})
	}
	for _, p := range t.programs {
		r, err := t.catchUp(ctx, p)
		if err != nil {
			return nil, err
		}
		all = append(all, &comparison{name: p.name, api: t.api, replica: r, isProgram: true})
	}
	for _, c := range all {
		if err := c.all(ctx); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// areEqual reports whether there are no differences.
func areEqual(all []*comparison) bool {
	return !slices.ContainsFunc(all, func(c *comparison) bool { return len(c.different) > 0 })
}

// report prints the outcome.
func (t *trial) report(all []*comparison) error {
	for _, c := range all {
		fmt.Fprintf(t.out, "  %-10s %d differences in %d values\n", c.name, len(c.different), c.compared)
		c.print(t.out)
		if len(c.different) > 0 || c.compared == 0 {
			t.receiver.complain(fmt.Sprintf("the copy from %s differs in %d values", c.name, len(c.different)))
		}
	}
	types := slices.Sorted(maps.Keys(t.feed.types))
	fmt.Fprintf(t.out, "  events     %d of %d types, %d webhooks, %d kills; requests %s\n", t.after, len(types), t.receiver.received, t.kills, t.world.summary())
	if len(t.receiver.problems) > 0 {
		return fmt.Errorf("%s", strings.Join(t.receiver.problems[:min(5, len(t.receiver.problems))], "; "))
	}
	return nil
}
