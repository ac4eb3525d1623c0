package derive

import (
	"cmp"
	"context"
	"slices"
	"time"

	"hale/internal/platform/civil"
	"hale/internal/wearables"
)

// bodyBody has the wire fields that are derived.
//
// Reference 7.5.
type bodyBody struct {
	Weight *float64 `json:"weight"`
	Fat    *float64 `json:"fat"`
	BMI    *float64 `json:"body_mass_index"`
	Lean   *float64 `json:"lean_body_mass_kilogram"`
	Waist  *float64 `json:"waist_circumference_centimeter"`
}

// bodyFields map series to fields of the body.
var bodyFields = []struct {
	resource string
	field    func(*bodyBody) **float64
}{
	{"body_weight", func(b *bodyBody) **float64 { return &b.Weight }},
	{"body_fat", func(b *bodyBody) **float64 { return &b.Fat }},
	{"body_mass_index", func(b *bodyBody) **float64 { return &b.BMI }},
	{"lean_body_mass", func(b *bodyBody) **float64 { return &b.Lean }},
	{"waist_circumference", func(b *bodyBody) **float64 { return &b.Waist }},
}

// bodies derives one body summary per day and source: measured and typed values are
// separate. The last value of a day counts.
func (d *Deriver) bodies(found tracks, wanted map[civil.Date]bool) []wearables.Summary {
	type place struct {
		day    civil.Date
		origin origin
	}
	zone := d.zone()
	all := map[place]*bodyBody{}
	sources := map[origin]wearables.Source{}
	for _, f := range bodyFields {
		for _, t := range found[f.resource] {
			for i := range t.Time { // in time order, so that the last one stays
				day := localDate(t.Time[i], t.offset(i, zone))
				if !wanted[day] {
					continue
				}
				at := place{day, originOf(t.Source)}
				sources[at.origin] = t.Source
				if all[at] == nil {
					all[at] = &bodyBody{}
				}
				*f.field(all[at]) = roundTo(t.Value[i], 4)
			}
		}
	}
	summaries := make([]wearables.Summary, 0, len(all))
	for at, body := range all {
		summaries = append(summaries, wearables.Summary{
			Resource: "body", Key: at.day.String() + "|" + at.origin.key(),
			Record: recordPrefix + at.day.String() + "|" + at.origin.key(),
			Source: sources[at.origin], Date: at.day, Body: encode(body),
		})
	}
	slices.SortFunc(summaries, func(a, b wearables.Summary) int { return cmp.Compare(a.Key, b.Key) })
	return summaries
}

// profileBody has the wire fields of a profile. wheelchair_use is true or
// null, never false (reference 7.5).
type profileBody struct {
	Height        *int64  `json:"height"`
	BirthDate     *string `json:"birth_date"`
	WheelchairUse *bool   `json:"wheelchair_use"`
	Sex           *string `json:"sex"`
}

// Profile stores the provider's facts about the person, if there are any.
func (d *Deriver) Profile(ctx context.Context) error {
	p := d.Person
	if p == nil || p.Birth.IsZero() && p.Sex == "" && p.Height == nil && !p.Wheelchair {
		return nil
	}
	body := profileBody{Height: roundToIntOrNil(p.Height)}
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
