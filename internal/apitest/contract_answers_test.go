package apitest

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"hale/internal/platform/store/storetest"
	"hale/internal/wearables"
)

// What documents hide, answers show: nulls, fields that are not there, dates
// in another form. Of each operation of the contract, an answer about somebody
// who has one of everything is held against the contract's schema.
func TestAnswersAreInTheContract(t *testing.T) {
	data, management := readContract(t)
	s := start(t, storetest.NewSQLite(t))
	f := s.fixture(t)
	s.measured(t, f)
	for _, c := range []*contract{data, management} {
		for _, theirs := range c.operations {
			if ours, ok := s.doc.serving(theirs); ok && theirs.Method == http.MethodGet {
				t.Run(theirs.String(), func(t *testing.T) { s.answersAs(t, f, c, theirs, ours) })
			}
		}
	}
}

func (s *service) answersAs(t *testing.T, f *fixture, c *contract, theirs, ours operation) {
	ours.Path = theirs.Path // with the contract's word where ours has a parameter
	var with []place
	if strings.HasPrefix(theirs.Path, "/v3/insurance/search/payor") {
		with = append(with, place{"query", "insurance_name"})
	}
	r := s.whole(t, ours, f.withDates(ours), with...)
	got := s.send(t, r, s.Key)
	if got.status == http.StatusNotFound && strings.HasSuffix(theirs.Path, "/appointment") {
		return // orders of the fixture have none
	}
	if got.status/100 != 2 {
		t.Errorf("%v was answered %d: %.300s", r, got.status, got.body)
		return
	}
	if err := c.check(theirs, got.status, got.header.Get("content-type"), got.body); err != nil {
		t.Errorf("%v: %v\nanswer: %.1500s", r, err, got.body)
	}
}

func (f *fixture) withDates(o operation) map[string]string {
	values := f.knownTo(o)
	values["start_date"], values["end_date"], values["insurance_name"] = "2026-01-01", "2026-12-31", "aetna"
	return values
}

// measured gives the fixture's user samples of every series and summaries of
// every kind: one that says everything and one that says as little as it may.
func (s *service) measured(t *testing.T, f *fixture) {
	t.Helper()
	user := f.ids["user_id"]
	push := func(path, data string) {
		t.Helper()
		text := fmt.Sprintf(`{"stage":"daily","provider":"apple_health_kit","time_zone":"Europe/Berlin","data":[%s]}`, data)
		var got struct{ Rejected []any }
		s.Expect(http.StatusOK, "POST", path, text, &got)
		if len(got.Rejected) > 0 {
			t.Errorf("%s: %v", path, got.Rejected)
		}
	}
	for _, r := range wearables.Resources() {
		if r.Push {
			push("/v2/timeseries/"+user+"/"+r.Name, someSample(r))
		}
	}
	for name, data := range someSummaries {
		push("/v2/summary/"+name+"/"+user, data)
	}
}

func someSample(r wearables.Resource) string {
	at := time.Date(2026, 3, 1, 7, 0, 0, 0, time.UTC)
	text := fmt.Sprintf(`{"timestamp":%q,"source_type":"watch"`, at.Format(time.RFC3339))
	if r.Interval {
		text += fmt.Sprintf(`,"end":%q`, at.Add(time.Hour).Format(time.RFC3339))
	}
	if len(r.Types) > 0 {
		text += fmt.Sprintf(`,"type":%q`, r.Types[0])
	}
	if r.Pair {
		return text + `,"systolic":120,"diastolic":80}`
	}
	return text + fmt.Sprintf(`,"value":%v}`, max(r.Min, min(60, r.Max)))
}

func init() {
	for name, data := range someSummaries {
		wholeBodies["POST /v2/summary/"+name+"/{user_id}"] = `{"stage":"daily","provider":"apple_health_kit","data":[` + data + `]}`
	}
}

var someSummaries = map[string]string{
	"activity": `{"calendar_date":"2026-03-01"},{"calendar_date":"2026-03-02","steps":8214,"distance":6120.5,"calories_active":412,
		"calories_total":2230,"floors_climbed":9,"low":31,"medium":20,"high":2.5,"time_zone":"Europe/Berlin","timezone_offset":3600,
		"wheelchair_use":true,"wheelchair_push":12,"heart_rate":{"avg_bpm":71,"min_bpm":48,"max_bpm":151,"resting_bpm":52,"avg_walking_bpm":98}}`,
	"body":    `{"calendar_date":"2026-03-01"},{"calendar_date":"2026-03-02","weight":71.4,"fat":18.2}`,
	"profile": `{"height":178,"birth_date":"1984-05-17","gender":"female","sex":"female","wheelchair_use":true}`,
	"sleep": `{"bedtime_start":"2026-03-01T22:00:00Z","bedtime_stop":"2026-03-02T06:00:00Z"},
		{"bedtime_start":"2026-03-02T22:00:00Z","bedtime_stop":"2026-03-03T06:00:00Z","type":"long_sleep","awake":1200,"light":14400,"rem":6300,"deep":5400,
		"hr_lowest":44,"hr_average":52,"efficiency":94.5,"latency":300,"average_hrv":61,"respiratory_rate":13.5,"state":"confirmed"}`,
	"sleep_cycle": `{"session_start":"2026-03-02T22:00:00Z","session_end":"2026-03-03T06:00:00Z","stage_start_offset_second":[0,1800],
		"stage_end_offset_second":[1800,28800],"stage_type":[2,1],"time_zone":"Europe/Berlin"}`,
	"workouts": `{"time_start":"2026-03-01T06:30:00Z","time_end":"2026-03-01T07:05:00Z"},
		{"time_start":"2026-03-02T06:30:00Z","time_end":"2026-03-02T07:05:00Z","title":"Morning run","sport":{"name":"Running","slug":"running"},
		"average_hr":148,"max_hr":171,"distance":6050,"calories":410,"hr_zones":[0,60,120,900,1020,0],"moving_time":2100,"provider_id":"run-1"}`,
	"meal": `{"timestamp":"2026-03-01T12:00:00Z"},{"timestamp":"2026-03-02T12:10:00Z","name":"lunch","energy":{"unit":"kcal","value":640},
		"macros":{"carbs":71,"protein":32,"fats":{"total":21}},"micros":{"minerals":{"sodium":510}},"data":{"soup":{"energy":{"unit":"kcal","value":200}}}}`,
	"menstrual_cycle": `{"period_start":"2026-02-01"},{"period_start":"2026-03-01","period_end":"2026-03-05","cycle_end":"2026-03-28",
		"menstrual_flow":[{"date":"2026-03-01","flow":"light"}],"sexual_activity":[{"date":"2026-03-09","protection_used":null}],
		"basal_body_temperature":[{"date":"2026-03-02","value":36.4}]}`,
	"electrocardiogram": `{"session_start":"2026-03-01T07:00:00Z","session_end":"2026-03-01T07:00:30Z"},
		{"session_start":"2026-03-02T07:00:00Z","session_end":"2026-03-02T07:00:30Z","voltage_sample_count":15360,"heart_rate_mean":64,
		"sampling_frequency_hz":512,"classification":"inconclusive","inconclusive_cause":"poor_reading","algorithm_version":"2"}`,
}
