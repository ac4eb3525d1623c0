package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"
)

// Numbers of concurrent writers of each kind. Together they keep the server's writer
// busy at the time of every kill.
const (
	sampleWriters = 8
	linkWriters   = 2
	importers     = 2
	orderers      = 3
	arrangers     = 6
)

// epoch is the time of the first pushed sample. From there each writer moves on minute
// by minute. So two pushes of a user never contain the same minute, unless the run
// intends it.
var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// errStopped ends a writer between two writes.
var errStopped = errors.New("the run is over")

// writers work until the run is over or one of them gets a wrong answer. At the end
// each has the answers to all of its requests, so that the oracle has every write that
// may be stored.
func (t *trial) writers(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	many := func(n int, write func(context.Context, int) error) {
		for i := range n {
			group.Go(func() error {
				if err := write(ctx, i); !errors.Is(err, errStopped) {
					return err
				}
				return nil
			})
		}
	}
	many(sampleWriters, t.pushSamples)
	many(linkWriters, t.makeLinks)
	many(importers, t.upload)
	many(orderers, func(ctx context.Context, n int) error { return t.lab.orderTests(ctx, t, n) })
	many(arrangers, func(ctx context.Context, n int) error { return t.clinic.arrange(ctx, t, n) })
	return group.Wait()
}

// goOn returns errStopped once the run is over.
func (t *trial) goOn() error {
	select {
	case <-t.stopping:
		return errStopped
	default:
		return nil
	}
}

// createUser creates a user. It also accepts that an earlier attempt, whose answer was
// lost, created the user.
func (t *trial) createUser(ctx context.Context, clientID string) (string, error) {
	var created struct {
		UserID string `json:"user_id"`
	}
	err := t.call.ask(ctx, http.MethodPost, "/v2/user", map[string]any{"client_user_id": clientID}, &created)
	if body, taken := isStatus(err, http.StatusBadRequest); taken {
		err = json.Unmarshal(body, &created)
	}
	if err != nil {
		return "", err
	}
	if created.UserID == "" {
		return "", fmt.Errorf("creating %s: the answer names no user", clientID)
	}
	return created.UserID, t.oracle.user(created.UserID, clientID)
}

// pushSamples sometimes creates a user, and pushes heart rates for it, one or a few at a
// time. Every tenth push corrects an earlier value.
func (t *trial) pushSamples(ctx context.Context, writer int) error {
	for n := 0; ; n++ {
		user, err := t.createUser(ctx, fmt.Sprintf("crash-%d-%d", writer, n))
		if err != nil {
			return err
		}
		next := epoch.Unix()
		for range 40 {
			if err := t.goOn(); err != nil {
				return err
			}
			at := next
			next += 60
			if next > epoch.Unix()+600 && rand.IntN(10) == 0 {
				at -= 600
			}
			if err := t.push(ctx, user, at, float64(60+rand.IntN(100))); err != nil {
				return err
			}
		}
	}
}

func (t *trial) push(ctx context.Context, user string, at int64, value float64) error {
	if old, again := t.oracle.valueOf(user, at); again && old == value {
		value++ // the same value again would change nothing
	}
	var stored pushedSample
	if err := t.call.ask(ctx, http.MethodPost, pushPath(user), pushBody(at, value), &stored); err != nil {
		return err
	}
	if stored.Created+stored.Updated+stored.Unchanged != 1 {
		return fmt.Errorf("one pushed sample was answered %+v", stored)
	}
	return t.oracle.sample(user, at, value)
}

// makeLinks makes portal links for a user whose demographics are known.
func (t *trial) makeLinks(ctx context.Context, writer int) error {
	for n := 0; ; n++ {
		user, err := t.createUser(ctx, fmt.Sprintf("crash-link-%d-%d", writer, n))
		if err != nil {
			return err
		}
		if err := t.call.ask(ctx, http.MethodPatch, "/v2/user/"+user+"/info", demographics(n), nil); err != nil {
			return err
		}
		for range 10 {
			if err := t.goOn(); err != nil {
				return err
			}
			var made struct {
				URL string `json:"url"`
			}
			if err := t.call.ask(ctx, http.MethodPost, "/v2/user/"+user+"/create_portal_url", map[string]any{"context": "communications"}, &made); err != nil {
				return err
			}
			if made.URL == "" {
				return errors.New("a portal link without a url")
			}
			if err := t.oracle.link(made.URL); err != nil {
				return err
			}
		}
	}
}

// upload sends the export for a new user each time, alternately whole and in parts. Once
// the server has acknowledged the file, the import must happen.
func (t *trial) upload(ctx context.Context, writer int) error {
	for n := 0; ; n++ {
		user, err := t.createUser(ctx, fmt.Sprintf("crash-import-%d-%d", writer, n))
		if err != nil {
			return err
		}
		start := t.startImport
		if n%2 == 1 {
			start = t.startInParts
		}
		id, err := start(ctx, user)
		if err != nil {
			return err
		}
		if err := t.oracle.imported(id, user); err != nil {
			return err
		}
		select {
		case <-time.After(2 * time.Second):
		case <-t.stopping:
			return errStopped
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func demographics(n int) map[string]any {
	return map[string]any{
		"first_name": fmt.Sprintf("Given%d", n), "last_name": "Family", "email": fmt.Sprintf("person%d@example.com", n),
		"phone_number": "+14155550123", "gender": "female", "dob": "1984-05-17",
		"address": map[string]any{
			"first_line": "1 Example Street", "second_line": nil, "city": "Phoenix", "state": "AZ", "zip": "85004", "country": "US",
		},
	}
}
