package healthconnect

import (
	"cmp"
	"context"
	"errors"
	"time"

	"hale/internal/platform/civil"
	"hale/internal/platform/fault"
	"hale/internal/wearables"
	"hale/internal/wearables/derive"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/sheet"
)

// importer is one import.
type importer struct {
	db       *database
	store    *files.Store
	outcome  *files.Outcome
	sources  *sources
	zones    *zones
	workouts *workouts
	gather   sheet.Gather
	person   derive.Person
	from     int64 // bytes of the file that were read before
	size     int64 // of the file, in bytes
	done     int   // tables
}

// importDatabase reads all tables into the store. size is the size of the file in bytes.
// from is the number of bytes that were read before, for the progress.
func importDatabase(ctx context.Context, in files.Input, db *database, from, size int64, outcome *files.Outcome) (err error) {
	m := &importer{db: db, outcome: outcome, from: from, size: size}
	if m.store, err = in.Store(ctx, Provider, outcome); err != nil {
		return err
	}
	if m.sources, err = db.sources(ctx); err != nil {
		return err
	}
	if m.zones, err = db.zones(ctx, sheet.Zone(in)); err != nil {
		return err
	}
	if err := m.readWorkouts(ctx); err != nil {
		return err
	}
	for i := range rules {
		if err := m.read(ctx, &rules[i]); err != nil {
			return err
		}
		m.done++
		m.reportProgress()
	}
	if err := m.flush(ctx, true); err != nil {
		return err
	}
	if m.person.Height != nil {
		m.store.Person(&m.person)
	}
	if err := m.readSleep(ctx); err != nil {
		return err
	}
	if err := m.storeWorkouts(ctx); err != nil {
		return err
	}
	if err := m.countSkipped(ctx); err != nil {
		return err
	}
	outcome.Bytes = size
	return m.store.Finish(ctx)
}

// recognizeRecord reports the progress. The size of a table is unknown, so tables count equally.
func (m *importer) reportProgress() {
	done := m.from + (m.size-m.from)*int64(m.done)/int64(len(rules)+1)
	m.store.ReportProgress(done, m.size, m.outcome.Records, m.outcome.Report.Skipped())
}

// countSkipped counts the rows of tables without a resource.
func (m *importer) countSkipped(ctx context.Context) error {
	for _, table := range skippedTables {
		if !m.db.has(table) {
			continue
		}
		err := m.db.query(ctx, `SELECT COUNT(*) FROM `+table, 1, func(row []any) error {
			n, _ := integer(row[0])
			if n == 0 {
				return nil
			}
			count := m.outcome.Type(name(table))
			count.Read += n
			count.Skipped += n
			m.outcome.Left(count)
			m.outcome.Records += n
			return nil
		})
		if err := m.overDamage(err); err != nil {
			return err
		}
	}
	return nil
}

// localDate returns the calendar day of an instant, in UTC microseconds, at an offset.
// Without an offset it is the day in UTC.
func localDate(at int64, offset int32) civil.Date {
	if offset == wearables.NoOffset {
		offset = 0
	}
	return civil.DateOf(time.UnixMicro(at).UTC().Add(time.Duration(offset) * time.Second))
}

// Provider is the catalogue's name for Health Connect.
const Provider = "health_connect"

// Kind is a Health Connect export, or its records as JSON.
var Kind = files.Kind{Name: "health_connect", Title: "Health Connect export", Provider: Provider, Check: check, Run: run}

// DefaultLimit bounds the database, in bytes. A year of a watch takes some
// hundred megabytes.
const DefaultLimit = 8 << 30

// checkWithin bounds the time for inspecting the schema of a database.
const checkWithin = 10 * time.Second

var (
	errSlow   = fault.New(fault.Unprocessable, "the schema of the database takes too long to read")
	errUnlike = files.NewUnlikeError("the file holds no Health Connect database")
	errText   = errors.New("healthconnect: neither a database nor a zip") // it may be JSON
)

func check(path string, limit int64) error {
	a, err := openArchive(path, cmp.Or(limit, DefaultLimit))
	if errors.Is(err, errText) {
		return checkJSON(path, limit)
	}
	if err != nil {
		return err
	}
	defer a.Close()
	if a.member != nil {
		return a.checkMember()
	}
	// The uploading client waits for this.
	ctx, cancel := context.WithTimeout(context.Background(), checkWithin)
	defer cancel()
	db, err := open(ctx, path)
	switch {
	case ctx.Err() != nil && err != nil:
		return errSlow
	case err != nil:
		return err
	}
	return db.Close()
}

func run(ctx context.Context, in files.Input) (outcome *files.Outcome, err error) {
	outcome = files.NewOutcome()
	a, err := openArchive(in.Path, cmp.Or(in.Limit, DefaultLimit))
	if errors.Is(err, errText) {
		return outcome, runJSON(ctx, in, outcome)
	}
	if err != nil {
		return outcome, err
	}
	defer a.Close()
	path, discard, err := a.extract(ctx)
	if err != nil {
		return outcome, err
	}
	defer discard()
	db, err := open(ctx, path)
	if err != nil {
		return outcome, err
	}
	defer db.Close()
	return outcome, importDatabase(ctx, in, db, 0, a.size, outcome)
}
