package ingest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hale/internal/people/users"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/events"
	"hale/internal/platform/patch"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/wearables"
	"hale/internal/wearables/ingest"
	"hale/internal/wearables/storage"
)

// announcedKey is the part of an event about one key. The key of a sample is its series and
// its start, and the key of a day is its date.
type announcedKey struct{ verb, key, value string }

// sortedTexts returns announcements as sorted texts, for a comparison without their
// order.
func sortedTexts(all []announcedKey) (texts []string) {
	for _, e := range all {
		texts = append(texts, fmt.Sprint(e))
	}
	slices.Sort(texts)
	return texts
}

// eachRapid checks a property on both engines. All people are in one database.
func eachRapid(t *testing.T, check func(t *testing.T, db *store.DB, rt *rapid.T)) {
	storetest.EachAt(t, clock, func(t *testing.T, db *store.DB) {
		rapid.Check(t, func(rt *rapid.T) { check(t, db, rt) })
	})
}

// newFixture creates a team with a user and returns a fixture for it.
func newFixture(t *testing.T, db *store.DB) fixture {
	team := userstest.Team(t, db)
	return fixture{
		t: t, db: db, ctx: store.WithTeam(context.Background(), team.ID.UUID()),
		in:   ingest.New(db),
		user: userstest.New(t, db, team.ID, users.NewUser{}),
	}
}

// livesIn changes the user's fallback zone.
func (f fixture) livesIn(zone string) fixture {
	f.t.Helper()
	err := f.db.Write(f.ctx, func(tx *store.Tx) (err error) {
		f.user, err = users.Change(f.ctx, tx, f.user.Team, f.user.ID, users.Update{TimeZone: patch.Set(zone)})
		return err
	})
	if err != nil {
		f.t.Fatal(err)
	}
	return f
}

// store stores a batch as an import or as a phone's push, the two ways in which data
// arrives. An ordinary push numbers its events in its commit.
func (f fixture) store(rt *rapid.T, b wearables.Batch) wearables.Result {
	f.t.Helper()
	if !rapid.Bool().Draw(rt, "pushed") {
		return f.ingest(b)
	}
	return f.push(b)
}

func (f fixture) push(b wearables.Batch) wearables.Result {
	f.t.Helper()
	b.Provider = "apple_health_kit"
	if b.Stage == "" {
		b.Stage = wearables.Daily
	}
	_, r, err := f.in.Push(f.ctx, f.user.Team, f.user.ID, b)
	if err != nil {
		f.t.Error(err) // not from the test's goroutine only
	}
	return r
}

// announcedOf returns the announcements of single values in all events of the fixture's
// team, in the order of the events' numbers.
func (f fixture) announcedOf() (all []announcedKey) {
	f.t.Helper()
	if err := (&events.Sequencer{DB: f.db}).Settle(store.AsSystem(f.ctx)); err != nil {
		f.t.Fatal(err)
	}
	for after, more := int64(0), true; more; {
		err := f.db.Read(f.ctx, func(tx *store.Tx) error {
			page, err := events.ReadFeed(f.ctx, tx, f.user.Team.UUID(), after, events.MaxPage, nil)
			for _, m := range page.Events {
				var e event
				if err := json.Unmarshal(m.Body, &e); err != nil {
					return err
				}
				all = append(all, f.announcedBy(e)...)
			}
			after, more = page.Next, page.HasMore
			return err
		})
		if err != nil {
			f.t.Fatal(err)
		}
	}
	return all
}

// announcedBy returns the announcements of an event.
func (f fixture) announcedBy(e event) (all []announcedKey) {
	f.t.Helper()
	name, ours := strings.CutPrefix(e.Type, "daily.data.")
	if !ours {
		return nil
	}
	resource, verb, _ := strings.Cut(name, ".")
	var samples struct {
		Source json.RawMessage
		Data   []map[string]any
	}
	if err := json.Unmarshal(e.Data, &samples); err != nil {
		f.t.Fatal(err)
	}
	if samples.Data == nil {
		key, value := f.dayOf(e.Data)
		return []announcedKey{{verb, key, value}}
	}
	for _, sample := range samples.Data {
		key, value := f.sampleOf(resource, samples.Source, sample)
		all = append(all, announcedKey{verb, key, value})
	}
	return all
}

// sampleOf splits a sample into its key and its values. Types and places of sensors are
// values where they do not separate samples.
func (f fixture) sampleOf(resource string, source []byte, sample map[string]any) (key, value string) {
	revised := map[string]any{}
	values := []string{"value", "systolic", "diastolic", "end", "timezone_offset", "grouping"}
	if resource == "glucose" || resource == "stand_hour" || resource == "body_temperature" {
		values = append(values, "type", "sensor_location")
	}
	for _, name := range values {
		if v, ok := sample[name]; ok {
			revised[name] = v
			delete(sample, name)
		}
	}
	return resource + f.text(json.RawMessage(source)) + f.text(sample), f.text(revised)
}

// dayOf splits a summary of a day into its key and its values.
func (f fixture) dayOf(data []byte) (key, value string) {
	var fields map[string]any
	if err := json.Unmarshal(data, &fields); err != nil {
		f.t.Fatal(err)
	}
	for _, name := range []string{"id", "user_id", "created_at", "updated_at"} {
		delete(fields, name)
	}
	return fmt.Sprint(fields["calendar_date"]), f.text(fields)
}

func (f fixture) text(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		f.t.Fatal(err)
	}
	return string(text)
}

// stored returns the samples of some resources as a read returns them, by key.
func (f fixture) stored(resources ...string) map[string]string {
	f.t.Helper()
	all := map[string]string{}
	for _, resource := range resources {
		for _, group := range f.samples(resource) {
			var data []map[string]any
			if err := json.Unmarshal(wearables.AppendAll(nil, []wearables.Samples{group}), &data); err != nil {
				f.t.Fatal(err)
			}
			known, _ := wearables.ResourceNamed(resource)
			for _, sample := range data {
				key, value := f.sampleOf(known.Event, wearables.AppendSource(nil, group.Source, ""), sample)
				all[key] = value
			}
		}
	}
	return all
}

// days returns the stored days as a read returns them, by date.
func (f fixture) days() map[string]string {
	f.t.Helper()
	all := map[string]string{}
	err := f.db.Read(f.ctx, func(tx *store.Tx) error {
		stored, err := storage.ListSummaries(f.ctx, tx, f.user.Team.UUID(), f.user.ID.UUID(), storage.SummaryQuery{Resource: "activity"})
		for i := range stored {
			body, err := storage.AppendSummary(nil, &stored[i], "")
			if err != nil {
				return err
			}
			key, value := f.dayOf(body)
			all[key] = value
		}
		return err
	})
	if err != nil {
		f.t.Fatal(err)
	}
	return all
}
