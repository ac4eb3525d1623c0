package days

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/store"
	"hale/internal/wearables"
	"hale/internal/wearables/derive"
	"hale/internal/wearables/storage"
)

// Phones push the stages of a night as a sleep cycle, and some push a sleep without totals.
// The totals of such a sleep are the sums of its stages.

// sleepTotals are the fields of a sleep that follow from its stages, in seconds.
type sleepTotals struct {
	Deep  int64 `json:"deep"`
	Light int64 `json:"light"`
	REM   int64 `json:"rem"`
	Total int64 `json:"total"`
}

// Stages of a sleep cycle. Reference 7.5, sleep_cycle.
const (
	stageUnknown, stageDeep, stageLight, stageREM = -1, 1, 2, 3
)

// addTotals adds the totals of sleeps that have stages and no totals.
func addTotals(ctx context.Context, d derive.Deriver, a Args) error {
	batch := wearables.Batch{Provider: d.Provider, Stage: d.Stage, Push: d.Push, Ends: a.Historical, Derived: true}
	if batch.Stage == "" {
		batch.Stage = wearables.Daily
	}
	team, user := d.User.Team.UUID(), d.User.ID.UUID()
	err := d.DB.Read(ctx, func(tx *store.Tx) error {
		batch.Summaries = nil
		cycles, err := storage.ListSummaries(ctx, tx, team, user, storage.SummaryQuery{
			Resource: "sleep_cycle", Provider: d.Provider, From: a.First.String(), To: a.Last.String(),
		})
		if err != nil {
			return err
		}
		for i := range cycles {
			id, totals, err := totalsOf(cycles[i].Body)
			if err != nil {
				return err
			}
			sleep, err := storage.ReadSummary(ctx, tx, team, user, id)
			if errors.Is(err, store.ErrNoRows) || err == nil && (totals.Total == 0 || sleep.Resource != "sleep") {
				continue
			}
			if err != nil {
				return err
			}
			if s, ok := withTotals(&sleep, totals); ok {
				batch.Summaries = append(batch.Summaries, s)
			}
		}
		return nil
	})
	if err != nil || len(batch.Summaries) == 0 {
		return err
	}
	_, err = d.Ingester.Ingest(ctx, d.User, batch)
	return err
}

// totalsOf adds up the stages of a cycle.
func totalsOf(body []byte) (sleep uuid.UUID, t sleepTotals, err error) {
	var cycle struct {
		Sleep uuid.UUID `json:"sleep_id"`
		Start []float64 `json:"stage_start_offset_second"`
		End   []float64 `json:"stage_end_offset_second"`
		Stage []float64 `json:"stage_type"`
	}
	if err := json.Unmarshal(body, &cycle); err != nil {
		return sleep, t, fmt.Errorf("days: a stored sleep cycle: %w", err)
	}
	for i, stage := range cycle.Stage[:min(len(cycle.Stage), len(cycle.Start), len(cycle.End))] {
		length := int64(cycle.End[i] - cycle.Start[i])
		switch stage {
		case stageDeep:
			t.Deep += length
		case stageLight:
			t.Light += length
		case stageREM:
			t.REM += length
		case stageUnknown:
		default: // awake, or entered by hand
			continue
		}
		t.Total += length
	}
	return cycle.Sleep, t, nil
}

// withTotals returns the version of a sleep with totals; ok is false if it has some.
func withTotals(sleep *storage.StoredSummary, t sleepTotals) (s wearables.Summary, ok bool) {
	var was sleepTotals
	start, end := sleep.Bounds()
	if json.Unmarshal(sleep.Body, &was) != nil || was != (sleepTotals{}) || t.Total*1e6 > end-start {
		return s, false
	}
	body, err := json.Marshal(struct {
		sleepTotals
		Computed []string `json:"computed"` // see wearables.ComputedMember
	}{t, []string{"deep", "light", "rem", "total"}})
	if err != nil {
		return s, false
	}
	begin := time.UnixMicro(start).UTC()
	return wearables.Summary{
		Resource: "sleep", Key: begin.Format(time.RFC3339Nano) + "|" + sleep.Source.Type + "|" + sleep.Source.AppID,
		Source: sleep.Source, Start: begin, End: time.UnixMicro(end).UTC(), Body: body,
	}, true
}
