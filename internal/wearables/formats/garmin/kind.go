package garmin

import (
	"context"

	"hale/internal/platform/civil"
	"hale/internal/wearables"
	"hale/internal/wearables/formats/replies"
)

// Provider is the catalogue's name for Garmin.
const Provider = "garmin"

var maker = replies.Maker{
	WallClock: true,
	Kind:      "garmin", Title: "Garmin JSON", Provider: Provider, Lists: listNames, HeartOfDays: true, Open: open,
}

// Kind is a file of Garmin's documents.
var Kind = maker.OfOne(personOf)

// These are the sources: worn or mounted devices, scales, cuffs, and typed values.
var (
	watch = wearables.Source{Provider: Provider, Type: "watch"}
	scale = wearables.Source{Provider: Provider, Type: "scale"}
	cuff  = wearables.Source{Provider: Provider, Type: "cuff"}
	app   = wearables.Source{Provider: Provider, Type: "app"}
)

// reader takes Garmin's documents of one file. It keeps data that several of them share
// until the end.
type reader struct {
	*replies.Reader
	days    map[civil.Date]*replies.Activity
	epochs  map[epochKey]epoch
	weighed map[string]bool // by Garmin's id
	listed  bool            // there was an activity
	nights  map[civil.Date]replies.Sleep
	nightly []replies.Nightly
}

func (r *reader) end(ctx context.Context) error {
	r.endDays()
	if err := r.endEpochs(ctx); err != nil {
		return err
	}
	r.endNights()
	return ctx.Err()
}

// personOf returns Garmin's number of the user of a document, or "" if the document does
// not state it.
func personOf(d replies.Document) string {
	for _, name := range []string{"userId", "userProfilePK", "userProfilePk", "userProfileId", "ownerId"} {
		if id := d.Word(name); id != "" {
			return id
		}
	}
	return ""
}
