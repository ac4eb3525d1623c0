package deletion

import (
	"context"
	"maps"
	"slices"

	"github.com/google/uuid"

	"hale/internal/people/users"
	"hale/internal/platform/blocks"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
	"hale/internal/wearables"
	"hale/internal/wearables/ingest"
	"hale/internal/wearables/storage"
)

// Records are deleted by the provider's own ids. Summaries have theirs in their rows,
// samples in a table: see storage.SampleRecord.

// report remembers reported records, so that no version of a summary is stored later.
func (d *Deletion) report(ctx context.Context, tx *store.Tx) error {
	if !d.Filter.Reported || d.Filter.Samples {
		return nil
	}
	for _, resource := range documentsOf(d.Filter.Resource) {
		for _, id := range d.Filter.ExternalIDs {
			record := wearables.RecordID(d.User.UUID(), d.Filter.Provider, resource, id)
			if err := storage.DeleteRecord(ctx, tx, d.Team.UUID(), d.User.UUID(), d.Filter.Provider, resource, record); err != nil {
				return err
			}
		}
	}
	return nil
}

// records deletes the samples of records.
func (d *Deletion) records(ctx context.Context, tx *store.Tx, user users.User) error {
	places, err := storage.SamplesOfRecords(ctx, tx, d.Team.UUID(), d.User.UUID(), digestsOf(d.User, d.Filter.ExternalIDs))
	if err != nil || len(places) == 0 {
		return err
	}
	times := map[int64][]int64{}
	for _, p := range places {
		times[p.Series] = append(times[p.Series], p.At)
	}
	series, err := storage.SeriesOf(ctx, tx, d.Team.UUID(), d.User.UUID(), d.Filter.Resource)
	if err != nil {
		return err
	}
	for i := range series {
		if s := &series[i]; len(times[s.ID]) > 0 && d.Filter.series(s) {
			if err := d.samplesAt(ctx, tx, user, s, times[s.ID]); err != nil {
				return err
			}
		}
	}
	return nil
}

// samplesAt deletes the samples of a series at some times, and those that they replaced:
// reads would show them again.
func (d *Deletion) samplesAt(ctx context.Context, tx *store.Tx, user users.User, s *storage.Series, times []int64) error {
	slices.Sort(times)
	written := map[int64]int64{}
	all := func(at, stored int64) bool {
		written[at] = stored
		return true
	}
	if err := d.remove(ctx, tx, user, s, times, all); err != nil {
		return err
	}
	versions := s.Versions()
	for i := range versions {
		var replaced []int64
		earlier := func(at, stored int64) bool {
			now, found := written[at]
			if found = found && stored < now; found {
				replaced = append(replaced, at)
			}
			return found
		}
		if err := d.remove(ctx, tx, user, &versions[i], times, earlier); err != nil {
			return err
		}
		if err := d.forget(ctx, tx, &versions[i], replaced); err != nil {
			return err
		}
	}
	return d.forget(ctx, tx, s, times)
}

// remove deletes the samples of a series at some times, in order, that pick selects. It
// knows when each was stored.
func (d *Deletion) remove(ctx context.Context, tx *store.Tx, user users.User, s *storage.Series, times []int64, pick func(at, stored int64) bool) error {
	from, to := d.Filter.bounds()
	r := storage.Removal{
		From: max(from, times[0]), To: min(to, times[len(times)-1]+1), DryRun: d.DryRun, Forget: d.Filter.Undo, Removed: d.removed(user, 0),
		Pick: func(c *blocks.Columns, i int) bool {
			_, found := slices.BinarySearch(times, c.Time[i])
			return found && pick(c.Time[i], c.Written[i])
		},
	}
	for at, more := r.From, r.From < r.To; more; {
		var err error
		if at, _, more, err = r.Blocks(ctx, tx, s, at); err != nil {
			return err
		}
	}
	return nil
}

// forget forgets the records of samples that were deleted.
func (d *Deletion) forget(ctx context.Context, tx *store.Tx, s *storage.Series, times []int64) error {
	if d.DryRun {
		return nil
	}
	from, to := d.Filter.bounds()
	within := slices.DeleteFunc(slices.Clone(times), func(at int64) bool { return at < from || at >= to })
	return storage.ForgetRecordsAt(ctx, tx, s, within)
}

func digestsOf(user users.ID, records []string) []uuid.UUID {
	all := make([]uuid.UUID, len(records))
	for i, id := range records {
		all[i] = storage.SampleRecordID(user.UUID(), id)
	}
	return all
}

