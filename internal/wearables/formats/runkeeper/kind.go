package runkeeper

import (
	"strings"

	"hale/internal/wearables"
	"hale/internal/wearables/formats/replies"
)

// Provider is the catalogue's name for Runkeeper.
const Provider = "runkeeper"

var maker = replies.Maker{
	WallClock: true,
	Kind:      "runkeeper", Title: "Runkeeper JSON", Provider: Provider, Lists: []string{"items"}, SumsDays: true, Open: open,
}

// Kind is a file of Runkeeper's replies.
var Kind = maker.Files()

var source = wearables.Source{Provider: Provider, Type: "app"}

type reader struct{ *replies.Reader }

func open(r *replies.Reader) replies.Reading {
	m := &reader{r}
	return replies.Reading{Resources: []replies.Resource{
		{Name: "fitness_activity", Keys: []string{"uri", "type", "start_time", "duration"}, Is: isBelow("/fitnessActivities/"), Take: m.activity},
		{Name: "strength_training_activity", Keys: []string{"uri", "start_time"}, Is: isBelow("/strengthTrainingActivities/")}, // weights lifted
	}}
}

// isBelow reports whether a document has an address below a path. The address shows its
// kind.
func isBelow(path string) func(replies.Document) bool {
	return func(d replies.Document) bool { return strings.Contains(d.Text("uri"), path) }
}
