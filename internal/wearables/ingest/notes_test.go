package ingest_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/store"
	"hale/internal/wearables"
	"hale/internal/wearables/resources"
	"hale/internal/wearables/storage"
)

// noteOf returns a note as a push or an import has it.
func noteOf(at time.Time, kind, body string) wearables.Summary {
	return wearables.Summary{
		Resource: "note", Key: at.UTC().Format(time.RFC3339Nano) + "|" + kind + "|", Start: at,
		Source: wearables.Source{Type: kind}, Body: json.RawMessage(body),
	}
}

func (f fixture) notes(from, to time.Time, provider string) (all []storage.Note) {
	f.t.Helper()
	err := f.db.Read(f.ctx, func(tx *store.Tx) (err error) {
		all, err = storage.ListNotes(f.ctx, tx, f.user.Team.UUID(), f.user.ID.UUID(),
			storage.SamplesQuery{From: from.UnixMicro(), To: to.UnixMicro(), Provider: provider})
		return err
	})
	if err != nil {
		f.t.Fatal(err)
	}
	return all
}

// A note is stored, read and announced like a sample whose value is a text.
func TestNotesAreSamplesOfText(t *testing.T) {
	forEachEngine(t, func(f fixture) {
		first := noteOf(day, "phone", `{"value":"before lunch","tags":["food"],"timezone_offset":3600}`)
		second := noteOf(day.Add(time.Hour), "phone", `{"value":"a long walk","end":"2026-03-01T09:00:00Z"}`)
		other := noteOf(day, "app", `{"value":"six units","tags":["insulin_injection","unspecified"]}`)
		batch := wearables.Batch{Summaries: []wearables.Summary{second, first, other}}
		for _, want := range []string{"3 created, 0 updated, 0 unchanged, 0 rejected", "0 created, 0 updated, 3 unchanged, 0 rejected"} {
			if got := counts(f.ingest(batch)); got != want {
				t.Errorf("%s, want %s", got, want)
			}
		}
		first.Body = json.RawMessage(`{"value":"after lunch"}`)
		if got := counts(f.ingest(wearables.Batch{Summaries: []wearables.Summary{first}})); got != "0 created, 1 updated, 0 unchanged, 0 rejected" {
			t.Error(got)
		}
		all := f.notes(day, day.AddDate(0, 0, 1), "")
		const clock = `"timestamp":"2026-03-01T%[1]s:00:00+00:00","start":"2026-03-01T%[1]s:00:00+00:00","end":"2026-03-01T%[2]s:00:00+00:00"`
		hour := func(at time.Time) string { return at.Format("15") }
		a := `{` + fmt.Sprintf(clock, hour(day), hour(day)) + `,"timezone_offset":3600,"type":null,"unit":"text","value":"after lunch","tags":["food"]}`
		b := `{` + fmt.Sprintf(clock, hour(day.Add(time.Hour)), "09") + `,"timezone_offset":null,"type":null,"unit":"text","value":"a long walk","tags":null}`
		c := `{` + fmt.Sprintf(clock, hour(day), hour(day)) + `,"timezone_offset":null,"type":null,"unit":"text","value":"six units","tags":["insulin_injection","unspecified"]}`
		groups := string(storage.AppendNoteGroups(nil, all, ""))
		if !strings.HasPrefix(groups, `{"apple_health_kit":[{"source":{"provider":"apple_health_kit","type":"app",`) ||
			!strings.Contains(groups, `"data":[`+c+`]},{"source":`) || !strings.HasSuffix(groups, `"data":[`+a+`,`+b+`]}]}`) {
			t.Errorf("groups %s", groups)
		}
		if got, want := string(storage.AppendPlainNotes(nil, all)), `[`+c+`,`+a+`,`+b+`]`; got != want {
			t.Errorf("plain %s\nwant  %s", got, want)
		}
		var announced []string
		for _, e := range f.events() {
			var payload struct {
				SourceID int64             `json:"source_id"`
				Data     []json.RawMessage `json:"data"`
			}
			if err := json.Unmarshal(e.Data, &payload); err != nil || len(payload.Data) != 1 {
				t.Fatalf("%s, %v", e.Data, err)
			}
			announced = append(announced, fmt.Sprint(e.Type, " of ", payload.SourceID))
			if e.Type == "daily.data.note.updated" && string(payload.Data[0]) != a {
				t.Errorf("announced as %s", payload.Data[0])
			}
		}
		slices.Sort(announced)
		announced = slices.Compact(announced)
		if len(announced) != 3 || len(f.events()) != 4 {
			t.Errorf("announced %q", announced)
		}
		for _, r := range []struct {
			from, to time.Time
			provider string
			want     int
		}{
			{day.Add(time.Second), day.AddDate(0, 0, 1), "", 1},
			{day, day.Add(time.Hour), "", 2},
			{day, day.AddDate(0, 0, 1), "manual", 0},
			{time.Unix(0, 0), time.Date(9999, 12, 31, 23, 0, 0, 0, time.UTC), "apple_health_kit", 3},
			{time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC), day, "", 0},
		} {
			if got := f.notes(r.from, r.to, r.provider); len(got) != r.want {
				t.Errorf("%d notes from %v to %v of %q", len(got), r.from, r.to, r.provider)
			}
		}
	})
}

func TestNotesThatAreRefused(t *testing.T) {
	forEachEngine(t, func(f fixture) {
		got := f.ingest(wearables.Batch{Summaries: []wearables.Summary{
			noteOf(day, "phone", `{"value":null}`), noteOf(day, "phone", `{"value":""}`), noteOf(day, "phone", `{"value":"x","tags":["weather"]}`),
			noteOf(day, "phone", `{"value":7}`), noteOf(day, "phone", `{"value":"x","end":"2026-02-01T00:00:00Z"}`),
			noteOf(day, "phone", `{"value":"`+strings.Repeat("x", 300<<10)+`"}`),
		}})
		var reasons []string
		for _, r := range got.Rejections {
			reasons = append(reasons, r.Reason)
		}
		want := []string{"missing_value", "missing_value", "bad_document", "bad_document", "end_before_start", "too_large"}
		slices.Sort(reasons)
		slices.Sort(want)
		if !slices.Equal(slices.Compact(reasons), slices.Compact(want)) || got.Created != 0 || len(f.events()) != 0 {
			t.Errorf("%q, %+v", reasons, got)
		}
	})
}

// The documented example of an event about notes equals the event that such a note
// causes.
func TestExampleOfANoteMatchesTheSentEvent(t *testing.T) {
	forEachEngine(t, func(f fixture) {
		at := time.Date(2026, 3, 1, 7, 30, 0, 0, time.UTC)
		f.ingest(wearables.Batch{Summaries: []wearables.Summary{
			noteOf(at, "watch", `{"value":"before lunch","tags":["food"],"timezone_offset":3600,"end":"2026-03-01T07:45:00Z"}`),
		}})
		sent := string(f.events()[0].Data)
		for _, kind := range resources.EventTypes() {
			if !strings.HasPrefix(kind.Name, "daily.data.note.") || strings.HasSuffix(kind.Name, ".deleted") {
				continue
			}
			example := string(kind.Example(uuid.Nil))
			if data := example[strings.Index(example, `"data":`):]; !strings.HasSuffix(sent, data) {
				t.Errorf("the example of %s is %s\nsent is %s", kind.Name, data, sent)
			}
		}
	})
}
