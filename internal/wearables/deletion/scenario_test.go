package deletion_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
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

func newScenario(s *apptest.Service, t *testing.T, name string) *scenario {
	t.Helper()
	s = s.For(t)
	return &scenario{Service: s, t: t, user: s.NewUser(name)}
}

// push sends samples of one app, as value at a minute of the first of March.
func (s *scenario) push(resource string, values ...int) {
	s.t.Helper()
	var samples []string
	for i, v := range values {
		at := time.Date(2026, 3, 1, 10, i, 0, 0, time.UTC)
		samples = append(samples, fmt.Sprintf(`{"timestamp":%q,"end":%q,"value":%d,"source_app_id":"com.example"}`, at.Format(time.RFC3339), at.Add(time.Minute).Format(time.RFC3339), v))
	}
	s.Expect(200, "POST", "/v2/timeseries/"+s.user+"/"+resource, `{"stage":"daily","provider":"health_connect","data":[`+strings.Join(samples, ",")+`]}`, nil)
}

func (s *scenario) night(body string) {
	s.t.Helper()
	s.Expect(200, "POST", "/v2/summary/sleep/"+s.user, `{"stage":"daily","provider":"health_connect","data":[`+body+`]}`, nil)
}

// values reads the values of a resource.
func (s *scenario) values(resource string) string {
	s.t.Helper()
	var page struct {
		Groups map[string][]struct{ Data []struct{ Value float64 } }
	}
	s.Get("/v2/timeseries/"+s.user+"/"+resource+"/grouped?start_date=2026-01-01&end_date=2026-12-31", &page)
	var all []string
	for _, groups := range page.Groups {
		for _, g := range groups {
			for _, one := range g.Data {
				all = append(all, fmt.Sprint(one.Value))
			}
		}
	}
	return strings.Join(all, " ")
}

// wireDeletion is a deletion on the wire.
type wireDeletion struct {
	ID        *string
	Status    string
	Deleted   int
	Resources map[string]struct{ Deleted, Restored, Moved, Replaced int }
}

func (s *scenario) delete(query string) (d wireDeletion) {
	s.t.Helper()
	s.Expect(200, "DELETE", "/v2/user/"+s.user+"/data?"+query, "", &d)
	return d
}

// events returns the payloads of the events of a type.
func (s *scenario) events(kind string) (all []json.RawMessage) {
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
			all = append(all, e.Event.Data)
		}
	}
	return all
}

// sent returns the number of events about a resource of an export that introspection
// counts, and the number of those events.
func (s *scenario) sent(resource string) (counted, n int) {
	s.t.Helper()
	var page struct {
		Data []struct {
			Provider map[string]map[string]struct {
				SentCount int `json:"sent_count"`
			}
		}
	}
	s.Get("/v2/introspect/resources?user_id="+s.user, &page)
	for _, verb := range []string{"created", "updated", "deleted"} {
		n += len(s.events("daily.data." + resource + "." + verb))
	}
	for _, one := range page.Data {
		counted += one.Provider["apple_health_kit"][resource].SentCount
	}
	return counted, n
}

// await repeats a check until it holds.
func (s *scenario) await(what string, holds func() bool) {
	s.t.Helper()
	for range 4500 {
		if holds() {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	s.t.Fatalf("%s did not happen", what)
}

func TestScenarios(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		s := apptest.Start(t, d)
		for name, tell := range map[string]func(s *scenario){
			"samples": samplesStory, "summaries": summariesStory, "import": importStory, "filters": filtersStory, "activity": activityStory, "large": largeStory,
			"import and shift": importShiftStory, "shifts": shiftsStory, "shift onto samples": replacedStory,
			"beside pushes": besidePushesStory,
		} {
			t.Run(name, func(t *testing.T) {
				t.Cleanup(func() {
					if t.Failed() {
						t.Log(s.Log.String())
					}
				})
				tell(newScenario(s, t, name))
			})
		}
	})
}

