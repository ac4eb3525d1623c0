package situations

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"hale/internal/api"
	"hale/internal/api/people"
	apiwearables "hale/internal/api/wearables"
	"hale/internal/people/users"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/events"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
	"hale/internal/wearables/deletion"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/ingest"
	"hale/internal/wearables/ledger"
)

// service is one database with its API. Each situation has its own user in it.
type service struct {
	db       *store.DB
	api      *api.API
	sink     *ingest.Ingester
	deleting *deletion.Service
	team     teams.Team
	key      string
}

func newService(t *testing.T, db *store.DB) *service {
	t.Helper()
	api.SetUpHuma()
	s := &service{db: db, api: api.New(api.Deps{DB: db, BaseURL: "https://hale.example"}), sink: ingest.New(db), team: userstest.Team(t, db)}
	s.deleting = &deletion.Service{DB: db, Ingester: ingest.NewReprocessor(db)}
	h := &apiwearables.Handlers{API: s.api, Ingester: s.sink, Ledger: &ledger.Ledger{}, Deletions: s.deleting}
	s.api.Add(h.Routes()...)
	s.api.Add(people.New(s.api).Routes()...)
	userstest.Write(t, db, func(ctx context.Context, tx *store.Tx) error {
		_, key, err := teams.CreateKey(ctx, tx, s.team, teams.NewKey{Label: "test", Rights: teams.FullRights})
		s.key = key.Reveal()
		return err
	})
	return s
}

// bed has one user of a service. Its methods fail the test.
type bed struct {
	*service
	t    *testing.T
	user users.User

	imported  map[string]uuid.UUID // imports that can be undone, by name
	importing uuid.UUID            // the one that runs; zero for none
}

func (s *service) bed(t *testing.T) *bed {
	t.Helper()
	return &bed{service: s, t: t, user: userstest.New(t, s.db, s.team.ID, users.NewUser{})}
}

// do sends a request. A * in the path is the user's id.
func (b *bed) do(method, path, body string) (status int, answer string) {
	b.t.Helper()
	path = strings.ReplaceAll(path, "*", b.user.ID.String())
	r := httptest.NewRequestWithContext(b.t.Context(), method, path, strings.NewReader(body))
	r.Header.Set("x-service-api-key", b.key)
	w := httptest.NewRecorder()
	b.api.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

// want sends a request like do, which must succeed, and returns the answer.
func (b *bed) want(method, path, body string) string {
	b.t.Helper()
	status, answer := b.do(method, path, body)
	if status/100 != 2 {
		b.t.Fatalf("%s %s %s: %d %s", method, path, body, status, answer)
	}
	return answer
}

// imports imports a file of a kind.
func (b *bed) imports(kind files.Kind, name string, content []byte) {
	b.t.Helper()
	path := filepath.Join(b.t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		b.t.Fatal(err)
	}
	ctx := store.WithTeam(b.t.Context(), b.team.ID.UUID())
	err := b.db.Read(ctx, func(tx *store.Tx) (err error) { // its zone may be set since
		b.user, err = users.Get(ctx, tx, b.team.ID, b.user.ID)
		return err
	})
	if err != nil {
		b.t.Fatal(err)
	}
	if err := kind.Check(path, 0); err != nil {
		b.t.Fatalf("%s: %v", kind.Name, err)
	}
	sink := b.deleting.Replacing(b.sink)
	if b.importing != uuid.Nil {
		sink = recordingSink{b.sink, b.importing}
	}
	if _, err := kind.Run(ctx, files.Input{Path: path, DB: b.db, Sink: sink, User: b.user}); err != nil {
		b.t.Fatal(err)
	}
}

// step is one change of a person's data.
type step func(b *bed)

// push sends samples of a resource, as JSON objects. zone may be empty.
func push(resource, provider, zone string, samples ...string) step {
	return func(b *bed) { b.want("POST", "/v2/timeseries/*/"+resource, pushBody(provider, zone, samples)) }
}

// pushSummaries sends summaries of a resource, as JSON objects.
func pushSummaries(resource, provider, zone string, summaries ...string) step {
	return func(b *bed) { b.want("POST", "/v2/summary/"+resource+"/*", pushBody(provider, zone, summaries)) }
}

func pushBody(provider, zone string, data []string) string {
	head := fmt.Sprintf(`{"stage":"daily","provider":%q,`, provider)
	if zone != "" {
		head += fmt.Sprintf(`"time_zone":%q,`, zone)
	}
	return head + `"data":[` + strings.Join(data, ",") + `]}`
}

// call sends any other request, such as PATCH /v2/user/*.
func call(method, path, body string) step { return func(b *bed) { b.want(method, path, body) } }

// zone sets the fallback zone of the user.
func zone(name string) step {
	return call("PATCH", "/v2/user/*", fmt.Sprintf(`{"fallback_time_zone":%q}`, name))
}

// file imports a file, such as the JSON replies of a provider.
func file(kind files.Kind, name, content string) step {
	return func(b *bed) { b.imports(kind, name, []byte(content)) }
}

// truth is one read with its expected rows. A row has the named fields, separated by
// spaces.
type truth struct {
	read   func(b *bed) []map[string]any
	name   string
	fields []string
	rows   []string
}

func (w truth) check(b *bed) {
	b.t.Helper()
	var got []string
	for _, row := range w.read(b) {
		words := make([]string, len(w.fields))
		for i, name := range w.fields {
			words[i] = textOf(valueAt(row, name))
		}
		got = append(got, strings.Join(words, " "))
	}
	if !slices.Equal(got, w.rows) {
		b.t.Errorf("%s (%s):\n got %s\nwant %s", w.name, strings.Join(w.fields, " "), strings.Join(got, "\n     "), strings.Join(w.rows, "\n     "))
	}
}

// valueAt follows a path of names, such as source.type.
func valueAt(row map[string]any, path string) any {
	first, rest, inner := strings.Cut(path, ".")
	if v, ok := row[path]; ok || !inner {
		return v
	}
	next, _ := row[first].(map[string]any)
	return valueAt(next, rest)
}

func textOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	raw, _ := json.Marshal(v) // it was JSON
	return string(raw)
}

