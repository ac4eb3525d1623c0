package connections_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"hale/internal/people/users"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/civil"
	"hale/internal/platform/events"
	"hale/internal/platform/fault"
	"hale/internal/platform/ids"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/wearables/connections"
)

func mustEnsure(db *store.DB, user users.User, provider string, resources ...string) error {
	ctx := store.WithTeam(context.Background(), user.Team.UUID())
	return db.Write(ctx, func(tx *store.Tx) error { return connections.Ensure(ctx, tx, user, provider, resources) })
}

func mustList(t *testing.T, db *store.DB, user users.User) (all []connections.Connection) {
	t.Helper()
	userstest.Read(t, db, func(ctx context.Context, tx *store.Tx) (err error) {
		all, err = connections.List(ctx, tx, user.Team, user.ID)
		return err
	})
	return all
}

// announcedPayloads returns the payloads of the user's events of a type, oldest first.
func announcedPayloads(t *testing.T, db *store.DB, user users.User, kind string) (all []string) {
	t.Helper()
	sequencer := events.Sequencer{DB: db} // on PostgreSQL a running node numbers events
	if err := sequencer.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	userstest.Read(t, db, func(ctx context.Context, tx *store.Tx) error {
		all = nil
		page, err := events.ReadFeed(ctx, tx, user.Team.UUID(), 0, 100, []string{kind})
		for _, e := range page.Events {
			var envelope struct {
				Data         json.RawMessage `json:"data"`
				ClientUserID string          `json:"client_user_id"`
			}
			if err := json.Unmarshal(e.Body, &envelope); err != nil {
				return err
			}
			if envelope.ClientUserID != user.ClientUserID {
				t.Errorf("the event names %q", envelope.ClientUserID)
			}
			all = append(all, string(envelope.Data))
		}
		return err
	})
	return all
}

func TestEnsureConnectsOnce(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		user := userstest.New(t, db, userstest.Team(t, db).ID, users.NewUser{})
		for _, resources := range [][]string{{"heartrate"}, {"heartrate"}, {"sleep", "heartrate"}, nil} {
			if err := mustEnsure(db, user, "apple_health_kit", resources...); err != nil {
				t.Fatal(err)
			}
		}
		all := mustList(t, db, user)
		if len(all) != 1 || all[0].Status != connections.Connected || all[0].Provider.Name != "Apple HealthKit" || len(all[0].Resources) != 2 {
			t.Fatalf("connections %+v", all)
		}
		got := announcedPayloads(t, db, user, connections.CreatedEvent)
		want := fmt.Sprintf(`{"user_id":%q,"provider":{"name":"Apple HealthKit","slug":"apple_health_kit","logo":"/static/providers/apple_health_kit.svg"},`+
			`"status":"connected","created_on":%q,"external_user_id":null,"error_details":null,"resource_availability":{"heartrate":{"status":"available","scope_requirements":`+
			`{"user_granted":{"required":[],"optional":[]},"user_denied":{"required":[],"optional":[]}}}}}`, user.ID, civil.Instant(all[0].CreatedOn))
		if len(got) != 1 || got[0] != want {
			t.Errorf("announced\n%v\nwant one\n%s", got, want)
		}
	})
}

func TestConcurrentEnsure(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		user := userstest.New(t, db, userstest.Team(t, db).ID, users.NewUser{})
		resources := []string{"heartrate", "sleep", "steps", "weight", "hrv", "glucose"}
		var wg sync.WaitGroup
		for _, r := range resources {
			wg.Go(func() {
				if err := mustEnsure(db, user, "health_connect", r); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		all := mustList(t, db, user)
		if len(all) != 1 || len(all[0].Resources) != len(resources) {
			t.Errorf("connections %+v", all)
		}
		if n := len(announcedPayloads(t, db, user, connections.CreatedEvent)); n != 1 {
			t.Errorf("announced %d times", n)
		}
	})
}

func TestEnsureRefusesDeletedUsers(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		users.Register(db, connections.UserRecords()...)
		user := userstest.New(t, db, userstest.Team(t, db).ID, users.NewUser{})
		if err := mustEnsure(db, user, "oura", "sleep"); err != nil {
			t.Fatal(err)
		}
		userstest.Write(t, db, func(ctx context.Context, tx *store.Tx) error { return users.Delete(ctx, tx, user.Team, user.ID) })
		if all := mustList(t, db, user); len(all) != 0 {
			t.Errorf("deleting left %+v", all)
		}
		if err := mustEnsure(db, user, "fitbit", "sleep"); !fault.Is(err, fault.NotFound) {
			t.Errorf("connecting a deleted user: %v", err)
		}
	})
}

