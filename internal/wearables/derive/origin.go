package derive

import (
	"slices"

	"github.com/google/uuid"

	"hale/internal/wearables"
)

// origin is who recorded something: a source without the sport or workout it
// was recorded for. Origins can be compared.
type origin struct {
	kind, app string
	device    uuid.UUID
}

func originOf(s wearables.Source) origin {
	o := origin{kind: s.Type, app: s.AppID}
	if s.DeviceID != nil {
		o.device = *s.DeviceID
	}
	return o
}

// key is the origin as a part of a summary's key.
func (o origin) key() string {
	if o.device == uuid.Nil {
		return o.kind + "|" + o.app
	}
	return o.kind + "|" + o.app + "|" + o.device.String()
}

// sourceOf is the one source of several values, or multiple_sources.
func (d *Deriver) sourceOf(all []wearables.Source) wearables.Source {
	if len(all) == 0 || slices.ContainsFunc(all, func(s wearables.Source) bool { return originOf(s) != originOf(all[0]) }) {
		return wearables.Source{Provider: d.Provider, Type: "multiple_sources"}
	}
	s := all[0]
	s.Sport, s.WorkoutID = "", nil
	return s
}
