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

	"github.com/google/uuid"

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
	growthDays   = flag.Float64("days", 30, "growth: days of heart rate of each person, a sample every five minutes")
)

// growthLimit is the largest factor by which a p50 may grow.
const growthLimit = 1.5

// mostCalls is the largest number of requests that measure one call.
const mostCalls = 200

// growthCall is a call to measure. Path and body receive one of the ids, and n, which
// differs in every call of a run.
type growthCall struct {
	name, method, path, body string
}

// peopleCalls are calls about people. Writes come before the reads that return their
// values. The paths contain these names in braces:
//
//   - {id}: a user
//   - {client}: the caller's own name for the user
//   - {n}: a number
//   - {team}: the team
//   - {webhook}: an endpoint without events
//   - {query}: a continuous query
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
	{"push the profile", "POST", "/v2/summary/profile/{id}", summaryPush(`{"height":178}`)},
	{"push a body measurement", "POST", "/v2/summary/body/{id}", summaryPush(`{"calendar_date":"2025-01-01","weight":7{d}}`)},
	{"push the activity of a day", "POST", "/v2/summary/activity/{id}", summaryPush(`{"calendar_date":"2025-01-01","steps":80{d}0}`)},
	{"push a night", "POST", "/v2/summary/sleep/{id}", summaryPush(`{"bedtime_start":"2024-12-31T22:00:00Z","bedtime_stop":"2025-01-01T06:00:00Z","duration":28800}`)},
	{"push a workout", "POST", "/v2/summary/workouts/{id}", summaryPush(`{"time_start":"2025-01-01T10:00:00Z","time_end":"2025-01-01T11:00:00Z"}`)},
	{"push a meal", "POST", "/v2/summary/meal/{id}", summaryPush(`{"timestamp":"2025-01-01T12:00:00Z","name":"Porridge"}`)},
	{"push a menstrual cycle", "POST", "/v2/summary/menstrual_cycle/{id}", summaryPush(`{"period_start":"2025-01-01"}`)},
	{"push the stages of a night", "POST", "/v2/summary/sleep_cycle/{id}", summaryPush(`{"session_start":"2024-12-31T22:00:00Z","session_end":"2025-01-01T06:00:00Z"}`)},
	{"push an electrocardiogram", "POST", "/v2/summary/electrocardiogram/{id}", summaryPush(`{"session_start":"2025-01-01T10:00:00Z","session_end":"2025-01-01T10:00:30Z"}`)},
	{"push a note", "POST", "/v2/timeseries/{id}/note", `{"stage":"daily","provider":"apple_health_kit","data":[{"timestamp":"2025-01-01T12:00:00Z","value":"Slept badly."}]}`},
	{"push for several users", "POST", "/v2/timeseries", `{"stage":"daily","provider":"apple_health_kit","users":[{"user_id":"{id}","series":{"glucose":[{"timestamp":"2025-01-01T12:00:00Z","value":5.{d}}]}}]}`},
	{"add entries", "POST", "/v2/user/{id}/entries", `{"data":[{"resource":"body_weight","timestamp":"2025-01-01T12:00:00Z","value":7{d}}]}`},
	{"set the insurance of a user", "POST", "/v2/user/{id}/insurance", `{"payor_code":"UHC","member_id":"M-{n}","relationship":"Self","insured":{"first_name":"Ada","last_name":"Example","gender":"female","dob":"1984-12-10",
		"email":"a@example.org","phone_number":"+14155550132","address":{"first_line":"1 Example Street","city":"Phoenix","state":"AZ","zip":"85004","country":"US"}}}`},
	{"insurance of a user", "GET", "/v2/user/{id}/insurance/latest", ""},

	{"heart rate, plain", "GET", "/v2/timeseries/{id}/heartrate?start_date=2025-01-01&end_date=2025-01-01", ""},
	{"heart rate, by day", "GET", "/v2/timeseries/{id}/heartrate/daily?start_date=2025-01-01&end_date=2025-01-01", ""},
	{"heart rate, offsets", "GET", "/v2/timeseries/{id}/heartrate/offsets?start_date=2025-01-01&end_date=2025-01-01", ""},
	{"notes", "GET", "/v2/timeseries/{id}/note?start_date=2025-01-01&end_date=2025-01-01", ""},
	{"notes, grouped", "GET", "/v2/timeseries/{id}/note/grouped?start_date=2025-01-01&end_date=2025-01-01", ""},
	{"cholesterol", "GET", "/v2/timeseries/{id}/cholesterol/ldl?start_date=2025-01-01&end_date=2025-01-01", ""},
	{"workouts of a day", "GET", "/v2/summary/workouts/{id}?start_date=2025-01-01&end_date=2025-01-01", ""},
	{"body of a day", "GET", "/v2/summary/body/{id}?start_date=2025-01-01&end_date=2025-01-01", ""},
	{"meal of a day", "GET", "/v2/summary/meal/{id}?start_date=2025-01-01&end_date=2025-01-01", ""},
	{"menstrual cycle of a day", "GET", "/v2/summary/menstrual_cycle/{id}?start_date=2025-01-01&end_date=2025-01-01", ""},
	{"sleep cycle of a day", "GET", "/v2/summary/sleep_cycle/{id}?start_date=2025-01-01&end_date=2025-01-01", ""},
	{"electrocardiogram of a day", "GET", "/v2/summary/electrocardiogram/{id}?start_date=2025-01-01&end_date=2025-01-01", ""},
	{"profile", "GET", "/v2/summary/profile/{id}", ""},
	{"activity of a day, raw", "GET", "/v2/summary/activity/{id}/raw?start_date=2025-01-01&end_date=2025-01-01", ""},
	{"sleep of a day, raw", "GET", "/v2/summary/sleep/{id}/raw?start_date=2025-01-01&end_date=2025-01-01", ""},
	{"workouts of a day, raw", "GET", "/v2/summary/workouts/{id}/raw?start_date=2025-01-01&end_date=2025-01-01", ""},
	{"body of a day, raw", "GET", "/v2/summary/body/{id}/raw?start_date=2025-01-01&end_date=2025-01-01", ""},
	{"profile, raw", "GET", "/v2/summary/profile/{id}/raw", ""},
	{"devices, raw", "GET", "/v2/summary/devices/{id}/raw", ""},
	{"stream of a night", "GET", "/v2/timeseries/sleep/{sleep}/stream", ""},
	{"stream of a workout", "GET", "/v2/timeseries/workouts/{workout}/stream", ""},
	{"export the data of a user", "GET", "/v2/user/{id}/data/export", ""},
	{"shifts of a user", "GET", "/v2/user/{id}/data/shifts", ""},
	{"lab results of a user", "GET", "/v2/user/{id}/lab_results", ""},
	{"lab results of a user, FHIR", "GET", "/v2/user/{id}/lab_results/fhir", ""},
	{"aggregation query", "POST", "/aggregate/v1/user/{id}/query", `{"timeframe":{"type":"relative","anchor":"2025-01-02","past":{"unit":"month","value":1}},
		"queries":[` + growthQuery + `]}`},
	{"continuous queries", "GET", "/v1/org/{team}/team/{team}/sandbox/continuous_query", ""},
	{"continuous query", "GET", "/v1/org/{team}/team/{team}/sandbox/continuous_query/{query}", ""},
	{"result of a continuous query", "GET", "/aggregate/v1/user/{id}/continuous_query/{query}/result_table", ""},
	{"runs of a continuous query", "GET", "/aggregate/v1/user/{id}/continuous_query/{query}/task_history", ""},
	{"validate a continuous query", "POST", "/v1/org/{team}/team/{team}/sandbox/validate_continuous_query", `{"slug":"beats","title":"Beats","query":` + growthQuery + `}`},
	{"a webhook", "GET", "/v2/webhooks/{webhook}", ""},
	{"deliveries of a webhook", "GET", "/v2/webhooks/{webhook}/deliveries", ""},
	{"attempts of a webhook", "GET", "/v2/webhooks/{webhook}/attempts", ""},
	{"reconcile a webhook", "GET", "/v2/webhooks/{webhook}/reconcile", ""},
	{"webhooks of the team page", "GET", "/v1/org/{team}/team/{team}/sandbox/webhook", ""},
	{"audit log", "GET", "/v2/audit", ""},
	{"audit log of a user", "GET", "/v2/audit?user_id={id}", ""},
	{"reprocessing runs", "GET", "/v2/team/renormalise", ""},
	{"report uploads", "GET", "/lab_report/v1/parser/job", ""},
	{"team", "GET", "/v2/team/{team}", ""},
	{"settings of the team", "GET", "/v2/team/settings", ""},
	{"priorities of sources", "GET", "/v2/team/source/priorities", ""},
	{"providers", "GET", "/v2/providers", ""},
	{"create a device", "POST", "/v2/user/{id}/device", `{"provider":"apple_health_kit","device_model":"Model {n}"}`},
	{"sign-in token", "POST", "/v2/user/{id}/sign_in_token", ""},
	{"link code", "POST", "/v2/link/code/create?user_id={id}", ""},
	{"create a portal link", "POST", "/v2/user/{id}/create_portal_url", `{"context":"launch"}`},
	{"portal access of a user", "GET", "/v2/user/{id}/portal_access", ""},
	{"end portal access of a user", "DELETE", "/v2/user/{id}/portal_access", ""},
	{"end the sign-ins of a user", "DELETE", "/v2/user/{id}/sign_in_token", ""},
	{"count data to delete", "DELETE", "/v2/user/{id}/data?resource=glucose&dry_run=true", ""},
	{"delete data", "DELETE", "/v2/user/{id}/data?resource=glucose", ""},
	{"refresh a user", "POST", "/v2/user/refresh/{id}", ""},
	{"delete a user", "DELETE", "/v2/user/{id}", ""},
}

