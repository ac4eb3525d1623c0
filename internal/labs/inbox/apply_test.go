package inbox_test

import (
	"testing"
	"time"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/networks"
	"hale/internal/labs/orders"
	"hale/internal/labs/orders/orderstest"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
)

// A sample may be drawn without a visit that was booked here. The network's
// time of collection is stored at once, and sets the dates when results are
// due.
func TestCollectionTimeWithoutVisit(t *testing.T) {
	noon := time.Now().UTC().Truncate(24 * time.Hour).Add(-36 * time.Hour) // midnight counts as a date without a time
	at := func(hours int) networks.Moment {
		return networks.Moment{Time: noon.Add(time.Duration(hours) * time.Hour)}
	}
	reported := noon.Add(24 * time.Hour)
	drawn, rejected := string(orders.DrawCompleted), string(orders.SampleError)
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newFixture(t, db)
		r.in.Handlers.Results = resultsHandler{}
		r.work()
		for name, c := range map[string]struct {
			method  orders.Method
			reports []networks.Report
			want    time.Time // zero for none
		}{
			"the time alone":         {catalogue.WalkIn, []networks.Report{{Collected: at(1), At: reported}}, at(1).Time},
			"a kit that arrived":     {catalogue.TestKit, []networks.Report{{Status: string(orders.DeliveredToLab), Collected: at(1), At: reported}}, at(1).Time},
			"a kit without a time":   {catalogue.TestKit, []networks.Report{{Status: string(orders.DeliveredToLab), At: reported}}, time.Time{}},
			"a step that none takes": {catalogue.WalkIn, []networks.Report{{Status: string(orders.DeliveredToLab), Collected: at(1), At: reported}}, at(1).Time},
			"a rejected sample":      {catalogue.OnSite, []networks.Report{{Status: rejected, Collected: at(1), At: reported}}, at(1).Time},
			"a draw":                 {catalogue.AtHome, []networks.Report{{Status: drawn, At: at(2).Time}}, at(2).Time},
			"a draw with its visit":  {catalogue.AtHome, []networks.Report{{Status: drawn, At: at(2).Time, Visit: &networks.Visit{Status: "completed", End: at(1).Time}}}, at(1).Time},
			"a draw with its time":   {catalogue.AtHome, []networks.Report{{Status: drawn, At: at(2).Time, Collected: at(1)}}, at(1).Time},
			"a draw, then the time":  {catalogue.AtHome, []networks.Report{{Status: drawn, At: at(2).Time}, {Collected: at(1), At: reported}}, at(1).Time},
			"the time, then a draw":  {catalogue.AtHome, []networks.Report{{Collected: at(1), At: reported}, {Status: drawn, At: at(2).Time}}, at(1).Time},
			"a draw that none takes": {catalogue.OnSite, []networks.Report{{Status: drawn, At: at(2).Time}}, time.Time{}},
			"an order that is over":  {catalogue.WalkIn, []networks.Report{{Status: string(orders.Cancelled)}, {Collected: at(1), At: reported}}, time.Time{}},
			"a slip":                 {catalogue.WalkIn, []networks.Report{{Collected: at(24 * 365), At: reported}}, time.Time{}},
		} {
			o := r.order(c.method)
			for _, report := range c.reports {
				report.Placer = o.ID.String()
				r.receive(report)
			}
			now, _ := r.get(o)
			switch {
			case c.want.IsZero():
				if now.CollectedAt != nil || now.ExpectedBy != nil {
					t.Errorf("%s: collected at %v", name, now.CollectedAt)
				}
			case now.CollectedAt == nil || !now.CollectedAt.Equal(c.want) || now.ExpectedBy == nil || now.WorstBy == nil:
				t.Errorf("%s: collected at %v, want %v; results by %v", name, now.CollectedAt, c.want, now.ExpectedBy)
			}
		}
		kit := orderstest.Kit(t, db, r.team)
		r.receive(networks.Report{Placer: kit.ID.String(), Collected: at(1), At: reported})
		if now, _ := r.get(kit); now.CollectedAt != nil {
			t.Errorf("an unregistered kit was collected at %v", now.CollectedAt)
		}
	})
}
