package sports

import (
	"testing"
)

func TestSportBySlug(t *testing.T) {
	for slug, want := range map[string]int{
		"running": 37, "cross_country_skiing": 60, "hiit": 63, "strength_training": 50, "mixed_cardio": 73, "other": 3000, "chess": 0, "": 0,
	} {
		sport, ok := BySlug(slug)
		if sport.ID != want || ok != (want != 0) || ok && sport.Slug != slug {
			t.Errorf("%s is %+v, want %d", slug, sport, want)
		}
	}
}

// Every sport of the list is found by its slug, as itself or as the one that
// has the same words.
func TestSlugsAreOfTheList(t *testing.T) {
	for name, id := range activities {
		sport, ok := ByName(name)
		again, found := BySlug(sport.Slug)
		if !ok || !found || sport.ID != id || again.Name != sport.Name {
			t.Errorf("%s is %+v, and %+v by its slug", name, sport, again)
		}
	}
}

func TestNamedSport(t *testing.T) {
	for name, want := range map[string]struct {
		id   int
		slug string
	}{
		"Running":                     {37, "running"},
		"CrossCountrySkiing":          {60, "cross_country_skiing"},
		"TraditionalStrengthTraining": {50, "strength_training"},
		"UnderwaterHockey":            {3000, "underwater_hockey"}, // newer than the table
		"":                            {3000, "other"},
		"9":                           {3000, "other"}, // a program's own number
		"Sam's run":                   {3000, "other"},
	} {
		if got := NamedSport(name); got.ID != want.id || got.Slug != want.slug {
			t.Errorf("%q: %+v, want %+v", name, got, want)
		}
	}
}

func TestSportOfWord(t *testing.T) {
	for word, slug := range map[string]string{
		"running": "running", "Biking": "cycling", "RIDE": "cycling", "cross_country_skiing": "cross_country_skiing", "alpine_skiing": "downhill_skiing",
		"e-biking": "e_biking", "trail running": "trail_running", "Other": "other", "generic": "other", "": "other", "1": "other", "🏃": "other",
		"RUNNING": "running", "TRAIL_RUNNING": "trail_running", "CYCLING": "cycling", "MTB": "cycling", "ROAD_BIKE": "cycling", "HIIT": "hiit", "E_BIKING": "e_biking",
		"CrossCountrySkiing": "cross_country_skiing",
	} {
		if got := OfWord(word); got.Slug != slug {
			t.Errorf("%q: %s, want %s", word, got.Slug, slug)
		}
	}
}
