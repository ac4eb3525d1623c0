package suunto

import (
	"context"
	"time"

	"hale/internal/platform/civil"
	"hale/internal/wearables"
	"hale/internal/wearables/formats/replies"
)

// Provider is the provider of files whose maker is not in the catalogue.
const Provider = "manual"

var maker = replies.Maker{
	Kind: "suunto", Title: "Suunto JSON", Provider: Provider, Lists: []string{"payload"}, Open: open,
}

// Kind is a file of Suunto's replies.
var Kind = maker.Files()

var watch = wearables.Source{Provider: Provider, Type: "watch", AppID: "suunto"}

// reader is the state of one reading.
type reader struct {
	*replies.Reader
	nights  map[time.Time]replies.Night
	steps   map[civil.Date]float64
	watches map[string]bool // by serial number
}

// open returns the resources in the order in which they are matched with a document.
// Recovery, a share of the body's energy and a word for stress, has no scale of ours.
func open(r *replies.Reader) replies.Reading {
	m := &reader{Reader: r, nights: map[time.Time]replies.Night{}, steps: map[civil.Date]float64{}, watches: map[string]bool{}}
	return replies.Reading{End: m.end, Resources: []replies.Resource{
		{Name: "workout", Keys: []string{"activityId", "startTime", "totalTime", "totalDistance"}, Take: m.workout},
		{Name: "sleep", Keys: entryKeys, Is: notes("BedtimeStart", "DeepSleepDuration", "SleepId"), Take: m.sleep},
		{Name: "activity", Keys: entryKeys, Is: notes("HR", "HRV", "SpO2", "StepCount", "EnergyConsumption"), Take: m.sample},
		{Name: "recovery", Keys: entryKeys, Is: notes("Balance", "StressState")},
		{Name: "daily_statistics", Keys: []string{"Name", "Aggregation", "Sources"}, Take: m.statistics},
	}}
}

// entryKeys are the fields of all documents that a watch records day and night.
var entryKeys = []string{"timestamp", "entryData"}

// notes reports whether an entry has one of some fields.
func notes(names ...string) func(replies.Document) bool {
	has := replies.HasOne(names...)
	return func(d replies.Document) bool { return has(d.Inner("entryData")) }
}

// end stores the values that waited for the end of the file.
func (m *reader) end(context.Context) error {
	m.keepNights()
	m.keepDays()
	return nil
}