// growthQuery is an aggregation query.
const growthQuery = `{"select":[{"group_key":"*"},{"func":"max","arg":{"timeseries":"heartrate","field":"value"}}],
	"group_by":[{"date_trunc":{"unit":"day"},"arg":{"index":"timeseries"}}]}`

// summaryPush returns the body that pushes one summary.
func summaryPush(summary string) string {
	return `{"stage":"daily","provider":"apple_health_kit","data":[` + summary + `]}`
}

// orderCalls are calls about orders. {id} is an order, {transaction} its transaction,
// {user} its user and {name} its patient. {created} is a new order, {later} one that
// starts later, and {reported} one with a critical result of {patient}.
var orderCalls = []growthCall{
	{"get an order", "GET", "/v3/order/{id}", ""},
	{"list orders, newest first", "GET", "/v3/orders", ""},
	{"list orders of a user", "GET", "/v3/orders?user_id={user}", ""},
	{"list orders by status", "GET", "/v3/orders?status=completed", ""},
	{"list orders by a name", "GET", "/v3/orders?patient_name={name}", ""},
	{"list orders, any page", "GET", "/v3/orders?page={page}", ""},
	{"transaction of an order", "GET", "/v3/order_transaction/{transaction}", ""},
	{"messages to the patient", "GET", "/v3/order/{id}/communication_settings", ""},
	{"order, FHIR", "GET", "/v3/order/{reported}/fhir", ""},
	{"result of an order", "GET", "/v3/order/{reported}/result", ""},
	{"result metadata", "GET", "/v3/order/{reported}/result/metadata", ""},
	{"revisions of a result", "GET", "/v3/order/{reported}/result/revisions", ""},
	{"result, PDF", "GET", "/v3/order/{reported}/result/pdf", ""},
	{"lab results of a user", "GET", "/v2/user/{patient}/lab_results", ""},
	{"lab results of a user, FHIR", "GET", "/v2/user/{patient}/lab_results/fhir", ""},
	{"critical results", "GET", "/v3/critical_result", ""},
	{"report uploads", "GET", "/lab_report/v1/parser/job", ""},
	{"area of a ZIP code", "GET", "/v3/order/area/info?zip_code=85004", ""},
	{"service centers of a ZIP code", "GET", "/v3/order/psc/info?zip_code=85004&lab_id=2", ""},
	{"free times of a phlebotomist", "POST", "/v3/order/phlebotomy/appointment/availability", `{"first_line":"1 Example Street","city":"Phoenix","state":"AZ","zip_code":"85004"}`},
	{"payors", "GET", "/v3/insurance/search/payor?insurance_name=aetna", ""},
	{"diagnoses", "GET", "/v3/insurance/search/diagnosis?diagnosis_query=diabetes", ""},
	{"compendium", "POST", "/v3/compendium/search", `{"mode":"crosswalk","query":"lipid panel"}`},
	{"lab tests, pages", "GET", "/v3/lab_tests", ""},
	{"markers", "GET", "/v3/lab_tests/markers", ""},
	{"labs", "GET", "/v3/lab_tests/labs", ""},
	{"lab accounts", "GET", "/v3/lab_test/lab_account", ""},
	{"lab tests", "GET", "/v3/lab_test", ""},
	{"review queue", "GET", "/v3/unmatched_result", ""},
	{"messages", "GET", "/v2/team/outbox?order_id={id}", ""},
	{"jobs", "GET", "/v2/jobs", ""},
	{"events, first page", "GET", "/v2/events", ""},
	{"audit log", "GET", "/v2/audit", ""},
	{"webhooks", "GET", "/v2/webhooks", ""},
	{"create an order", "POST", "/v3/order", "{order}"},
	{"change the day of an order", "PATCH", "/v3/order/{later}", `{"activate_by":"{day}"}`},
	{"change messages to the patient", "PATCH", "/v3/order/{created}/communication_settings", `{"sms_enabled":false}`},
	{"send events again", "POST", "/v3/order/resend_events", `{"order_ids":["{id}"]}`},
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
	written := mostCalls // the smallest number of requests of a write so far
	for _, call := range c.calls {
		const warm = 10
		n := 0
		for end := time.Now().Add(2 * b.period); n < 2*warm || n < mostCalls && time.Now().Before(end); n++ {
			number := n
			if call.method == "GET" { // of a person whose values were written
				number = n % written
			}
			for _, in := range all {
				took, err := in.measureCall(call, number)
				if err != nil {
					return nil, err
				}
				if n >= warm {
					in.took[call.name] = append(in.took[call.name], took)
				}
			}
		}
		if call.method != "GET" {
			written = min(written, n)
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
	values, err := in.addTeamValues(ctx, ids[0])
	if err != nil {
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
	in.fill = func(call growthCall, n int) (path, body string) {
		person := personOf(n, size)
		switch {
		case call.path == "/v2/user/{id}" && call.method == "DELETE":
			person = n % size
		case strings.Contains(call.path, "/info"), strings.Contains(call.path, "/insurance"), strings.Contains(call.path, "portal"): // need a user with information
			person = n % 15
		}
		replace := strings.NewReplacer("{id}", ids[person], "{client}", "person-"+strconv.Itoa(person),
			"{n}", strconv.Itoa(n*7919%size), "{d}", strconv.Itoa(n%10))
		if call.method != "GET" {
			replace = strings.NewReplacer("{id}", ids[person], "{n}", strconv.Itoa(n), "{d}", strconv.Itoa(n%10))
		}
		return values.Replace(replace.Replace(call.path)), replace.Replace(call.body)
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

// addTeamValues creates the objects that the calls about people need once, and returns
// their ids.
func (in *installation) addTeamValues(ctx context.Context, user string) (*strings.Replacer, error) {
	var team struct {
		ID string `json:"team_id"`
	}
	var summaries struct {
		Sleep, Workouts []struct{ ID string }
	}
	var webhook, query struct{ ID string }
	const day = "?start_date=2025-02-01&end_date=2025-02-01"
	if err := in.call(ctx, "GET", "/v2/user/"+user, nil, &team); err != nil {
		return nil, err
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
			return nil, err
		}
	}
	if len(summaries.Sleep) == 0 || len(summaries.Workouts) == 0 {
		return nil, errors.New("the night or the workout is missing")
	}
	return strings.NewReplacer("{team}", team.ID, "{webhook}", webhook.ID, "{query}", query.ID,
		"{sleep}", summaries.Sleep[0].ID, "{workout}", summaries.Workouts[0].ID), nil
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
	reported, patient, later, err := b.addOrders(ctx, order)
	if err != nil {
		return err
	}
	fixed := strings.NewReplacer("{reported}", reported, "{patient}", patient, "{later}", later)
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
		replace := strings.NewReplacer("{id}", one.ID.String(), "{transaction}", one.Transaction.String(), "{user}", one.User.String(), "{day}", time.Now().AddDate(0, 0, 10+n%20).Format(time.DateOnly), "{order}", string(order), "{name}", url.QueryEscape(one.Body.Patient.FirstName+" "+one.Body.Patient.LastName), "{created}", id,
			"{page}", strconv.Itoa(1+n*7919%max(1, size/50)))
		return replace.Replace(fixed.Replace(call.path)), replace.Replace(call.body)
	}
	return nil
}

// addOrders creates an order with a critical result, and one that starts later.
func (b *bench) addOrders(ctx context.Context, order []byte) (reported, patient, later string, err error) {
	var fields map[string]any
	if err := json.Unmarshal(order, &fields); err != nil {
		return "", "", "", err
	}
	patient, _ = fields["user_id"].(string)
	if reported = b.createOrder(ctx, order); reported == "" {
		return "", "", "", errors.New("no order was created")
	}
	if err := b.call(ctx, "POST", "/v3/order/"+reported+"/test", map[string]any{"interpretation": "critical"}, nil); err != nil {
		return "", "", "", err
	}
	fields["activate_by"] = time.Now().AddDate(0, 0, 10).Format(time.DateOnly)
	scheduled, err := json.Marshal(fields)
	if err != nil {
		return "", "", "", err
	}
	if later = b.createOrder(ctx, scheduled); later == "" {
		return "", "", "", errors.New("no order that starts later was created")
	}
	for range 600 {
		if err = b.call(ctx, "GET", "/v3/order/"+reported+"/result", nil, nil); err == nil {
			return reported, patient, later, nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return "", "", "", fmt.Errorf("waiting for the result: %w", err)
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
