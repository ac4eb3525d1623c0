package withings

import (
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/replies"
)

// Provider is the catalogue's name for Withings.
const Provider = "withings"

var maker = replies.Maker{
	Kind: "withings", Title: "Withings JSON", Provider: Provider, HeartOfDays: true,
	Lists: []string{"body", "measuregrps", "series", "activities", "devices"},
	Late:  []string{"timezone", "model"}, Open: open,
}

// Kind is a file of Withings' replies.
var Kind = maker.Files()

// reader takes Withings' documents of one file.
type reader struct {
	*replies.Reader
	owned     map[files.Device]bool
	heightAt  int64 // of the latest height, UTC microseconds
	stretches []stretch
}
