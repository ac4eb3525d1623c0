package orders

import (
	"context"
	"time"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/networks"
	"hale/internal/platform/civil"
	"hale/internal/platform/store"
)

// Turnaround is how many days the order's lab test takes, commonly and at worst;
// nil when its panel has no such time.
func Turnaround(ctx context.Context, tx *store.Tx, o *Order) (common, worst *int, err error) {
	offered, err := catalogue.For(ctx, tx, o.Team)
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

// Collected notes when the sample was taken, and with the turnaround times of
// the order's panel when results can be expected.
//
// Reference 1.14: collection plus the times, null when a panel has none.
func (o *Order) Collected(at time.Time, common, worst *int) {
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

// Drawn is Collected by somebody's word that the sample was drawn: the end of a
// visit, the moment of a call, the time of a message. It gives way to what is
// known already.
func (o *Order) Drawn(at time.Time, common, worst *int) {
	if o.CollectedAt == nil {
		o.Collected(at, common, worst)
	}
}

// ahead is how far a time of collection may lie behind the report that has it:
// where neither names a zone, the two may be a day apart.
const ahead = 24 * time.Hour

// Stated is Collected by the time that is written on the sample. It stands in
// place of whatever is known, unless it is a mere date and the known time is of
// that day. One that lies behind its report is a slip and changes nothing; a
// zero reported compares with nothing.
func (o *Order) Stated(at networks.Moment, reported time.Time, common, worst *int) {
	slip := !reported.IsZero() && at.Time.After(reported.Add(ahead))
	if at.Time.IsZero() || slip || o.CollectedAt != nil && dated(at, *o.CollectedAt) {
		return
	}
	o.Collected(at.Time, common, worst)
}

// dated reports whether a moment is a date without a time of day, and known is
// a time of that date.
func dated(at networks.Moment, known time.Time) bool {
	offset := 0
	if at.Offset != nil {
		offset = *at.Offset
	}
	begins := at.Time.In(time.FixedZone("", offset))
	hour, minute, second := begins.Clock()
	return hour+minute+second == 0 && civil.DateOf(begins) == civil.DateOf(known.In(begins.Location()))
}