// Data is deleted while phones write it.
func besidePushesStory(s *scenario) {
	ended := make(chan struct{})
	var phones sync.WaitGroup
	for phone := range 2 {
		phones.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-ended:
					return
				default:
				}
				s.Call("POST", "/v2/timeseries/"+s.user+"/steps", fmt.Sprintf(`{"stage":"daily","provider":"health_connect","data":[
					{"timestamp":"2026-03-01T10:00:00Z","end":"2026-03-01T10:01:00Z","value":%d,"source_app_id":"com.example.%d"}]}`, n, phone))
			}
		})
	}
	for range 30 {
		if status, body := s.Call("DELETE", "/v2/user/"+s.user+"/data?resource=steps", ""); status != 200 {
			s.t.Errorf("%d %s", status, body)
		}
	}
	close(ended)
	phones.Wait()
	s.delete("resource=steps")
	if got := s.values("steps"); got != "" {
		s.t.Errorf("left %s", got)
	}
}

// Deleted samples stay deleted when they are pushed again. A corrected value is stored.
func samplesStory(s *scenario) {
	s.push("steps", 10, 20, 30)
	if d := s.delete("resource=steps&start=2026-03-01T10:01:00Z&end=2026-03-01T10:01:30Z&dry_run=true"); d.Deleted != 1 || d.ID != nil || s.values("steps") != "10 20 30" {
		s.t.Fatalf("dry run: %+v, %s", d, s.values("steps"))
	}
	if d := s.delete("resource=steps&start=2026-03-01T10:01:00Z&end=2026-03-01T10:01:30Z"); d.Deleted != 1 || d.Status != "succeeded" || d.Resources["steps"].Deleted != 1 {
		s.t.Fatalf("%+v", d)
	}
	if got := s.values("steps"); got != "10 30" {
		s.t.Fatalf("left %s", got)
	}
	s.push("steps", 10, 20, 30)
	if got := s.values("steps"); got != "10 30" {
		s.t.Fatalf("after the same push %s", got)
	}
	s.push("steps", 10, 25, 30)
	if got := s.values("steps"); got != "10 25 30" {
		s.t.Fatalf("after a correction %s", got)
	}
	s.delete("provider=health_connect")
	if got := s.values("steps"); got != "" {
		s.t.Fatalf("left %s", got)
	}
	s.push("steps", 10, 20, 30)
	s.push("steps", 10, 25, 30)
	if got := s.values("steps"); got != "" {
		s.t.Fatalf("both deleted values came back: %s", got)
	}
	s.await("the events", func() bool { return len(s.events("daily.data.steps.deleted")) == 2 })
	var first struct {
		Deleted int
		Start   string `json:"start_date"`
		Source  struct{ Provider string }
	}
	if err := json.Unmarshal(s.events("daily.data.steps.deleted")[0], &first); err != nil || first.Deleted != 1 || first.Start != "2026-03-01T10:01:00+00:00" || first.Source.Provider != "health_connect" {
		s.t.Errorf("%+v %v", first, err)
	}
}

// A deleted night stays deleted; a corrected one is stored.
func summariesStory(s *scenario) {
	night := `{"bedtime_start":"2026-02-28T22:00:00Z","bedtime_stop":"2026-03-01T06:00:00Z","total":%d}`
	count := func() int {
		var page struct{ Sleep []struct{ Total int } }
		s.Get("/v2/summary/sleep/"+s.user+"?start_date=2026-01-01", &page)
		return len(page.Sleep)
	}
	s.night(fmt.Sprintf(night, 25000))
	if d := s.delete("resource=sleep&start=2026-03-01&end=2026-03-01"); d.Deleted != 1 || count() != 0 {
		s.t.Fatalf("%+v", d)
	}
	if s.night(fmt.Sprintf(night, 25000)); count() != 0 {
		s.t.Fatal("the deleted night came back")
	}
	if s.night(fmt.Sprintf(night, 26000)); count() != 1 {
		s.t.Fatal("the corrected night was not stored")
	}
	// Each of several ids counts.
	var page struct{ Sleep []struct{ ID string } }
	s.night(strings.ReplaceAll(fmt.Sprintf(night, 20000), "2026-0", "2025-0"))
	s.Get("/v2/summary/sleep/"+s.user+"?start_date=2025-01-01", &page)
	if len(page.Sleep) != 2 {
		s.t.Fatalf("%+v", page)
	}
	if d := s.delete("external_id=" + page.Sleep[0].ID + "&external_id=" + page.Sleep[1].ID); d.Deleted != 2 || count() != 0 {
		s.t.Fatalf("%+v", d)
	}
}

