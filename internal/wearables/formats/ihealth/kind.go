package ihealth

import (
	"hale/internal/wearables"
	"hale/internal/wearables/formats/replies"
)

// Provider is the catalogue's name for iHealth.
const Provider = "ihealth"

// maker describes iHealth's files. HeartOfDays prevents a heart rate of days from being
// derived, because a pulse beside a blood pressure is not the heart rate of a day.
var maker = replies.Maker{
	WallClock: true,
	Kind:      "ihealth", Title: "iHealth JSON", Provider: Provider, HeartOfDays: true,
	Lists: listNames, Late: []string{"BPUnit", "BGUnit", "WeightUnit", "DistanceUnit"}, Open: open,
}

// Kind is a file of iHealth's replies.
var Kind = maker.Files()

// reader takes iHealth's records of one file.
type reader struct{ *replies.Reader }

// sourceOf returns the source of a document: a device of the given type, or the app if
// the value was typed in.
func sourceOf(d replies.Document, device string) wearables.Source {
	if d.Text("DataSource") == "Manual" {
		device = "app"
	}
	return wearables.Source{Provider: Provider, Type: device}
}