func TestDeregister(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		user := userstest.New(t, db, userstest.Team(t, db).ID, users.NewUser{})
		other := userstest.New(t, db, userstest.Team(t, db).ID, users.NewUser{})
		deregister := func(of users.User, provider string) error {
			ctx := store.WithTeam(context.Background(), user.Team.UUID())
			return db.Write(ctx, func(tx *store.Tx) error { return connections.Deregister(ctx, tx, user.Team, of.ID, provider) })
		}
		if err := mustEnsure(db, user, "apple_health_kit", "sleep"); err != nil {
			t.Fatal(err)
		}
		first := mustList(t, db, user)[0]
		for name, err := range map[string]error{
			"unknown provider": deregister(user, "nope"), "not connected": deregister(user, "oura"), "another team's user": deregister(other, "apple_health_kit"),
		} {
			if !fault.Is(err, fault.NotFound) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if err := deregister(user, "apple_health_kit"); err != nil || len(mustList(t, db, user)) != 0 {
			t.Errorf("%v, left %+v", err, mustList(t, db, user))
		}
		if err := mustEnsure(db, user, "apple_health_kit", "sleep"); err != nil { // the phone continues to send
			t.Fatal(err)
		}
		if again := mustList(t, db, user); len(again) != 1 || again[0].ID == first.ID {
			t.Errorf("connected again as %+v", again)
		}
	})
}

func TestRunChangesWithTheConnection(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		user := userstest.New(t, db, userstest.Team(t, db).ID, users.NewUser{})
		run := func() (id string) {
			userstest.Read(t, db, func(ctx context.Context, tx *store.Tx) (err error) {
				id, err = connections.Run(ctx, tx, user, "apple_health_kit")
				return err
			})
			return id
		}
		none := run()
		if err := mustEnsure(db, user, "apple_health_kit", "sleep"); err != nil {
			t.Fatal(err)
		}
		if none != "" || run() == "" {
			t.Errorf("runs %q, %q", none, run())
		}
	})
}

func TestLinks(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		team := userstest.Team(t, db).ID
		var all []users.ID
		for i := range 60 { // more than two lists
			user := userstest.New(t, db, team, users.NewUser{})
			all = append(all, user.ID)
			if i%3 == 0 {
				if err := mustEnsure(db, user, "oura", "sleep"); err != nil {
					t.Fatal(err)
				}
			}
		}
		userstest.Read(t, db, func(ctx context.Context, tx *store.Tx) error {
			links, err := connections.Links(ctx, tx, team, all...)
			for i, id := range all {
				if want := i%3 == 0; (len(links[id]) == 1) != want {
					t.Errorf("user %d has %+v", i, links[id])
				}
			}
			return err
		})
	})
}

