package ingest_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"hale/internal/platform/civil"
	"hale/internal/platform/store"
	"hale/internal/wearables"
	"hale/internal/wearables/storage"
)

// sleep returns a sleep between two times, and the cycle of its stages. Each stage is ten
// minutes long.
func sleep(source wearables.Source, start, stop time.Time, stages string) []wearables.Summary {
	night := wearables.Summary{
		Resource: "sleep", Key: source.Type + start.String(), Source: source, Date: civil.DateOf(stop), Start: start, End: stop, Body: json.RawMessage(`{}`),
	}
	var types []int
	_ = json.Unmarshal([]byte(stages), &types)
	var from, to []int
	for i := range types {
		from, to = append(from, 600*i), append(to, 600*i+600)
	}
	a, _ := json.Marshal(from)
	b, _ := json.Marshal(to)
	cycle := night
	cycle.Resource = "sleep_cycle"
	cycle.Body = fmt.Appendf(nil, `{"stage_start_offset_second":%s,"stage_end_offset_second":%s,"stage_type":%s}`, a, b, stages)
	return []wearables.Summary{night, cycle}
}

func (f fixture) sleepStream(s wearables.Summary) (got storage.SleepStream) {
	f.t.Helper()
	err := f.db.Read(f.ctx, func(tx *store.Tx) error {
		id := wearables.SummaryID(f.user.ID.UUID(), "apple_health_kit", "sleep", s.Key)
		stored, err := storage.SummaryByID(f.ctx, tx, f.user.Team.UUID(), id, "sleep")
		if err == nil {
			got, err = storage.ReadSleepStream(f.ctx, tx, &stored)
		}
		return err
	})
	if err != nil {
		f.t.Fatal(err)
	}
	return got
}

// The sleeps of a day are stored in the order of their ids, and the sources of
// several days in any order.
func TestHypnogramsAreInOrderOfSourceAndTime(t *testing.T) {
	forEachEngine(t, func(f fixture) {
		ring := wearables.Source{Provider: "oura", Type: "ring"}
		phone := wearables.Source{Type: "phone"}
		var all []wearables.Summary
		for i := range 8 { // naps of one day
			at := day.Add(time.Duration(i) * 2 * time.Hour)
			all = append(all, sleep(watch(), at, at.Add(time.Hour), `[2,1]`)...)
		}
		f.ingest(wearables.Batch{Provider: "oura", Summaries: sleep(ring, day.AddDate(0, 0, -1), day.AddDate(0, 0, -1).Add(time.Hour), `[3]`)})
		f.ingest(wearables.Batch{Summaries: append(all, sleep(phone, day.AddDate(0, 0, 1), day.AddDate(0, 0, 1).Add(time.Hour), `[4]`)...)})
		f.ingest(wearables.Batch{Provider: "oura", Summaries: sleep(ring, day.AddDate(0, 0, 2), day.AddDate(0, 0, 2).Add(time.Hour), `[3]`)})
		var got []string
		for _, g := range f.samples("hypnogram") {
			got = append(got, fmt.Sprint(g.Source.Provider, " ", g.Source.Type, " ", g.Len()))
			if !slices.IsSorted(g.Time) || len(g.End) != g.Len() || g.End[0]-g.Time[0] != 600e6 {
				t.Errorf("%s: %v to %v", g.Source.Type, g.Time, g.End)
			}
		}
		if want := []string{"apple_health_kit phone 1", "apple_health_kit watch 16", "oura ring 2"}; !slices.Equal(got, want) {
			t.Errorf("groups %q, want %q", got, want)
		}
	})
}

