package ihealth

import "hale/internal/wearables/formats/replies"

// listNames are the names of the lists of records.
var listNames = []string{"BPDataList", "BGDataList", "BODataList", "WeightDataList", "ARDataList", "SRDataList", "SPORTDataList"}

// open returns the resources in the order in which they are matched with a
// record.
func open(r *replies.Reader) replies.Reading {
	m := &reader{r}
	return replies.Reading{Resources: []replies.Resource{
		{Name: "blood pressure", Keys: []string{"HP", "LP", "MDate"}, Take: m.pressure},
		{Name: "glucose", Keys: []string{"BG", "MDate"}, Take: m.glucose},
		{Name: "oxygen", Keys: []string{"BO", "MDate"}, Take: m.oxygen},
		{Name: "weight", Keys: []string{"WeightValue", "MDate"}, Take: m.weight},
		{Name: "activity", Keys: []string{"Steps", "DistanceTraveled", "MDate"}, Take: m.day},
		{Name: "sleep", Keys: []string{"HoursSlept", "StartTime", "EndTime"}, Take: m.sleep},
		{Name: "sport", Keys: []string{"SportName", "SportStartTime", "SportEndTime"}, Take: m.sport},
		{Name: "empty", Is: isEmpty},
	}}
}

// isEmpty reports whether a page has no records.
func isEmpty(d replies.Document) bool {
	return (d.Has("RecordCount") || d.Has("CurrentRecordCount")) && d.EmptyList(listNames...)
}
