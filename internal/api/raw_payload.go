package api

import (
	"context"
	"encoding/json"
	"fmt"

	"hale/internal/people/users"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/wearables"
	"hale/internal/wearables/ledger"
)

// payloads opens each payload of a read once.
type payloads struct {
	tx     *store.Tx
	caller Caller
	user   users.ID
	asked  map[ledger.ID][]int // places of the summaries that are read
	open   map[ledger.ID]*payload
	size   int64 // bytes that were opened
}

// payload is one that was opened; said is what a pushed body has at the places
// that are asked for. The rest of it is not kept.
type payload struct {
	ledger.Payload
	said map[int]json.RawMessage
}

// mostRaw bounds how many bytes are opened for one read, which has no pages: a
// body may be some kilobytes at rest and as large as a push may be. One body is
// opened whatever its size.
const mostRaw = 64 << 20

var errRawTooLarge = fault.New(fault.Unprocessable,
	"the bodies of this time are too large for one answer; ask for a shorter time, or for one provider")

// data is what the provider said of a summary.
func (p *payloads) data(ctx context.Context, from ledger.Origin, s *wearables.StoredSummary) (json.RawMessage, error) {
	one, err := p.find(ctx, from)
	if err != nil {
		return nil, err
	}
	if said, ok := one.said[from.Place]; ok {
		return said, nil
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
		if err := p.read(ctx, one); err != nil {
			return nil, err
		}
	}
	p.open[from.Payload] = one
	return one, nil
}

// read opens a pushed body.
func (p *payloads) read(ctx context.Context, one *payload) error {
	if p.size > 0 && p.size+one.Size > mostRaw {
		return errRawTooLarge
	}
	p.size += one.Size
	body, err := one.Body(ctx, p.tx)
	if err != nil {
		return err
	}
	var pushed struct {
		Data []json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(body, &pushed); err != nil {
		return fmt.Errorf("api: a body of the ledger is no JSON: %w", err)
	}
	one.said = map[int]json.RawMessage{}
	for _, place := range p.asked[one.ID] {
		if place >= 0 && place < len(pushed.Data) {
			one.said[place] = pushed.Data[place]
		}
	}
	return nil
}
