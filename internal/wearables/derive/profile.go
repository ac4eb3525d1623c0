package derive

import (
	"context"
	"time"

	"hale/internal/wearables"
)

// profileBody has the wire fields of a profile. wheelchair_use is true or
// null, never false (reference 7.5).
type profileBody struct {
	Height        *int64  `json:"height"`
	BirthDate     *string `json:"birth_date"`
	WheelchairUse *bool   `json:"wheelchair_use"`
	Sex           *string `json:"sex"`
}

// Profile stores what the provider says about the person, if it says anything.
func (d *Deriver) Profile(ctx context.Context) error {
	p := d.Person
	if p == nil || p.Birth.IsZero() && p.Sex == "" && p.Height == nil && !p.Wheelchair {
		return nil
	}
	body := profileBody{Height: wholeOf(p.Height)}
	if !p.Birth.IsZero() {
		day := p.Birth.String()
		body.BirthDate = &day
	}
	if p.Sex != "" {
		body.Sex = &p.Sex
	}
	if p.Wheelchair {
		yes := true
		body.WheelchairUse = &yes
	}
	s := wearables.Summary{
		Resource: "profile", Key: "profile",
		Source: wearables.Source{Provider: d.Provider, Type: "unknown"}, Body: encode(body),
	}
	if p.Height != nil && p.HeightAt != 0 {
		s.Measured = time.UnixMicro(p.HeightAt).UTC()
	}
	return d.store(ctx, []wearables.Summary{s})
}
