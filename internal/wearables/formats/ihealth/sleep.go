package ihealth

import (
	"time"

	"hale/internal/wearables/formats/replies"
)

// sleep takes a night. HoursSlept has minutes in it.
func (r *reader) sleep(d replies.Document) replies.Verdict {
	start, _, began := r.moment(d, "StartTime")
	end, offset, ended := r.moment(d, "EndTime")
	if !began || !ended {
		return replies.BadDate
	}
	n := replies.Night{
		ID: d.Word("DataID"), Source: sourceOf(d, "watch"), Start: time.UnixMicro(start).UTC(), End: time.UnixMicro(end).UTC(), Offset: offset,
		Sleep: replies.Sleep{Total: replies.Whole(replies.Times(d.Positive("HoursSlept"), 60)), Efficiency: d.Positive("SleepEfficiency")},
	}
	became := r.Night(n)
	if became != replies.Mapped {
		return became
	}
	for _, part := range []string{"Awaken", "FallSleep"} { // how often; and how long, in no stated unit
		if d.Positive(part) != nil {
			r.Part("sleep."+part, replies.Skipped)
		}
	}
	return replies.Mapped
}