// All reads of a situation cover these days.
const span = "start_date=2025-01-01&end_date=2026-10-31"

// summaries reads summaries in their order: by day and start.
func summaries(resource, fields string, rows ...string) truth {
	return truth{name: resource, fields: strings.Fields(fields), rows: rows, read: func(b *bed) (all []map[string]any) {
		key := resource
		if resource == "meal" {
			key = "meals"
		}
		var page map[string][]map[string]any
		b.decode(b.want("GET", "/v2/summary/"+resource+"/*?"+span, ""), &page)
		return page[key]
	}}
}

// samples reads the grouped samples, all sources together, by time and value.
func samples(resource, fields string, rows ...string) truth {
	return truth{name: resource + " grouped", fields: strings.Fields(fields), rows: rows, read: func(b *bed) (all []map[string]any) {
		var page struct {
			Groups map[string][]struct {
				Source map[string]any
				Data   []map[string]any
			}
		}
		b.decode(b.want("GET", "/v2/timeseries/*/"+resource+"/grouped?"+span, ""), &page)
		for _, groups := range page.Groups {
			for _, g := range groups {
				for _, one := range g.Data {
					one["source"] = g.Source
					all = append(all, one)
				}
			}
		}
		slices.SortFunc(all, func(x, y map[string]any) int {
			return cmp.Or(cmp.Compare(textOf(x["timestamp"]), textOf(y["timestamp"])), cmp.Compare(textOf(x["value"]), textOf(y["value"])))
		})
		return all
	}}
}

// daily reads the merged days of a resource.
func daily(resource, fields string, rows ...string) truth {
	return truth{name: resource + " daily", fields: strings.Fields(fields), rows: rows, read: func(b *bed) []map[string]any {
		var page struct{ Data []map[string]any }
		b.decode(b.want("GET", "/v2/timeseries/*/"+resource+"/daily?"+span, ""), &page)
		return page.Data
	}}
}

