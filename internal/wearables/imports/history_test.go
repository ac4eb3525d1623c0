package imports

import (
	"testing"

	"hale/internal/wearables/providers"
)

// Every kind of file names the provider of its history, so that an import appears in
// the history of that provider.
func TestKindsNameTheirProvider(t *testing.T) {
	for _, kind := range kinds {
		if _, known := providers.Find(kind.Provider); known == kind.Recording {
			t.Errorf("%s: %q", kind.Name, kind.Provider)
		}
	}
}
