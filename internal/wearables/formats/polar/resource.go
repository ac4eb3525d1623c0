package polar

import "hale/internal/wearables/formats/replies"

// open returns the resources of one reading, in the order in which they are
// matched with a document.
//
// Some documents have no resource of ours. A cardio load and the alertness of
// each hour are on Polar's own scales. A list of nights holds no night.
func open(r *replies.Reader) replies.Reading {
	m := &reader{Reader: r}
	return replies.Reading{Resources: []replies.Resource{
		{Name: "sleep", Keys: []string{"date", "sleep_start_time", "sleep_end_time"}, Take: m.sleep},
		{Name: "continuous heart rate", Keys: []string{"date", "heart_rate_samples"}, Values: true, Take: m.heart},
		{Name: "nightly recharge", Keys: []string{"date", "ans_charge"}, Take: m.recharge},
		{Name: "exercise", Keys: []string{"start_time", "duration", "sport"}, Is: replies.HasOne("polar_user", "detailed_sport_info", "upload_time"), Take: m.exercise},
		{Name: "exercise", Keys: []string{"start-time", "duration", "sport"}, Take: m.exercise},
		{Name: "daily activity", Keys: []string{"start_time", "end_time", "active_duration"}, Take: m.activity},
		{Name: "daily activity", Keys: []string{"date", "calories", "active_calories"}, Take: m.activity},
		{Name: "daily activity", Keys: []string{"date", "calories", "active-calories"}, Take: m.activity},
		{Name: "activity samples", Values: true, Keys: []string{"steps"}, Is: func(d replies.Document) bool {
			steps := d.Inner("steps") // a file may end in them, before the zones
			return steps.Has("samples") && (steps.Has("interval_ms") || d.Has("activity_zones"))
		}, Take: m.steps},
		{Name: "cardio load", Keys: []string{"date", "cardio_load_status"}},
		{Name: "physical information", Keys: []string{"created", "maximum_heart_rate", "weight"}, Take: m.physical},
		{Name: "physical information", Keys: []string{"created", "maximum-heart-rate", "weight"}, Take: m.physical},
		{Name: "user", Keys: []string{"polar-user-id", "birthdate"}, Take: m.user},
		{Name: "body temperature", Values: true, Keys: []string{"source_device_id", "measurement_type", "samples"}, Take: m.temperature},
		{Name: "skin temperature", Keys: []string{"sleep_date", "sleep_time_skin_temperature_celsius"}, Take: m.skin},
		{Name: "oxygen test", Keys: []string{"test_time", "blood_oxygen_percent"}, Take: m.oxygen},
		{Name: "alertness", Keys: []string{"sleep_inertia", "grade"}},
	}}
}
