package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"hale/internal/harness/load"
	"hale/internal/harness/rawhttp"
	"hale/internal/platform/store"
)

// seedPeople creates people with heart rates.
func seedPeople(ctx context.Context, in *installation, size int) error {
	b := in.bench
	ids := make([]string, size)
	create := rawhttp.Head("POST", "/v2/user", b.server.Address(), "x-service-api-key: "+b.key)
	err := b.seed(ctx, "people", size, func(w *load.Worker, n int) error {
		answer, err := w.Do(create, fmt.Appendf(nil, `{"client_user_id":"person-%d"}`, n))
		if err == nil {
			ids[n], err = textField(answer, "user_id")
		}
		return err
	})
	if err != nil {
		return err
	}
	const perDay, daysPerPush = minutesOfDay / 5, 10
	samples := int(*growthDays * perDay)
	pushes := (samples + perDay*daysPerPush - 1) / (perDay * daysPerPush)
	err = b.seed(ctx, "pushes", size*pushes, func(w *load.Worker, n int) error {
		push := n / size
		head := rawhttp.Head("POST", pushPath(ids[n%size]), b.server.Address(), "x-service-api-key: "+b.key)
		body := pushBody(push*daysPerPush, 0, min(perDay*daysPerPush, samples-push*perDay*daysPerPush), sparsePulse)
		answer, err := w.Do(head, body)
		if err == nil && answer.Status/100 != 2 {
			err = fmt.Errorf("a push was answered %d: %.300s", answer.Status, answer.Body)
		}
		return err
	})
	if err != nil {
		return err
	}
	if err := in.addTeamValues(ctx, ids[0]); err != nil {
		return err
	}
	measured := map[string]bool{}
	for n := range mostCalls {
		measured[ids[personOf(n, size)]] = true
		measured[ids[n%size]] = true
	}
	if err := b.dropQueuedWork(ctx, func(user string) bool { return measured[user] }); err != nil {
		return err
	}
	in.values = func(call growthCall, n int) map[string]string {
		person := personOf(n, size)
		switch {
		case call.path == "/v2/user/{id}" && call.method == "DELETE":
			person = n % size
		case strings.Contains(call.path, "/info"), strings.Contains(call.path, "/insurance"), strings.Contains(call.path, "portal"): // need a user with information
			person = n % 15
		}
		values := map[string]string{
			"id": ids[person], "client": "person-" + strconv.Itoa(person), "n": strconv.Itoa(n), "d": strconv.Itoa(n % 10),
			"now": time.Now().UTC().Format(time.RFC3339),
		}
		if call.method == "GET" {
			values["n"] = strconv.Itoa(n * 7919 % size)
		}
		return values
	}
	return nil
}

// personOf returns the person of the nth call, a different one in each call.
func personOf(n, size int) int { return n * 379 % size }