// A phone deletes an activity and a profile by their ids. The activity then follows from
// the samples again.
func activityStory(s *scenario) {
	s.push("steps", 100, 300)
	push := func(resource, body string) (counts struct{ Created, Updated, Unchanged, Deleted int }) {
		s.Expect(200, "POST", "/v2/summary/"+resource+"/"+s.user, `{"stage":"daily","provider":"health_connect",`+body+`}`, &counts)
		return counts
	}
	steps := func() string {
		var page struct{ Activity []struct{ Steps int } }
		s.Get("/v2/summary/activity/"+s.user+"?start_date=2026-01-01", &page)
		return fmt.Sprint(page.Activity)
	}
	push("activity", `"data":[{"calendar_date":"2026-03-01","steps":5000,"id":"x"},{"calendar_date":"2026-03-02","steps":6000,"id":"x"}]`)
	if steps() != "[{5000} {6000}]" {
		s.t.Fatalf("one id on two days: %s", steps())
	}
	if c := push("activity", `"deleted":[{"id":"x"}]`); c.Deleted != 2 {
		s.t.Fatalf("%+v", c)
	}
	s.await("the derived activity", func() bool { return steps() == "[{400}]" })
	push("activity", `"data":[{"calendar_date":"2026-03-01","steps":5001,"uuid":"y"}]`)
	if d := s.delete("external_id=y"); d.Deleted != 1 {
		s.t.Fatalf("%+v", d)
	}
	s.await("the derived activity", func() bool { return steps() == "[{400}]" })
	push("activity", `"data":[{"calendar_date":"2026-03-01","steps":5002}]`)
	s.delete("resource=activity")
	s.await("the derived activity", func() bool { return steps() == "[{400}]" })

	push("profile", `"data":[{"height":180,"external_id":"p"}]`)
	if c := push("profile", `"deleted":[{"id":"p"}]`); c.Deleted != 1 {
		s.t.Fatalf("a profile: %+v", c)
	}
}

// An import is undone: new values go, and changed ones are as before.
func importStory(s *scenario) {
	send := func(value int) string {
		var i struct{ ID, Status string }
		s.Expect(202, "POST", "/v2/user/"+s.user+"/imports", appleExport(value), &i)
		s.await("the import", func() bool {
			s.Get("/v2/user/"+s.user+"/imports/"+i.ID, &i)
			return i.Status == "succeeded"
		})
		return i.ID
	}
	activity := func() string {
		var page struct{ Activity []struct{ Steps int } }
		s.Get("/v2/summary/activity/"+s.user+"?start_date=2026-01-01", &page)
		return fmt.Sprint(page.Activity)
	}
	first := send(100)
	second := send(150)
	if s.values("steps") != "150 7" || activity() != "[{157}]" {
		s.t.Fatalf("imported %s %s", s.values("steps"), activity())
	}
	var d wireDeletion
	s.Expect(200, "DELETE", "/v2/user/"+s.user+"/imports/"+second+"/data", "", &d)
	if s.values("steps") != "100 7" || activity() != "[{107}]" || d.Resources["steps"].Restored != 1 {
		s.t.Fatalf("undone: %s %s %+v", s.values("steps"), activity(), d)
	}
	s.await("a count of all events of the activity", func() bool { // the feed has an event a moment after its commit
		counted, n := s.sent("activity")
		return n >= 3 && counted == n
	})
	// An undone import can be imported again.
	third := send(150)
	if s.values("steps") != "150 7" {
		s.t.Fatalf("imported again: %s", s.values("steps"))
	}
	s.Expect(200, "DELETE", "/v2/user/"+s.user+"/imports/"+third+"/data", "", &d)
	s.delete("import_id=" + first)
	if s.values("steps") != "" {
		s.t.Fatalf("undone: %s", s.values("steps"))
	}
	s.await("the deletion of the activity", func() bool { return activity() == "[]" })
	if send(100); s.values("steps") != "" {
		s.t.Fatalf("imported again: %s", s.values("steps"))
	}
}

