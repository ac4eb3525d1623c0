package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"hale/internal/harness/lean"
	"hale/internal/harness/load"
	"hale/internal/harness/proc"
	"hale/internal/platform/store"
	"hale/internal/platform/store/pgtemp"
)

var (
	growth       = flag.Bool("growth", false, "compare each call at two sizes of a team, and nothing else")
	growthPeople = flag.String("people", "1000,64000", "growth: the two numbers of people; empty skips them")
	growthOrders = flag.String("orders-at", "10000,1000000", "growth: the two numbers of orders; empty skips them")
	growthDays   = flag.Float64("days", 1, "growth: days of heart rate of each person, a sample every five minutes")
)

// growthLimit is the largest factor by which a p50 may grow.
const growthLimit = 1.5

// growthCall is a call to measure. Path and body receive one of the ids, and n, which
// differs in every call of a run.
type growthCall struct {
	name, method, path, body string
}

// peopleCalls are calls about people. {id} is a user, {client} its own name for it,
// {n} a number.
var peopleCalls = []growthCall{
	{"list users, first page", "GET", "/v2/user?limit=100", ""},
	{"list users, any page", "GET", "/v2/user?limit=100&offset={n}", ""},
	{"get a user", "GET", "/v2/user/{id}", ""},
	{"resolve a client id", "GET", "/v2/user/resolve/{client}", ""},
	{"search users", "GET", "/v2/team/users/search?query_id={client}", ""},
	{"providers of a user", "GET", "/v2/user/providers/{id}", ""},
	{"devices of a user", "GET", "/v2/user/{id}/device", ""},
	{"imports of a user", "GET", "/v2/user/{id}/imports", ""},
	{"resources of all users", "GET", "/v2/introspect/resources", ""},
	{"resources of a user", "GET", "/v2/introspect/resources?user_id={id}", ""},
	{"history of all users", "GET", "/v2/introspect/historical_pull", ""},
	{"heart rate of a day", "GET", "/v2/timeseries/{id}/heartrate/grouped?start_date=2025-01-01&end_date=2025-01-01", ""},
	{"heart rate, merged", "GET", "/v2/timeseries/{id}/heartrate/merged?start_date=2025-01-01&end_date=2025-01-01", ""},
	{"activity of a day", "GET", "/v2/summary/activity/{id}?start_date=2025-01-01&end_date=2025-01-01", ""},
	{"sleep of a day", "GET", "/v2/summary/sleep/{id}?start_date=2025-01-01&end_date=2025-01-01", ""},
	{"events, first page", "GET", "/v2/events", ""},
	{"jobs", "GET", "/v2/jobs", ""},
	{"messages", "GET", "/v2/team/outbox", ""},
	{"webhooks", "GET", "/v2/webhooks", ""},
	{"figures of the team", "GET", "/v2/user/metrics", ""},

	{"create a user", "POST", "/v2/user", `{"client_user_id":"new-{n}"}`},
	{"change a user", "PATCH", "/v2/user/{id}", `{"fallback_time_zone":"Europe/Berlin"}`},
	{"set the information of a user", "PATCH", "/v2/user/{id}/info", `{"first_name":"Ada","last_name":"Example","email":"a@example.org","phone_number":"+14155550132",
		"gender":"female","dob":"1984-12-10","address":{"first_line":"1 Example Street","city":"Phoenix","state":"AZ","zip":"85004","country":"US"}}`},
	{"information of a user", "GET", "/v2/user/{id}/info/latest", ""},
	{"push a sample", "POST", "/v2/timeseries/{id}/heartrate", `{"stage":"daily","provider":"apple_health_kit","data":[{"timestamp":"2025-03-01T00:00:00Z","value":6{d},"unit":"bpm"}]}`},
	{"create a device", "POST", "/v2/user/{id}/device", `{"provider":"apple_health_kit","device_model":"Model {n}"}`},
	{"sign-in token", "POST", "/v2/user/{id}/sign_in_token", ""},
	{"refresh a user", "POST", "/v2/user/refresh/{id}", ""},
	{"delete a user", "DELETE", "/v2/user/{id}", ""},
}

