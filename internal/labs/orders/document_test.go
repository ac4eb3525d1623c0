package orders

import (
	"encoding/json"
	"testing"
)

// The version of an order changes with a revocation of its links, also within one instant,
// and not with the token of a link.
func TestVersionNamesTheGenerationOfLinks(t *testing.T) {
	version := func(generation int64, link string) string {
		t.Helper()
		text, err := json.Marshal(Document[int]{RequisitionFormURL: &link, linkGeneration: generation}.Version())
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	if version(1, "a") != version(1, "b") {
		t.Error("the token of a link changes the version")
	}
	if version(0, "a") == version(1, "a") || version(1, "a") == version(2, "a") {
		t.Error("a revocation leaves the version")
	}
}
