package reread_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"hale/internal/app/apptest"
	"hale/internal/platform/store/storetest"
)

// scenario is a running service with one user.
type scenario struct {
	*apptest.Service
	t    *testing.T
	user string
}

func begin(s *apptest.Service, t *testing.T, name string) *scenario {
	t.Helper()
	s = s.For(t)
	return &scenario{Service: s, t: t, user: s.NewUser(name)}
}

// clarity returns a Dexcom Clarity export of glucose values every five minutes from
// 10:00, without a zone.
func clarity(values ...string) string {
	lines := []string{`"Index","Timestamp (YYYY-MM-DDThh:mm:ss)","Event Type","Event Subtype","Patient Info","Device Info","Source Device ID","Glucose Value (mmol/L)","Insulin Value (u)","Carb Value (grams)","Duration (hh:mm:ss)","Glucose Rate of Change (mmol/L/min)","Transmitter Time (Long Integer)","Transmitter ID"`}
	at := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	for i, v := range values {
		lines = append(lines, fmt.Sprintf(`"%d","%s","EGV","","","","iPhone G6","%s","","","","","%d","80AB12"`, i+1, at.Format("2006-01-02T15:04:05"), v, 1000+i))
		at = at.Add(5 * time.Minute)
	}
	return strings.Join(lines, "\r\n") + "\r\n"
}

// whoop is an export of two nights without a zone.
const whoop = "Sleep onset,Wake onset,Nap,Asleep duration (min)\r\n" +
	"2026-03-01 23:30:00,2026-03-02 07:00:00,false,420\r\n" +
	"2026-03-03 00:30:00,2026-03-03 06:30:00,false,340\r\n"

// upload imports a file and returns the id of the import.
func (s *scenario) upload(file string) string {
	s.t.Helper()
	var i struct{ ID, Status, Error string }
	s.Expect(202, "POST", "/v2/user/"+s.user+"/imports", file, &i)
	s.await("the import", func() string {
		s.Get("/v2/user/"+s.user+"/imports/"+i.ID, &i)
		return i.Status
	}, "succeeded")
	return i.ID
}

func (s *scenario) zone(name string) {
	s.t.Helper()
	body := `{"fallback_time_zone":null}`
	if name != "" {
		body = fmt.Sprintf(`{"fallback_time_zone":%q}`, name)
	}
	s.Expect(200, "PATCH", "/v2/user/"+s.user, body, nil)
}

// glucose returns the values, each with its UTC time and its offset.
func (s *scenario) glucose() string {
	s.t.Helper()
	var page struct {
		Groups map[string][]struct {
			Data []struct {
				Timestamp string
				Offset    *int `json:"timezone_offset"`
				Value     float64
			}
		}
	}
	s.Get("/v2/timeseries/"+s.user+"/glucose/grouped?start_date=2026-02-01&end_date=2026-04-01", &page)
	var all []string
	for _, groups := range page.Groups {
		for _, g := range groups {
			for _, one := range g.Data {
				offset := "-"
				if one.Offset != nil {
					offset = fmt.Sprint(*one.Offset)
				}
				all = append(all, fmt.Sprintf("%s/%s=%v", one.Timestamp[11:16], offset, one.Value))
			}
		}
	}
	return strings.Join(all, " ")
}

// nights returns the bedtimes and days of all nights.
func (s *scenario) nights() string {
	s.t.Helper()
	var page struct {
		Sleep []struct {
			Start string `json:"bedtime_start"`
			Day   string `json:"calendar_date"`
			Total int
		}
	}
	s.Get("/v2/summary/sleep/"+s.user+"?start_date=2026-02-01&end_date=2026-04-01", &page)
	var all []string
	for _, one := range page.Sleep {
		all = append(all, fmt.Sprintf("%s/%s=%d", one.Start[8:16], one.Day[8:], one.Total))
	}
	return strings.Join(all, " ")
}

func (s *scenario) await(what string, read func() string, want string) {
	s.t.Helper()
	got := ""
	for range 1500 {
		if got = read(); got == want {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	s.t.Fatalf("%s: %s, want %s", what, got, want)
}

// settle waits until no job waits or runs.
func (s *scenario) settle() {
	s.t.Helper()
	s.await("the jobs", func() string {
		var page struct {
			Jobs []struct{ Kind, Status string }
		}
		s.Get("/v2/jobs?limit=100", &page)
		n := 0
		for _, j := range page.Jobs {
			if j.Kind == "imports.reread" && (j.Status == "queued" || j.Status == "running") {
				n++
			}
		}
		return fmt.Sprint(n)
	}, "0")
}

// renormalise reprocesses all stored payloads.
func (s *scenario) renormalise() {
	s.t.Helper()
	var run struct{ ID, Status string }
	s.Expect(202, "POST", "/v2/team/renormalise", fmt.Sprintf(`{"user_id":%q,"every":true}`, s.user), &run)
	s.await("the run", func() string {
		s.Get("/v2/team/renormalise/"+run.ID, &run)
		return run.Status
	}, "succeeded")
	s.settle()
}

// count counts the events of a type.
func (s *scenario) count(kind string) (n int) {
	s.t.Helper()
	var page struct {
		Events []struct {
			Event struct {
				Type string          `json:"event_type"`
				User string          `json:"user_id"`
				Data json.RawMessage `json:"data"`
			}
		}
	}
	s.Get("/v2/events?after=0&limit=1000", &page)
	for _, e := range page.Events {
		if e.Event.Type == kind && e.Event.User == s.user {
			n++
		}
	}
	return n
}

func TestScenarios(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		s := apptest.Start(t, d)
		for name, tell := range map[string]func(s *scenario){
			"a zone set late": zoneSetLate, "deleted values": deletedValues, "two imports": twoImports, "nights": nights, "renormalise": renormalise,
		} {
			t.Run(name, func(t *testing.T) {
				t.Cleanup(func() {
					if t.Failed() {
						t.Log(s.Log.String())
					}
				})
				tell(begin(s, t, name))
			})
		}
	})
}

