package app_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"hale/internal/labs/networks/networktest"
	"hale/internal/platform/civil"
	"hale/internal/platform/store/storetest"
	"hale/internal/platform/teams"
)

// clockView is the answer of an advance.
type clockView struct {
	Now     time.Time
	Ahead   int64 `json:"ahead_seconds"`
	Waiting int
	Moved   []struct {
		OrderID   string `json:"order_id"`
		Status    string
		CreatedAt time.Time `json:"created_at"`
	}
}

// timesView has the times of an order and of its results.
type timesView struct {
	CreatedAt time.Time `json:"created_at"`
	Events    []struct {
		Status    string
		CreatedAt time.Time `json:"created_at"`
	}
}

// Every time of an order follows the lab's clock: the order, its history, its
// specimen and its results. An advance answers when all of it can be read.
func TestTimesOfAnOrderFollowTheLabClock(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		c := newClinic(t, d, &networktest.Lab{Name: "elsewhere"})
		var lab clockView
		c.Expect(200, "POST", "/v3/sandbox/advance", `{"seconds":8640000}`, &lab) // 100 days
		start := lab.Now
		if lab.Ahead != 8640000 || time.Until(start) < 99*24*time.Hour {
			t.Fatalf("the clock: %+v", lab)
		}
		o := c.order("walk_in_test")
		kit := c.order("testkit")
		c.Expect(200, "POST", "/v3/sandbox/advance", `{"seconds":2592000}`, &lab) // 30 days
		if lab.Waiting != 0 || len(lab.Moved) < 10 {
			t.Fatalf("moved: %+v", lab)
		}
		for i, m := range lab.Moved {
			if m.CreatedAt.Before(start) || m.CreatedAt.After(lab.Now) || i > 0 && m.CreatedAt.Before(lab.Moved[i-1].CreatedAt) {
				t.Errorf("%s of %s at %s, within %s to %s", m.Status, m.OrderID, m.CreatedAt, start, lab.Now)
			}
		}
		for _, id := range []string{o.ID, kit.ID} {
			var times timesView
			c.Get("/v3/order/"+id, &times)
			if times.CreatedAt.Before(start) || times.CreatedAt.After(start.Add(time.Hour)) {
				t.Errorf("created at %s, when the clock was %s", times.CreatedAt, start)
			}
			last := times.CreatedAt
			for _, e := range times.Events {
				if e.CreatedAt.Before(last) {
					t.Errorf("%s at %s, after %s", e.Status, e.CreatedAt, last)
				}
				last = e.CreatedAt
			}
			if n := len(times.Events); times.Events[n-1].CreatedAt.Sub(times.Events[n-2].CreatedAt) < time.Hour {
				t.Errorf("the last events are at the same time: %+v", times.Events)
			}
			_, metadata := c.results(id)
			collected, received, reported := metadataTime(t, metadata, "date_collected"), metadataTime(t, metadata, "date_received"), metadataTime(t, metadata, "date_reported")
			if !collected.After(times.CreatedAt) || !received.After(collected) || !reported.After(received) || reported.After(lab.Now) {
				t.Errorf("ordered %s, collected %s, received %s, reported %s", times.CreatedAt, collected, received, reported)
			}
		}
	})
}

// An advance lists the events of the redraw that it creates.
func TestAdvanceListsTheRedraw(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		c := newClinic(t, d, &networktest.Lab{Name: "elsewhere"})
		c.changeSettings(func(s *teams.Settings) { s.Redraws = true })
		c.order("walk_in_test") // moves too
		o := c.order("walk_in_test")
		c.script(o.ID, "missing_result")
		var lab clockView
		moved := map[string]int{}
		for range 2 {
			c.Expect(200, "POST", "/v3/sandbox/advance", `{"seconds":2592000}`, &lab) // 30 days
			for _, m := range lab.Moved {
				moved[m.OrderID]++
			}
		}
		if len(moved) != 3 {
			t.Errorf("%d orders moved: %v", len(moved), moved)
		}
	})
}