func appleExport(value int) string {
	record := `<Record type="HKQuantityTypeIdentifierStepCount" sourceName="Phone" unit="count" creationDate="2026-03-01 10:10:00 +0000" startDate="2026-03-01 10:0%d:00 +0000" endDate="2026-03-01 10:0%d:30 +0000" value="%d"/>` + "\n"
	return `<?xml version="1.0" encoding="UTF-8"?><HealthData locale="en_US"><ExportDate value="2026-03-02 10:00:00 +0000"/>` + "\n" +
		fmt.Sprintf(record, 0, 0, value) + fmt.Sprintf(record, 5, 5, 7) + `</HealthData>`
}

// imported imports a file, and returns the id of the import.
func (s *scenario) imported(file string) string {
	s.t.Helper()
	var i struct{ ID, Status string }
	s.Expect(202, "POST", "/v2/user/"+s.user+"/imports", file, &i)
	s.await("the import", func() bool {
		s.Get("/v2/user/"+s.user+"/imports/"+i.ID, &i)
		return i.Status == "succeeded"
	})
	return i.ID
}

// shift moves the data of a day, and returns its id.
func (s *scenario) shift(provider, day string, seconds int) string {
	s.t.Helper()
	d := s.createShift(provider, day, seconds, false)
	if d.Status != "succeeded" || d.ID == nil {
		s.t.Fatalf("%+v", d)
	}
	return *d.ID
}

func (s *scenario) createShift(provider, day string, seconds int, dryRun bool) (d wireDeletion) {
	s.t.Helper()
	body := fmt.Sprintf(`{"provider":%q,"start":%q,"end":%q,"seconds":%d,"dry_run":%t}`, provider, day, day, seconds, dryRun)
	s.Expect(200, "POST", "/v2/user/"+s.user+"/data/shifts", body, &d)
	return d
}

func (s *scenario) unshift(id string) (d wireDeletion) {
	s.t.Helper()
	s.Expect(200, "DELETE", "/v2/user/"+s.user+"/data/shifts/"+id, "", &d)
	return d
}

// times reads the times and values of a resource.
func (s *scenario) times(resource string) string {
	s.t.Helper()
	var page struct {
		Groups map[string][]struct {
			Data []struct {
				Timestamp time.Time
				Value     float64
			}
		}
	}
	s.Get("/v2/timeseries/"+s.user+"/"+resource+"/grouped?start_date=2026-01-01&end_date=2026-12-31", &page)
	var all []string
	for _, groups := range page.Groups {
		for _, g := range groups {
			for _, one := range g.Data {
				all = append(all, fmt.Sprint(one.Timestamp.UTC().Format("02T15:04 "), one.Value))
			}
		}
	}
	return strings.Join(all, ", ")
}

// workouts reads the starts of workouts.
func (s *scenario) workouts() string {
	s.t.Helper()
	var page struct {
		Workouts []struct {
			Start string `json:"time_start"`
		}
	}
	s.Get("/v2/summary/workouts/"+s.user+"?start_date=2026-01-01", &page)
	return fmt.Sprint(page.Workouts)
}

