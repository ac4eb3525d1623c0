package ihealth

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"hale/internal/providers/replies"
	"hale/internal/wearables"
)

// Provider is the catalogue's name for iHealth.
const Provider = "ihealth"

// A pulse beside a pressure is no heart rate of a day, so that days have none.
var maker = replies.Maker{
	Kind: "ihealth", Title: "iHealth JSON", Provider: Provider, HeartOfDays: true,
	Lists: listNames, Late: []string{"BPUnit", "BGUnit", "WeightUnit", "DistanceUnit"}, Open: open,
}

// Kind is a file of iHealth's replies.
var Kind = maker.Files()

// reader takes iHealth's records of one file.
type reader struct {
	*replies.Reader
	waters map[weighing]water
}

// sourceOf is a device of a kind, or the app where something was typed in.
func sourceOf(d replies.Document, device string) wearables.Source {
	if d.Text("DataSource") == "Manual" {
		device = "app"
	}
	return wearables.Source{Provider: Provider, Type: device}
}

// end stores what the whole file had to be read for.
func (r *reader) end(context.Context) error {
	days := slices.SortedFunc(maps.Keys(r.waters), func(a, b weighing) int {
		return cmp.Or(a.day.Compare(b.day), cmp.Compare(a.source, b.source))
	})
	for _, day := range days {
		r.keepWater(day, r.waters[day])
	}
	r.waters = nil
	return nil
}