func TestDevices(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		user := userstest.New(t, db, userstest.Team(t, db).ID, users.NewUser{})
		see := func(d connections.Device) (id connections.DeviceID) {
			t.Helper()
			userstest.Write(t, db, func(ctx context.Context, tx *store.Tx) (err error) {
				id, err = connections.EnsureDevice(ctx, tx, user, d)
				return err
			})
			return id
		}
		watch := connections.Device{Provider: "apple_health_kit", SourceType: "watch", Manufacturer: "Apple Inc.", Model: "Watch6,2", Version: "10.3"}
		first := see(watch)
		if again := see(watch); again != first {
			t.Error("the same device has two ids")
		}
		watch.Version = "10.4"
		if again := see(watch); again != first {
			t.Error("a new version made a new device")
		}
		for _, version := range []string{"9.6.3", ""} { // an older file, and one that says nothing
			watch.Version = version
			see(watch)
		}
		other := watch
		other.Model = "Watch7,1\x00" + string([]byte{0xff})
		second := see(other)
		if second == first {
			t.Error("another model has the same id")
		}
		userstest.Read(t, db, func(ctx context.Context, tx *store.Tx) error {
			all, err := connections.Devices(ctx, tx, user.Team, user.ID)
			if err != nil || len(all) != 2 || all[0].ID != first || all[0].Version != "10.4" || all[1].Model != "Watch7,1" {
				t.Errorf("devices %+v, %v", all, err)
			}
			one, err := connections.GetDevice(ctx, tx, user.Team, user.ID, second)
			if err != nil || one.ID != second {
				t.Errorf("device %+v, %v", one, err)
			}
			_, err = connections.GetDevice(ctx, tx, user.Team, user.ID, ids.FromUUID[connections.Device](uuid.New()))
			if !fault.Is(err, fault.NotFound) {
				t.Errorf("unknown device: %v", err)
			}
			return nil
		})
		want := fmt.Sprintf(`{"id":%q,"user_id":%q,"provider":"apple_health_kit","source_type":"watch","app_id":null,`+
			`"device_manufacturer":"Apple Inc.","device_model":"Watch6,2","device_version":"10.4","device_id":null}`, first, user.ID)
		if got := announcedPayloads(t, db, user, connections.DeviceUpdatedEvent); !slices.Equal(got, []string{want}) {
			t.Errorf("updates announced\n%v\nwant\n%s", got, want)
		}
		if got := announcedPayloads(t, db, user, connections.DeviceCreatedEvent); len(got) != 2 {
			t.Errorf("%d devices announced", len(got))
		}
	})
}

func TestRefresh(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	storetest.EachAt(t, func() time.Time { return now }, func(t *testing.T, db *store.DB) {
		user := userstest.New(t, db, userstest.Team(t, db).ID, users.NewUser{})
		refresh := func() (failed []string, err error) {
			ctx := store.WithTeam(context.Background(), user.Team.UUID())
			err = db.Write(ctx, func(tx *store.Tx) (err error) {
				failed, err = connections.Refresh(ctx, tx, user.Team, user.ID)
				return err
			})
			return failed, err
		}
		if _, err := refresh(); !fault.Is(err, fault.Refused) {
			t.Errorf("without connections: %v", err)
		}
		if err := mustEnsure(db, user, "apple_health_kit", "sleep"); err != nil {
			t.Fatal(err)
		}
		for range 8 {
			if failed, err := refresh(); err != nil || len(failed) != 0 {
				t.Fatalf("%v, %v", failed, err)
			}
			now = now.Add(time.Minute)
		}
		for range 2 {
			_, err := refresh()
			var often *connections.TooOftenError
			if !fault.Is(err, fault.TooMany) || !errors.As(err, &often) || often.RetryAfter() != 52*60 {
				t.Fatalf("ninth refresh: %v", err)
			}
		}
		now = now.Add(52 * time.Minute)
		if err := mustEnsure(db, user, "oura", "sleep", "activity"); err != nil {
			t.Fatal(err)
		}
		if failed, err := refresh(); err != nil || !slices.Equal(failed, []string{"oura/activity", "oura/sleep"}) {
			t.Errorf("after an hour: %v, %v", failed, err)
		}
	})
}

func TestMeasure(t *testing.T) {
	now := time.Date(2026, 3, 1, 23, 59, 59, 0, time.UTC) // a Sunday
	storetest.EachAt(t, func() time.Time { return now }, func(t *testing.T, db *store.DB) {
		now = time.Date(2026, 3, 1, 23, 59, 59, 0, time.UTC)
		team := userstest.Team(t, db).ID
		for i, provider := range []string{"oura", "fitbit", "garmin"} {
			if i == 1 {
				now = now.Add(time.Second)
			}
			if err := mustEnsure(db, userstest.New(t, db, team, users.NewUser{}), provider, "sleep"); err != nil {
				t.Fatal(err)
			}
		}
		userstest.Read(t, db, func(ctx context.Context, tx *store.Tx) error {
			m, err := connections.Measure(ctx, tx, team)
			monday := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
			want := []connections.Week{{Start: monday.AddDate(0, 0, -7), Made: 1, All: 1}, {Start: monday, Made: 2, All: 3}}
			if err != nil || m.Connected != 3 || m.Errored != 0 || !slices.Equal(m.Weeks, want) {
				t.Errorf("%+v, %v", m, err)
			}
			return nil
		})
	})
}