// Data that was shifted goes with its import, also if the shift was reversed. Former values
// come back at the new time, and move back with the shift.
func importShiftStory(s *scenario) {
	undo := func(id string) (d wireDeletion) {
		s.Expect(200, "DELETE", "/v2/user/"+s.user+"/imports/"+id+"/data", "", &d)
		return d
	}
	id := s.imported(appleWorkout)
	if s.shift("apple_health_kit", "2026-03-01", -86400); s.times("heartrate") != "28T10:00 60, 28T10:05 70" || s.workouts() != "[{2026-02-28T10:00:00+00:00}]" {
		s.t.Fatalf("shifted: %s %s", s.times("heartrate"), s.workouts())
	}
	if counted, n := s.sent("workouts"); n < 1 || counted != n {
		s.t.Fatalf("counted %d of %d events", counted, n)
	}
	if d := undo(id); s.times("heartrate") != "" || s.workouts() != "[]" || d.Resources["heartrate"].Deleted != 2 || d.Resources["workouts"].Deleted != 1 {
		s.t.Fatalf("undone: %s %s %+v", s.times("heartrate"), s.workouts(), d)
	}

	s.user = s.NewUser("import and reversed shift")
	id = s.imported(appleWorkout)
	first := s.shift("apple_health_kit", "2026-03-01", -86400)
	second := s.shift("apple_health_kit", "2026-02-28", -86400)
	s.unshift(second)
	s.unshift(first)
	if s.times("heartrate") != "01T10:00 60, 01T10:05 70" || s.workouts() != "[{2026-03-01T10:00:00+00:00}]" {
		s.t.Fatalf("reversed: %s %s", s.times("heartrate"), s.workouts())
	}
	undo(id)
	if s.times("heartrate") != "" || s.workouts() != "[]" {
		s.t.Fatalf("undone: %s %s", s.times("heartrate"), s.workouts())
	}

	s.user = s.NewUser("import over values and shift")
	s.imported(appleExport(100))
	id = s.imported(appleExport(150))
	first = s.shift("apple_health_kit", "2026-03-01", 3600)
	if d := undo(id); s.times("steps") != "01T11:00 100, 01T11:05 7" || d.Resources["steps"].Restored != 1 {
		s.t.Fatalf("undone: %s %+v", s.times("steps"), d)
	}
	if s.unshift(first); s.times("steps") != "01T10:00 100, 01T10:05 7" {
		s.t.Fatalf("reversed: %s", s.times("steps"))
	}

	s.user = s.NewUser("import and later value and shift")
	first = s.imported(appleExport(100))
	s.imported(appleExport(150))
	s.shift("apple_health_kit", "2026-03-01", 3600)
	if undo(first); s.times("steps") != "01T11:00 150" {
		s.t.Fatalf("undone: %s", s.times("steps"))
	}
}

const appleWorkout = `<?xml version="1.0" encoding="UTF-8"?><HealthData locale="en_US"><ExportDate value="2026-03-02 10:00:00 +0000"/>
<Record type="HKQuantityTypeIdentifierHeartRate" sourceName="Watch" unit="count/min" startDate="2026-03-01 10:00:00 +0000" endDate="2026-03-01 10:00:00 +0000" value="60"/>
<Record type="HKQuantityTypeIdentifierHeartRate" sourceName="Watch" unit="count/min" startDate="2026-03-01 10:05:00 +0000" endDate="2026-03-01 10:05:00 +0000" value="70"/>
<Workout workoutActivityType="HKWorkoutActivityTypeRunning" duration="30" durationUnit="min" sourceName="Watch" startDate="2026-03-01 10:00:00 +0000" endDate="2026-03-01 10:30:00 +0000"/></HealthData>`

// at pushes heart rates of 2 March, as value at an hour.
func (s *scenario) at(hours string, values ...int) {
	s.t.Helper()
	var samples []string
	for i, hour := range strings.Fields(hours) {
		samples = append(samples, fmt.Sprintf(`{"timestamp":"2026-03-02T%s:00:00Z","value":%d}`, hour, values[i]))
	}
	s.Expect(200, "POST", "/v2/timeseries/"+s.user+"/heartrate", `{"stage":"daily","provider":"health_connect","data":[`+strings.Join(samples, ",")+`]}`, nil)
}

