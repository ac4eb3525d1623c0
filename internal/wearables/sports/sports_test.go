package sports

import "testing"

func TestOfSlug(t *testing.T) {
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
