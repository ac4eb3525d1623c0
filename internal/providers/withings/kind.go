package withings

import (
	"context"

	"hale/internal/civil"
	"hale/internal/providers/replies"
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
	owned     map[string]bool // devices by their id
	heightAt  int64           // of the latest height, UTC microseconds
	bodies    map[bodyDay]*weighed
	stretches []stretch
}

// end stores what the whole file had to be read for.
func (r *reader) end(ctx context.Context) error {
	r.keepBodies()
	return r.nights(ctx)
}

// bodyDay is a day's body by one kind of source.
type bodyDay struct {
	day    civil.Date
	source string
}
