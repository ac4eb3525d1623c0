package imports_test

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"hale/internal/people/users/userstest"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/wearables"
	"hale/internal/wearables/connections"
	"hale/internal/wearables/formats/files/filestest"
	"hale/internal/wearables/imports"
)

const phone = "apple_health_kit"

// addDevice connects the user, as a device does that is announced.
func (b *fixture) addDevice() {
	userstest.Write(b.t, b.db, func(ctx context.Context, tx *store.Tx) error {
		return connections.Ensure(ctx, tx, b.user, phone, nil)
	})
}

func (b *fixture) deregister(provider string) {
	userstest.Write(b.t, b.db, func(ctx context.Context, tx *store.Tx) error {
		return connections.Deregister(ctx, tx, b.user.Team, b.user.ID, provider)
	})
}

func (b *fixture) push(stage wearables.Stage) {
	b.t.Helper()
	_, err := b.service.Sink.Ingest(b.ctx, b.user, wearables.Batch{Provider: phone, Stage: stage, Samples: []wearables.Samples{{
		Resource: "heartrate", Source: wearables.Source{Type: "watch"}, Time: []int64{time.Now().Add(-time.Hour).UnixMicro()}, Value: []float64{61},
	}}})
	if err != nil {
		b.t.Fatal(err)
	}
}

func (b *fixture) finishHistory() {
	b.t.Helper()
	if err := b.service.Sink.HistoricalDone(b.ctx, b.user, phone, map[string]wearables.Range{"sleep": {}}); err != nil {
		b.t.Fatal(err)
	}
}

// findUnfinished leaves an import that began to fill the history and was canceled.
func (b *fixture) findUnfinished() {
	b.t.Helper()
	up, err := b.service.Receive(b.ctx, "", bytes.NewReader(export(b.t, 2)))
	if err != nil {
		b.t.Fatal(err)
	}
	userstest.Write(b.t, b.db, func(ctx context.Context, tx *store.Tx) error {
		made, err := b.service.Create(ctx, tx, b.user, up, false)
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `UPDATE imports SET stage = 'historical' WHERE team_id = $1 AND id = $2`, made.Team, made.ID); err != nil {
			return err
		}
		_, err = b.service.Cancel(ctx, tx, made.Team, made.User, made.ID)
		return err
	})
}

// An export fills the history while no other source has filled it. It does not
// matter how the connection was created.
func TestKindsThatCompleteTheHistory(t *testing.T) {
	data := export(t, 1)
	for _, c := range []struct {
		name   string
		before func(b *fixture)
		fills  bool
	}{
		{"nothing came before", func(*fixture) {}, true},
		{"a device was registered", (*fixture).addDevice, true},
		{"a phone sends what is new", func(b *fixture) { b.push(wearables.Daily) }, true},
		{"a phone is sending the past", func(b *fixture) { b.push(wearables.Historical) }, false},
		{"a phone has sent the past", func(b *fixture) { b.push(wearables.Historical); b.finishHistory() }, false},
		{"a phone had no past", (*fixture).finishHistory, false},
		{"an import broke off", func(b *fixture) { b.push(wearables.Historical); b.findUnfinished() }, true},
		{"an import broke off before the provider was removed, and a phone is sending the past", func(b *fixture) {
			b.addDevice()
			b.findUnfinished()
			b.deregister(phone)
			b.push(wearables.Historical)
		}, false},
		{"an import has filled the past", func(b *fixture) { b.await(b.upload(export(b.t, 2), false).ID, imports.Succeeded) }, false},
		{"it was filled before the provider was removed", func(b *fixture) {
			b.finishHistory()
			b.deregister(phone)
			b.addDevice()
		}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			storetest.Each(t, func(t *testing.T, db *store.DB) {
				b := newFixture(t, db)
				defer b.work(b.service)()
				c.before(b)
				announced := b.historyEvents()
				b.await(b.upload(data, false).ID, imports.Succeeded)
				if fills := b.historyEvents() > announced; fills != c.fills {
					t.Errorf("fills the past: %t, want %t", fills, c.fills)
				}
			})
		})
	}
}

func (b *fixture) historyEvents() (n int) {
	b.t.Helper()
	for kind, count := range filestest.Events(b.t, b.db, b.user) {
		if strings.HasPrefix(kind, "historical.data.") {
			n += count
		}
	}
	return n
}

// An export may be a file for each resource. Each file brings the history of its
// resource, and the next file of the same resource brings new data. The same holds
// after the provider is removed and connected again.
func TestHistoryArrivesFileByFile(t *testing.T) {
	beats := `{"data":[{"bpm":61,"source":"rest","timestamp":"2025-03-05T08:00:00+00:00"}],"next_token":null}`
	later := strings.Replace(beats, "08:00", "09:00", 1)
	workout := `{"data":[{"id":"w1","activity":"running","calories":210.5,"day":"2025-03-05","distance":5000,"end_datetime":"2025-03-05T09:30:00+01:00",` +
		`"intensity":"moderate","label":null,"source":"manual","start_datetime":"2025-03-05T09:00:00+01:00"}],"next_token":null}`
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := newFixture(t, db)
		defer b.work(b.service)()
		for _, c := range []struct{ data, past string }{
			{beats, "activity heartrate"},
			{workout, "workout_stream workouts"},
			{later, ""},
			{workout, ""},
			{"", ""},
			{beats, "activity heartrate"},
			{workout, "workout_stream workouts"},
			{later, ""},
			{workout, ""},
		} {
			if c.data == "" {
				b.deregister("oura")
				continue
			}
			before := filestest.Events(t, b.db, b.user)
			b.await(b.upload([]byte(c.data), false).ID, imports.Succeeded)
			var announced []string
			for kind, n := range filestest.Events(t, b.db, b.user) {
				if name, ok := strings.CutPrefix(kind, "historical.data."); ok && n > before[kind] {
					announced = append(announced, strings.TrimSuffix(name, ".created"))
				}
			}
			slices.Sort(announced)
			if got := strings.Join(announced, " "); got != c.past {
				t.Errorf("%.40s: announced %q, want %q", c.data, got, c.past)
			}
		}
	})
}
