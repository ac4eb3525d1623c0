package resources_test

import (
	"slices"
	"testing"

	"hale/internal/wearables/resources"
)

// TestEventNamesAreThoseOfTheTypes compares the names of events with the list of types, and
// reads the resource back from each.
func TestEventNamesAreThoseOfTheTypes(t *testing.T) {
	var types []string
	for _, typ := range resources.EventTypes() {
		types = append(types, typ.Name)
		daily, isDaily := resources.NameInDailyEvent(typ.Name)
		historical, isHistorical := resources.NameInHistoricalEvent(typ.Name)
		if isDaily == isHistorical {
			t.Errorf("%s: the event is daily %v and historical %v", typ.Name, isDaily, isHistorical)
		}
		if isHistorical && resources.HistoricalEvent(historical) != typ.Name {
			t.Errorf("%s: the name of the resource is %q", typ.Name, historical)
		}
		verbs := []string{resources.Created, resources.Updated, resources.Deleted}
		if isDaily && !slices.ContainsFunc(verbs, func(verb string) bool { return resources.DailyEvent(daily, verb) == typ.Name }) {
			t.Errorf("%s: the name of the resource is %q", typ.Name, daily)
		}
	}
	for _, name := range []string{
		"daily.data.weight.created", "daily.data.weight.updated", "daily.data.sleep.deleted", "historical.data.weight.created",
	} {
		if !slices.Contains(types, name) {
			t.Errorf("no type is named %s", name)
		}
	}
	for _, other := range []string{"", "daily.data.steps", "provider.connection.created"} {
		if name, ok := resources.NameInDailyEvent(other); ok || name != "" {
			t.Errorf("%q has the resource %q", other, name)
		}
	}
}
