package ultrahuman

import (
	"cmp"
	"strings"

	"hale/internal/wearables/derive"
	"hale/internal/wearables/formats/replies"
)

// sleep takes a night. Older replies have its values in lists, newer ones also in objects
// beside the lists.
func (r *reader) sleep(item, body replies.Document) replies.Verdict {
	start, began := body.Unix("bedtime_start")
	end, ended := body.Unix("bedtime_end")
	if !began || !ended {
		return replies.BadDate
	}
	n := replies.Night{Source: ring, Start: start, End: end, Offset: r.offset(item, end)}
	if day, ok := r.dayOf(item, body); ok {
		n.Date = day
	}
	figures := map[string]*float64{}
	for _, one := range body.Documents("quick_metrics") {
		figures[one.Text("type")] = one.Positive("value")
	}
	parts := map[string]*int64{}
	for _, one := range body.Documents("sleep_stages") {
		parts[one.Text("type")] = one.Whole("stage_time")
	}
	n.Sleep = replies.Sleep{
		Deep: parts["deep_sleep"], Light: parts["light_sleep"], REM: parts["rem_sleep"], Awake: parts["awake"],
		Total:      cmp.Or(replies.Whole(figures["total_sleep"]), replies.Whole(replies.Times(body.Inner("total_sleep").Positive("minutes"), 60))),
		Efficiency: cmp.Or(figures["sleep_efic"], body.Inner("sleep_efficiency").Positive("percentage"), body.Positive("sleep_efficiency")),
		HRAverage:  replies.Whole(figures["avg_hr"]), AverageHRV: figures["avg_hrv"],
		Score: replies.Whole(body.Inner("sleep_score").Positive("score")),
		Skin:  body.Inner("average_body_temperature").Positive("celsius"), Temperature: body.Inner("temperature_deviation").Deviation("celsius"),
	}
	if n.Sleep.Total == nil && n.Sleep.Deep != nil && n.Sleep.Light != nil && n.Sleep.REM != nil {
		n.Sleep.Total = replies.Sum(n.Sleep.Deep, n.Sleep.Light, n.Sleep.REM) // reference 7.5
	}
	for _, one := range body.Inner("sleep_graph").Documents("data") {
		from, begins := one.Unix("start")
		to, ends := one.Unix("end")
		stage, known := stages[strings.TrimSuffix(one.Text("type"), "_sleep")]
		if begins && ends && known {
			n.Stages.Add(from.Unix()-start.Unix(), min(to.Unix(), end.Unix())-start.Unix(), stage)
		}
	}
	return r.Night(n)
}

var stages = map[string]int8{"awake": derive.Awake, "light": derive.Light, "deep": derive.Deep, "rem": derive.REM}
