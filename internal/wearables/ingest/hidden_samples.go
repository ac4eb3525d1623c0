package ingest

import (
	"context"

	"hale/internal/platform/blocks"
	"hale/internal/platform/store"
	"hale/internal/wearables"
	"hale/internal/wearables/storage"
)

// Reads hide a sample of an Apple Health export if the phone has pushed the same sample:
// see storage. Events agree with reads. No event announces a hidden sample. A push that
// hides stored samples, or shows them again, emits a deletion event for their range. A
// client that keeps a copy then reads the range again.

// keepChanged keeps the changed samples of a block.
func (w *seriesPlan) keepChanged(ws *workspace) {
	appendRows(&w.changed, &ws.merged, ws.changes.Created)
	appendRows(&w.changed, &ws.merged, ws.changes.Updated)
	appendFormer(&w.former, &ws.old, &ws.merged, ws.changes.Updated)
}

// planHidden removes samples that reads leave out from those that events announce, or
// plans the event about samples that the batch hides.
func (w *seriesPlan) planHidden(ctx context.Context, tx *store.Tx, j *job, ws *workspace) error {
	if w.series.Source.IsAppleExport() {
		for _, c := range []*blocks.Columns{&ws.created, &ws.updated} {
			if err := w.series.WithoutPushed(ctx, tx, c); err != nil {
				return err
			}
		}
		return nil
	}
	if w.changed.Len() == 0 {
		return nil
	}
	changed, _ := blocks.Sort(w.changed)
	var hidden storage.HiddenSamples
	for i := range w.exports {
		if err := hidden.Add(ctx, tx, &w.exports[i], &w.series, &w.former, &changed); err != nil {
			return err
		}
	}
	if hidden.N == 0 {
		return nil
	}
	data := storage.DeletedData{
		User: j.user, Resource: wearables.EventName(w.resource.Name), Deleted: hidden.N, Oldest: hidden.First, Newest: hidden.Last, Providers: []string{w.key.Provider},
	}
	w.hidden = append(w.hidden, j.event(data.EventType(), data.AppendTo(nil, j.logos())))
	return nil
}
