package resources

import "strings"

// The verbs of events about data. Reference 8.1.
const (
	Created = "created"
	Updated = "updated"
	Deleted = "deleted"
)

const (
	dailyEvents      = "daily.data."
	historicalEvents = "historical.data."
)

// DailyEvent returns the type of an event about data of a resource. name is the name of the
// resource in events.
func DailyEvent(name, verb string) string { return dailyEvents + name + "." + verb }

// HistoricalEvent returns the type of the event about the complete history of a resource.
func HistoricalEvent(name string) string { return historicalEvents + name + "." + Created }

// NameInDailyEvent returns the name of the resource in the type of an event about its data.
// ok is false for other events.
func NameInDailyEvent(event string) (name string, ok bool) { return nameIn(event, dailyEvents) }

// NameInHistoricalEvent returns the name of the resource in the type of an event about its
// history. ok is false for other events.
func NameInHistoricalEvent(event string) (name string, ok bool) {
	return nameIn(event, historicalEvents)
}

func nameIn(event, prefix string) (name string, ok bool) {
	if rest, ok := strings.CutPrefix(event, prefix); ok {
		if name, _, ok := strings.Cut(rest, "."); ok {
			return name, true
		}
	}
	return "", false
}
