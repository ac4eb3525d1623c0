package ingest

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"hale/internal/people/users"
	"hale/internal/platform/store"
	"hale/internal/wearables"
	"hale/internal/wearables/connections"
	"hale/internal/wearables/storage"
)

// recordPlan is the place of an accepted sample that states an id.
type recordPlan struct {
	key    storage.SeriesKey
	at     int64
	record uuid.UUID
}

// addRecords adds the ids of the samples of a group whose times were accepted.
func (j *job) addRecords(key storage.SeriesKey, s *wearables.Samples, accepted []int64) {
	if len(s.Record) == 0 {
		return
	}
	times := make(map[int64]bool, len(accepted))
	for _, at := range accepted {
		times[at] = true
	}
	for i, id := range s.Record {
		if id != "" && times[s.Time[i]] {
			j.records = append(j.records, recordPlan{key, s.Time[i], storage.SampleRecordID(j.user, id)})
		}
	}
}

// Accepts returns the samples of a batch that state an id and that an ingester of new data
// would store. It marks the sources of unknown devices.
func (in *Ingester) Accepts(ctx context.Context, user users.User, b *wearables.Batch) (map[AcceptedRecord]bool, error) {
	if wearables.HasIngestionEnded(in.db.Now(), user.IngestionEnd) {
		return nil, nil
	}
	devices := in.devices
	if devices == nil { // one that reprocesses data has none
		devices = &connections.KnownDevices{DB: in.db}
	}
	if err := devices.Mark(ctx, user.Team, user.ID, b); err != nil {
		return nil, err
	}
	j := in.newJob(user, b)
	accepted := make(map[AcceptedRecord]bool, len(j.records))
	for _, r := range j.records {
		accepted[AcceptedRecord{r.record, r.key, r.at}] = true
	}
	return accepted, nil
}

// AcceptedRecord is the place of a sample with an id.
type AcceptedRecord struct {
	Record uuid.UUID // see storage.SampleRecordID
	Key    storage.SeriesKey
	At     int64 // start, UTC microseconds
}

// planRecords finds the ids that are stored already.
func (j *job) planRecords(ctx context.Context, tx *store.Tx) error {
	j.newRecords = nil
	if len(j.records) == 0 {
		return nil
	}
	ids := make([]uuid.UUID, len(j.records))
	for i := range j.records {
		ids[i] = j.records[i].record
	}
	stored, err := storage.SamplesOfRecords(ctx, tx, j.team, j.user, compact(ids))
	if err != nil {
		return err
	}
	known := make(map[storage.SampleRecord]bool, len(stored))
	for _, r := range stored {
		known[r] = true
	}
	for _, r := range j.records {
		if series := j.numberOf(r.key); !known[storage.SampleRecord{Record: r.record, Series: series, At: r.at}] {
			j.newRecords = append(j.newRecords, r)
		}
	}
	return nil
}

// idsOf returns a function that finds the id of a sample of a series by its time; zero
// without one.
func (j *job) idsOf(key storage.SeriesKey) func(at int64) uuid.UUID {
	var all map[int64]uuid.UUID
	return func(at int64) uuid.UUID {
		if all == nil {
			all = map[int64]uuid.UUID{}
			for _, r := range j.records {
				if r.key == key {
					all[r.at] = r.record
				}
			}
		}
		return all[at]
	}
}

// numberOf returns the number of a series of the batch; 0 of one that is new.
func (j *job) numberOf(key storage.SeriesKey) int64 {
	for _, w := range j.series {
		if w.key == key {
			return w.series.ID
		}
	}
	return 0
}

// writeRecords stores the new ids. numbers has the numbers of the stored series.
func (j *job) writeRecords(ctx context.Context, tx *store.Tx, numbers map[storage.SeriesKey]int64) error {
	type place struct{ series, at int64 }
	last := map[place]uuid.UUID{} // of several samples of one time the last counts
	for _, r := range j.newRecords {
		last[place{numbers[r.key], r.at}] = r.record
	}
	all := make([]storage.SampleRecord, 0, len(last))
	for at, record := range last {
		all = append(all, storage.SampleRecord{Record: record, Series: at.series, At: at.at})
	}
	return storage.WriteSampleRecords(ctx, tx, j.team, j.user, all)
}

// compact sorts ids and removes repetitions.
func compact(ids []uuid.UUID) []uuid.UUID {
	slices.SortFunc(ids, func(a, b uuid.UUID) int { return slices.Compare(a[:], b[:]) })
	return slices.Compact(ids)
}