// RemoveMoved deletes the stored samples whose records a batch has at another time or of
// another source: the newer version replaces them. A version that would not be stored
// replaces nothing. It applies to records of one sample. Records of several samples, such
// as a heart rate during a minute, only grow.
func (s *Service) RemoveMoved(ctx context.Context, team teams.ID, id users.ID, b *wearables.Batch) error {
	if !hasRecords(b) {
		return nil
	}
	var user users.User
	var moved map[string][]string
	if err := s.DB.Read(ctx, func(tx *store.Tx) (err error) {
		if moved, err = movedRecords(ctx, tx, team, id, b, nil); err == nil && len(moved) > 0 {
			user, err = users.Get(ctx, tx, team, id)
		}
		return err
	}); err != nil || len(moved) == 0 {
		return err
	}
	accepted, err := s.Ingester.Accepts(ctx, user, b)
	if err != nil || len(accepted) == 0 {
		return err
	}
	return s.DB.Write(ctx, func(tx *store.Tx) error {
		moved, err := movedRecords(ctx, tx, team, id, b, accepted) // other pushes may have moved them
		if err != nil {
			return err
		}
		for _, resource := range slices.Sorted(maps.Keys(moved)) {
			for some := range slices.Chunk(moved[resource], maxExternalIDs) {
				f := Filter{Resource: resource, Provider: b.Provider, ExternalIDs: some, Undo: true}
				if _, err := s.Delete(ctx, tx, user, f); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

func hasRecords(b *wearables.Batch) bool {
	return slices.ContainsFunc(b.Samples, func(s wearables.Samples) bool { return len(s.Record) > 0 })
}

// sampleOf is the only sample of a record in a batch.
type sampleOf struct {
	id, resource string
	key          storage.SeriesKey
	at           int64
	several      bool
	refused      bool // will not be stored
}

// movedRecords returns the records of single samples that are stored at another place, by
// resource. accepted has the samples of the batch that count; nil means all.
func movedRecords(ctx context.Context, tx *store.Tx, team teams.ID, id users.ID, b *wearables.Batch, accepted map[ingest.AcceptedRecord]bool) (map[string][]string, error) {
	sent := map[string]map[uuid.UUID]*sampleOf{}
	var all []uuid.UUID
	for i := range b.Samples {
		s := &b.Samples[i]
		for k, record := range s.Record {
			if record == "" {
				continue
			}
			digest := storage.SampleRecordID(id.UUID(), record)
			if sent[s.Resource] == nil {
				sent[s.Resource] = map[uuid.UUID]*sampleOf{}
			}
			if was := sent[s.Resource][digest]; was != nil {
				was.several = true
				continue
			}
			key := keyOf(s, b.Provider)
			sent[s.Resource][digest] = &sampleOf{
				id: record, resource: s.Resource, key: key, at: s.Time[k],
				refused: accepted != nil && !accepted[ingest.AcceptedRecord{Record: digest, Key: key, At: s.Time[k]}],
			}
			all = append(all, digest)
		}
	}
	places, err := storage.SamplesOfRecords(ctx, tx, team.UUID(), id.UUID(), all)
	if err != nil || len(places) == 0 {
		return nil, err
	}
	moved := map[string][]string{}
	for resource, ofResource := range sent {
		if err := addMoved(ctx, tx, team, id, moved, resource, ofResource, places, b.Provider); err != nil {
			return nil, err
		}
	}
	return moved, nil
}

func keyOf(s *wearables.Samples, provider string) storage.SeriesKey {
	source := s.Source
	if source.Provider == "" {
		source.Provider = provider
	}
	key := storage.KeyOfSource(source)
	key.Resource, key.Type, key.Extra = s.Resource, s.Type, s.Extra
	if r, ok := wearables.ResourceNamed(s.Resource); ok {
		if name, known := r.TypeNamed(s.Type); known {
			key.Type = name
		}
	}
	return key
}

// addMoved adds the moved records of one resource.
func addMoved(ctx context.Context, tx *store.Tx, team teams.ID, id users.ID, moved map[string][]string, resource string, sent map[uuid.UUID]*sampleOf, places []storage.SampleRecord, provider string) error {
	all, err := storage.SeriesOf(ctx, tx, team.UUID(), id.UUID(), resource)
	if err != nil {
		return err
	}
	series := map[int64]*storage.Series{}
	for i := range all {
		if all[i].Source.Provider == provider {
			series[all[i].ID] = &all[i]
		}
	}
	stored := map[uuid.UUID][]storage.SampleRecord{}
	for _, p := range places {
		if series[p.Series] != nil {
			stored[p.Record] = append(stored[p.Record], p)
		}
	}
	for record, now := range sent {
		was := stored[record]
		if now.several || now.refused || len(was) != 1 {
			continue
		}
		if was[0].At != now.at || !now.isOf(series[was[0].Series]) {
			moved[resource] = append(moved[resource], now.id)
		}
	}
	return nil
}

// isOf reports whether the sample belongs to a stored series.
func (s *sampleOf) isOf(o *storage.Series) bool {
	return s.key == keyOf(&wearables.Samples{Resource: o.Resource, Type: o.Type, Extra: o.Extra, Source: o.Source}, o.Source.Provider)
}
