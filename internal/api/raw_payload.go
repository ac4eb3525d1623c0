package api

import (
	"context"
	"encoding/json"
	"fmt"

	"hale/internal/ledger"
	"hale/internal/store"
	"hale/internal/users"
	"hale/internal/wearables"
)

// payloads opens each payload of a read once.
type payloads struct {
	tx     *store.Tx
	caller Caller
	user   users.ID
	open   map[ledger.ID]*payload
}

// payload is one that was opened; list is the data of a pushed body.
type payload struct {
	ledger.Payload
	list []json.RawMessage
}

// data is what the provider said of a summary.
func (p *payloads) data(ctx context.Context, from ledger.Origin, s *wearables.StoredSummary) (json.RawMessage, error) {
	one, err := p.find(ctx, from)
	if err != nil {
		return nil, err
	}
	if from.Place >= 0 && from.Place < len(one.list) {
		return one.list[from.Place], nil
	}
	return json.Marshal(derivedData{Payload: one.ID, Kind: one.Kind, ReceivedAt: Time(one.LastAt), Derived: s.Body})
}

// derivedData stands for a summary that was derived from a file.
type derivedData struct {
	Payload    ledger.ID       `json:"payload_id"`
	Kind       string          `json:"kind"`
	ReceivedAt Time            `json:"received_at"`
	Derived    json.RawMessage `json:"derived"`
}

func (p *payloads) find(ctx context.Context, from ledger.Origin) (*payload, error) {
	if one, ok := p.open[from.Payload]; ok {
		return one, nil
	}
	found, err := ledger.Get(ctx, p.tx, p.caller.Team, p.user, from.Payload)
	if err != nil {
		return nil, err
	}
	one := &payload{Payload: found}
	if from.Place >= 0 {
		body, err := found.Body(ctx, p.tx)
		if err != nil {
			return nil, err
		}
		var pushed struct {
			Data []json.RawMessage `json:"data"`
		}
		if err := json.Unmarshal(body, &pushed); err != nil {
			return nil, fmt.Errorf("api: a body of the ledger is no JSON: %w", err)
		}
		one.list = pushed.Data
	}
	p.open[from.Payload] = one
	return one, nil
}