// Values from a file without a zone move when the user's zone is set, changed or removed.
// A repeated import of the file adds no second copy.
func zoneSetLate(s *scenario) {
	id := s.upload(clarity("5.1", "5.2", "5.3"))
	floating := "10:00/-=5.1 10:05/-=5.2 10:10/-=5.3"
	s.await("imported", s.glucose, floating)
	s.zone("Europe/Berlin")
	berlin := "09:00/3600=5.1 09:05/3600=5.2 09:10/3600=5.3"
	s.await("read in Berlin", s.glucose, berlin)
	s.await("the event of deleted values", func() string { return fmt.Sprint(s.count("daily.data.glucose.deleted")) }, "1")
	s.await("the events of new values", func() string { return fmt.Sprint(s.count("daily.data.glucose.created")) }, "2")
	s.upload(clarity("5.1", "5.2", "5.3"))
	s.await("imported again", s.glucose, berlin)

	s.zone("Europe/Paris") // has the same clock
	s.settle()
	if n := s.count("daily.data.glucose.deleted"); n != 1 || s.glucose() != berlin {
		s.t.Errorf("read in Paris: %d events, %s", n, s.glucose())
	}
	s.zone("")
	s.await("without a zone", s.glucose, floating)
	s.zone("Asia/Tokyo")
	s.await("read in Tokyo", s.glucose, "01:00/32400=5.1 01:05/32400=5.2 01:10/32400=5.3")
	s.settle() // the second import is read again too

	s.Expect(200, "DELETE", "/v2/user/"+s.user+"/imports/"+id+"/data", "", nil)
	s.await("undone", s.glucose, "")
}

// A value that was deleted before the zone was set stays deleted.
func deletedValues(s *scenario) {
	s.upload(clarity("5.1", "5.2", "5.3"))
	s.Expect(200, "DELETE", "/v2/user/"+s.user+"/data?resource=glucose&start=2026-03-01T10:05:00Z&end=2026-03-01T10:05:30Z", "", nil)
	s.await("deleted", s.glucose, "10:00/-=5.1 10:10/-=5.3")
	s.zone("America/New_York")
	left := "15:00/-18000=5.1 15:10/-18000=5.3"
	s.await("read in New York", s.glucose, left)
	s.settle()
	s.renormalise()
	s.await("reprocessed", s.glucose, left)
	s.upload(clarity("5.1", "5.2", "5.3"))
	s.await("imported again", s.glucose, left)
	s.upload(clarity("5.1", "5.9", "5.3")) // a newer version
	s.await("corrected", s.glucose, "15:00/-18000=5.1 15:05/-18000=5.9 15:10/-18000=5.3")
}

// A later import replaced values of an earlier one. This stays so after the zone changes.
func twoImports(s *scenario) {
	s.upload(clarity("5.1", "5.2"))
	second := s.upload(clarity("5.1", "6.2", "6.3"))
	s.await("imported", s.glucose, "10:00/-=5.1 10:05/-=6.2 10:10/-=6.3")
	s.zone("Europe/Berlin")
	s.await("read in Berlin", s.glucose, "09:00/3600=5.1 09:05/3600=6.2 09:10/3600=6.3")
	s.settle()
	s.Expect(200, "DELETE", "/v2/user/"+s.user+"/imports/"+second+"/data", "", nil)
	s.await("the second undone", s.glucose, "09:00/3600=5.1 09:05/3600=5.2")
}

// A night moves with its zone, once. A deleted night stays deleted.
func nights(s *scenario) {
	s.upload(whoop)
	s.await("imported", s.nights, "01T23:30/02=25200 03T00:30/03=20400")
	s.zone("America/New_York")
	s.await("read in New York", s.nights, "02T04:30/02=25200 03T05:30/03=20400")
	s.upload(whoop)
	s.await("imported again", s.nights, "02T04:30/02=25200 03T05:30/03=20400")
	s.Expect(200, "DELETE", "/v2/user/"+s.user+"/data?resource=sleep&start=2026-03-03", "", nil)
	s.await("deleted", s.nights, "02T04:30/02=25200")
	s.zone("Asia/Tokyo")
	s.await("read in Tokyo", s.nights, "01T14:30/02=25200")
	s.upload(whoop)
	s.await("imported again", s.nights, "01T14:30/02=25200")
}

// Reprocessing stored files does not bring back the reading of an older zone.
func renormalise(s *scenario) {
	s.upload(clarity("5.1", "5.2"))
	s.zone("Europe/Berlin")
	berlin := "09:00/3600=5.1 09:05/3600=5.2"
	s.await("read in Berlin", s.glucose, berlin)
	s.settle()
	s.renormalise()
	if got := s.glucose(); got != berlin {
		s.t.Errorf("reprocessed: %s", got)
	}
}
