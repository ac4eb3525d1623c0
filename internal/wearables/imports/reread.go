package imports

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"math"
	"slices"
	"time"

	"github.com/google/uuid"

	"hale/internal/people/users"
	"hale/internal/platform/civil"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
	"hale/internal/wearables"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/ledger"
)

// Files of some kinds have times without a zone. They are read by the user's fallback
// zone. If that changes, the data of such a file is removed and the file is read again,
// as the same import: see package reread.

// HasImports reports whether the user has an import that is not undone.
func HasImports(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID) (some bool, err error) {
	err = tx.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM imports WHERE team_id = $1 AND user_id = $2 AND undone_at IS NULL)`, team, user).Scan(&some)
	return some, err
}

// Misread returns the imports that the user's present zone reads differently, oldest
// first. waiting says that one is running: its file may have to be read again, too.
func (s *Service) Misread(ctx context.Context, user users.User) (misread []Import, waiting bool, err error) {
	var all []Import
	var zones users.Zones
	err = s.DB.Read(ctx, func(tx *store.Tx) (err error) {
		if zones, err = users.ZonesOf(ctx, tx, user); err != nil {
			return err
		}
		if all, err = query(ctx, tx, `SELECT `+columns+` FROM imports WHERE team_id = $1 AND user_id = $2
			AND status IN ('running', 'succeeded') AND undone_at IS NULL AND rereading_id IS NULL ORDER BY id`, user.Team, user.ID); err != nil {
			return err
		}
		for i := range all {
			if err := reconcile(ctx, tx, &all[i]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, false, fmt.Errorf("imports: finding files to read again: %w", err)
	}
	for i := range all {
		one := &all[i]
		was := one.readBy(&zones)
		if kind, ok := kindNamed(one.Kind); !ok || !kind.WallClock || was == user.ZoneName() {
			continue
		}
		if one.live() {
			waiting = true
			continue
		}
		differs, err := s.readsDifferently(ctx, one, user, was)
		if err != nil {
			return nil, false, err
		}
		if differs {
			misread = append(misread, *one)
		}
	}
	return misread, waiting, nil
}

// readBy returns the name of the zone by which the file was read; empty for none.
func (i *Import) readBy(zones *users.Zones) string {
	if i.zone != nil {
		return *i.zone
	}
	if zone := zones.At(i.span().From); zone != nil {
		return zone.Name
	}
	return ""
}

// readsDifferently reads a file by the present and by a former zone, and compares. A file
// that is no longer in the ledger cannot be read again.
func (s *Service) readsDifferently(ctx context.Context, i *Import, user users.User, was string) (bool, error) {
	payload, found, err := s.payload(ctx, i)
	if err != nil || !found {
		return false, err
	}
	former := user
	former.TimeZone = nil
	if was != "" {
		former.TimeZone = &users.TimeZone{Name: was, SourceSlug: users.Manual}
	}
	var sums [2][]byte
	for k, by := range []users.User{former, user} {
		sink := &digestingSink{sha256.New()}
		if _, err := s.Replay(ctx, &payload, files.Input{DB: s.DB, Sink: sink, User: by}); err != nil {
			return false, err
		}
		sums[k] = sink.sum.Sum(nil)
	}
	return !slices.Equal(sums[0], sums[1]), nil
}

func (s *Service) payload(ctx context.Context, i *Import) (p ledger.Payload, found bool, err error) {
	if s.Ledger == nil {
		return p, false, nil
	}
	err = s.DB.Read(ctx, func(tx *store.Tx) (err error) {
		p, found, err = s.Ledger.FileOf(ctx, tx, ledger.File{Team: i.Team, User: i.User, Kind: i.Kind, SHA256: i.SHA256})
		return err
	})
	return p, found, err
}

// digestingSink stores nothing, and makes a digest of what a file contains.
type digestingSink struct{ sum hash.Hash }

// Ingest adds a batch to the digest.
func (d *digestingSink) Ingest(_ context.Context, _ users.User, b wearables.Batch) (wearables.Result, error) {
	for i := range b.Samples {
		s := &b.Samples[i]
		fmt.Fprintf(d.sum, "%s %s %s %d\n", s.Resource, s.Type, s.Extra, s.Len())
		for _, column := range [][]int64{s.Time, s.End} {
			d.numbers(column)
		}
		for _, o := range s.Offset {
			d.numbers([]int64{int64(o)})
		}
		for _, v := range s.Value {
			d.numbers([]int64{int64(math.Float64bits(v))})
		}
	}
	for i := range b.Summaries {
		s := &b.Summaries[i]
		fmt.Fprintf(d.sum, "%s %s %d %d %s %s\n", s.Resource, s.Key, s.Start.UnixMicro(), s.End.UnixMicro(), s.Date, s.Body)
	}
	for i := range b.Streams {
		fmt.Fprintf(d.sum, "%s %v\n", b.Streams[i].WorkoutKey, b.Streams[i].Time)
	}
	return wearables.Result{}, nil
}

func (d *digestingSink) numbers(all []int64) {
	var b [8]byte
	for _, n := range all {
		binary.LittleEndian.PutUint64(b[:], uint64(n))
		d.sum.Write(b[:])
	}
}

// HistoricalDone does nothing.
func (*digestingSink) HistoricalDone(context.Context, users.User, string, map[string]wearables.Range) error {
	return nil
}

// BeginReread records that a deletion removes the data of an import, whose file is read
// again afterwards.
func BeginReread(ctx context.Context, tx *store.Tx, i *Import, deletion uuid.UUID) error {
	_, err := tx.Exec(ctx, `UPDATE imports SET rereading_id = $4 WHERE team_id = $1 AND user_id = $2 AND id = $3`, i.Team, i.User, i.ID, deletion)
	return err
}

// Rereading is an import whose file is to be read again when its deletion has ended.
type Rereading struct {
	Import   Import
	Deletion uuid.UUID
}

// RereadingOf lists the imports of a user that are to be read again, oldest first.
func RereadingOf(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID) ([]Rereading, error) {
	all, err := query(ctx, tx, `SELECT `+columns+` FROM imports WHERE team_id = $1 AND user_id = $2 AND rereading_id IS NOT NULL AND undone_at IS NULL ORDER BY id`, team, user)
	if err != nil {
		return nil, err
	}
	found := make([]Rereading, len(all))
	for i := range all {
		found[i].Import = all[i]
		if err := tx.QueryRow(ctx, `SELECT rereading_id FROM imports WHERE team_id = $1 AND id = $2`, team, all[i].ID).Scan(&found[i].Deletion); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// Reread reads the file of an import again into a sink, by the user's present zone. The
// changes are those of the import.
func (s *Service) Reread(ctx context.Context, i *Import, user users.User, sink files.Sink) error {
	payload, found, err := s.payload(ctx, i)
	if err != nil {
		return err
	}
	if found {
		a := &attempt{s: s, user: user, row: *i, kept: ctx}
		into, err := s.ReadBefore(ctx, i.Kind, user, sink)
		if err != nil {
			return err
		}
		in := files.Input{DB: s.DB, Sink: &linkingSink{Sink: &journalingSink{into, i.ID}, payload: payload.ID, again: true}, User: user, Device: a.device}
		if _, err := s.Replay(ctx, &payload, in); err != nil {
			return err
		}
	}
	return s.DB.Write(ctx, func(tx *store.Tx) error {
		_, err := tx.Exec(ctx, `UPDATE imports SET rereading_id = NULL, zone = $4 WHERE team_id = $1 AND user_id = $2 AND id = $3`,
			i.Team, i.User, i.ID, user.ZoneName())
		return err
	})
}

// formerSink stores data of files that may have been read by other zones before.
type formerSink struct {
	files.Sink
	zones []*time.Location // see wearables.Batch
}

// Ingest stores a batch.
func (f *formerSink) Ingest(ctx context.Context, user users.User, b wearables.Batch) (wearables.Result, error) {
	b.ReadBefore = f.zones
	return f.Sink.Ingest(ctx, user, b)
}

// ReadBefore returns a sink with the zones by which the user's files of a kind may have been
// read before. Data that was deleted then is the same data at another time.
func (s *Service) ReadBefore(ctx context.Context, kind string, user users.User, sink files.Sink) (files.Sink, error) {
	if k, ok := kindNamed(kind); !ok || !k.WallClock {
		return sink, nil
	}
	var zones users.Zones
	err := s.DB.Read(ctx, func(tx *store.Tx) (err error) {
		zones, err = users.ZonesOf(ctx, tx, user)
		return err
	})
	if err != nil {
		return nil, err
	}
	former := &formerSink{Sink: sink}
	names := []string{user.ZoneName()}
	for _, zone := range zones.Former() {
		name, at := "", wearables.FloatingZone
		if zone != nil {
			name = zone.Name
		}
		if slices.Contains(names, name) {
			continue
		}
		if name != "" {
			if at, err = civil.Zone(name); err != nil {
				continue // it is no longer in the database
			}
		}
		names, former.zones = append(names, name), append(former.zones, at)
	}
	return former, nil
}
