package garmin

import (
	"strings"

	"hale/internal/wearables"
	"hale/internal/wearables/derive"
	"hale/internal/wearables/formats/sports"
)

// sportOf names an activity by Garmin's word, such as TRAIL_RUNNING in the
// interface for partners and trail_running on the pages. Words that were given
// a new meaning end in _v2, those of winter sports in _ws.
func sportOf(word string) derive.Sport {
	return sports.MainOf(strings.TrimSuffix(strings.TrimSuffix(strings.ToLower(word), "_v2"), "_ws"))
}

// machines are sports on a machine that does not move. The machine is their
// source, as in FIT files.
var machines = map[string]bool{"indoor_cycling": true, "spin": true, "virtual_ride": true}

func sourceOf(word string, typedIn bool) wearables.Source {
	switch {
	case typedIn:
		return app
	case machines[strings.ToLower(word)]:
		return wearables.Source{Provider: Provider, Type: "exercise_machine"}
	}
	return watch
}
