package results

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"hale/internal/labs/networks"
	"hale/internal/labs/orders"
	"hale/internal/platform/store"
)

// Arrival is a report of an order as it comes.
type Arrival struct {
	// Key names the report for ever, for the order's history.
	Key string
	// At is when the lab reported.
	At                time.Time
	SampleID, Account string
	Set               networks.ResultSet
}

// Take stores a report of an order, and, when it changes the order's results,
// adds a revision and moves the order. What was taken before changes nothing.
//
// o is the order as it was read; it is brought up to date.
func Take(ctx context.Context, tx *store.Tx, o *orders.Order, a Arrival) error {
	if err := tx.Lock(ctx, "results:"+o.ID.String()); err != nil {
		return fmt.Errorf("results: waiting for other reports of %s: %w", o.ID, err)
	}
	known, err := reports(ctx, tx, o)
	if err != nil {
		return err
	}
	next, doc, err := prepare(tx, a)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(known, func(r Report) bool { return r.digest == next.digest }) {
		return nil
	}
	if err := keep(ctx, tx, o, next, doc, a.Set.PDF); err != nil {
		return err
	}
	return revise(ctx, tx, o, append(known, next), a)
}

// prepare is a report as it is stored: without its document, whose hash stands
// for it.
func prepare(tx *store.Tx, a Arrival) (Report, []byte, error) {
	r := Report{At: a.At.UTC(), SampleID: a.SampleID, Account: a.Account, Set: a.Set, id: tx.NewUUID()}
	if len(a.Set.PDF) > 0 {
		sum := sha256.Sum256(a.Set.PDF)
		r.Document, r.Set.PDF = sum[:], nil
	}
	doc, err := json.Marshal(r)
	if err != nil {
		return Report{}, nil, fmt.Errorf("results: marshalling a report: %w", err)
	}
	r.digest = sha256.Sum256(doc)
	return r, doc, nil
}

// revise makes the results anew and adds a revision when they are other ones.
func revise(ctx context.Context, tx *store.Tx, o *orders.Order, all []Report, a Arrival) error {
	m := merge(all, o.SampleID)
	if !slices.ContainsFunc(all, func(r Report) bool { return r.says() }) {
		return dated(ctx, tx, o, m, a) // nothing but documents yet
	}
	e, err := expect(ctx, tx, o)
	if err != nil {
		return err
	}
	next := Revision{Order: o.ID, Number: 1, CreatedAt: tx.Now(), Version: version(&e, m)}
	before, documented, err := latest(ctx, tx, o)
	if err != nil {
		return err
	}
	if before != nil {
		next.Number = before.Number + 1
		same, err := alike(before.Version, next.Version)
		if err != nil || same && documented == m.document {
			return err
		}
	}
	if err := add(ctx, tx, o, next, m.document); err != nil {
		return err
	}
	return settle(ctx, tx, o, before, &next, &e, a)
}

// alike reports whether two versions say the same.
func alike(a, b Version) (bool, error) {
	one, err := json.Marshal(a)
	if err != nil {
		return false, fmt.Errorf("results: comparing versions: %w", err)
	}
	other, err := json.Marshal(b)
	if err != nil {
		return false, fmt.Errorf("results: comparing versions: %w", err)
	}
	return bytes.Equal(one, other), nil
}

// news reports whether a version tells anything new of the patient: another
// value, or that one is missing. A report that is sent again with a new date or
// document is none.
func news(before, after Version) (bool, error) {
	for _, v := range []*Version{&before, &after} {
		v.Samples, v.Comments, v.Laboratory, v.CLIA, v.Account, v.Corrected = nil, nil, "", "", "", false
	}
	same, err := alike(before, after)
	return !same, err
}
