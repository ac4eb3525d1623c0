package teams_test

import (
	"reflect"
	"strings"
	"testing"

	"hale/internal/platform/teams"
)

// Every setting of a team has its switch, which turns it and nothing else.
func TestSwitches(t *testing.T) {
	if fields := reflect.TypeFor[teams.Settings]().NumField(); fields != len(teams.Switches) {
		t.Errorf("%d settings, and %d switches", fields, len(teams.Switches))
	}
	for _, w := range teams.Switches {
		team := teams.Team{Environment: teams.Production}
		if w.On(team) {
			t.Errorf("%s is on from the beginning", w.Name)
		}
		w.Turn(&team.Settings, true)
		for _, other := range teams.Switches {
			if other.On(team) != (other.Name == w.Name) {
				t.Errorf("%s on turns %s to %v", w.Name, other.Name, other.On(team))
			}
		}
		w.Turn(&team.Settings, false)
		if w.On(team) {
			t.Errorf("%s stays on", w.Name)
		}
		if found, err := teams.SwitchNamed(w.Name); err != nil || found.Name != w.Name {
			t.Errorf("%s is not found: %v", w.Name, err)
		}
	}
	if _, err := teams.SwitchNamed("x"); err == nil || !strings.Contains(err.Error(), "redraws_enabled") {
		t.Errorf("an unknown setting: %v", err)
	}
	sandbox := teams.Team{Environment: teams.Sandbox}
	if w, _ := teams.SwitchNamed("result_reviews_enabled"); !w.On(sandbox) {
		t.Error("a sandbox team does not review its results")
	}
}
