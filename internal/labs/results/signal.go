package results

import (
	"fmt"
	"strings"

	"hale/internal/labs/loinc"
	"hale/internal/labs/orders"
)

// signalCode is the code under which a central lab reports a test for signals
// of many cancers: the signal itself, then where it may come from, then
// comments.
//
// Reference 3.
const signalCode = "86038987"

// cancerSignal gives the rows of that test the names that clients know them by.
// A signal is critical in all its rows; without one there is only the first.
func (e *expectations) cancerSignal(r *Result) {
	part, ours := strings.CutPrefix(r.ProviderID, signalCode)
	if !ours || e.lab.Slug != "quest" {
		return
	}
	switch {
	case part == "":
		r.Slug = "galleri-cancer-signal"
	case part == "_1":
		r.Slug = "galleri-cancer-signal-origin"
	case part == "_2":
		r.Slug = "galleri-cancer-signal-origin-subcategory"
	case strings.HasPrefix(part, "_"):
		r.Slug = fmt.Sprintf("galleri-comment-%s", loinc.Slug(part))
	}
	r.Interpretation = orders.Critical
	if part == "" && r.Text == "NOT_DETECTED" {
		r.Interpretation = orders.Normal
	}
}
