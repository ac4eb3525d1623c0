package runkeeper

import (
	"hale/internal/wearables/derive"
	"hale/internal/wearables/formats/replies"
	"hale/internal/wearables/formats/sports"
)

// names are Runkeeper's types by our names, where those differ. Any other type
// is taken as it is.
var names = map[string]string{
	"Mountain Biking": "Cycling", "Spinning": "Cycling", "Skating": "SkatingSports", "Nordic Walking": "Walking",
	"Strength Training": "TraditionalStrengthTraining", "CrossFit": "CrossTraining", "Circuit Training": "CrossTraining",
	"Bootcamp": "CrossTraining", "Group Workout": "CrossTraining", "Core": "CoreTraining", "Zumba": "CardioDance",
	"Boxing / MMA": "Boxing", "Meditation": "MindAndBody", "Arc Trainer": "Elliptical", "Stairmaster / Stepwell": "StairClimbing",
	"Sports": "Other",
}

// sportOf returns the sport of an activity. Other has its own words.
func sportOf(d replies.Document) derive.Sport {
	word := d.Text("type")
	if more := d.Text("secondary_type"); word == "Other" && more != "" {
		word = more
	}
	if name, ok := names[word]; ok {
		return sports.NamedSport(name)
	}
	return sports.OfWord(word)
}
