package oura

// resource is one of Oura's.
type resource struct {
	name string
	keys []string // that all of its documents have, and no other's
	// is narrows it to some documents; nil takes all.
	is func(d document) bool
	// take reads a document; nil where there is no home for any of it.
	take func(r *reader, d document) verdict
}

// resources are in the order in which a document is held against them.
//
// Those without a home: a night's mean saturation has a day and no moment;
// minutes of stress are not on the scale of stress_level, and no other score
// of Oura's has a counterpart; tags are words; advice on going to bed is no
// measurement. Sleep that its wearer deleted, or said was none, is none.
var resources = []resource{
	{name: "sleep deleted", keys: []string{"bedtime_start", "bedtime_end"}, is: typed("deleted")},
	{name: "sleep rest", keys: []string{"bedtime_start", "bedtime_end"}, is: typed("rest")},
	{name: "sleep", keys: []string{"bedtime_start", "bedtime_end"}, take: (*reader).sleep},
	{name: "daily_activity", keys: []string{"day", "equivalent_walking_distance"}, take: (*reader).activity},
	{name: "daily_readiness", keys: []string{"day", "contributors", "temperature_deviation"}, take: (*reader).readiness},
	{name: "daily_sleep", keys: []string{"day", "contributors", "score"}, is: rates("total_sleep"), take: (*reader).score},
	{name: "daily_resilience", keys: []string{"day", "contributors", "level"}},
	{name: "daily_spo2", keys: []string{"day", "spo2_percentage"}},
	{name: "daily_stress", keys: []string{"day", "stress_high", "recovery_high"}},
	{name: "daily_cardiovascular_age", keys: []string{"day", "vascular_age"}},
	{name: "heartrate", keys: []string{"bpm", "source", "timestamp"}, take: (*reader).heartrate},
	{name: "workout", keys: []string{"day", "start_datetime", "end_datetime", "activity"}, take: (*reader).workout},
	{name: "session", keys: []string{"day", "start_datetime", "end_datetime", "type"}, take: (*reader).session},
	{name: "sleep_time", keys: []string{"day", "optimal_bedtime", "recommendation"}},
	{name: "enhanced_tag", keys: []string{"tag_type_code", "start_time", "start_day"}},
	{name: "tag", keys: []string{"day", "tags", "timestamp"}},
	{name: "personal_info", keys: []string{"age", "height", "biological_sex"}, take: (*reader).personalInfo},
	{name: "ring_configuration", keys: []string{"hardware_type", "firmware_version", "design"}, take: (*reader).ring},
}

// listNames are the names under which lists of documents stand.
var listNames = func() map[string]bool {
	names := map[string]bool{"data": true}
	for i := range resources {
		names[resources[i].name] = true
	}
	return names
}()

func typed(word string) func(document) bool {
	return func(d document) bool { return d.text("type") == word }
}

func rates(contributor string) func(document) bool {
	return func(d document) bool { _, ok := d.inner("contributors")[contributor]; return ok }
}

// recognise is the resource of a document; nil when it is of none.
func recognise(d document) *resource {
next:
	for i := range resources {
		r := &resources[i]
		for _, key := range r.keys {
			if _, ok := d[key]; !ok {
				continue next
			}
		}
		if r.is == nil || r.is(d) {
			return r
		}
	}
	return nil
}