// dropQueuedWork stops the server and deletes the queued jobs that derive summaries and
// fill continuous queries, except those of users that keep accepts. For 64,000 people
// with 30 days each the jobs would take an hour, and the calls read none of their results.
func (b *bench) dropQueuedWork(ctx context.Context, keep func(user string) bool) (err error) {
	ctx = store.AsSystem(ctx)
	db, err := store.Open(ctx, store.Options{Dir: b.dir, URL: b.database})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	for left := 1; left > 0; time.Sleep(100 * time.Millisecond) { // enqueues the jobs that fill the query
		err := db.Read(ctx, func(tx *store.Tx) error {
			return tx.QueryRow(ctx, `SELECT COUNT(*) FROM jobs WHERE kind = 'queries.backfill' AND status IN ('queued', 'running')`).Scan(&left)
		})
		if err != nil {
			return err
		}
	}
	if err := b.server.Stop(); err != nil {
		return err
	}
	type job struct{ team, id uuid.UUID }
	var drop []job
	err = db.Read(ctx, func(tx *store.Tx) error {
		rows, err := tx.Query(ctx, `SELECT team_id, id, key FROM jobs WHERE kind IN ('wearables.days', 'queries.fill') AND status = 'queued'`)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var one job
			var key string
			if err := rows.Scan(&one.team, &one.id, &key); err != nil {
				return err
			}
			if !slices.ContainsFunc(strings.Split(key, "/"), keep) {
				drop = append(drop, one)
			}
		}
		return rows.Err()
	})
	if err != nil {
		return err
	}
	for some := range slices.Chunk(drop, 5000) {
		err := db.Write(ctx, func(tx *store.Tx) error {
			for _, one := range some {
				if _, err := tx.Exec(ctx, `DELETE FROM jobs WHERE team_id = $1 AND id = $2`, one.team, one.id); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// addTeamValues creates the objects that the calls about people need once, and keeps
// their ids.
func (in *installation) addTeamValues(ctx context.Context, user string) error {
	var team struct {
		ID string `json:"team_id"`
	}
	var summaries struct {
		Sleep, Workouts []struct{ ID string }
	}
	var webhook, query struct{ ID string }
	const day = "?start_date=2025-02-01&end_date=2025-02-01"
	if err := in.call(ctx, "GET", "/v2/user/"+user, nil, &team); err != nil {
		return err
	}
	for _, c := range []struct {
		method, path, body string
		out                any
	}{
		{"POST", "/v2/webhooks", `{"url":"https://hook.invalid/","filter_types":["labtest.result.critical"]}`, &webhook},
		{"POST", "/v1/org/" + team.ID + "/team/" + team.ID + "/sandbox/continuous_query", `{"slug":"beats","title":"Beats","query":` + growthQuery + `}`, &query},
		{"POST", "/v2/summary/sleep/" + user, summaryPush(`{"bedtime_start":"2025-01-31T22:00:00Z","bedtime_stop":"2025-02-01T06:00:00Z","duration":28800}`), nil},
		{"POST", "/v2/summary/workouts/" + user, summaryPush(`{"time_start":"2025-02-01T10:00:00Z","time_end":"2025-02-01T11:00:00Z"}`), nil},
		{"GET", "/v2/summary/sleep/" + user + day, "", &summaries},
		{"GET", "/v2/summary/workouts/" + user + day, "", &summaries},
	} {
		var body any
		if c.body != "" {
			body = json.RawMessage(c.body)
		}
		if err := in.call(ctx, c.method, c.path, body, c.out); err != nil {
			return err
		}
	}
	if len(summaries.Sleep) == 0 || len(summaries.Workouts) == 0 {
		return errors.New("the night or the workout is missing")
	}
	in.kept["team"], in.kept["webhook"], in.kept["query"] = []string{team.ID}, []string{webhook.ID}, []string{query.ID}
	in.kept["sleep"], in.kept["workout"] = []string{summaries.Sleep[0].ID}, []string{summaries.Workouts[0].ID}
	return nil
}

// seedOrders fills a team with orders.
func seedOrders(ctx context.Context, in *installation, size int) (err error) {
	b := in.bench
	ctx = store.AsSystem(ctx)
	s, err := b.stopAndSeed(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.db.Close()) }()
	for n := range 20 {
		fmt.Fprintf(os.Stderr, "\r%s: %d of %d orders ", b.engine, size*n/20, size)
		if err := s.run(ctx, size*(n+1)/20); err != nil {
			return err
		}
	}
	order, err := s.request(ctx)
	if err != nil {
		return err
	}
	if _, err := b.server.Start(ctx); err != nil {
		return err
	}
	in.values = func(_ growthCall, n int) map[string]string {
		one := s.some[n%len(s.some)]
		return map[string]string{
			"id": one.ID.String(), "transaction": one.Transaction.String(), "user": one.User.String(),
			"name": url.QueryEscape(one.Body.Patient.FirstName + " " + one.Body.Patient.LastName),
			"day":  time.Now().AddDate(0, 0, 10+n%20).Format(time.DateOnly), "n": strconv.Itoa(n),
			"order": string(order), "scheduled": strings.Replace(string(order), "{", `{"activate_by":"`+time.Now().AddDate(0, 0, 10).Format(time.DateOnly)+`",`, 1),
			"team": s.team.String(), "page": strconv.Itoa(1 + n*7919%max(1, size/50)),
		}
	}
	return nil
}

// seed calls do n times over several connections and prints the progress.
func (b *bench) seed(ctx context.Context, what string, n int, do func(w *load.Worker, n int) error) error {
	var done atomic.Int64
	return load.Once(ctx, load.Plan{Address: b.server.Address(), Conns: 32}, n, func(w *load.Worker, i int) error {
		if d := done.Add(1); d%int64(max(1, n/20)) == 0 {
			fmt.Fprintf(os.Stderr, "\r%s: %d of %d %s   ", b.engine, d, n, what)
		}
		return do(w, i)
	})
}
