package orders

import (
	"context"
	"fmt"

	"hale/internal/labs/catalogue"
	"hale/internal/people/insurance"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
)

// needsNotice reports whether the patient needs a notice, before the sample is
// collected, that Medicare may not pay. This is the case if the order is billed
// to Medicare and, for some marker, none of its diagnoses is covered. The lab's
// compendium lists the covered diagnoses. A lab that decides by itself reports
// it in its receipt.
//
// Reference 1.1, has_abn: the reference has the flag but does not name who sets it.
// Medicare Claims Processing Manual, chapter 30, section 50: the notice is for
// tests that lack medical necessity.
func needsNotice(ctx context.Context, tx *store.Tx, o *Order) (bool, error) {
	if o.Insurance == nil {
		return false, nil
	}
	record, err := insurance.Get(ctx, tx, o.Team, o.User, *o.Insurance)
	if fault.Is(err, fault.NotFound) { // a recreated order whose record was deleted
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("orders: who pays: %w", err)
	}
	if !record.Medicare() {
		return false, nil
	}
	offered, err := catalogue.For(ctx, tx, o.Team)
	if err != nil {
		return false, err
	}
	test, err := catalogue.GetTest(ctx, tx, o.Team, o.LabTest)
	if err != nil {
		return false, err
	}
	for _, m := range offered.MarkersOf(test) {
		if !m.Supported(o.Body.ICDCodes) {
			return true, nil
		}
	}
	return false, nil
}