// orderCalls are calls about orders. {id} is an order, {user} its user and {name} its
// patient.
var orderCalls = []growthCall{
	{"get an order", "GET", "/v3/order/{id}", ""},
	{"list orders, newest first", "GET", "/v3/orders", ""},
	{"list orders of a user", "GET", "/v3/orders?user_id={user}", ""},
	{"list orders by status", "GET", "/v3/orders?status=completed", ""},
	{"list orders by a name", "GET", "/v3/orders?patient_name={name}", ""},
	{"list orders, any page", "GET", "/v3/orders?page={page}", ""},
	{"lab tests", "GET", "/v3/lab_test", ""},
	{"review queue", "GET", "/v3/unmatched_result", ""},
	{"messages", "GET", "/v2/team/outbox?order_id={id}", ""},
	{"jobs", "GET", "/v2/jobs", ""},
	{"events, first page", "GET", "/v2/events", ""},
	{"create an order", "POST", "/v3/order", "{order}"},
	{"cancel an order", "POST", "/v3/order/{created}/cancel", ""},
}

// waits are the p50 and the p99 of a call.
type waits struct{ p50, p99 time.Duration }

// installation is a team of one size, on a server of its own.
type installation struct {
	*bench
	// fill returns the address and body of a call. n differs in every call of a run.
	fill func(call growthCall, n int) (path, body string)
	conn *lean.Conn
	took map[string][]time.Duration
}

// comparison compares the calls at two sizes.
type comparison struct {
	kind, sizes string
	calls       []growthCall
	// seed fills an installation and sets its fill.
	seed func(ctx context.Context, in *installation, size int) error
}

// runGrowth measures each call at two sizes of a team on an installation of its own,
// and prints both and their ratio.
func runGrowth(ctx context.Context, out io.Writer, engines []string, period time.Duration) error {
	dir, err := os.MkdirTemp("", "hale-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	binary, err := proc.Build(ctx, dir)
	if err != nil {
		return err
	}
	for _, engine := range engines {
		var cluster *pgtemp.Cluster
		if engine == "postgres" {
			if cluster, err = pgtemp.Start(ctx, pgtemp.Durable); err != nil {
				return err
			}
			defer func() { _ = cluster.Stop() }() // a throwaway
		}
		for _, c := range []comparison{
			{"people", *growthPeople, peopleCalls, seedPeople},
			{"orders", *growthOrders, orderCalls, seedOrders},
		} {
			if c.sizes == "" {
				continue
			}
			b := bench{engine: engine, period: period, report: newReport(out), key: "sk_bench0000000000000000000000000000"}
			took, err := c.run(ctx, b, filepath.Join(dir, engine), binary, cluster)
			if err != nil {
				return fmt.Errorf("%s %s: %w", engine, c.kind, err)
			}
			printGrowth(out, engine, c, took)
		}
	}
	return nil
}

// run seeds both installations, and then sends each call to both in turn, so that other
// work of the machine slows both down.
func (c comparison) run(ctx context.Context, b bench, dir, binary string, cluster *pgtemp.Cluster) (_ []map[string]waits, err error) {
	var all []*installation
	defer func() {
		for _, in := range all {
			err = errors.Join(err, in.server.Close())
		}
	}()
	for _, text := range strings.Split(c.sizes, ",") {
		size, err := strconv.Atoi(text)
		if err != nil {
			return nil, err
		}
		name := c.kind + "_" + text
		one := b
		one.dir = dir + "-" + name
		if err := one.open(ctx, name, binary, cluster); err != nil {
			return nil, err
		}
		in := &installation{bench: &one, took: map[string][]time.Duration{}}
		all = append(all, in)
		if err := c.seed(ctx, in, size); err != nil {
			return nil, err
		}
		if err := one.server.Stop(); err != nil {
			return nil, err
		}
	}
	for _, in := range all { // a new process has no keys or pages in memory
		if _, err := in.server.Start(ctx); err != nil {
			return nil, err
		}
		if c.kind == "orders" {
			if err := firstList(ctx, in.bench); err != nil {
				return nil, err
			}
		}
		if err := in.settle(ctx); err != nil {
			return nil, err
		}
	}
	for _, in := range all { // only now: a server closes an idle connection
		if in.conn, err = lean.Dial(ctx, in.server.Address(), time.Minute); err != nil {
			return nil, err
		}
		defer in.conn.Close()
	}
	for _, call := range c.calls {
		const most, warm = 200, 10
		for n, end := 0, time.Now().Add(2*b.period); n < 2*warm || n < most && time.Now().Before(end); n++ {
			for _, in := range all {
				took, err := in.measureCall(call, n)
				if err != nil {
					return nil, err
				}
				if n >= warm {
					in.took[call.name] = append(in.took[call.name], took)
				}
			}
		}
	}
	results := make([]map[string]waits, len(all))
	for i, in := range all {
		results[i] = map[string]waits{}
		for name, took := range in.took {
			slices.Sort(took)
			results[i][name] = waits{load.Quantile(took, .5), load.Quantile(took, .99)}
		}
	}
	return results, nil
}

// settle waits until the server has nothing more to do, at most half an hour. The jobs
// of 64,000 pushes take minutes.
func (in *installation) settle(ctx context.Context) error {
	for range 900 {
		before, err := in.server.CPU()
		if err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(2 * time.Second):
		}
		after, err := in.server.CPU()
		if err != nil || after-before < 100*time.Millisecond {
			return err
		}
	}
	return nil
}