// Measure returns the numbers that the rows have, while connections are created, fail,
// recover and end, many of them concurrently. It also holds after rows of people are
// deleted.
func TestMetricsEqualTheRows(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		team := userstest.Team(t, db).ID
		check := func(when string) {
			t.Helper()
			userstest.Read(t, db, func(ctx context.Context, tx *store.Tx) error {
				m, err := connections.Measure(ctx, tx, team)
				if err != nil {
					return err
				}
				var made, errored int64
				err = tx.QueryRow(ctx, `SELECT COUNT(*), COUNT(*) FILTER (WHERE status = 'error') FROM connections WHERE team_id = $1`, team).Scan(&made, &errored)
				if m.Connected != made || m.Errored != errored || made > 0 && m.Weeks[len(m.Weeks)-1].All != made || made == 0 && len(m.Weeks) > 0 {
					t.Errorf("%s: %+v, but %d connections, %d of them failing", when, m, made, errored)
				}
				return err
			})
		}
		exec := func(query string, args ...any) {
			t.Helper()
			if err := db.Write(store.WithTeam(t.Context(), team.UUID()), func(tx *store.Tx) error {
				_, err := tx.Exec(t.Context(), query, args...)
				return err
			}); err != nil {
				t.Fatal(err)
			}
		}
		check("without any")
		var all []users.User
		for range 20 {
			all = append(all, userstest.New(t, db, team, users.NewUser{}))
		}
		var wg sync.WaitGroup
		for i, user := range all {
			wg.Go(func() {
				for _, provider := range []string{"oura", "fitbit", "garmin"}[:1+i%3] {
					if err := mustEnsure(db, user, provider, "sleep"); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		check("made")
		exec(`UPDATE connections SET status = 'error' WHERE team_id = $1 AND provider = 'fitbit'`, team)
		check("failing")
		exec(`UPDATE connections SET status = 'paused' WHERE team_id = $1 AND user_id = $2`, team, all[2].ID)
		check("paused")
		exec(`DELETE FROM connections WHERE team_id = $1 AND user_id = $2`, team, all[5].ID)
		check("removed")
		exec(`UPDATE connections SET status = 'connected' WHERE team_id = $1`, team)
		check("recovered")
		exec(`DELETE FROM connections WHERE team_id = $1`, team)
		check("all removed")
	})
}

// Of two versions of a device that come at once the newer one stays, whichever
// is committed first.
func TestVersionsAtOnce(t *testing.T) {
	db := storetest.Postgres(t)
	user := userstest.New(t, db, userstest.Team(t, db).ID, users.NewUser{})
	ctx := store.WithTeam(context.Background(), user.Team.UUID())
	see := func(version string, meanwhile func()) error {
		return db.Write(ctx, func(tx *store.Tx) error {
			_, err := connections.EnsureDevice(ctx, tx, user, connections.Device{Provider: "garmin", Model: "Watch", Version: version})
			meanwhile()
			return err
		})
	}
	if err := see("1.0", func() {}); err != nil {
		t.Fatal(err)
	}
	second := make(chan error, 1)
	err := see("3.0", func() {
		go func() { second <- see("2.0", func() {}) }()
		time.Sleep(200 * time.Millisecond) // it has read 1.0, and waits
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := <-second; err != nil {
		t.Fatal(err)
	}
	userstest.Read(t, db, func(ctx context.Context, tx *store.Tx) error {
		all, err := connections.Devices(ctx, tx, user.Team, user.ID)
		if err != nil || len(all) != 1 || all[0].Version != "3.0" {
			t.Errorf("devices %+v, %v", all, err)
		}
		return nil
	})
	if n := len(announcedPayloads(t, db, user, connections.DeviceUpdatedEvent)); n != 1 {
		t.Errorf("%d times updated", n)
	}
}
