package derive

import (
	"slices"

	"hale/internal/platform/civil"
	"hale/internal/wearables"
	"hale/internal/wearables/storage"
)

// derivedFields are the fields of summaries that are derived from samples.
var derivedFields = map[string][]string{
	"activity": {
		"calories_total", "calories_active", "steps", "distance", "daily_movement", "floors_climbed",
		"wheelchair_use", "wheelchair_push", "timezone_offset", "time_zone",
	},
	"body": {"weight", "fat", "body_mass_index", "lean_body_mass_kilogram", "waist_circumference_centimeter"},
}

// IsDerived reports whether the stored summary of a day has the id of a derived one.
func IsDerived(s *storage.StoredSummary, day civil.Date) bool {
	key := day.String()
	if s.Resource == "body" {
		key += "|" + originOf(s.Source).key()
	}
	return s.ID == wearables.SummaryID(s.User, s.Source.Provider, s.Resource, key)
}

// recordPrefix begins the records of summaries that are derived from samples only.
const recordPrefix = "derived|"

// FollowsSamples reports whether the stored summary of a day is derived from samples only,
// so that it has no values without them. Phones push bodies with the same keys.
func FollowsSamples(s *storage.StoredSummary, day civil.Date) bool {
	key := day.String()
	if s.Resource == "body" {
		key += "|" + originOf(s.Source).key()
	}
	return s.Record == wearables.RecordID(s.User, s.Source.Provider, s.Resource, recordPrefix+key)
}

// WithoutDerived returns the body of a summary without its derived fields; nil if it has
// no others.
func WithoutDerived(s *storage.StoredSummary) ([]byte, error) {
	fields, err := wearables.ParseDocument(s.Body)
	if err != nil {
		return nil, err
	}
	for _, name := range derivedFields[s.Resource] {
		delete(fields, name)
	}
	if heart, ok := fields["heart_rate"].(map[string]any); ok {
		for _, name := range []string{"avg_bpm", "min_bpm", "max_bpm"} {
			delete(heart, name)
		}
		if len(heart) == 0 {
			delete(fields, "heart_rate")
		}
	}
	for name := range fields {
		if !slices.Contains([]string{"date", "calendar_date"}, name) {
			return wearables.AppendCanonical(nil, fields), nil
		}
	}
	return nil, nil
}
