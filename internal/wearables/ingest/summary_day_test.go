package ingest_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"hale/internal/platform/civil"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/wearables"
	"hale/internal/wearables/storage"
)

// version is one version of a sleep, its cycle, a workout or a meal that begins
// at 15:00 UTC on March 1st.
type version struct {
	day   string // empty when it says none
	hours int
	body  string
	want  string // the day under which it is filed then
}

func (v version) summary(resource string) wearables.Summary {
	s := wearables.Summary{Resource: resource, Key: "k", Start: day.Add(15 * time.Hour), Body: []byte(v.body)}
	if v.day != "" {
		s.Date = civil.MustParse(v.day)
	}
	if v.hours > 0 {
		s.End = s.Start.Add(time.Duration(v.hours) * time.Hour)
	}
	return s
}

var daysOfVersions = []struct {
	says, resource string
	versions       []version
}{
	{"a stated day stays when a version says none", "sleep", []version{
		{"2026-03-02", 8, `{}`, "2026-03-02"},
		{"", 8, `{"hr_average":55}`, "2026-03-02"},
		{"", 8, `{"calendar_date":null,"hr_average":56}`, "2026-03-02"},
		{"", 10, `{}`, "2026-03-02"},
		{"", 8, `{"timezone_offset":-18000}`, "2026-03-02"},
		{"2026-03-01", 8, `{}`, "2026-03-01"},
		{"", 10, `{}`, "2026-03-01"},
	}},
	{"a found day follows the end and the offset", "sleep", []version{
		{"", 8, `{}`, "2026-03-01"},
		{"", 10, `{}`, "2026-03-02"},
		{"", 10, `{"timezone_offset":-18000}`, "2026-03-01"},
		{"", 10, `{"hr_average":55}`, "2026-03-01"},
	}},
	{"a found day that is stated stays", "sleep", []version{
		{"", 8, `{}`, "2026-03-01"},
		{"2026-03-01", 8, `{}`, "2026-03-01"},
		{"", 10, `{}`, "2026-03-01"},
	}},
	{"a day that is stated later takes the place of a found one", "sleep", []version{
		{"", 8, `{}`, "2026-03-01"},
		{"2026-03-02", 8, `{}`, "2026-03-02"},
		{"", 8, `{"hr_average":55}`, "2026-03-02"},
	}},
	{"a workout", "workouts", []version{
		{"2026-03-02", 1, `{}`, "2026-03-02"},
		{"", 1, `{"steps":7,"timezone_offset":3600}`, "2026-03-02"},
	}},
	{"a workout that says none", "workouts", []version{
		{"", 1, `{}`, "2026-03-01"},
		{"", 1, `{"timezone_offset":36000}`, "2026-03-02"},
	}},
	{"a cycle, which shows no day", "sleep_cycle", []version{
		{"", 8, `{}`, "2026-03-01"},
		{"2026-03-02", 8, `{}`, "2026-03-02"},
		{"", 8, `{"stage_start_offset_second":[0],"stage_end_offset_second":[60],"stage_type":[2]}`, "2026-03-02"},
	}},
	{"a meal", "meal", []version{
		{"2026-03-02", 0, `{"name":"supper"}`, "2026-03-02"},
		{"", 0, `{"name":"supper","energy":{"unit":"kcal","value":600}}`, "2026-03-02"},
	}},
}

// A stated day stays until another one is stated. A day that was found from the place
// follows later facts about the place. The same holds for versions in one batch.
func TestTheDayOfLaterVersions(t *testing.T) {
	forEachEngine(t, func(f fixture) {
		for _, c := range daysOfVersions {
			f := f.newUser()
			var all []wearables.Summary
			for i, v := range c.versions {
				f.ingest(wearables.Batch{Summaries: []wearables.Summary{v.summary(c.resource)}})
				f.expectDay(fmt.Sprintf("%s, version %d", c.says, i), c.resource, v.want)

				all = append(all, v.summary(c.resource))
				once := f.newUser()
				once.ingest(wearables.Batch{Summaries: all})
				once.expectDay(fmt.Sprintf("%s, %d versions at once", c.says, i+1), c.resource, v.want)
			}
		}
	})
}

