package events_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"hale/internal/platform/events"
	"hale/internal/platform/fault"
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

func readAfter(t testing.TB, db *store.DB, team uuid.UUID, n int64, limit int, types ...string) (page events.Page) {
	t.Helper()
	err := db.Read(system, func(tx *store.Tx) (err error) {
		page, err = events.ReadFeed(system, tx, team, n, limit, types)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return page
}

// waitForEvents waits until the team's feed has n events.
func waitForEvents(t testing.TB, db *store.DB, team uuid.UUID, n int64) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(2 * time.Millisecond) {
		page := readAfter(t, db, team, 0, 1)
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
		waitForEvents(t, db, team, 2)
		page := readAfter(t, db, team, 0, 10)
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
		waitForEvents(t, db, team, 2)
		write(t, db, func(tx *store.Tx) error { return tx.Shred(system, team, gone.User) })
		page := readAfter(t, db, team, 0, 10)
		if len(page.Events) != 2 || page.Events[0].Body != nil || page.Events[1].Body == nil {
			t.Errorf("%+v", page.Events)
		}
	})
}

func TestRefusals(t *testing.T) {
	db := storetest.SQLite(t)
	events.Register(db, events.NewCatalogue(example("daily.data.steps.created")))
	team := newTeam(t, db)
	fits := stepsEvent(team, "0")
	room := events.Room(fits)
	for name, c := range map[string]struct {
		e  events.New
		ok bool
	}{
		"fits exactly":    {withData(fits, strings.Repeat("1", room)), true},
		"one byte larger": {withData(fits, strings.Repeat("1", room+1)), false},
		"no JSON":         {withData(fits, `{"x":`), false},
		"two values":      {withData(fits, `1 2`), false},
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

func withData(e events.New, data string) events.New {
	e.Data = []byte(data)
	return e
}

func example(name string) events.Type {
	return events.Type{Name: name, Sentence: "An example.", Example: events.ExampleOf(`"n":1`)}
}

func TestCatalogue(t *testing.T) {
	c := events.NewCatalogue(example("b.created"), example("a.updated"), example("a.created"))
	if all := c.Types(); len(all) != 3 || all[0].Name != "a.created" || all[2].Name != "b.created" {
		t.Errorf("types: %+v", all)
	}
	if got, err := c.Check([]string{"b.created", "a.created", "b.created"}, "query", "types"); err != nil || !slices.Equal(got, []string{"a.created", "b.created"}) {
		t.Errorf("checked: %v, %v", got, err)
	}
	for _, name := range []string{"", "a", "c.created"} {
		if _, err := c.Check([]string{"a.created", name}, "query", "types"); !fault.Is(err, fault.Invalid) {
			t.Errorf("%q: %v", name, err)
		}
		if _, err := c.Example(uuid.New(), name, "path", "event_type"); !fault.Is(err, fault.Invalid) {
			t.Errorf("an example of %q: %v", name, err)
		}
	}
	body, err := c.Example(uuid.New(), "b.created")
	var got struct {
		Type string `json:"event_type"`
		User string `json:"user_id"`
		Data struct {
			User string `json:"user_id"`
			N    int
		}
	}
	if err := errors.Join(err, json.Unmarshal(body, &got)); err != nil || got.Type != "b.created" || got.User == "" || got.Data.User != got.User || got.Data.N != 1 {
		t.Errorf("example %s, %v", body, err)
	}
}

func TestCatalogueRefusesBadDefinitions(t *testing.T) {
	for name, types := range map[string][]events.Type{
		"two definitions": {example("a.created"), example("a.created")},
		"no sentence":     {{Name: "a.created", Example: events.ExampleOf(`"n":1`)}},
		"no example":      {{Name: "a.created", Sentence: "An example."}},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			events.NewCatalogue(types...)
		})
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