// query runs one aggregation query over the span, and reads its columns.
func query(body, fields string, rows ...string) truth {
	return truth{name: "query", fields: strings.Fields(fields), rows: rows, read: func(b *bed) (all []map[string]any) {
		request := `{"timeframe":{"type":"relative","anchor":"2026-10-31","past":{"unit":"day","value":660}},"queries":[` + body + `]}`
		var answer struct {
			Results []struct {
				Table map[string][]any
			}
		}
		text := b.want("POST", "/aggregate/v1/user/*/query", request)
		b.decode(text, &answer)
		for _, r := range answer.Results {
			for name, column := range r.Table {
				for i, v := range column {
					for len(all) <= i {
						all = append(all, map[string]any{})
					}
					all[i][name] = v
				}
			}
		}
		return all
	}}
}

// queriedDays runs an aggregation query for the sum of each day.
func queriedDays(resource string, rows ...string) truth {
	return query(`{"select":[{"group_key":"*"},{"func":"sum","arg":{"timeseries":"`+resource+`","field":"value"}}],
		"group_by":[{"date_trunc":{"unit":"day"},"arg":{"index":"timeseries"}}]}`, "group_key.0 sum.value", rows...)
}

// queriedNights and queriedWorkouts run an aggregation query for the number of each day.
func queriedNights(rows ...string) truth   { return queriedSessions("sleep", rows) }
func queriedWorkouts(rows ...string) truth { return queriedSessions("workout", rows) }

func queriedSessions(table string, rows []string) truth {
	return query(`{"select":[{"group_key":"*"},{"func":"count","arg":{"`+table+`":"session_end"}}],
		"group_by":[{"date_trunc":{"unit":"day"},"arg":{"index":"`+table+`"}}]}`, "group_key.0 count.session_end", rows...)
}

// countEvents counts the events of a type.
func countEvents(kind string, n int) truth {
	return truth{name: kind, fields: []string{"events"}, rows: []string{strconv.Itoa(n)}, read: func(b *bed) []map[string]any {
		return []map[string]any{{"events": float64(len(b.events(kind)))}}
	}}
}

// payloads reads the payloads of the events of a type.
func payloads(kind, fields string, rows ...string) truth {
	return truth{name: kind, fields: strings.Fields(fields), rows: rows, read: func(b *bed) (all []map[string]any) {
		for _, payload := range b.events(kind) {
			var one map[string]any
			b.decode(string(payload), &one)
			all = append(all, one)
		}
		return all
	}}
}

// events returns the payloads of the user's events of a type, in order.
func (b *bed) events(kind string) (all []json.RawMessage) {
	b.t.Helper()
	if b.db.Engine() == store.Postgres {
		if err := (&events.Sequencer{DB: b.db}).Settle(store.AsSystem(context.Background())); err != nil {
			b.t.Fatal(err)
		}
	}
	ctx := store.WithTeam(b.t.Context(), b.team.ID.UUID())
	for after, more := int64(0), true; more; {
		err := b.db.Read(ctx, func(tx *store.Tx) error {
			page, err := events.ReadFeed(ctx, tx, b.team.ID.UUID(), after, 1000, nil)
			more = len(page.Events) == 1000
			for _, m := range page.Events {
				after = m.Seq
				var e struct {
					Type string          `json:"event_type"`
					User string          `json:"user_id"`
					Data json.RawMessage `json:"data"`
				}
				if err := json.Unmarshal(m.Body, &e); err != nil {
					return err
				}
				if e.Type == kind && e.User == b.user.ID.String() {
					all = append(all, e.Data)
				}
			}
			return err
		})
		if err != nil {
			b.t.Fatal(err)
		}
	}
	return all
}

func (b *bed) decode(text string, to any) {
	b.t.Helper()
	if err := json.NewDecoder(bytes.NewReader([]byte(text))).Decode(to); err != nil {
		b.t.Fatalf("%v: %s", err, text)
	}
}

// testClock returns the time for all situations. Each call adds a millisecond, because
// the order of two versions is the order of their times of storage.
func testClock() time.Time {
	return time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC).Add(time.Duration(ticks.Add(1)) * time.Millisecond)
}

var ticks atomic.Int64