// The stream of a sleep contains all samples at once, for any number of samples and
// sources.
func TestASleepStreamHasEverySample(t *testing.T) {
	forEachEngine(t, func(f fixture) {
		const n = storage.PageSamples/2 + 1_000
		var all []wearables.Samples
		for _, kind := range []string{"watch", "chest_strap"} {
			s := wearables.Samples{Resource: "heartrate", Source: wearables.Source{Type: kind}}
			for i := range n {
				s.Time, s.Value = append(s.Time, day.Add(time.Duration(i)*time.Second).UnixMicro()), append(s.Value, 60)
			}
			all = append(all, s)
		}
		night := sleep(watch(), day, day.Add(8*time.Hour), `[2]`)
		f.ingest(wearables.Batch{Stage: wearables.Historical, Samples: all, Summaries: night})
		got := 0
		for _, s := range f.sleepStream(night[0]).HeartRate {
			got += s.Len()
		}
		if got != 2*n {
			t.Errorf("%d samples, want %d", got, 2*n)
		}
	})
}

// An invalid cycle is skipped, and the cycle of another night is still read.
func TestInvalidCyclesAreSkipped(t *testing.T) {
	forEachEngine(t, func(f fixture) {
		bad, good := sleep(watch(), day, day.Add(time.Hour), `[2]`), sleep(watch(), day.AddDate(0, 0, 1), day.AddDate(0, 0, 1).Add(time.Hour), `[1]`)
		f.ingest(wearables.Batch{Summaries: append(bad, good...)})
		team, user := f.user.Team.UUID(), f.user.ID.UUID()
		id := wearables.SummaryID(user, "apple_health_kit", "sleep_cycle", bad[1].Key)
		if err := f.db.Write(f.ctx, func(tx *store.Tx) error {
			body, err := tx.Seal(f.ctx, team, user, "summaries.body:"+id.String(),
				[]byte(`{"session_start":"2026-03-01T00:00:00+00:00","stage_end_offset_second":[1e+15],"stage_start_offset_second":[0],"stage_type":[2]}`))
			if err != nil {
				return err
			}
			_, err = tx.Exec(f.ctx, `UPDATE summaries SET body = $1 WHERE team_id = $2 AND user_id = $3 AND id = $4`, body, team, user, id)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if g := f.samples("hypnogram"); len(g) != 1 || !slices.Equal(g[0].Value, []float64{1}) {
			t.Errorf("read %+v", g)
		}
		if s := f.sleepStream(bad[0]); len(s.Hypnogram) != 0 {
			t.Errorf("streamed %+v", s.Hypnogram)
		}
	})
}

// The stages have the offset of the sleep, or else that of their cycle.
func TestZoneOfTheStagesOfASleep(t *testing.T) {
	forEachEngine(t, func(f fixture) {
		for i, c := range []struct {
			sleep, cycle string
			want         int32
		}{
			{`"timezone_offset":7200`, ``, 7200},
			{`"timezone_offset":7200`, `"time_zone":"Asia/Tokyo",`, 7200},
			{``, `"time_zone":"Asia/Tokyo",`, 32400},
			{``, ``, wearables.NoOffset},
		} {
			at := day.AddDate(0, 0, 3*i)
			night := sleep(watch(), at, at.Add(time.Hour), `[2,1]`)
			id := wearables.SummaryID(f.user.ID.UUID(), "apple_health_kit", "sleep", night[0].Key)
			night[0].Body = []byte(`{` + c.sleep + `}`)
			night[1].Body = fmt.Appendf(nil, `{"sleep_id":%q,%s%s`, id, c.cycle, night[1].Body[1:])
			f.ingest(wearables.Batch{Summaries: night})
			streamed := f.sleepStream(night[0]).Hypnogram
			read, _ := f.page(storage.SamplesQuery{Resource: "hypnogram", From: at.UnixMicro(), To: at.Add(time.Hour).UnixMicro()})
			for name, groups := range map[string][]wearables.Samples{"streamed": streamed, "read": read} {
				if len(groups) != 1 || !slices.Equal(groups[0].Offset, []int32{c.want, c.want}) {
					t.Errorf("%+v: %s %+v", c, name, groups)
				}
			}
		}
	})
}
