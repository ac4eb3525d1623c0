package fitbitweb

import (
	"time"

	"hale/internal/platform/civil"
	"hale/internal/wearables/formats/replies"
	"hale/internal/wearables/formats/sheet"
)

// Google's archive has Fitbit's data a second time, in other files. Their sleep
// is that of the interface. Of the rest, the reader takes only data that names
// its kind. Steps, distances, energy and heights do not: all are lists of
// {"dateTime": …, "value": …}, and only the names of their files differ.
//
// Intraday times there are in UTC: a file of a day begins at the UTC time of
// the wearer's midnight.

// archiveDay is the date format of the archive.
const archiveDay = "01/02/06"

// beat takes a heart rate of the archive. A value without any confidence is invented: the
// tracker was not worn.
func (r *reader) beat(d replies.Document) replies.Verdict {
	at, err := time.Parse(archiveDay+" 15:04:05", d.Text("dateTime"))
	if err != nil || !replies.IsBelievableYear(at.Year()) {
		return replies.BadDate
	}
	v := d.Inner("value")
	bpm := v.Positive("bpm")
	if bpm == nil || v.Positive("confidence") == nil {
		return replies.BadValue
	}
	r.Gather.At(sheet.Key{Resource: "heartrate", Source: watch}, at.UnixMicro(), r.OffsetIn("", at), *bpm)
	return replies.Mapped
}

// restingBeat takes the resting heart rate of a day of the archive.
func (r *reader) restingBeat(d replies.Document) replies.Verdict {
	v := d.Inner("value")
	bpm := v.Positive("value")
	if bpm == nil {
		return replies.BadValue
	}
	day, ok := dayOfArchive(v.Text("date"))
	if !ok {
		return replies.BadDate
	}
	return r.Activity(watch, day, replies.Activity{HeartRate: &replies.HeartRate{Resting: bpm}})
}

func dayOfArchive(text string) (civil.Date, bool) {
	at, err := time.Parse(archiveDay, text)
	if err != nil || !replies.IsBelievableYear(at.Year()) {
		return civil.Date{}, false
	}
	return civil.DateOf(at), true
}
