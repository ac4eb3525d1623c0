package replay

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"

	"hale/internal/people/users"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/wearables"
	"hale/internal/wearables/connections"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/imports"
	"hale/internal/wearables/ledger"
	"hale/internal/wearables/storage"
)

// errNewer says that data arrived while the ledger was read.
var errNewer = errors.New("replay: newer data arrived")

// maxTries bounds the restarts of a user because of newer data.
const maxTries = 3

func (w *attempt) person(ctx context.Context, user users.User) error {
	var err error
	for range maxTries {
		p := &person{attempt: w, user: user, devices: connections.KnownDevices{DB: w.DB}, seen: newChanges()}
		if err = p.replay(ctx); !errors.Is(err, errNewer) {
			return err
		}
		w.scratch.drop() // it has the user
		w.scratch = nil
	}
	return err
}

// person is one user who is reprocessed.
type person struct {
	*attempt
	user     users.User
	zones    users.Zones
	payloads []ledger.Payload
	spans    map[ledger.ID]imports.Span // times of the files
	passed   time.Time                  // when the last skipped file was received; zero without one
	mark     ledger.Mark
	devices  connections.KnownDevices
	read     *recorder
	seen     *Changes // payloads of this user only
}

func (p *person) replay(ctx context.Context) error {
	var incomplete bool // some stored data has no payload
	err := p.DB.Read(ctx, func(tx *store.Tx) (err error) {
		if p.mark, err = ledger.LatestMark(ctx, tx, p.user.Team, p.user.ID); err != nil {
			return err
		}
		if p.zones, err = users.ZonesOf(ctx, tx, p.user); err != nil {
			return err
		}
		if incomplete, err = ledger.HasRemovedPayloads(ctx, tx, p.user.Team, p.user.ID); err != nil {
			return err
		}
		if p.payloads, err = ledger.List(ctx, tx, p.user.Team, p.user.ID); err != nil || !slices.ContainsFunc(p.payloads, isFile) {
			return err
		}
		wanted, err := imports.FilesToReprocess(ctx, tx, p.user.Team, p.user.ID)
		if err != nil {
			return err
		}
		p.spans, p.passed = wanted, p.skipFiles(wanted)
		incomplete = incomplete || !p.passed.IsZero()
		return nil
	})
	if err != nil {
		return err
	}
	if len(p.payloads) == 0 || !p.run.Every && !slices.ContainsFunc(p.payloads, func(l ledger.Payload) bool { return l.Stale() }) {
		return nil
	}
	if err := p.prepare(ctx); err != nil {
		return err
	}
	p.seen.Users++
	if incomplete {
		if err := p.seed(ctx); err != nil {
			return err
		}
	}
	if err := p.readAll(ctx); err != nil {
		return err
	}
	if err := p.apply(ctx); err != nil {
		return err
	}
	p.run.Report.join(p.seen)
	if p.run.DryRun {
		return nil
	}
	return p.DB.Write(ctx, p.remap(ctx))
}

// prepare opens a scratch database with room for another user. It copies the stored
// summaries and the fingerprints of deleted data into it. Reprocessed data finds them
// there. So a session keeps its place and day, and duplicates are recognised.
func (p *person) prepare(ctx context.Context) error {
	if p.scratch != nil && p.scratch.users >= maxUsers {
		p.scratch.drop()
		p.scratch = nil
	}
	if p.scratch == nil {
		var err error
		if p.scratch, err = openScratch(ctx, p.Dir, p.DB.Now); err != nil {
			return err
		}
	}
	p.scratch.users++
	p.read = newRecorder(p.scratch.sink, p.scratch.db, p.DB)
	if err := storage.CopyDeleted(ctx, p.DB, p.scratch.db, p.user.Team.UUID(), p.user.ID.UUID()); err != nil {
		return err
	}
	return storage.CopySummaries(ctx, p.DB, p.scratch.db, p.user.Team.UUID(), p.user.ID.UUID())
}

// samplesAtOnce bounds the pushed samples that are stored together.
const samplesAtOnce = 50_000