// The visit of an order that starts later lapses with the clock, before the advance answers.
func TestAdvanceLetsAppointmentsLapse(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		c := newClinic(t, d, &networktest.Lab{Name: "elsewhere"})
		c.Expect(200, "PATCH", "/v2/team/appointment_settings", `{"booking_before_requisition_enabled":true}`, nil)
		later := fmt.Sprintf(`{"activate_by":%q,`, time.Now().AddDate(0, 0, 40).Format(time.DateOnly))
		var made struct{ Order orderView }
		c.Expect(200, "POST", "/v3/order", strings.Replace(c.body("at_home_phlebotomy"), "{", later, 1), &made)
		path := "/v3/order/" + made.Order.ID + "/phlebotomy/appointment"
		c.Expect(200, "POST", path+"/book", `{"booking_key":"`+c.freeVisits().key(9)+`"}`, nil)
		for _, step := range []struct {
			seconds int
			want    string
		}{{60, "reserved"}, {20 * 86400, "cancelled"}} {
			c.Expect(200, "POST", "/v3/sandbox/advance", fmt.Sprintf(`{"seconds":%d}`, step.seconds), nil)
			var v visit
			c.Get(path, &v)
			if v.Status != step.want {
				t.Errorf("after %d seconds the visit is %s, want %s", step.seconds, v.Status, step.want)
			}
		}
	})
}

func metadataTime(t *testing.T, metadata map[string]any, name string) time.Time {
	t.Helper()
	text, _ := metadata[name].(string)
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		t.Fatalf("%s: %v", name, metadata[name])
	}
	return at
}

// checkCentersFollowTheClock requires free times at service centers on or after the
// lab's day, none in the past, and at most two weeks ahead.
func checkCentersFollowTheClock(t *testing.T, c *clinic, now time.Time) {
	t.Helper()
	zone, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	today := now.In(zone).Format(time.DateOnly)
	var free struct {
		Slots []struct {
			Date  string
			Slots []struct{ Start time.Time }
		}
	}
	c.Expect(200, "POST", "/v3/order/psc/appointment/availability?lab=quest&zip_code=85004&radius=50", "", &free)
	last := ""
	for _, day := range free.Slots {
		last = max(last, day.Date)
		for _, slot := range day.Slots {
			if day.Date < today || slot.Start.Before(now) {
				t.Errorf("a center has a time at %s on %s, and the clock is %s", slot.Start, day.Date, now)
			}
		}
	}
	if end := now.In(zone).AddDate(0, 0, 15).Format(time.DateOnly); last < today || last > end {
		t.Errorf("the last day of centers is %q, and the clock %s", last, now)
	}
}

// After an advance, free times start on the lab's day, at open sites.
func TestSlotsFollowTheClock(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		c := newClinic(t, d, &networktest.Lab{Name: "elsewhere"})
		address := `{"first_line":"West Lincoln Street","city":"Phoenix","state":"AZ","zip_code":"85004"}`
		var lab clockView
		for _, days := range []int64{0, 10} {
			c.Expect(200, "POST", "/v3/sandbox/advance", fmt.Sprintf(`{"seconds":%d}`, days*86400), &lab)
			asked := time.Now()
			var free struct {
				Slots []struct {
					Date  string
					Slots []struct{ Start time.Time }
				}
			}
			c.Expect(200, "POST", "/v3/order/phlebotomy/appointment/availability", address, &free)
			zone, err := time.LoadLocation("America/Phoenix")
			if err != nil {
				t.Fatal(err)
			}
			later := time.Now().Add(lab.Now.Sub(asked)).In(zone).Format(time.DateOnly) // midnight may have passed
			if got := free.Slots[0].Date; got != lab.Now.In(zone).Format(time.DateOnly) && got != later {
				t.Errorf("the first day is %s, and the clock %s", got, lab.Now)
			}
			for _, day := range free.Slots {
				for _, slot := range day.Slots {
					if slot.Start.Before(lab.Now) {
						t.Errorf("a time at %s, and the clock is %s", slot.Start, lab.Now)
					}
				}
			}
			checkCentersFollowTheClock(t, c, lab.Now)
			answer := c.Do("GET", "/v3/order/"+c.order("walk_in_test").ID, "")
			_ = answer.Body.Close()
			if at, err := time.Parse(time.RFC3339, answer.Header.Get("Sandbox-Time")); answer.StatusCode != 200 || err != nil || at.Sub(lab.Now).Abs() > time.Minute ||
				answer.Header.Get("Sandbox-Time") != civil.Instant(at).String() {
				t.Errorf("the answer names %q, and the clock is %s", answer.Header.Get("Sandbox-Time"), lab.Now)
			}
		}
	})
}
