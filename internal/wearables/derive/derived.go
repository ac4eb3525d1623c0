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

// heartFields are those of heart_rate.
var heartFields = []string{"avg_bpm", "min_bpm", "max_bpm"}

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
		for _, name := range heartFields {
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

// WithoutStale returns the body of a summary without the derived fields that a newer
// derivation does not have: their samples are gone. It returns nil if there are none.
func WithoutStale(s *storage.StoredSummary, newer []byte) ([]byte, error) {
	fields, err := wearables.ParseDocument(s.Body)
	if err != nil {
		return nil, err
	}
	now, err := wearables.ParseDocument(newer)
	if err != nil {
		return nil, err
	}
	names := slices.DeleteFunc(slices.Clone(derivedFields[s.Resource]), func(name string) bool {
		return isPlace(name) || isStated(s.Source.Provider, name)
	})
	stale := dropStale(fields, now, names)
	if heart, ok := fields["heart_rate"].(map[string]any); ok {
		left, _ := now["heart_rate"].(map[string]any)
		stale = dropStale(heart, left, heartFields) || stale
		if len(heart) == 0 {
			delete(fields, "heart_rate")
		}
	}
	if !stale {
		return nil, nil
	}
	return wearables.AppendCanonical(nil, fields), nil
}

// dropStale deletes the named fields that have a value and no newer one.
func dropStale(fields, now map[string]any, names []string) (some bool) {
	for _, name := range names {
		if fields[name] != nil && now[name] == nil {
			delete(fields, name)
			some = true
		}
	}
	return some
}

// isPlace reports whether a field says where the person was. It stays that of the first
// version.
func isPlace(name string) bool { return name == "timezone_offset" || name == "time_zone" }

// isStated reports whether a field may be of a total of the day, without samples: an Apple
// export states the active energy.
func isStated(provider, name string) bool {
	return provider == "apple_health_kit" && (name == "calories_active" || name == "calories_total")
}
