package events_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"hale/internal/platform/events"
	"hale/internal/platform/jobs/jobstest"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/platform/teams"
)

var system = store.AsSystem(context.Background())

// newTeam makes a team, and on PostgreSQL a sequencer that runs until the test
// ends.
func newTeam(t testing.TB, db *store.DB) uuid.UUID {
	t.Helper()
	var team teams.Team
	write(t, db, func(tx *store.Tx) (err error) {
		team, err = teams.Create(system, tx, "Test", teams.Sandbox)
		return err
	})
	loop := jobstest.NewLoop((&events.Sequencer{DB: db}).Run)
	loop.Start(system)
	t.Cleanup(func() {
		if err := loop.Stop(system); err != nil {
			t.Error(err)
		}
	})
	return team.ID.UUID()
}

func write(t testing.TB, db *store.DB, fn func(tx *store.Tx) error) {
	t.Helper()
	if err := db.Write(system, fn); err != nil {
		t.Fatal(err)
	}
}

func stepsEvent(team uuid.UUID, data string) events.New {
	return events.New{Team: team, User: uuid.New(), ClientUserID: `a "b" <c>`, Type: "daily.data.steps.created", Data: []byte(data)}
}

func after(t testing.TB, db *store.DB, team uuid.UUID, n int64, limit int, types ...string) (page events.Page) {
	t.Helper()
	err := db.Read(system, func(tx *store.Tx) (err error) {
		page, err = events.After(system, tx, team, n, limit, types)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return page
}

// settled waits until the team's feed has n events.
func settled(t testing.TB, db *store.DB, team uuid.UUID, n int64) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(2 * time.Millisecond) {
		page := after(t, db, team, 0, 1)
		if page.Last == n {
			return
		}
		if page.Last > n || time.Now().After(deadline) {
			t.Fatalf("the feed has %d events, want %d", page.Last, n)
		}
	}
}

func TestEnvelope(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		team := newTeam(t, db)
		small, large := `{"x":"<&>","y":[1, 2]}`, `{"x":"`+strings.Repeat("health ", 2000)+`"}`
		for _, data := range []string{small, large} {
			e := stepsEvent(team, data)
			write(t, db, func(tx *store.Tx) error {
				_, err := events.Emit(system, tx, e)
				return err
			})
		}
		settled(t, db, team, 2)
		page := after(t, db, team, 0, 10)
		for i, data := range []string{small, large} {
			body := page.Events[i].Body
			var got struct {
				Type   string          `json:"event_type"`
				Data   json.RawMessage `json:"data"`
				Team   uuid.UUID       `json:"team_id"`
				Client string          `json:"client_user_id"`
			}
			if err := json.Unmarshal(body, &got); err != nil {
				t.Fatal(err)
			}
			if got.Type != "daily.data.steps.created" || string(got.Data) != data || got.Team != team || got.Client != `a "b" <c>` {
				t.Errorf("event %d: %.200s", i, body)
			}
		}
	})
}

func TestWhatIsStoredIsSealed(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		team := newTeam(t, db)
		e := stepsEvent(team, `{"note":"blood pressure"}`)
		write(t, db, func(tx *store.Tx) error {
			_, err := events.Emit(system, tx, e)
			return err
		})
		var stored []byte
		err := db.Read(system, func(tx *store.Tx) error {
			return tx.QueryRow(system, `SELECT body FROM events WHERE team_id = $1`, team).Scan(&stored)
		})
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(stored, []byte("blood")) || bytes.Contains(stored, []byte("steps")) {
			t.Error("the body is readable in the table")
		}
	})
}

func TestErasedUserLeavesNumbersOnly(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		team := newTeam(t, db)
		gone, stays := stepsEvent(team, `{"n":1}`), stepsEvent(team, `{"n":2}`)
		write(t, db, func(tx *store.Tx) error {
			_, err := events.EmitMany(system, tx, []events.New{gone, stays})
			return err
		})
		settled(t, db, team, 2)
		write(t, db, func(tx *store.Tx) error { return tx.Shred(system, team, gone.User) })
		page := after(t, db, team, 0, 10)
		if len(page.Events) != 2 || page.Events[0].Body != nil || page.Events[1].Body == nil {
			t.Errorf("%+v", page.Events)
		}
	})
}

