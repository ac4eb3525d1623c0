package catalogue

import (
	"context"
	"slices"

	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// PanelOf is the panel of markers of an earlier order, as for those that a lab
// could not measure. That some cannot be ordered by themselves is no matter
// here. markers are of one lab.
//
// Reference 1.7, redraw.
func PanelOf(ctx context.Context, tx *store.Tx, team teams.ID, markers []MarkerID, method Method) (Panel, error) {
	c, err := For(ctx, tx, team)
	if err != nil {
		return Panel{}, err
	}
	var of Panel // for adding each once
	for _, id := range markers {
		if m, ok := c.Marker(id); ok && !slices.Contains(of.Markers, m) {
			of.Markers = append(of.Markers, m)
		}
	}
	if len(of.Markers) == 0 {
		return Panel{}, fault.New(fault.Refused, "The markers are no longer offered")
	}
	p, err := c.panel(nil, of.Markers, method)
	if err != nil {
		return Panel{}, err
	}
	p.Test = generate(tx, team, p)
	return p, p.keep(ctx, tx)
}
