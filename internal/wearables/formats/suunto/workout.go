package suunto

import (
	"time"

	"hale/internal/wearables/derive"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/replies"
	"hale/internal/wearables/formats/sheet"
)

// workout takes a workout. Instants are in milliseconds.
//
// The heart rate has values of the workout beside values of the person. A short
// name means the workout in some replies and the person in others. So the
// reader uses only the long names.
func (m *reader) workout(d replies.Document) replies.Verdict {
	start, began := d.UnixMilli("startTime")
	if !began {
		return replies.BadDate
	}
	seconds := d.Amount("totalTime")
	end, ended := d.UnixMilli("stopTime")
	if !ended && seconds != nil && *seconds <= files.LongestWorkout.Seconds() {
		end, ended = start.Add(time.Duration(*seconds*float64(time.Second))), true
	}
	if !ended || end.Before(start) || end.Sub(start) > files.LongestWorkout {
		return replies.BadDate
	}
	hearts := d.Inner("hrdata")
	m.Recording(files.Recording{
		Workout: derive.Workout{
			ID: idOf(d), Sport: sportOf(d), Source: watch, Start: start.UnixMicro(), End: end.UnixMicro(), Offset: m.offset(d, start),
			Moving: d.Positive("totalTime"), Metres: d.Positive("totalDistance"), Kcal: d.Positive("energyConsumption"),
			Steps: d.Positive("stepCount"), Gain: d.Amount("totalAscent"),
			MeanBPM: hearts.Positive("workoutAvgHR"), MaxBPM: hearts.Positive("workoutMaxHR"),
			Watts: d.Positive("avgPower"), MaxW: d.Positive("maxPower"),
		},
		Speed: d.Positive("avgSpeed"), MaxSpeed: d.Positive("maxSpeed"), // m/s
		High: height(d, "maxAltitude"), Low: height(d, "minAltitude"),
	})
	m.gear(d.Inner("gear"))
	m.Homeless("workout", d, "recoveryTime", "cadence", "totalDescent")
	return replies.Mapped
}

// height returns a height in metres, or nil. Suunto writes 0 for an unknown height.
func height(d replies.Document, name string) *float64 {
	v := d.Signed(name)
	if v == nil || *v == 0 {
		return nil
	}
	return v
}

// idOf returns the key of a workout in Suunto's API, or otherwise its number.
func idOf(d replies.Document) string {
	for _, name := range []string{"workoutKey", "key", "workoutId"} {
		if id := d.Word(name); id != "" {
			return files.Text(id)
		}
	}
	return ""
}

// offset returns the offset of the place, in seconds east of UTC. Suunto states it in
// minutes. Without it, offset returns the offset of the user's fallback zone.
func (m *reader) offset(d replies.Document, at time.Time) int32 {
	if minutes, ok := d.Integer("timeOffsetInMinutes"); ok && minutes >= -24*60 && minutes <= 24*60 && replies.IsOffset(minutes*60) {
		return int32(minutes * 60)
	}
	return sheet.OffsetAt(m.Zone, at.UnixMicro())
}

// gear keeps the watch that a workout names, once.
func (m *reader) gear(d replies.Document) {
	serial := files.Text(d.Text("serialNumber"))
	if serial == "" || m.watches[serial] {
		return
	}
	model := d.Text("displayName")
	if model == "" {
		model = d.Text("name")
	}
	if m.Own(files.Device{
		Provider: Provider, SourceType: watch.Type, Manufacturer: files.Text(d.Text("manufacturer")), Model: files.Text(model),
		ExternalID: serial, Version: files.Text(d.Text("swVersion")),
	}) {
		m.watches[serial] = true
	}
}
