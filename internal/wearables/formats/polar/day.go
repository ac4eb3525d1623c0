package polar

import (
	"hale/internal/platform/civil"
	"hale/internal/wearables/formats/replies"
)

// activity takes a day, which begins by the watch's own clock. Older documents state
// its values twice: active steps are all steps.
func (r *reader) activity(doc replies.Document) replies.Verdict {
	d := spelled(doc)
	day, ok := d.Day("date")
	if !ok {
		begins, timed := wall(d.Text("start_time"))
		if !timed {
			return replies.BadDate
		}
		day = civil.DateOf(begins)
	}
	said := replies.Activity{
		Total: d.Amount("calories"), Active: d.Amount("active_calories"), Steps: d.Whole("steps"), Distance: d.Amount("distance_from_steps"),
	}
	if said.Steps == nil {
		said.Steps = d.Whole("active_steps")
	}
	return r.Activity(watch, day, said)
}
