package orders_test

import (
	"testing"
	"time"

	"hale/internal/labs/networks"
	"hale/internal/labs/orders"
)

func TestResultsAreExpectedByADay(t *testing.T) {
	common, worst := 3, 10
	var o orders.Order
	o.SetCollected(time.Date(2026, 2, 27, 23, 30, 0, 0, time.UTC), &common, &worst)
	if o.ExpectedBy == nil || o.ExpectedBy.String() != "2026-03-02" || o.WorstBy == nil || o.WorstBy.String() != "2026-03-09" {
		t.Errorf("expected by %v, at worst %v", o.ExpectedBy, o.WorstBy)
	}
	o = orders.Order{}
	if o.SetCollected(time.Now(), nil, nil); o.ExpectedBy != nil || o.WorstBy != nil {
		t.Error("a panel without times has a day")
	}
}

// The time on the sample takes precedence over an indirect report of the draw,
// in any order.
func TestTimeOfCollection(t *testing.T) {
	at := func(day, hour, minute int) time.Time { return time.Date(2026, 3, day, hour, minute, 0, 0, time.UTC) }
	newYork := -5 * 3600
	type word func(o *orders.Order)
	drawn := func(at time.Time) word { return func(o *orders.Order) { o.SetDrawn(at, nil, nil) } }
	stated := func(at, reported time.Time) word {
		return func(o *orders.Order) { o.SetStatedCollection(networks.Moment{Time: at}, reported, nil, nil) }
	}
	dated := func(day int) word { // a date without time, in New York
		return func(o *orders.Order) {
			o.SetStatedCollection(networks.Moment{Time: at(day, 5, 0), Offset: &newYork}, time.Time{}, nil, nil)
		}
	}
	for name, c := range map[string]struct {
		words []word
		want  time.Time
	}{
		"a draw":                                {[]word{drawn(at(2, 9, 0))}, at(2, 9, 0)},
		"two words of a draw":                   {[]word{drawn(at(2, 9, 0)), drawn(at(2, 11, 0))}, at(2, 9, 0)},
		"the sample after the draw":             {[]word{drawn(at(2, 9, 0)), stated(at(2, 8, 40), at(4, 0, 0))}, at(2, 8, 40)},
		"the draw after the sample":             {[]word{stated(at(2, 8, 40), at(4, 0, 0)), drawn(at(2, 9, 0))}, at(2, 8, 40)},
		"a corrected time":                      {[]word{stated(at(2, 8, 40), at(4, 0, 0)), stated(at(1, 8, 40), at(5, 0, 0))}, at(1, 8, 40)},
		"no time":                               {[]word{drawn(at(2, 9, 0)), stated(time.Time{}, at(4, 0, 0))}, at(2, 9, 0)},
		"a time behind its report":              {[]word{drawn(at(2, 9, 0)), stated(at(12, 8, 40), at(4, 0, 0))}, at(2, 9, 0)},
		"a time of an unknown zone":             {[]word{stated(at(4, 13, 0), at(4, 0, 0))}, at(4, 13, 0)},
		"a report without a time":               {[]word{stated(at(12, 8, 40), time.Time{})}, at(12, 8, 40)},
		"a date":                                {[]word{dated(2)}, at(2, 5, 0)},
		"a date, of the day that is known":      {[]word{drawn(at(3, 4, 30)), dated(2)}, at(3, 4, 30)},
		"a date, of another day":                {[]word{drawn(at(3, 5, 30)), dated(2)}, at(2, 5, 0)},
		"a time, of the day of which a date is": {[]word{dated(2), stated(at(2, 14, 0), time.Time{})}, at(2, 14, 0)},
	} {
		var o orders.Order
		for _, say := range c.words {
			say(&o)
		}
		if o.CollectedAt == nil || !o.CollectedAt.Equal(c.want) {
			t.Errorf("%s: %v", name, o.CollectedAt)
		}
	}
}
