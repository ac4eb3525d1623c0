package replay

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"hale/internal/people/users"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/wearables"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/imports"
	"hale/internal/wearables/ingest"
)

// expectUnchanged runs an order and wants nothing to come out differently.
func (b *fixture) expectUnchanged(what string, o Order) {
	b.t.Helper()
	before := len(b.events())
	if r := b.run(o); len(r.Report.Resources) != 0 {
		b.t.Errorf("%s: %s", what, asText(r.Report))
	}
	if after := b.events(); len(after) != before {
		b.t.Errorf("%s: announced %v", what, after[before:])
	}
}

// outcomes are the ends of an import that does not finish by itself.
var outcomes = map[string]func(b *fixture, made imports.Import){
	"queued": func(*fixture, imports.Import) {},
	"running": func(b *fixture, made imports.Import) {
		b.write(func(tx *store.Tx) error {
			_, err := tx.Exec(b.ctx, `UPDATE imports SET status = 'running' WHERE team_id = $1 AND id = $2`, b.user.Team, made.ID)
			return err
		})
	},
	"canceled": func(b *fixture, made imports.Import) {
		b.write(func(tx *store.Tx) error {
			_, err := b.uploads.Cancel(b.ctx, tx, b.user.Team, b.user.ID, made.ID)
			return err
		})
	},
}

// A body of an older mapping is reprocessed, and then comes a file that is not
// reprocessed. The values of later bodies, which revised the first, stay.
func TestARevisionBeforeASkippedFile(t *testing.T) {
	for name, fate := range outcomes {
		t.Run(name, func(t *testing.T) {
			storetest.Each(t, func(t *testing.T, db *store.DB) {
				b := newFixture(t, db)
				b.pushSummaries("activity", `{"calendar_date":"2026-02-01","steps":3000,"distance":1500,"heart_rate":{"avg_bpm":70,"max_bpm":120}}`)
				b.push("heartrate", `[{"timestamp":"2026-02-01T08:00:00Z","value":60},{"timestamp":"2026-02-01T09:00:00Z","value":61}]`)
				b.upload([]byte(ride))
				b.stale()
				b.upload([]byte(clock))
				b.idle = true
				b.pushSummaries("activity", `{"calendar_date":"2026-02-01","steps":9000,"heart_rate":{"avg_bpm":75}}`)
				b.push("heartrate", `[{"timestamp":"2026-02-01T08:00:00Z","value":70}]`)
				made := b.begin(export(t, 2))
				b.storeQuietly("heartrate", func(s *wearables.Samples) { s.Time, s.Value = s.Time[:1], []float64{71} }) // by the file
				fate(b, made)
				b.expectUnchanged(name, Order{})
				if got := string(b.summaries("activity")[len(b.summaries("activity"))-1].Body); !strings.Contains(got, `"steps":9000`) || !strings.Contains(got, `"avg_bpm":75`) {
					t.Errorf("%s", got)
				}
				if got := b.samples("heartrate", "health_connect").Value; !slices.Equal(got, []float64{71, 61}) {
					t.Errorf("%v", got)
				}
			})
		})
	}
}

// storeQuietly stores other heart rates than the pushed ones.
func (b *fixture) storeQuietly(resource string, change func(s *wearables.Samples)) {
	b.t.Helper()
	s := b.samples(resource, "health_connect")
	s.End, s.Offset = nil, nil
	change(&s)
	if _, err := ingest.New(b.db).Ingest(b.ctx, b.user, wearables.Batch{
		Provider: "health_connect", Stage: wearables.Historical, Samples: []wearables.Samples{s},
	}); err != nil {
		b.t.Fatal(err)
	}
}

// Errors of an older mapping are corrected, also if a body with the current mapping
// sent the same values before. Members of objects are corrected one by one.
func TestCorrectionsBeforeASkippedFile(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := newFixture(t, db)
		b.idle = true
		b.push("heartrate", `[{"timestamp":"2026-02-01T08:00:00Z","value":60},{"timestamp":"2026-02-01T09:00:00Z","value":61}]`)
		b.stale()
		b.push("heartrate", `[{"timestamp":"2026-02-01T10:00:00Z","value":62}]`)
		b.push("heartrate", `[{"timestamp":"2026-02-01T08:00:00Z","value":80}]`)
		b.write(func(tx *store.Tx) error {
			_, err := tx.Exec(b.ctx, `UPDATE payloads SET mapping = 0 WHERE team_id = $1 AND last_at = (SELECT MAX(last_at) FROM payloads WHERE team_id = $1)`, b.user.Team)
			return err
		})
		b.storeQuietly("heartrate", func(s *wearables.Samples) { s.Value = []float64{81, 91, 92} })
		b.begin(export(t, 2))
		r := b.run(Order{})
		if got := b.samples("heartrate", "health_connect").Value; !slices.Equal(got, []float64{80, 61, 92}) || r.Report.Payloads != 3 {
			t.Errorf("%v, %s", got, asText(r.Report))
		}
	})
}

