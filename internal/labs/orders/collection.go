package orders

import (
	"context"
	"time"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/networks"
	"hale/internal/platform/civil"
	"hale/internal/platform/store"
)

// Turnaround returns the usual and the longest number of days of the order's lab
// test; nil if its panel has none.
func Turnaround(ctx context.Context, tx *store.Tx, o *Order) (common, worst *int, err error) {
	offered, err := catalogue.Load(ctx, tx, o.Team)
	if err != nil {
		return nil, nil, err
	}
	test, err := catalogue.GetTest(ctx, tx, o.Team, o.LabTest)
	if err != nil {
		return nil, nil, err
	}
	common, worst = catalogue.TAT(offered.MarkersOf(test))
	return common, worst, nil
}

// SetCollected sets the time of collection and, from the turnaround times of the
// panel, the dates on which results are expected.
//
// Reference 1.14: collection plus the times, null when a panel has none.
func (o *Order) SetCollected(at time.Time, common, worst *int) {
	o.CollectedAt = &at
	day := civil.DateOf(at.UTC())
	for _, d := range []struct {
		days *int
		to   **civil.Date
	}{{common, &o.ExpectedBy}, {worst, &o.WorstBy}} {
		if d.days != nil {
			due := day.AddDays(*d.days)
			*d.to = &due
		}
	}
}

// SetDrawn sets the time of collection as reported indirectly: the end of a visit,
// the moment of a call, the time of a message. A known time takes precedence.
func (o *Order) SetDrawn(at time.Time, common, worst *int) {
	if o.CollectedAt == nil {
		o.SetCollected(at, common, worst)
	}
}

// collectionTolerance is the tolerance for a time of collection after its
// report. If neither has a zone, the two may differ by a day.
const collectionTolerance = 24 * time.Hour

// SetStatedCollection sets the time of collection that is written on the
// sample. It replaces a known time, except if it is a date without time and the
// known time is on that day. A time after the report is a mistake and is
// ignored; a zero reported disables this check.
func (o *Order) SetStatedCollection(at networks.Moment, reported time.Time, common, worst *int) {
	slip := !reported.IsZero() && at.Time.After(reported.Add(collectionTolerance))
	if at.Time.IsZero() || slip || o.CollectedAt != nil && isDateOf(at, *o.CollectedAt) {
		return
	}
	o.SetCollected(at.Time, common, worst)
}

// isDateOf reports whether a moment is a date without a time of day, and known is a
// time of that date.
func isDateOf(at networks.Moment, known time.Time) bool {
	offset := 0
	if at.Offset != nil {
		offset = *at.Offset
	}
	begins := at.Time.In(time.FixedZone("", offset))
	hour, minute, second := begins.Clock()
	return hour+minute+second == 0 && civil.DateOf(begins) == civil.DateOf(known.In(begins.Location()))
}