// readAll reads every payload in order. Successive bodies of samples are stored together: of
// two samples of one time the later one counts, as before. Earlier data is stored before a
// file, because the days of the file are derived from it.
func (p *person) readAll(ctx context.Context) error {
	var waiting wearables.Batch
	user := p.user // the user at the time of the pending data
	samples := 0
	flush := func() error {
		if samples == 0 {
			return nil
		}
		_, err := p.read.Ingest(ctx, user, waiting)
		waiting, samples = wearables.Batch{}, 0
		return err
	}
	for _, came := range p.readings() {
		one, then := came.payload, p.userOf(came)
		if isFile(*one) || then.TimeZone != user.TimeZone || came.rule != p.read.rule {
			if err := flush(); err != nil {
				return err
			}
		}
		user, p.read.rule, p.read.came = then, came.rule, came.receivedAt
		batch, err := p.readOne(ctx, one, user)
		if kind := fault.KindOf(err); err != nil && kind != fault.Internal && kind != fault.Unavailable {
			if !came.extra {
				p.seen.Unreadable[one.Kind]++
			}
			continue
		}
		if err != nil {
			return err
		}
		if !came.extra {
			p.seen.Payloads++
		}
		if samples > 0 && (batch.Provider != waiting.Provider || len(batch.Summaries) > 0 || samples > samplesAtOnce) {
			if err := flush(); err != nil {
				return err
			}
		}
		if len(batch.Summaries) > 0 {
			if _, err := p.read.Ingest(ctx, user, batch); err != nil {
				return err
			}
			continue
		}
		waiting.Provider, waiting.Samples = batch.Provider, append(waiting.Samples, batch.Samples...)
		for i := range batch.Samples {
			samples += batch.Samples[i].Len()
		}
	}
	return flush()
}

// readOne reads a pushed body into a batch, or a file into the scratch
// database.
func (p *person) readOne(ctx context.Context, one *ledger.Payload, user users.User) (batch wearables.Batch, err error) {
	if isFile(*one) {
		sink, err := p.Imports.ReadBefore(ctx, one.Kind, user, p.read)
		if err != nil {
			return batch, err
		}
		_, err = p.Imports.Replay(ctx, one, files.Input{
			DB: p.scratch.db, Sink: sink, User: user, HistoryOnly: true, Device: p.device,
			Stage: func(context.Context, string) (wearables.Stage, error) { return wearables.Historical, nil },
		})
		return batch, err
	}
	var body []byte
	err = p.DB.Read(ctx, func(tx *store.Tx) (err error) {
		body, err = one.Body(ctx, tx)
		return err
	})
	if err != nil {
		return batch, err
	}
	if batch, err = batchOf(one, body); err != nil {
		return batch, err
	}
	return batch, p.devices.Mark(ctx, p.user.Team, p.user.ID, &batch)
}

// isFile reports whether a payload was uploaded.
func isFile(p ledger.Payload) bool {
	return p.Kind != ledger.Samples && p.Kind != ledger.Series && p.Kind != ledger.Summaries
}

// device finds a device of the user. The first import of a file created it; a dry run
// creates none.
func (p *person) device(ctx context.Context, d files.Device) (id uuid.UUID, err error) {
	if p.run.DryRun {
		err = p.DB.Read(ctx, func(tx *store.Tx) error {
			all, err := connections.Devices(ctx, tx, p.user.Team, p.user.ID)
			at := slices.IndexFunc(all, func(k connections.Device) bool {
				return k.Provider == d.Provider && k.Manufacturer == d.Manufacturer && k.Model == d.Model && k.ExternalID == d.ExternalID
			})
			if err == nil && at >= 0 {
				id = all[at].ID.UUID()
			}
			return err
		})
		if id == uuid.Nil {
			id = uuid.NewSHA1(p.user.ID.UUID(), []byte(d.Provider+"\x00"+d.Manufacturer+"\x00"+d.Model+"\x00"+d.ExternalID))
		}
		return id, err
	}
	err = p.DB.Write(ctx, func(tx *store.Tx) error {
		made, err := connections.EnsureDevice(ctx, tx, p.user, connections.Device{
			Provider: d.Provider, SourceType: d.SourceType, Manufacturer: d.Manufacturer,
			Model: d.Model, ExternalID: d.ExternalID, Version: d.Version,
		})
		id = made.UUID()
		return err
	})
	return id, err
}

// remap stores that the current mapping has read everything up to the mark.
func (p *person) remap(ctx context.Context) func(tx *store.Tx) error {
	kinds := map[string]bool{}
	for i := range p.payloads {
		kinds[p.payloads[i].Kind] = true
	}
	return func(tx *store.Tx) error {
		for kind := range kinds {
			if err := ledger.Remap(ctx, tx, p.user.Team, p.user.ID, kind, p.mark); err != nil {
				return err
			}
		}
		return nil
	}
}
