package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"hale/internal/platform/store"
)

// settleFor limits the wait for imports and deliveries at the end. A delivery that
// failed twice, because the machine was too busy, is due again after five minutes.
const settleFor = 7 * time.Minute

// verdict holds the outcome of the run. Lost lists broken promises, one sentence each;
// it must be empty.
type verdict struct {
	mu         sync.Mutex
	lost       []string
	events     int64
	deliveries int // posts that reached the receiver
	duplicates int // events that it accepted more than once
	settled    time.Duration
	placed     int // orders that the lab received
	repeats    int // messages that the lab had already, byte for byte
	doubles    int // orders made or placed more than once
	reports    int // results that a node said it has
	damaged    int // of another person, or of one that is not certain
	bookings   int // bookings of the network
	recovered  int // requests that took effect although their answers were lost
}

func (v *verdict) lose(format string, args ...any) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.lost = append(v.lost, fmt.Sprintf(format, args...))
}

// verify waits until the server has finished its work, and then checks all
// acknowledged writes.
func (t *trial) verify(ctx context.Context) (*verdict, error) {
	v := &verdict{}
	start := time.Now()
	if err := t.settle(ctx, v); err != nil {
		return nil, err
	}
	for _, check := range []func(context.Context, *verdict) error{
		t.verifyUsers, t.verifySamples, t.verifyLinks, t.verifyImports,
		func(ctx context.Context, v *verdict) error { return t.lab.verify(ctx, t, v) },
		t.clinic.verify,
	} {
		if err := check(ctx, v); err != nil {
			return nil, err
		}
	}
	// Orders and visits continued until their own checks were done, and so did their
	// events.
	if err := t.settle(ctx, v); err != nil {
		return nil, err
	}
	v.settled = time.Since(start)
	t.verifyEvents(v)
	t.verifyDeliveries(v)
	return v, t.verifyFile(ctx, v)
}

