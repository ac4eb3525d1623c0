package storage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"hale/internal/platform/blocks"
	"hale/internal/platform/store"
	"hale/internal/wearables"
)

// Samples have the key of their series and time, and most have no id. A phone reports a
// deleted sample by its id only, so the ids that were pushed are kept beside the blocks.

// SampleRecord is the place of a sample that has an id.
type SampleRecord struct {
	Record uuid.UUID // see SampleRecordID
	Series int64
	At     int64 // start, UTC microseconds
}

// SampleRecordID returns the digest of the provider's own id of a sample; zero without
// one. Several samples may have one id.
func SampleRecordID(user uuid.UUID, id string) uuid.UUID {
	return wearables.RecordID(user, "", "sample", id)
}

// recordsAtOnce bounds the ids of one statement.
const recordsAtOnce = 500

// SamplesOfRecords returns the places of samples by their ids, in the order of series and
// time. The statement has no ORDER BY: SQLite would read all rows of the user in that order.
func SamplesOfRecords(ctx context.Context, tx *store.Tx, team, user uuid.UUID, records []uuid.UUID) (all []SampleRecord, err error) {
	for some := range slices.Chunk(records, recordsAtOnce) {
		args := []any{team, user}
		var list strings.Builder
		for i, id := range some {
			args = append(args, id)
			fmt.Fprintf(&list, ", $%d", i+3)
		}
		if all, err = appendSampleRecords(ctx, tx, all, list.String()[2:], args); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(all, func(a, b SampleRecord) int {
		return cmp.Or(cmp.Compare(a.Series, b.Series), cmp.Compare(a.At, b.At))
	})
	return all, nil
}

const selectRecords = `SELECT record_id, series_id, at FROM sample_records WHERE team_id = $1 AND user_id = $2 AND record_id IN `

func appendSampleRecords(ctx context.Context, tx *store.Tx, all []SampleRecord, list string, args []any) ([]SampleRecord, error) {
	rows, err := tx.Query(ctx, selectRecords+`(`+list+`)`, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var r SampleRecord
		if err := rows.Scan(&r.Record, &r.Series, &r.At); err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, rows.Err()
}

// idsOf returns the ids of samples of a series by their times, in order.
func idsOf(ctx context.Context, tx *store.Tx, s *Series, c *blocks.Columns) (map[int64]uuid.UUID, error) {
	if c.Len() == 0 {
		return nil, nil
	}
	rows, err := tx.Query(ctx, `SELECT at, record_id FROM sample_records WHERE team_id = $1 AND user_id = $2 AND series_id = $3 AND at BETWEEN $4 AND $5`,
		s.Team, s.User, s.ID, c.Time[0], c.Time[c.Len()-1])
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	all := map[int64]uuid.UUID{}
	for rows.Next() {
		var at int64
		var id uuid.UUID
		if err := rows.Scan(&at, &id); err != nil {
			return nil, err
		}
		all[at] = id
	}
	return all, errors.Join(rows.Err(), rows.Close())
}

// WriteSampleRecords stores the places of samples that have an id, each place once.
func WriteSampleRecords(ctx context.Context, tx *store.Tx, team, user uuid.UUID, all []SampleRecord) error {
	var b store.Batch
	for _, r := range all {
		b.Insert(nil, `INSERT INTO sample_records (team_id, user_id, series_id, at, record_id)`, []any{team, user, r.Series, r.At, r.Record},
			`ON CONFLICT (user_id, series_id, at) DO UPDATE SET record_id = excluded.record_id`)
	}
	return tx.Run(ctx, &b)
}

// ForgetSampleRecords removes the ids of the samples of a series that start in a range,
// both included.
func ForgetSampleRecords(ctx context.Context, tx *store.Tx, s *Series, from, to int64) error {
	_, err := tx.Exec(ctx, forgetRecords, s.Team, s.User, s.ID, from, to)
	return err
}

const forgetRecords = `DELETE FROM sample_records WHERE team_id = $1 AND user_id = $2 AND series_id = $3 AND at BETWEEN $4 AND $5`

// ForgetRecordsAt removes the ids of the samples of a series that start at some times.
func ForgetRecordsAt(ctx context.Context, tx *store.Tx, s *Series, times []int64) error {
	var b store.Batch
	for _, at := range times {
		b.Exec(nil, forgetRecords, s.Team, s.User, s.ID, at, at)
	}
	return tx.Run(ctx, &b)
}
