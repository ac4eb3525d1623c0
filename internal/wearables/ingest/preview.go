package ingest

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"

	"hale/internal/people/users"
	"hale/internal/platform/store"
	"hale/internal/wearables"
	"hale/internal/wearables/storage"
)

// Change describes what storing a batch would change in one series or one summary,
// without its values.
type Change struct {
	Resource string
	Verb     string // created, updated or deleted
	Source   wearables.Source
	Day      string   // calendar date of a summary
	Fields   []string // fields of an updated summary whose values differ
	Count    int      // samples; 1 for a summary or a stream
}

// Preview returns what Ingest would change, and changes nothing.
func (in *Ingester) Preview(ctx context.Context, user users.User, b wearables.Batch) (wearables.Result, []Change, error) {
	j := in.newJob(user, &b)
	var changes []Change
	err := in.db.Read(ctx, func(tx *store.Tx) error {
		j.snapshot = true
		if err := j.plan(ctx, tx); err != nil {
			return err
		}
		changes = nil
		for _, w := range j.series {
			changes = append(changes, w.changes()...)
		}
		for _, w := range j.summaries {
			some, err := w.changes(ctx, tx, j)
			if err != nil {
				return err
			}
			changes = append(changes, some...)
		}
		for _, d := range j.deleted {
			for i := range d.gone {
				s := &d.gone[i]
				changes = append(changes, Change{Resource: s.Resource, Verb: "deleted", Source: s.Source, Day: s.Day, Count: 1})
			}
		}
		for _, w := range j.streams {
			if w.verb != "" && !w.orphan {
				changes = append(changes, Change{Resource: wearables.WorkoutStream, Verb: w.verb, Source: wearables.Source{Provider: j.provider}, Count: 1})
			}
		}
		return nil
	})
	if err != nil {
		return wearables.Result{}, nil, err
	}
	return j.result(), changes, nil
}

func (w *seriesPlan) changes() (all []Change) {
	for _, c := range []Change{{Verb: created, Count: w.counts.Created}, {Verb: updated, Count: w.counts.Updated}} {
		if c.Count > 0 {
			c.Resource, c.Source = w.resource.Name, w.key.Source()
			all = append(all, c)
		}
	}
	return all
}

func (w *summaryPlan) changes(ctx context.Context, tx *store.Tx, j *job) ([]Change, error) {
	if w.verb == "" {
		return nil, nil
	}
	c := Change{Resource: w.Resource, Verb: w.verb, Source: w.Source, Count: 1}
	if !w.Date.IsZero() {
		c.Day = w.Date.String()
	}
	if w.verb == updated {
		was, err := storage.ReadSummary(ctx, tx, j.team, j.user, w.id)
		if err != nil {
			return nil, err
		}
		if c.Fields, err = changedFields(was.Body, w.body); err != nil {
			return nil, err
		}
	}
	return []Change{c}, nil
}

// changedFields returns the names of fields that differ between two canonical documents.
func changedFields(older, newer []byte) ([]string, error) {
	var a, b map[string]json.RawMessage
	if err := json.Unmarshal(older, &a); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(newer, &b); err != nil {
		return nil, err
	}
	var names []string
	for name, v := range b {
		if name != wearables.ComputedMember && !bytes.Equal(a[name], v) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}
