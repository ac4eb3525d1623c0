package results

import (
	"context"
	"slices"

	"hale/internal/labs/orders"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// TransactionResults holds the merged results of all orders of a transaction.
type TransactionResults struct {
	Transaction orders.Transaction
	// Orders are those that have results, oldest first; Revisions has the
	// latest revision of each.
	Orders    []orders.Order
	Revisions []Revision
	Version
}

// ForTransaction merges the results of a transaction's orders. A later order's
// results replace those of an earlier order, and nothing is missing that any
// order has. They are final when the transaction expects no more.
//
// Reference 1.14.
func ForTransaction(ctx context.Context, tx *store.Tx, team teams.ID, id orders.TransactionID) (TransactionResults, error) {
	transaction, err := orders.GetTransaction(ctx, tx, team, id)
	if err != nil {
		return TransactionResults{}, err
	}
	members, err := orders.OrdersOfTransaction(ctx, tx, team, id)
	if err != nil {
		return TransactionResults{}, err
	}
	t := TransactionResults{Transaction: transaction}
	for i := range members {
		r, _, err := latestRevision(ctx, tx, &members[i])
		if err != nil {
			return TransactionResults{}, err
		}
		if r != nil {
			r.fillCollectionTime(&members[i])
			t.Orders, t.Revisions = append(t.Orders, members[i]), append(t.Revisions, *r)
		}
	}
	if len(t.Revisions) == 0 {
		return TransactionResults{}, fault.Newf(fault.NotFound, "Results are not available for order transaction %s", id)
	}
	t.Version = joinVersions(t.Revisions)
	if transaction.Status == orders.TransactionActive {
		t.Status = Partial
	}
	return t, nil
}

// joinVersions joins versions, oldest first.
func joinVersions(all []Revision) Version {
	v := all[0].Version
	v.Results, v.Missing, v.Samples = slices.Clone(v.Results), nil, slices.Clone(v.Samples)
	for _, next := range all[1:] {
		v.Results = slices.DeleteFunc(v.Results, func(r Result) bool {
			return slices.ContainsFunc(next.Results, func(n Result) bool { return n.replaces(&r) })
		})
		v.Results = append(v.Results, next.Results...)
		for _, s := range next.Samples {
			v.Samples = append(slices.DeleteFunc(v.Samples, func(known Sample) bool { return known.Key == s.Key }), s)
		}
		if next.Status == Partial {
			v.Status = Partial
		}
		v.Corrected = v.Corrected || next.Corrected
		v.CalledCritical = v.CalledCritical || next.CalledCritical
		v.Laboratory, v.CLIA, v.Account, v.Patient = next.Laboratory, next.CLIA, next.Account, next.Patient
		v.Comments = append(slices.Clone(v.Comments), next.Comments...)
		v.Reviews = append(slices.Clone(v.Reviews), next.Reviews...)
		v.Warnings = append(slices.Clone(v.Warnings), next.Warnings...)
	}
	v.Interpretation = orders.Normal
	for _, r := range v.Results {
		v.Interpretation = worseInterpretation(v.Interpretation, r.Interpretation)
	}
	v.interpretWithoutValue()
	list, later := missingList{results: v.Results}, nameIndex{}
	for i := len(all) - 1; i >= 0; i-- { // the latest reason counts
		for _, m := range all[i].Missing {
			if !m.Elsewhere || !later.has(&m) {
				list.add(m, m.Failure)
			}
		}
		for j := range all[i].Results {
			later.addResult(&all[i].Results[j])
		}
	}
	v.Missing = list.all
	return v
}

// replaces reports whether a result of a later order is the same observation.
func (r *Result) replaces(earlier *Result) bool {
	if r.ProviderID != "" || earlier.ProviderID != "" {
		return r.ProviderID == earlier.ProviderID && r.SubID == earlier.SubID
	}
	return r.Slug == earlier.Slug && r.SubID == earlier.SubID
}
