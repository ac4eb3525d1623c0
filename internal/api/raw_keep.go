package api

import (
	"context"

	"hale/internal/people/users"
	"hale/internal/platform/store"
	"hale/internal/wearables"
	"hale/internal/wearables/ledger"
)

// keepSamples is what puts a pushed body of samples into the ledger, in the
// transaction that stores the samples.
func (a *API) keepSamples(c Caller, user users.ID, packed *ledger.Packed) wearables.Also {
	if a.Ledger == nil {
		return nil
	}
	return func(ctx context.Context, tx *store.Tx, b *store.Batch) error {
		_, err := a.Ledger.Keep(ctx, tx, b, c.Team, user, packed)
		return err
	}
}

// keepSummaries is keepSamples for summaries, each of which remembers where in
// which body it stood.
func (a *API) keepSummaries(c Caller, user users.ID, provider, resource string, body []byte, all []wearables.Summary) wearables.Also {
	if a.Ledger == nil {
		return nil
	}
	packed := ledger.Pack(ledger.Summaries, provider, resource, body)
	items := make([]ledger.Item, len(all))
	for i := range all {
		items[i] = ledger.Item{Summary: wearables.SummaryID(user.UUID(), provider, resource, all[i].Key), Place: i}
	}
	return func(ctx context.Context, tx *store.Tx, b *store.Batch) error {
		id, err := a.Ledger.Keep(ctx, tx, b, c.Team, user, packed)
		if err != nil {
			return err
		}
		return ledger.Link(ctx, tx, c.Team, user, id, items)
	}
}