func (in *installation) measureCall(call growthCall, n int) (time.Duration, error) {
	path, body := in.fill(call, n)
	head := lean.Head(call.method, path, in.server.Address(), "x-service-api-key: "+in.key)
	began := time.Now()
	answer, err := in.conn.Do(head, []byte(body))
	if err != nil {
		return 0, fmt.Errorf("%s: %w", call.name, err)
	}
	if answer.Status/100 != 2 {
		return 0, fmt.Errorf("%s: %s %s was answered %d: %.300s", call.name, call.method, path, answer.Status, answer.Body)
	}
	return time.Since(began), nil
}

func printGrowth(out io.Writer, engine string, c comparison, took []map[string]waits) {
	fmt.Fprintf(out, "\n%s, p50 / p99 at %s %s\n\n", engine, strings.ReplaceAll(c.sizes, ",", " and "), c.kind)
	for _, call := range c.calls {
		first, last := took[0][call.name], took[len(took)-1][call.name]
		factor := float64(last.p50) / float64(first.p50)
		mark := ""
		if factor > growthLimit {
			mark = "grows"
		}
		fmt.Fprintf(out, "  %-32s %20s %20s  × %.2f %s\n", call.name, first, last, factor, mark)
	}
}

func (w waits) String() string {
	return fmt.Sprintf("%.2f / %.2f ms", float64(w.p50)/1e6, float64(w.p99)/1e6)
}

// seedPeople creates people with heart rates.
func seedPeople(ctx context.Context, in *installation, size int) error {
	b := in.bench
	ids := make([]string, size)
	create := lean.Head("POST", "/v2/user", b.server.Address(), "x-service-api-key: "+b.key)
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
		head := lean.Head("POST", pushPath(ids[n%size]), b.server.Address(), "x-service-api-key: "+b.key)
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
	in.fill = func(call growthCall, n int) (path, body string) {
		person := n * 379 % size // a different one in each call
		switch {
		case call.method == "DELETE":
			person = n % size
		case strings.Contains(call.path, "/info"): // a user without information has no latest
			person = n % 15
		}
		replace := strings.NewReplacer("{id}", ids[person], "{client}", "person-"+strconv.Itoa(person),
			"{n}", strconv.Itoa(n*7919%size), "{d}", strconv.Itoa(n%10))
		if call.method != "GET" {
			replace = strings.NewReplacer("{id}", ids[person], "{n}", strconv.Itoa(n), "{d}", strconv.Itoa(n%10))
		}
		return replace.Replace(call.path), replace.Replace(call.body)
	}
	return nil
}

// seedOrders fills a team with orders.
func seedOrders(ctx context.Context, in *installation, size int) (err error) {
	b := in.bench
	ctx = store.AsSystem(ctx)
	db, err := store.Open(ctx, store.Options{Dir: b.dir, URL: b.database})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := b.server.Stop(); err != nil {
		return err
	}
	s := &seeding{db: db, rng: rand.New(rand.NewPCG(1, 1))}
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
	var created []string
	in.fill = func(call growthCall, n int) (path, body string) {
		one := s.some[n%len(s.some)]
		if strings.Contains(call.path, "{created}") {
			created = append(created, b.createOrder(ctx, order))
		}
		id := ""
		if len(created) > 0 {
			id = created[len(created)-1]
		}
		replace := strings.NewReplacer("{id}", one.ID.String(), "{user}", one.User.String(), "{order}", string(order), "{name}", url.QueryEscape(one.Body.Patient.FirstName+" "+one.Body.Patient.LastName), "{created}", id,
			"{page}", strconv.Itoa(1+n*7919%max(1, size/50)))
		return replace.Replace(call.path), replace.Replace(call.body)
	}
	return nil
}

// createOrder returns the id of a new order, empty if that fails.
func (b *bench) createOrder(ctx context.Context, order []byte) string {
	var answer struct {
		Order struct {
			ID string `json:"id"`
		} `json:"order"`
	}
	if err := b.call(ctx, "POST", "/v3/order", json.RawMessage(order), &answer); err != nil {
		return ""
	}
	return answer.Order.ID
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
