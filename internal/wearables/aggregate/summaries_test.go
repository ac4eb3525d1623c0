package aggregate_test

import (
	"encoding/json"
	"testing"
	"time"

	"hale/internal/platform/civil"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/wearables"
)

// day stores a summary of a day.
func (r *fixture) day(resource, day string, source wearables.Source, body string) {
	r.t.Helper()
	r.put(wearables.Batch{Provider: source.Provider, Summaries: []wearables.Summary{{
		Resource: resource, Key: day + "|" + source.Type, Source: source, Date: civil.MustParse(day), Body: json.RawMessage(body),
	}}})
}

// night stores a sleep and gives its id.
func (r *fixture) night(start, stop, body string) string {
	r.t.Helper()
	from, _ := time.Parse(time.RFC3339, start)
	to, _ := time.Parse(time.RFC3339, stop)
	r.put(wearables.Batch{Summaries: []wearables.Summary{{
		Resource: "sleep", Key: start, Source: watch, Date: civil.DateOf(to), Start: from, End: to, Body: json.RawMessage(body),
	}}})
	return wearables.SummaryID(r.user.ID.UUID(), "apple_health_kit", "sleep", start).String()
}

// An activity has columns that are renamed, nested, in other units, or missing.
func TestColumnsOfActivity(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newFixture(t, db, "")
		r.day("activity", "2026-03-01", watch, `{"steps":9000,"distance":6500.5,"low":90,"heart_rate":{"avg_bpm":71.5,"min_bpm":50},"wheelchair_use":true,"timezone_offset":3600}`)
		r.day("activity", "2026-03-02", watch, `{"steps":100}`)
		c := func(name string) string { return `{"activity":"` + name + `"}` }
		r.expect("2026-03-02", 7, choose(`{"index":"activity"}`, c("steps"), c("distance_meter"), c("intensity_low_second"), c("heart_rate_mean"),
			c("heart_rate_maximum"), c("wheelchair_use"), c("time_zone_offset"), c("source_type"), c("duration_active_second"), `{"source":"source_sport"}`), `{
			"timestamp":["2026-03-01","2026-03-02"],"steps":[9000,100],"distance_meter":[6500.5,null],"intensity_low_second":[5400,null],
			"heart_rate_mean":[71.5,null],"heart_rate_maximum":[null,null],"wheelchair_use":[true,null],"time_zone_offset":[3600,null],
			"source_type":["watch","watch"],"duration_active_second":[null,null],"source_sport":[null,null]}`)
		r.expect("2026-03-08", 14, groupRows([]string{trunc(1, "week", "activity")}, aggregateOf("sum", c("steps"))),
			`{"group_key.0":["2026-02-23T00:00:00","2026-03-02T00:00:00"],"sum.steps":[9000,100]}`)
		r.expect("2026-03-02", 1, `{"select":[`+c("steps")+`],"where":"wheelchair_use = TRUE OR date > '2026-03-01'"}`, `{"steps":[100]}`)
	})
}

// Notes are a series of texts. The test reads their columns, each of their
// tags, and their times. Times of FreeStyle Libre have no zone, so the user's
// zone does not move them.
func TestNotes(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newFixture(t, db, "Asia/Tokyo")
		libre := wearables.Source{Provider: "freestyle_libre", Type: "app"}
		r.day("note", "2026-03-01", watch, `{"timestamp":"2026-03-01T20:00:00+00:00","value":"Soup","tags":["food","exercise"],"timezone_offset":3600}`)
		r.day("note", "2026-03-02", watch, `{"timestamp":"2026-03-01T21:00:00+00:00","value":"Tea"}`)
		r.day("note", "2026-03-03", libre, `{"timestamp":"2026-03-03T08:00:00+00:00","value":"Bread","tags":["food"]}`)
		c := func(name string) string { return `{"timeseries":"note","field":"` + name + `"}` }
		tags := func(where string) string {
			return `{"select":{"func":"count","arg":{"element":true}},"from":{"unnest":` + c("tags") + `}` + where + `}`
		}
		r.expect("2026-03-08", 30, choose(`{"index":"timeseries"}`, c("content"), c("source_provider"), c("timezone_offset"), c("type"), c("source_sport"), tags("")), `{
			"timestamp":["2026-03-01T21:00:00","2026-03-02T06:00:00","2026-03-03T08:00:00"],"content":["Soup","Tea","Bread"],
			"source_provider":["apple_health_kit","apple_health_kit","freestyle_libre"],"timezone_offset":[3600,32400,null],
			"type":[null,null,null],"source_sport":[null,null,null],"count.tags.element":[2,0,1]}`)
		r.expect("2026-03-08", 30, groupRows([]string{trunc(1, "month", "timeseries"), c("source_provider")}, aggregateOf("sum", tags(`,"where":"element = 'food'"`))),
			`{"group_key.0":["2026-03-01T00:00:00","2026-03-01T00:00:00"],"group_key.1":["apple_health_kit","freestyle_libre"],"sum.count.tags.element":[1,1]}`)
	})
}