// settle waits for the imports to end and for each event of the feed to have
// been accepted by the receiver.
func (t *trial) settle(ctx context.Context, v *verdict) error {
	deadline := time.Now().Add(settleFor)
	for {
		if err := t.feed.read(ctx, t.call); err != nil {
			return err
		}
		waiting, err := t.unfinishedImports(ctx)
		if err != nil {
			return err
		}
		if waiting == 0 && len(t.undelivered()) == 0 {
			return nil
		}
		if time.Now().After(deadline) {
			v.lose("after %v %d imports are not done and %d events not delivered", settleFor, waiting, len(t.undelivered()))
			return t.explain(ctx, v)
		}
		select {
		case <-time.After(500 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// undelivered lists the events that the receiver has not accepted.
func (t *trial) undelivered() (ids []string) {
	came := t.sink.Messages()
	for id := range t.feed.digests {
		if came[id].Accepted == 0 && !t.feed.partial[id] {
			ids = append(ids, id)
		}
	}
	return ids
}

// explain prints the server's attempts for some of the undelivered events.
func (t *trial) explain(ctx context.Context, v *verdict) error {
	for i, id := range t.undelivered() {
		if i == 5 {
			break
		}
		about, err := t.delivery(ctx, id)
		if err != nil {
			return err
		}
		v.lose("event %s, %d tries reached the receiver; the server says %s", id, t.sink.Messages()[id].Tries, about)
	}
	return nil
}

func (t *trial) verifyUsers(ctx context.Context, v *verdict) error {
	return checkEach(ctx, t.oracle.users, func(ctx context.Context, id, clientID string) error {
		err := t.checkUser(ctx, id, clientID)
		var r *refusal
		if errors.As(err, &r) {
			v.lose("%v", err)
			return nil
		}
		return err
	})
}

func (t *trial) verifySamples(ctx context.Context, v *verdict) error {
	return checkEach(ctx, t.oracle.samples, func(ctx context.Context, user string, want map[int64]sample) error {
		got, err := t.heartRates(ctx, user)
		if err != nil {
			return err
		}
		for at, s := range want {
			if value, there := got[at]; !there || value != s.value {
				v.lose("user %s at %d: acknowledged %v, stored %v (present: %v)", user, at, s.value, value, there)
			}
		}
		return nil
	})
}

func (t *trial) verifyLinks(ctx context.Context, v *verdict) error {
	for _, url := range t.oracle.links {
		status, err := t.open(ctx, url)
		if err != nil {
			return err
		}
		if status != 200 {
			v.lose("a portal link answers %d", status)
		}
	}
	return nil
}

// verifyImports compares the data of each import with that of the same file on a server
// without kills.
func (t *trial) verifyImports(ctx context.Context, v *verdict) error {
	return checkEach(ctx, t.oracle.imports, func(ctx context.Context, _, user string) error {
		got, err := t.heartRates(ctx, user)
		if err != nil {
			return err
		}
		if len(got) != len(t.intact) {
			v.lose("the import of user %s left %d heart rates, undisturbed it leaves %d", user, len(got), len(t.intact))
		}
		for at, value := range t.intact {
			if got[at] != value {
				v.lose("the import of user %s has %v at %d, undisturbed %v", user, got[at], at, value)
				break
			}
		}
		return nil
	})
}

// verifyEvents looks for the event of each change.
func (t *trial) verifyEvents(v *verdict) {
	v.events = t.feed.last
	for user, all := range t.oracle.samples {
		for at, s := range all {
			m := moment{user, at}
			if n := t.feed.created[m]; n != 1 {
				v.lose("user %s at %d: %d created events, want 1", user, at, n)
			}
			if n := t.feed.updated[m]; n != s.changes {
				v.lose("user %s at %d: %d updated events, want %d", user, at, n, s.changes)
			}
		}
	}
	for _, user := range t.oracle.imports {
		if n := t.feed.done[user]; n != 1 {
			v.lose("user %s: %d events say that the import is done, want 1", user, n)
		}
	}
}

// verifyDeliveries compares the deliveries with the feed.
func (t *trial) verifyDeliveries(v *verdict) {
	came := t.sink.Messages()
	for id, digest := range t.feed.digests {
		switch m := came[id]; {
		case m.Accepted == 0 && t.feed.partial[id]:
		case m.Accepted == 0:
			v.lose("event %s was never delivered (%d tries reached the receiver)", id, m.Tries)
		case m.Digest != digest:
			v.lose("event %s was delivered with other bytes than the feed has", id)
		}
	}
	for id, m := range came {
		v.deliveries += m.Tries
		if m.Accepted > 1 {
			v.duplicates++
		}
		if _, known := t.feed.digests[id]; !known {
			v.lose("event %s was delivered and is not in the feed", id)
		}
	}
	for _, problem := range t.sink.Problems() {
		v.lose("%s", problem)
	}
}

// verifyFile stops the nodes, counts the bookings of the network, and checks the file
// of SQLite.
func (t *trial) verifyFile(ctx context.Context, v *verdict) error {
	for _, server := range t.servers {
		if err := server.Stop(); err != nil {
			v.lose("a node did not stop in good order: %v", err)
		}
	}
	db, err := store.Open(ctx, store.Options{URL: t.options.Database, Dir: t.options.Dir})
	if err != nil {
		return err
	}
	defer db.Close()
	bookings, err := readBookings(ctx, db)
	if err != nil {
		return err
	}
	t.clinic.verifyNetwork(bookings, v)
	if t.options.Database != "" {
		return nil
	}
	if err := db.Check(ctx); err != nil {
		v.lose("%v", err)
	}
	return nil
}

// print prints the outcome. The program fails with the returned error.
func (v *verdict) print(t *trial) error {
	out := t.out
	fmt.Fprintf(out, "  kills            %d, of %d node(s)\n", t.kills, len(t.servers))
	fmt.Fprintf(out, "  acknowledged     %d (users %d, imports %d, portal links %d), asked again %d\n",
		t.oracle.acks, len(t.oracle.users), len(t.oracle.imports), len(t.oracle.links), t.oracle.retries)
	fmt.Fprintf(out, "  lost             %d\n", len(v.lost))
	fmt.Fprintf(out, "  events           %d, numbered without a gap\n", v.events)
	fmt.Fprintf(out, "  lab orders       %d acknowledged, %d more whose answer was lost; %d in the lab's book, %d doubled\n",
		len(t.lab.ordered), t.lab.unanswered(), v.placed, v.doubles)
	fmt.Fprintf(out, "  lab messages     %d orders that the lab had already, byte for byte; %d results taken; %d on another person wait for review\n", v.repeats, v.reports, v.damaged)
	t.clinic.print(out, v)
	fmt.Fprintf(out, "  posts received   %d, %d events accepted more than once (same id, same bytes)\n", v.deliveries, v.duplicates)
	fmt.Fprintf(out, "  ready again      p50 %v, p99 %v, slowest %v\n",
		quantile(t.recoveries, .5).Round(time.Millisecond), quantile(t.recoveries, .99).Round(time.Millisecond), quantile(t.recoveries, 1).Round(time.Millisecond))
	fmt.Fprintf(out, "  settled          in %v\n", v.settled.Round(time.Millisecond))
	v.printLost(out)
	if len(v.lost) > 0 {
		return fmt.Errorf("%d promises broken", len(v.lost))
	}
	return nil
}

// printLost prints some sentences of each kind; the kind is its first word.
func (v *verdict) printLost(out io.Writer) {
	printed := map[string]int{}
	for _, sentence := range v.lost {
		kind, _, _ := strings.Cut(sentence, " ")
		if printed[kind]++; printed[kind] <= 8 {
			fmt.Fprintf(out, "  LOST: %s\n", sentence)
		}
	}
	for kind, n := range printed {
		if n > 8 {
			fmt.Fprintf(out, "  LOST: … and %d more that begin with %q\n", n-8, kind)
		}
	}
}

// checkEach calls fn for every entry, several at a time.
func checkEach[V any](ctx context.Context, all map[string]V, fn func(ctx context.Context, key string, value V) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(16)
	for key, value := range all {
		group.Go(func() error { return fn(ctx, key, value) })
	}
	return group.Wait()
}
