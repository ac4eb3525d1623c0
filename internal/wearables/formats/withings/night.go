package withings

import (
	"cmp"

	"hale/internal/wearables/formats/replies"
)

// night takes the summary of a sleep.
func (r *reader) night(d replies.Document) replies.Verdict {
	start, began := d.Unix("startdate")
	end, ended := d.Unix("enddate")
	if !began || !ended {
		return replies.BadDate
	}
	data := d.Inner("data")
	n := replies.Night{
		ID: d.Word("id"), Source: source(sleepKind(d)), Start: start, End: end, Offset: r.OffsetIn(d.Text("timezone"), end),
		Sleep: replies.Sleep{
			Total: data.Whole("total_sleep_time"), Awake: data.Whole("wakeupduration"),
			Light: data.Whole("lightsleepduration"), Deep: data.Whole("deepsleepduration"), REM: data.Whole("remsleepduration"),
			Latency:  cmp.Or(data.Whole("sleep_latency"), data.Whole("durationtosleep")),
			HRLowest: replies.Whole(data.Positive("hr_min")), HRAverage: replies.Whole(data.Positive("hr_average")),
			Respiratory: data.Positive("rr_average"), Score: replies.Whole(data.Positive("sleep_score")),
		},
	}
	if day, ok := d.Day("date"); ok {
		n.Date = day
	}
	s := &n.Sleep
	s.Total = cmp.Or(s.Total, replies.Sum(s.Light, s.Deep, s.REM))
	if ratio := data.Amount("sleep_efficiency"); ratio != nil && *ratio <= 1 {
		s.Efficiency = replies.Times(ratio, 100)
	}
	if d.States("completed") && !d.Flag("completed") { // the night continues
		s.Type = "unknown"
	}
	became := r.Night(n)
	if became == replies.Mapped {
		r.Homeless("sleep summary", data, "apnea_hypopnea_index", "breathing_disturbances_intensity", "snoring", "mvt_score_avg")
	}
	return became
}