// pushDuringIngest is a sink that is busy once, when the first heart rates come.
type pushDuringIngest struct {
	files.Sink
	busy   func(beats wearables.Samples)
	before bool // they are stored
}

func (m *pushDuringIngest) Ingest(ctx context.Context, user users.User, b wearables.Batch) (r wearables.Result, err error) {
	at := slices.IndexFunc(b.Samples, func(s wearables.Samples) bool { return s.Resource == "heartrate" })
	busy := m.busy
	if at < 0 || busy == nil {
		return m.Sink.Ingest(ctx, user, b)
	}
	m.busy = nil
	if m.before {
		busy(b.Samples[at])
	}
	r, err = m.Sink.Ingest(ctx, user, b)
	if !m.before {
		busy(b.Samples[at])
	}
	return r, err
}

// Of a value that a file has and a phone pushes while the file is read, the one
// that came last stays, whichever that was.
func TestValuePushedWhileAFileIsRead(t *testing.T) {
	for name, before := range map[string]bool{"behind the file's": false, "before the file's": true} {
		t.Run(name, func(t *testing.T) {
			storetest.Each(t, func(t *testing.T, db *store.DB) {
				b := newFixture(t, db)
				var push func(more float64)
				b.uploads.Sink = &pushDuringIngest{Sink: b.sink, before: before, busy: func(s wearables.Samples) {
					at, value, source := time.UnixMicro(s.Time[0]).UTC().Format(time.RFC3339Nano), s.Value[0], s.Source
					push = func(more float64) {
						b.pushOf("apple_health_kit", "heartrate", fmt.Sprintf(`[{"timestamp":"%s","value":%v,"source_type":"%s","source_app_id":"%s"}]`,
							at, value+more, source.Type, source.AppID))
					}
					push(1)
				}}
				b.upload(export(t, 2))
				stays := func(what string, o Order) {
					t.Helper()
					beats := b.samples("heartrate", "apple_health_kit").Value
					b.expectUnchanged(what, o)
					if got := b.samples("heartrate", "apple_health_kit").Value; !slices.Equal(got, beats) {
						t.Errorf("%s: %v, was %v", what, got[0], beats[0])
					}
				}
				stays("the same mapping", Order{Every: true})
				b.stale()
				stays("another mapping", Order{})
				push(2)
				b.receive(export(t, 2)).Discard()
				stays("uploaded again, and not read", Order{Every: true})
			})
		})
	}
}

// Values of a phone and a file for one summary are compared field by field.
func TestFieldsPushedWhileAFileIsRead(t *testing.T) {
	d, _ := wearables.DocumentNamed("activity")
	fields := map[string]any{"steps": 1, "distance": 2.0, "floors_climbed": 3, "heart_rate": map[string]any{"avg_bpm": 70, "max_bpm": 120}, "low": nil}
	stored := map[string]any{"steps": 5, "distance": 2.5, "heart_rate": map[string]any{"avg_bpm": 71, "max_bpm": 121, "min_bpm": 50}}
	read := map[string]any{"steps": 5, "distance": 9.0, "floors_climbed": 8, "heart_rate": map[string]any{"avg_bpm": 72, "max_bpm": 121}}
	for name, c := range map[string]struct {
		choose func(v, was, now any) any
		want   string
	}{
		"later":           {valueUnlessStored, `{"distance":2,"floors_climbed":3,"heart_rate":{"avg_bpm":70}}`},
		"as it is stored": {func(_, was, _ any) any { return was }, `{"distance":2.5,"heart_rate":{"avg_bpm":71,"max_bpm":121},"steps":5}`},
	} {
		if got := asText(chooseValues(fields, shapesOf(d), c.choose, stored, read)); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