// Phone and watch count the same steps. In each group only the best source counts, unless
// the query asks about the sources.
func TestBestSourceOfEachGroup(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newFixture(t, db, "")
		mirror := wearables.Source{Provider: "health_connect", Type: "watch"}
		r.day("activity", "2026-03-01", phone, `{"steps":500}`)
		r.day("activity", "2026-03-01", watch, `{"steps":700}`)
		r.day("activity", "2026-03-01", mirror, `{"steps":650}`)
		r.day("activity", "2026-03-02", phone, `{"steps":40}`)
		sum, day := aggregateOf("sum", `{"activity":"steps"}`), trunc(1, "day", "activity")
		days := `{"group_key.0":["2026-03-01T00:00:00","2026-03-02T00:00:00"],"sum.steps":`
		r.expect("2026-03-02", 2, groupRows([]string{day}, sum), days+`[700,40]}`)
		r.expect("2026-03-02", 2, groupRows([]string{day}, sum, `"where":"source_type != 'watch'"`), days+`[500,40]}`)
		r.expect("2026-03-01", 1, groupRows([]string{`{"source":"source_provider"}`, `{"source":"source_type"}`}, sum), `{
			"group_key.0":["apple_health_kit","apple_health_kit","health_connect"],"group_key.1":["phone","watch","watch"],"sum.steps":[500,700,650]}`)
		r.expect("2026-03-01", 1, choose(sum), `{"sum.steps":[1850]}`) // without groups nothing is chosen
		if err := db.Write(r.ctx, func(tx *store.Tx) error {
			_, err := tx.Exec(r.ctx, `INSERT INTO source_priorities (team_id, data_type, provider, priority) VALUES ($1, 'activity', 'health_connect', 5)`, r.user.Team)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		r.expect("2026-03-02", 2, groupRows([]string{day}, sum), days+`[650,40]}`)
	})
}

// The macros of a sleep equal those computed by hand.
func TestMacros(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newFixture(t, db, "")
		sleep := r.night("2026-03-01T22:00:00Z", "2026-03-02T06:00:00Z",
			`{"type":"long_sleep","timezone_offset":3600,"duration":28800,"total":23400,"efficiency":81,"latency":1200}`)
		from, to := time.UnixMicro(instant(t, "2026-03-01T22:00:00Z")).UTC(), time.UnixMicro(instant(t, "2026-03-02T06:00:00Z")).UTC()
		r.put(wearables.Batch{Summaries: []wearables.Summary{{
			Resource: "sleep_cycle", Key: "cycle", Source: watch, Date: civil.MustParse("2026-03-02"), Start: from, End: to,
			Body: json.RawMessage(`{"sleep_id":"` + sleep + `","stage_start_offset_second":[0,1200,9000,9600,20000,20600,28000],
				"stage_end_offset_second":[1200,9000,9600,20000,20600,28000,28800],"stage_type":[4,2,4,1,4,3,4]}`),
		}}})
		r.night("2026-03-03T02:00:00Z", "2026-03-03T08:00:00Z", `{"type":"short_sleep","duration":21600}`)
		m := func(name string) string { return `{"value_macro":"` + name + `"}` }
		// 6.5 h cost one point of three, 81 % one and 20 minutes one: 100 × 6/9.
		r.expect("2026-03-03", 3, choose(`{"index":"sleep"}`, m("sleep_score"), m("chronotype"), m("asleep_at"), m("awake_at"), m("awakenings")), `{
			"timestamp":["2026-03-02T07:00:00","2026-03-03T08:00:00"],"sleep_score":[67,null],"chronotype":["lark","third"],
			"asleep_at":["2026-03-01T23:20:00",null],"awake_at":["2026-03-02T06:46:40",null],"awakenings":[3,null]}`)
		r.expect("2026-03-03", 3, choose(`{"derived_readiness":"date"}`, `{"derived_readiness":"sleep_score"}`), `{"date":["2026-03-02"],"sleep_score":[67]}`)
		r.expect("2026-03-03", 3, choose(aggregateOf("max", m("awake_at")), aggregateOf("mean", m("sleep_score"))), `{"max.awake_at":["2026-03-02T06:46:40"],"mean.sleep_score":[67]}`)
	})
}

