package imports

import (
	"testing"

	"hale/internal/wearables/providers"
)

// Whose past a file brings is known of every kind, so that an import of it
// shows where that past would be.
func TestKindsSayWhosePastTheyBring(t *testing.T) {
	for _, kind := range kinds {
		if _, known := providers.Find(kind.Provider); known == kind.Recording {
			t.Errorf("%s: %q", kind.Name, kind.Provider)
		}
	}
}