// expectDay expects the one summary of a resource under a day, and the day in it.
func (f fixture) expectDay(what, resource, want string) {
	f.t.Helper()
	if got := f.datesOf(resource); len(got) != 1 || got[0] != want {
		f.t.Errorf("%s: filed under %v, want %s", what, got, want)
	}
	d, _ := wearables.DocumentNamed(resource)
	if _, shows := d.Settable("calendar_date"); !shows {
		return
	}
	text := f.summaries(resource)[0]
	if !strings.Contains(text, `"calendar_date":"`+want+`"`) {
		f.t.Errorf("%s: want %s in %s", what, want, text)
	}
	if _, shows := d.Settable("date"); shows && !strings.Contains(text, `"date":"`+want+`T00:00:00+00:00"`) {
		f.t.Errorf("%s: another date in %s", what, text)
	}
}

// A stated day within the bounds of a user counts for the other versions in its
// batch.
func TestBoundsOfAVersionWithoutADay(t *testing.T) {
	forEachEngine(t, func(f fixture) {
		f.user.IngestionStart = &civil.Date{Year: 2026, Month: 3, Day: 2}
		stated, more := version{day: "2026-03-02", hours: 8, body: `{}`}, version{hours: 8, body: `{"hr_average":55}`}
		r := f.ingest(wearables.Batch{Summaries: []wearables.Summary{stated.summary("sleep"), more.summary("sleep")}})
		if got := f.summaries("sleep"); r.Rejected > 0 || len(got) != 1 || !strings.Contains(got[0], `"hr_average":55`) {
			t.Errorf("%+v, %s", r, got)
		}
	})
}

// Older rows do not record the origin of their day. A day that differs from the day of
// the place is taken as stated.
func TestTheDayOfOlderRows(t *testing.T) {
	forEachEngine(t, func(f fixture) {
		for _, versions := range [][]version{
			{{"2026-03-02", 8, `{}`, "2026-03-02"}, {"", 8, `{"hr_average":55}`, "2026-03-02"}},
			{{"2026-03-01", 8, `{}`, "2026-03-01"}, {"", 10, `{}`, "2026-03-02"}},
		} {
			f := f.newUser()
			for _, v := range versions {
				f.ingest(wearables.Batch{Summaries: []wearables.Summary{v.summary("sleep")}})
				f.expectDay(fmt.Sprintf("%+v", v), "sleep", v.want)
				f.forgetDayOrigin()
			}
		}
	})
}

// A copy knows which days were stated.
func TestStatedDaysAreCopied(t *testing.T) {
	forEachEngine(t, func(f fixture) {
		for _, v := range []version{{day: "2026-03-02", hours: 8, body: `{}`}, {hours: 8, body: `{}`}} {
			f := f.newUser()
			s := v.summary("sleep")
			f.ingest(wearables.Batch{Summaries: []wearables.Summary{s}})
			to := storetest.SQLite(t)
			if err := storage.CopySummaries(f.ctx, f.db, to, f.user.Team.UUID(), f.user.ID.UUID()); err != nil {
				t.Fatal(err)
			}
			var stored storage.StoredSummary
			if err := to.Read(f.ctx, func(tx *store.Tx) (err error) {
				stored, err = storage.SummaryByID(f.ctx, tx, f.user.Team.UUID(), wearables.SummaryID(f.user.ID.UUID(), "apple_health_kit", "sleep", "k"), "sleep")
				return err
			}); err != nil {
				t.Fatal(err)
			}
			if got := stored.StatedDay(); got != s.Date {
				t.Errorf("the copy says %v, not %v", got, s.Date)
			}
		}
	})
}

// forgetDayOrigin makes the user's summaries such as were stored before it was noted who
// stated their day.
func (f fixture) forgetDayOrigin() {
	f.t.Helper()
	if err := f.db.Write(f.ctx, func(tx *store.Tx) error {
		_, err := tx.Exec(f.ctx, `UPDATE summaries SET day_stated = FALSE WHERE team_id = $1 AND user_id = $2`, f.user.Team, f.user.ID)
		return err
	}); err != nil {
		f.t.Fatal(err)
	}
}
