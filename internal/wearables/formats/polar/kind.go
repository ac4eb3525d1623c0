package polar

import (
	"path"
	"strings"

	"hale/internal/wearables"
	"hale/internal/wearables/derive"
	"hale/internal/wearables/formats/replies"
)

// Provider is the catalogue's name for Polar.
const Provider = "polar"

var maker = replies.Maker{
	WallClock: true,
	Kind:      "polar", Title: "Polar JSON", Provider: Provider,
	Lists: []string{"heart_rates", "nights", "recharges", "exercises", "activities"}, Open: open,
}

// Kind is a file of AccessLink's documents.
var Kind = maker.OfOne(personOf)

// These are the sources: worn devices, and typed values.
var (
	watch = wearables.Source{Provider: Provider, Type: "watch"}
	app   = wearables.Source{Provider: Provider, Type: "app"}
)

// reader takes Polar's documents of one file.
type reader struct {
	*replies.Reader
	owned  map[string]bool // devices, by their ids
	waits  int             // values that wait for their nights
	person derive.Person
}

// personOf returns the number of the user of a document. It is the end of the user's
// address. Without an address personOf returns "".
func personOf(d replies.Document) string {
	if address := spelled(d).Text("polar_user"); address != "" {
		return path.Base(strings.TrimRight(address, "/"))
	}
	return ""
}
