package ihealth

import (
	"hale/internal/wearables"
	"hale/internal/wearables/formats/replies"
)

// Provider is the catalogue's name for iHealth.
const Provider = "ihealth"

// A pulse beside a pressure is no heart rate of a day, so that days have none.
var maker = replies.Maker{
	WallClock: true,
	Kind:      "ihealth", Title: "iHealth JSON", Provider: Provider, HeartOfDays: true,
	Lists: listNames, Late: []string{"BPUnit", "BGUnit", "WeightUnit", "DistanceUnit"}, Open: open,
}

// Kind is a file of iHealth's replies.
var Kind = maker.Files()

// reader takes iHealth's records of one file.
type reader struct{ *replies.Reader }

// sourceOf is a device of a kind, or the app where something was typed in.
func sourceOf(d replies.Document, device string) wearables.Source {
	if d.Text("DataSource") == "Manual" {
		device = "app"
	}
	return wearables.Source{Provider: Provider, Type: device}
}