// Shifts of the same data are reversed from the last one.
func shiftsStory(s *scenario) {
	s.at("12", 62)
	first := s.shift("health_connect", "2026-03-02", -3600)
	second := s.shift("health_connect", "2026-03-02", -3600)
	status, answer := s.Call("DELETE", "/v2/user/"+s.user+"/data/shifts/"+first, "")
	if status != 409 || !strings.Contains(string(answer), second) || s.times("heartrate") != "02T10:00 62" {
		s.t.Fatalf("%d %s: %s", status, string(answer), s.times("heartrate"))
	}
	s.at("13", 80)
	other := s.shift("health_connect", "2026-03-02", 7200) // also moves what came since
	if s.times("heartrate") != "02T12:00 62, 02T15:00 80" {
		s.t.Fatal(s.times("heartrate"))
	}
	for _, id := range []string{other, second, first} {
		if d := s.unshift(id); d.Status != "succeeded" {
			s.t.Fatalf("%+v", d)
		}
	}
	if s.times("heartrate") != "02T12:00 62, 02T13:00 80" {
		s.t.Fatal(s.times("heartrate"))
	}
}

// A shift counts the samples that it replaces. Reversing it restores them.
func replacedStory(s *scenario) {
	const only = `{"provider":"health_connect","start":"2026-03-02T12:00:00Z","end":"2026-03-02T12:30:00Z","seconds":3600,"dry_run":%t}`
	for _, value := range []int{63, 62} { // also an equal one
		s.at("12 13", 62, value)
		was := s.times("heartrate")
		var d wireDeletion
		s.Expect(200, "POST", "/v2/user/"+s.user+"/data/shifts", fmt.Sprintf(only, true), &d)
		if d.Resources["heartrate"].Moved != 1 || d.Resources["heartrate"].Replaced != 1 || s.times("heartrate") != was {
			s.t.Fatalf("dry run: %+v", d)
		}
		s.Expect(200, "POST", "/v2/user/"+s.user+"/data/shifts", fmt.Sprintf(only, false), &d)
		if d.Resources["heartrate"].Moved != 1 || d.Resources["heartrate"].Replaced != 1 || s.times("heartrate") != "02T13:00 62" {
			s.t.Fatalf("%+v %s", d, s.times("heartrate"))
		}
		if d = s.unshift(*d.ID); d.Resources["heartrate"].Restored != 1 || s.times("heartrate") != was {
			s.t.Fatalf("reversed: %+v %s", d, s.times("heartrate"))
		}
		if d := s.createShift("health_connect", "2026-03-02", 3600, true); d.Resources["heartrate"].Moved != 2 || d.Resources["heartrate"].Replaced != 0 {
			s.t.Fatalf("of both: %+v", d)
		}
		s.user = s.NewUser(fmt.Sprint("shift onto equal samples ", value))
	}
}

// A deletion without a filter, or with a wrong one, is refused.
func filtersStory(s *scenario) {
	for query, want := range map[string]int{
		"": 422, "resource=nothing": 422, "start=yesterday": 422, "start=2026-03-02&end=2026-03-01": 422, "resource=hypnogram": 422,
		"resource=steps&strat=2026-03-01": 422, "provider=unknown": 422,
		"import_id=00000000-0000-4000-8000-000000000001": 404,
	} {
		if status, body := s.Call("DELETE", "/v2/user/"+s.user+"/data?"+query, ""); status != want {
			s.t.Errorf("%s: %d %s", query, status, body)
		}
	}
}

// A large deletion continues in a job.
func largeStory(s *scenario) {
	for day := range 3 {
		var samples []string
		for i := range 1440 {
			at := time.Date(2026, 3, 1+day, 0, i, 0, 0, time.UTC)
			samples = append(samples, fmt.Sprintf(`{"timestamp":%q,"value":%d}`, at.Format(time.RFC3339), 60+i%20))
		}
		s.Expect(200, "POST", "/v2/timeseries/"+s.user+"/heartrate", `{"stage":"daily","provider":"health_connect","data":[`+strings.Join(samples, ",")+`]}`, nil)
	}
	d := s.delete("resource=heartrate&start=2026-03-02")
	s.await("the deletion", func() bool {
		s.Get("/v2/user/"+s.user+"/data/deletions/"+*d.ID, &d)
		return d.Status == "succeeded"
	})
	if n := len(strings.Fields(s.values("heartrate"))); d.Deleted != 2880 || n != 1440 {
		s.t.Fatalf("deleted %d, left %d", d.Deleted, n)
	}
}
