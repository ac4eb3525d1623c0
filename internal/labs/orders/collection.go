package orders

import (
	"context"
	"slices"
	"time"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/networks"
	"hale/internal/labs/places"
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

// HomeZone returns the time zone of the patient's address or, without one, of the
// address that a kit is sent to. It returns nil if neither is known.
func (o *Order) HomeZone() *time.Location {
	for _, address := range []*Address{o.Body.Address, o.Body.Shipping} {
		if address == nil {
			continue
		}
		place, _ := places.Zip(address.Zip)
		if zone, err := civil.Zone(place.TimeZone); place.TimeZone != "" && err == nil {
			return zone
		}
	}
	return nil
}

// observationLead is by how much a value may be older than its order. It covers times
// without an offset, dates, and tests that are added to a sample.
const observationLead = 3 * 24 * time.Hour

// FirstObservation returns the time before which no value of an order was observed. It is
// zero if it is not known: the lab had imported and recreated orders before.
func FirstObservation(ctx context.Context, tx *store.Tx, o *Order) (time.Time, error) {
	if o.Origin == Recreation {
		return time.Time{}, nil
	}
	all, err := Histories(ctx, tx, o.Team, []ID{o.ID})
	if err != nil {
		return time.Time{}, err
	}
	if slices.ContainsFunc(all[o.ID], func(e Event) bool { return e.Status == RequisitionBypassed }) {
		return time.Time{}, nil
	}
	at := o.CreatedAt
	if now := tx.Now(); now.Before(at) { // the team's clock is ahead
		at = now
	}
	return at.Add(-observationLead), nil
}
