package sports

import "testing"

func TestNamed(t *testing.T) {
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

func TestOfWord(t *testing.T) {
	for word, slug := range map[string]string{
		"running": "running", "Biking": "cycling", "RIDE": "cycling", "cross_country_skiing": "cross_country_skiing", "alpine_skiing": "downhill_skiing",
		"e-biking": "e_biking", "trail running": "trail_running", "Other": "other", "generic": "other", "": "other", "1": "other", "🏃": "other",
	} {
		if got := OfWord(word); got.Slug != slug {
			t.Errorf("%q: %s, want %s", word, got.Slug, slug)
		}
	}
}
