package oura

import "hale/internal/wearables/formats/replies"

// listNames are the names of long lists of documents.
var listNames = []string{
	"data", "sleep", "daily_activity", "daily_readiness", "daily_sleep", "daily_resilience", "daily_spo2", "daily_stress",
	"daily_cardiovascular_age", "heartrate", "workout", "session", "sleep_time", "enhanced_tag", "tag", "ring_configuration",
}

// open lists the resources in the order in which a document is compared with them.
//
// Some have no resource. A night's mean saturation has a day and no time. Minutes of
// stress are not on the scale of stress_level, and Oura's other scores have no
// counterpart. Tags are words; advice on going to bed is no measurement. A sleep that
// its wearer marked as no sleep is skipped. A deleted one deletes the stored one.
func open(r *replies.Reader) replies.Reading {
	m := &reader{r}
	return replies.Reading{Resources: []replies.Resource{
		{Name: "sleep deleted", Keys: []string{"bedtime_start", "bedtime_end"}, Is: hasType("deleted"), Take: m.deleted},
		{Name: "sleep rest", Keys: []string{"bedtime_start", "bedtime_end"}, Is: hasType("rest")},
		{Name: "sleep", Keys: []string{"bedtime_start", "bedtime_end"}, Is: dated, Take: m.sleep},
		{Name: "daily_activity", Keys: []string{"day", "equivalent_walking_distance"}, Take: m.activity},
		{Name: "daily_readiness", Keys: []string{"day", "contributors", "temperature_deviation"}, Take: m.readiness},
		{Name: "daily_sleep", Keys: []string{"day", "contributors", "score"}, Is: rates("total_sleep"), Take: m.score},
		{Name: "daily_resilience", Keys: []string{"day", "contributors", "level"}},
		{Name: "daily_spo2", Keys: []string{"day", "spo2_percentage"}},
		{Name: "daily_stress", Keys: []string{"day", "stress_high", "recovery_high"}},
		{Name: "daily_cardiovascular_age", Keys: []string{"day", "vascular_age"}},
		{Name: "heartrate", Keys: []string{"bpm", "source", "timestamp"}, Take: m.heartrate},
		{Name: "workout", Keys: []string{"day", "start_datetime", "end_datetime", "activity"}, Take: m.workout},
		{Name: "session", Keys: []string{"day", "start_datetime", "end_datetime", "type"}, Take: m.session},
		{Name: "sleep_time", Keys: []string{"day", "optimal_bedtime", "recommendation"}},
		{Name: "enhanced_tag", Keys: []string{"tag_type_code", "start_time", "start_day"}},
		{Name: "tag", Keys: []string{"day", "tags", "timestamp"}},
		{Name: "personal_info", Keys: []string{"age", "height", "biological_sex"}, Take: m.personalInfo},
		{Name: "ring_configuration", Keys: []string{"hardware_type", "firmware_version", "design"}, Take: m.ring},
	}}
}

func hasType(word string) func(replies.Document) bool {
	return func(d replies.Document) bool { return d.Text("type") == word }
}

// dated reports whether a night has Oura's form of dates: others' have numbers.
func dated(d replies.Document) bool {
	_, began := d.Number("bedtime_start")
	return !began
}

func rates(contributor string) func(replies.Document) bool {
	return func(d replies.Document) bool { return d.Inner("contributors").Has(contributor) }
}
