package cli

import (
	"testing"

	"hale/internal/platform/teams"
)

// A switch accepts its words in any case. The error about another word names the words.
func TestSwitchesOfATeam(t *testing.T) {
	for value, want := range map[string]bool{"on": true, "ON": true, "true": true, "True": true, "off": false, "Off": false, "FALSE": false} {
		changes, err := settingsIn([]string{"reference_compat=" + value})
		if err != nil {
			t.Errorf("%s: %v", value, err)
			continue
		}
		settings := teams.Settings{ReferenceCompat: !want}
		if err := changes[0](&settings); err != nil || settings.ReferenceCompat != want {
			t.Errorf("%s turns it to %v, %v", value, settings.ReferenceCompat, err)
		}
	}
	for _, value := range []string{"", "1", "yes", "onn"} {
		if _, err := settingsIn([]string{"reference_compat=" + value}); err == nil || err.Error() != "reference_compat must be on or off, such as reference_compat=on" {
			t.Errorf("%q: %v", value, err)
		}
	}
}
