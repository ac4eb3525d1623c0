package fitbitexport

import (
	"encoding/json"
	"math"

	"hale/internal/wearables"
	"hale/internal/wearables/formats/sheet"
)

// dayBody has the wire fields of an activity that a row states.
//
// Reference 7.5.
type dayBody struct {
	Calories *float64 `json:"calories_total"`
	Steps    *float64 `json:"steps"`
	Distance *float64 `json:"distance"` // m
	Movement *float64 `json:"daily_movement"`
	Low      *float64 `json:"low"` // min
	Medium   *float64 `json:"medium"`
	High     *float64 `json:"high"`
}

// day takes one row of daily totals. Distance is in kilometres.
func (r *reader) day(row []string) error {
	count := r.report.Type("dailyActivity")
	r.report.Records++
	count.Read++
	date, ok := dateOf(sheet.Cell(row, r.header.Column("activitydate")))
	if !ok {
		count.BadDate++
		r.report.Left(count)
		return nil
	}
	cell := func(column string, times float64, decimals float64) *float64 {
		v, ok := sheet.Number(sheet.Cell(row, r.header.Column(column)))
		if !ok || v < 0 {
			return nil
		}
		v = math.Round(v*times*decimals) / decimals
		return &v
	}
	body := dayBody{
		Calories: cell("calories", 1, 100), Steps: cell("totalsteps", 1, 1), Distance: cell("totaldistance", 1000, 100),
		Low: cell("lightlyactiveminutes", 1, 1), Medium: cell("fairlyactiveminutes", 1, 1), High: cell("veryactiveminutes", 1, 1),
	}
	body.Movement = body.Distance
	if body.Steps == nil {
		count.BadValue++
		r.report.Left(count)
		return nil
	}
	raw, err := json.Marshal(body)
	if err != nil {
		return err
	}
	// The key is that of a derived day, so that a day has one activity however
	// its data came.
	r.days = append(r.days, wearables.Summary{
		Resource: "activity", Key: date.String(), Date: date,
		Source: wearables.Source{Provider: Provider, Type: "watch"}, Body: raw,
	})
	count.Mapped++
	r.report.Mapped++
	return nil
}
