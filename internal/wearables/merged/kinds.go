package merged

import (
	"hale/internal/wearables"
	"hale/internal/wearables/storage"
)

// sums are the resources whose values add up over time; what they count may
// be spread over an interval. The shape of a sample does not tell: a body
// temperature has a start and an end, and calories_basal may have neither.
//
// Reference 7.1, 7.7.
var sums = map[string]bool{
	"caffeine": true, "calories_active": true, "calories_basal": true, "carbohydrates": true, "daylight_exposure": true,
	"distance": true, "fall": true, "floors_climbed": true, "handwashing": true, "heart_rate_alert": true,
	"inhaler_usage": true, "insulin_injection": true, "mindfulness_minutes": true, "sleep_apnea_alert": true,
	"sleep_breathing_disturbance": true, "stand_duration": true, "stand_hour": true, "steps": true, "water": true,
	"wheelchair_push": true, "workout_distance": true, "workout_duration": true, "workout_swimming_stroke": true,
}

// unmerged have values that are no quantities: words, and stages of sleep.
var unmerged = map[string]bool{"note": true, "hypnogram": true}

// AddsUp says whether a resource's values add up over time. All others are
// levels.
func AddsUp(r *wearables.Resource) bool { return sums[r.Name] }

// Can says whether a resource can be merged.
func Can(r *wearables.Resource) bool { return !unmerged[r.Name] }

// Counts says whether a series belongs into its resource's merged line. The
// distance of a workout on a bicycle or in water is no part of what a person
// walked, but it is in a wheelchair, for which there are two words.
//
// Reference 7.7, distance.
func Counts(resource string, s wearables.Source) bool {
	switch s.Sport {
	case "", "wheelchair_pushing", "wheelchair_push":
		return true
	}
	return resource != "distance"
}

// quantity is the type word by which a series is merged with others. Types are
// different quantities, which one line cannot hold: LDL and HDL. Those of
// glucose are ways to measure the same.
func quantity(s *storage.Series) string {
	if s.Resource == "glucose" {
		return ""
	}
	return s.Type
}
