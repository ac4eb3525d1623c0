package replay

import (
	"hale/internal/platform/fault"
	"hale/internal/wearables"
	"hale/internal/wearables/ledger"
	"hale/internal/wearables/push"
)

// batchOf parses a pushed body, as the API does.
func batchOf(p *ledger.Payload, body []byte) (wearables.Batch, error) {
	switch p.Kind {
	case ledger.Samples:
		r, ok := wearables.ResourceNamed(p.Resource)
		if !ok {
			break
		}
		pushed, err := push.Parse(body, r)
		if err != nil {
			return wearables.Batch{}, err
		}
		batch, _ := pushed.Batch(r)
		return batch, nil
	case ledger.Series:
		pushed, err := push.ParseSeries(body)
		if err != nil {
			return wearables.Batch{}, err
		}
		return pushed.Batch(), nil
	case ledger.Summaries:
		d, ok := wearables.DocumentNamed(p.Resource)
		if !ok {
			break
		}
		pushed, err := push.ParseSummaries(body, d)
		if err != nil {
			return wearables.Batch{}, err
		}
		return wearables.Batch{Provider: pushed.Provider, Summaries: pushed.Summaries}, nil
	}
	return wearables.Batch{}, fault.New(fault.Unprocessable, "there is no mapping for payloads of this kind")
}