// Lists are read through subqueries, which may be aggregated again.
func TestSubqueries(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newFixture(t, db, "")
		r.day("menstrual_cycle", "2026-03-01", phone, `{"period_start":"2026-03-01",
			"menstrual_flow":[{"date":"2026-03-01","flow":"heavy"},{"date":"2026-03-02","flow":"light"},{"date":"2026-03-03","flow":"light"}],
			"basal_body_temperature":[{"date":"2026-03-01","value":36.4},{"date":"2026-03-02","value":36.6}]}`)
		r.day("menstrual_cycle", "2026-03-29", phone, `{"period_start":"2026-03-29"}`)
		sub := func(function, arg, list, where string) string {
			return `{"select":{"func":"` + function + `","arg":` + arg + `},"from":{"unnest":{"menstrual_cycle":"` + list + `"}}` + where + `}`
		}
		temperature := sub("mean", `{"field_for":"menstrual_cycle","basal_body_temperature":"value"}`, "basal_body_temperature", "")
		r.expect("2026-03-31", 60, choose(
			`{"menstrual_cycle":"period_start"}`,
			sub("count", "null", "menstrual_flow", `,"where":"flow = 'light'"`),
			sub("max", `{"menstrual_flow":"date"}`, "menstrual_flow", ""),
			temperature,
		), `{"period_start":["2026-03-01","2026-03-29"],"count.menstrual_flow":[2,0],"max.menstrual_flow.date":["2026-03-03",null],
			"mean.basal_body_temperature.value":[36.5,null]}`)
		r.expect("2026-03-31", 60, groupRows([]string{trunc(1, "year", "menstrual_cycle")}, aggregateOf("max", temperature)+","+aggregateOf("sum", sub("count", "null", "menstrual_flow", ""))),
			`{"group_key.0":["2026-01-01T00:00:00"],"max.mean.basal_body_temperature.value":[36.5],"sum.count.menstrual_flow":[3]}`)
	})
}

// A sleep lasts from its start to its stop. Fields that the provider did not state
// follow from the others, as in reads.
func TestDerivedFieldsOfASleep(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newFixture(t, db, "Europe/Berlin")
		r.night("2026-03-28T22:00:00Z", "2026-03-29T06:00:00Z", `{"light":10000,"deep":5000,"rem":5000}`) // the clocks go forward
		r.night("2026-03-30T22:00:00Z", "2026-03-31T06:00:00Z", `{"duration":100}`)
		duration := `{"sleep":"duration_second"}`
		r.expect("2026-03-31", 7, choose(duration, `{"sleep":"type"}`, `{"sleep":"stage_asleep_second"}`, `{"sleep":"efficiency"}`),
			`{"duration_second":[28800,28800],"type":["long_sleep","long_sleep"],"stage_asleep_second":[20000,null],"efficiency":[69.4,null]}`)
		r.expect("2026-03-31", 7, choose(aggregateOf("sum", duration)), `{"sum.duration_second":[57600]}`)
		r.expect("2026-03-31", 7, choose(`{"derived_readiness":"date"}`), `{"date":["2026-03-29","2026-03-31"]}`)
	})
}

// A cycle that cannot be read leaves the night without its stages.
func TestInvalidCycle(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newFixture(t, db, "")
		sleep := r.night("2026-03-01T22:00:00Z", "2026-03-02T06:00:00Z", `{}`)
		from := time.UnixMicro(instant(t, "2026-03-01T22:00:00Z")).UTC()
		r.put(wearables.Batch{Summaries: []wearables.Summary{{
			Resource: "sleep_cycle", Key: "cycle", Source: watch, Date: civil.MustParse("2026-03-02"), Start: from, End: from.Add(time.Hour),
			Body: json.RawMessage(`{"stage_start_offset_second":[0],"stage_end_offset_second":[60],"stage_type":[2]}`),
		}}})
		team, user := r.user.Team.UUID(), r.user.ID.UUID()
		id := wearables.SummaryID(user, "apple_health_kit", "sleep_cycle", "cycle")
		if err := db.Write(r.ctx, func(tx *store.Tx) error {
			body, err := tx.Seal(r.ctx, team, user, "summaries.body:"+id.String(),
				[]byte(`{"sleep_id":"`+sleep+`","stage_end_offset_second":[1e+15],"stage_start_offset_second":[0],"stage_type":[2]}`))
			if err != nil {
				return err
			}
			_, err = tx.Exec(r.ctx, `UPDATE summaries SET body = $1 WHERE team_id = $2 AND user_id = $3 AND id = $4`, body, team, user, id)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		r.expect("2026-03-02", 1, choose(`{"value_macro":"awakenings"}`), `{"awakenings":[null]}`)
	})
}

// A session may lie days from the date that its provider gives it. It counts on that
// date, as in summaries; its own times stay.
func TestASessionFarFromItsDate(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newFixture(t, db, "")
		from, to := instant(t, "2026-03-03T23:00:00Z"), instant(t, "2026-03-04T22:00:00Z")
		r.put(wearables.Batch{Summaries: []wearables.Summary{{
			Resource: "sleep", Key: "far", Source: watch, Date: civil.MustParse("2026-03-01"),
			Start: time.UnixMicro(from), End: time.UnixMicro(to), Body: json.RawMessage(`{"timezone_offset":50400}`),
		}}})
		r.expect("2026-03-01", 1, choose(`{"index":"sleep"}`, `{"sleep":"session_end"}`),
			`{"timestamp":["2026-03-01T12:00:00"],"session_end":["2026-03-05T12:00:00"]}`)
		r.expect("2026-03-05", 1, choose(`{"sleep":"session_end"}`), `{"session_end":[]}`)
	})
}
