package reports

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"

	"hale/internal/labs/reports/extract"
	"hale/internal/people/users"
	"hale/internal/platform/events"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// The types of event.
//
// Spec: Other named events. Reference 4, webhooks.
const (
	CreatedEvent = "lab_report.parsing_job.created"
	UpdatedEvent = "lab_report.parsing_job.updated"
)

// announce emits an event about a job. r has the results of a completed job.
func announce(ctx context.Context, tx *store.Tx, j *Job, r *Revision, kind string) error {
	compat, err := teams.ReferenceCompat(ctx, tx, j.Team)
	if err != nil {
		return err
	}
	data, err := json.Marshal(DocumentOf(j, r, compat))
	if err != nil {
		return fmt.Errorf("reports: marshalling a %s: %w", kind, err)
	}
	name, err := users.ClientUserID(ctx, tx, j.Team, j.User)
	if fault.Is(err, fault.NotFound) { // the user is being erased
		return nil
	}
	if err != nil {
		return err
	}
	_, err = events.Emit(ctx, tx, events.New{Team: j.Team.UUID(), User: j.User.UUID(), ClientUserID: name, Type: kind, Data: data})
	return err
}

// EventTypes returns the types of events that this package emits.
func EventTypes() []events.Type {
	example := func(change func(j *Job, r *Revision)) func(uuid.UUID) json.RawMessage {
		return func(user uuid.UUID) json.RawMessage {
			j := Job{
				ID: ID(uuid.MustParse("00000000-0000-4000-8000-000000000008")), User: users.ID(user), Status: Started,
				CreatedAt: exampleTime, UpdatedAt: exampleTime,
			}
			r := Revision{Number: 1}
			change(&j, &r)
			doc, err := json.Marshal(DocumentOf(&j, &r, false))
			if err != nil {
				panic(err) // a plain struct
			}
			return doc
		}
	}
	return []events.Type{
		{
			Name: CreatedEvent, Sentence: "A lab report was uploaded to be read.",
			Example: example(func(*Job, *Revision) {}),
		},
		{
			Name: UpdatedEvent, Sentence: "A report was read, could not be read, waits for a reviewer, or was reviewed, or a review was requested.",
			Example: example(func(j *Job, r *Revision) {
				j.Status, j.Pages, j.Revision, j.Patient = Completed, 1, 1, PatientMatches
				r.Result = exampleResult()
			}),
		},
	}
}

var exampleTime = time.Date(2026, 3, 5, 8, 0, 0, 0, time.UTC)

func exampleResult() extract.Result {
	value, low, high := 91.0, 70.0, 99.0
	return extract.Result{
		Metadata: extract.Metadata{Lab: "Example Laboratory", CollectedText: "03/04/2026", CollectedDate: "2026-03-04"},
		Rows: []extract.Row{{
			Name: "Glucose", Value: "91", Type: extract.Numeric, Number: &value, Unit: "mg/dL", UCUM: "mg/dL",
			Range: extract.Range{Text: "70-99", Kind: extract.RangeInterval, Min: &low, Max: &high}, Interpretation: "normal",
			SampleType: "serum_plasma_blood", Kind: "direct", Status: extract.AutoMatch, Page: 1, Confidence: 1,
			Matches: []extract.Match{{Code: "2345-7", Name: "Glucose [Mass/volume] in Serum or Plasma", Display: "Glucose", Confidence: 1}},
			Box:     extract.Box{X: .1, Y: .2, Width: .6, Height: .02},
		}},
		Pages: []extract.PageInfo{{Width: 612, Height: 792, Source: extract.FromText}},
	}
}
