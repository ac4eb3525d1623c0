package teams_test

import (
	"reflect"
	"strings"
	"testing"

	"hale/internal/platform/teams"
)

// Every setting of a team has its switch, which turns only that setting.
func TestSwitches(t *testing.T) {
	if fields := reflect.TypeFor[teams.Settings]().NumField(); fields != len(teams.Switches)+len(teams.Values) {
		t.Errorf("%d settings, and %d switches and values", fields, len(teams.Switches)+len(teams.Values))
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
		if found, _, err := teams.FindSetting(w.Name); err != nil || found == nil || found.Name != w.Name {
			t.Errorf("%s is not found: %v", w.Name, err)
		}
	}
	if _, _, err := teams.FindSetting("x"); err == nil || !strings.Contains(err.Error(), "redraws_enabled") {
		t.Errorf("an unknown setting: %v", err)
	}
	sandbox := teams.Team{Environment: teams.Sandbox}
	if w, _, _ := teams.FindSetting("result_reviews_enabled"); !w.On(sandbox) {
		t.Error("a sandbox team does not review its results")
	}
}

// Each value is checked, set and removed by its own name.
func TestValues(t *testing.T) {
	for _, v := range teams.Values {
		good, bad := "lab@example.org", "Lab <lab@example.org>"
		if v.Name == "critical_result_minutes" {
			good, bad = "15", "0"
		}
		var team teams.Team
		before := v.Of(team)
		if err := v.Set(&team.Settings, good); err != nil || v.Of(team) != good {
			t.Errorf("%s=%s: %v, is %q", v.Name, good, err, v.Of(team))
		}
		for _, other := range teams.Values {
			if other.Name != v.Name && other.Of(team) != other.Of(teams.Team{}) {
				t.Errorf("%s sets %s", v.Name, other.Name)
			}
		}
		if err := v.Set(&team.Settings, bad); err == nil || !strings.Contains(err.Error(), v.Name) {
			t.Errorf("%s=%s: %v", v.Name, bad, err)
		}
		if err := v.Set(&team.Settings, ""); err != nil || v.Of(team) != before {
			t.Errorf("%s is not removed: %v, is %q", v.Name, err, v.Of(team))
		}
		if _, found, err := teams.FindSetting(v.Name); err != nil || found == nil || found.Name != v.Name {
			t.Errorf("%s is not found: %v", v.Name, err)
		}
	}
}

// The error of an unknown setting names the wrong word.
func TestUnknownSetting(t *testing.T) {
	if _, _, err := teams.FindSetting("colour"); err == nil || !strings.Contains(err.Error(), `a team has no setting "colour"; it has `) {
		t.Error(err)
	}
	for i := range teams.Values {
		if teams.Values[i].Name == "critical_result_minutes" {
			if err := teams.Values[i].Set(&teams.Settings{}, "0"); err == nil || !strings.Contains(err.Error(), "critical_result_minutes: must be a number from 1 to 10080") {
				t.Error(err)
			}
		}
	}
}
