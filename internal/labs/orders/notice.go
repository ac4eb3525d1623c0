package orders

import (
	"context"
	"fmt"

	"hale/internal/labs/catalogue"
	"hale/internal/people/insurance"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
)

// needsNotice reports whether the patient has to be told, before the sample is
// taken, that Medicare may not pay: the order is billed to Medicare, and none
// of its diagnoses is one for which Medicare covers some marker of it. Which
// those are is part of the lab's compendium. A lab that judges by itself says
// so in its receipt.
//
// Reference 1.1, has_abn: the reference has the flag and leaves open who sets
// it. Medicare Claims Processing Manual, chapter 30, section 50: the notice is
// for tests that lack medical necessity.
func needsNotice(ctx context.Context, tx *store.Tx, o *Order) (bool, error) {
	if o.Insurance == nil {
		return false, nil
	}
	record, err := insurance.Get(ctx, tx, o.Team, o.User, *o.Insurance)
	if fault.Is(err, fault.NotFound) { // of an order that is made again
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