func TestRefusals(t *testing.T) {
	db := storetest.SQLite(t)
	team := newTeam(t, db)
	fits := stepsEvent(team, "0")
	room := events.Room(fits)
	for name, c := range map[string]struct {
		e  events.New
		ok bool
	}{
		"fits exactly":    {with(fits, strings.Repeat("1", room)), true},
		"one byte larger": {with(fits, strings.Repeat("1", room+1)), false},
		"no JSON":         {with(fits, `{"x":`), false},
		"two values":      {with(fits, `1 2`), false},
		"unknown type":    {events.New{Team: team, Type: "daily.data.nonsense.created", Data: []byte(`{}`)}, false},
		"no team":         {events.New{Type: "daily.data.steps.created", Data: []byte(`{}`)}, false},
		"about no user":   {events.New{Team: team, Type: "daily.data.steps.created", Data: []byte(`{}`)}, true},
	} {
		err := db.Write(system, func(tx *store.Tx) error {
			_, err := events.Emit(system, tx, c.e)
			return err
		})
		if (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
		if name == "one byte larger" && !errors.Is(err, events.ErrTooLarge) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func with(e events.New, data string) events.New {
	e.Data = []byte(data)
	return e
}

// Every type of the catalogue has an example that makes a whole envelope.
func TestCatalogue(t *testing.T) {
	all := events.Types()
	if len(all) < 190 {
		t.Errorf("%d types", len(all))
	}
	for _, e := range all {
		body, err := events.Example(uuid.New(), e.Name)
		if err != nil {
			t.Errorf("%s: %v", e.Name, err)
			continue
		}
		var got struct {
			Type string `json:"event_type"`
			User string `json:"user_id"`
		}
		if err := json.Unmarshal(body, &got); err != nil || got.Type != e.Name || got.User == "" {
			t.Errorf("%s: %v, %s", e.Name, err, body)
		}
	}
	for _, name := range []string{"daily.data.weight.created", "historical.data.workout_stream.created", "message.attempt.exhausted", "labtest.order.updated"} {
		if !events.Known(name) {
			t.Errorf("%s is missing", name)
		}
	}
	if events.Known("daily.timeseries.hypnogram.created") {
		t.Error("the spec removed the hypnogram types")
	}
}

// Spec: Events, data of daily and historical events always carries user_id and
// source, and source its slug.
func TestExamplesOfDataNameUserAndSource(t *testing.T) {
	user := uuid.New()
	for _, e := range events.Types() {
		if !strings.HasPrefix(e.Name, "daily.") && !strings.HasPrefix(e.Name, "historical.") {
			continue
		}
		var data struct {
			User   string `json:"user_id"`
			Source struct {
				Provider, Type, Slug string
			}
		}
		if err := json.Unmarshal(e.Example(user), &data); err != nil {
			t.Fatal(err)
		}
		if s := data.Source; data.User != user.String() || s.Provider == "" || s.Type == "" || s.Slug != s.Provider {
			t.Errorf("%s: %+v", e.Name, data)
		}
	}
}

// A type that nothing tells of says so.
func TestTypesThatAreNotSentYet(t *testing.T) {
	unsent := 0
	for _, e := range events.Types() {
		if strings.Contains(e.Sentence, "Not sent yet: ") {
			unsent++
		}
	}
	if unsent != 3 { // a connection's error and a report's two
		t.Errorf("%d types", unsent)
	}
}

func TestIDs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		raw := rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "id")
		id := events.ID(raw)
		text := id.String()
		if strings.ContainsAny(text, ".,") || len(text) != 30 {
			t.Fatalf("id %s", text)
		}
		if again, err := events.Parse(text); err != nil || again != id {
			t.Fatalf("%s came back as %s, %v", text, again, err)
		}
	})
}

func FuzzParseID(f *testing.F) {
	f.Add("msg_01J000000000000000000000A0")
	f.Add("msg_")
	f.Fuzz(func(t *testing.T, text string) {
		if id, err := events.Parse(text); err == nil && id.String() != text {
			t.Errorf("%q came back as %q", text, id)
		}
	})
}
