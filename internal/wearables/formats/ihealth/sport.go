package ihealth

import (
	"strings"

	"hale/internal/wearables/derive"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/replies"
	"hale/internal/wearables/formats/sheet"
	"hale/internal/wearables/formats/sports"
)

// sport takes a workout, whose times are in UTC.
func (r *reader) sport(d replies.Document) replies.Verdict {
	start, began := d.Unix("SportStartTime")
	end, ended := d.Unix("SportEndTime")
	if !began || !ended || end.Before(start) || end.Sub(start) > files.LongestWorkout {
		return replies.BadDate
	}
	offset, known := offsetOf(d)
	if !known {
		offset = sheet.OffsetAt(r.Zone, start.UnixMicro())
	}
	name := files.Text(d.Text("SportName"))
	kind, _, _ := strings.Cut(name, ",") // "Swimming, breaststroke"
	r.Workout(derive.Workout{
		ID: files.Text(d.Word("DataID")), Title: name, Sport: sports.OfWord(kind), Source: sourceOf(d, "watch"),
		Start: start.UnixMicro(), End: end.UnixMicro(), Offset: offset, Kcal: d.Positive("Calories"),
	})
	return replies.Mapped
}
