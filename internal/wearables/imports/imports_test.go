package imports_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"go.uber.org/goleak"

	"hale/internal/people/users"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/fault"
	"hale/internal/platform/ids"
	"hale/internal/platform/jobs"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/wearables/formats/applehealth"
	"hale/internal/wearables/formats/applehealth/applehealthtest"
	"hale/internal/wearables/imports"
	"hale/internal/wearables/ingest"
	"hale/internal/wearables/ledger"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		goleak.IgnoreAnyFunction("database/sql.(*DB).connectionOpener"),
		goleak.IgnoreAnyFunction("os/exec.(*Cmd).watchCtx"),
		goleak.IgnoreAnyFunction("os/exec.(*Cmd).Wait"))
}

// fixture is a service with one user. No job runner runs yet.
type fixture struct {
	t       *testing.T
	db      *store.DB
	service *imports.Service
	user    users.User
	ctx     context.Context
}

func newFixture(t *testing.T, db *store.DB) *fixture {
	t.Helper()
	user := userstest.New(t, db, userstest.Team(t, db).ID, users.NewUser{})
	return &fixture{
		t: t, db: db, user: user, ctx: store.WithTeam(context.Background(), user.Team.UUID()),
		service: &imports.Service{
			DB: db, Dir: filepath.Join(t.TempDir(), "spool"),
			Sink: ingest.New(db),
		},
	}
}

// node returns the service of another node, with a spool folder of its own.
func (b *fixture) node(dir string) *imports.Service {
	s := b.service
	return &imports.Service{
		DB: s.DB, Sink: s.Sink, Ledger: s.Ledger, Dir: dir, Node: s.Node,
		MaxUpload: s.MaxUpload, MaxDocument: s.MaxDocument, Log: s.Log, Records: s.Records,
	}
}

// export returns a small zip of an Apple Health export with some days of data.
func export(t *testing.T, days int) []byte {
	t.Helper()
	var b bytes.Buffer
	if _, err := applehealthtest.WriteZip(&b, applehealthtest.Options{Days: days}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func (b *fixture) upload(data []byte, historyOnly bool) imports.Import {
	b.t.Helper()
	up, err := b.service.Receive(b.ctx, "", bytes.NewReader(data))
	if err != nil {
		b.t.Fatal(err)
	}
	if err := b.service.Share(b.ctx, b.user.Team, b.user.ID, up); err != nil {
		b.t.Fatal(err)
	}
	var made imports.Import
	err = b.db.Write(b.ctx, func(tx *store.Tx) (err error) {
		made, err = b.service.Create(b.ctx, tx, b.user, up, historyOnly)
		return err
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return made
}

func (b *fixture) get(id imports.ID) imports.Import {
	b.t.Helper()
	var i imports.Import
	err := b.db.Read(b.ctx, func(tx *store.Tx) (err error) {
		i, err = imports.Get(b.ctx, tx, b.user.Team, b.user.ID, id)
		return err
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return i
}

// work runs jobs until stop is called.
func (b *fixture) work(service *imports.Service) (stop func()) {
	b.t.Helper()
	system := store.AsSystem(context.Background())
	node, err := jobs.Join(system, b.db, time.Second, slog.New(slog.DiscardHandler))
	if err != nil {
		b.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(system)
	done := make(chan error)
	go func() {
		done <- jobs.NewRunner(b.db, jobs.Config{Node: node, Kinds: []jobs.Handler{service.Job()}}).Run(ctx)
	}()
	return func() {
		cancel()
		if err := errors.Join(<-done, node.Leave(system)); err != nil {
			b.t.Error(err)
		}
	}
}

// await waits until the import has a status.
func (b *fixture) await(id imports.ID, want imports.Status) imports.Import {
	b.t.Helper()
	for range 1200 {
		if i := b.get(id); i.Status == want {
			return i
		}
		time.Sleep(25 * time.Millisecond)
	}
	b.t.Fatalf("the import is %+v, want %s", b.get(id), want)
	return imports.Import{}
}

func (b *fixture) files() []string {
	b.t.Helper()
	entries, err := os.ReadDir(b.service.Dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		b.t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestImportSucceeds(t *testing.T) {
	data := export(t, 4)
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := newFixture(t, db)
		made := b.upload(data, false)
		if made.Kind != applehealth.Kind.Name || made.Status != imports.Queued || made.Size != int64(len(data)) || len(b.files()) != 1 {
			t.Fatalf("%+v, files %v", made, b.files())
		}
		defer b.work(b.service)()
		i := b.await(made.ID, imports.Succeeded)
		if i.Report == nil || i.Report.Created == 0 || i.Report.Rejected != 0 || i.Progress.Done != i.Progress.Total || i.Attempts != 1 || i.FinishedAt == nil {
			t.Errorf("%+v, report %+v", i, i.Report)
		}
		for end := time.Now().Add(time.Minute); len(b.files()) != 0; time.Sleep(10 * time.Millisecond) { // removed after the commit
			if time.Now().After(end) {
				t.Fatalf("files stay: %v", b.files())
			}
		}
		again := b.await(b.upload(data, false).ID, imports.Succeeded)
		if again.ID == made.ID || again.Report.Created+again.Report.Updated != 0 {
			t.Errorf("the second time: %+v", again.Report)
		}
		var all []imports.Import
		if err := db.Read(b.ctx, func(tx *store.Tx) (err error) {
			all, err = imports.List(b.ctx, tx, b.user.Team, b.user.ID)
			return err
		}); err != nil || len(all) != 2 || all[0].ID != again.ID {
			t.Errorf("%d imports, %v", len(all), err)
		}
	})
}

func TestTheSameFileTwiceIsOneImport(t *testing.T) {
	data := export(t, 1)
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := newFixture(t, db)
		first := b.upload(data, false)
		if second := b.upload(data, false); second.ID != first.ID || len(b.files()) != 1 {
			t.Errorf("%s and %s, files %v", first.ID, second.ID, b.files())
		}
		if other := b.upload(data, true); other.ID == first.ID {
			t.Error("as history it is another import")
		}
	})
}

// A stop during an import returns the job to the queue, and the next node finishes it.
func TestImportSurvivesAStop(t *testing.T) {
	data := export(t, 40)
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := newFixture(t, db)
		made := b.upload(data, true)
		stop := b.work(b.service)
		for range 400 {
			if b.get(made.ID).Status == imports.Running {
				break
			}
			time.Sleep(5 * time.Millisecond)
		}
		stop()
		if i := b.get(made.ID); i.Status != imports.Running {
			t.Skipf("the import was %s before it could be stopped", i.Status)
		}
		if len(b.files()) != 1 {
			t.Fatal("the file is gone")
		}
		defer b.work(b.service)()
		if i := b.await(made.ID, imports.Succeeded); i.Attempts != 2 {
			t.Errorf("%d attempts", i.Attempts)
		}
	})
}

func TestImportWaitsForTheNodeWithTheFile(t *testing.T) {
	data := export(t, 1)
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := newFixture(t, db)
		made := b.upload(data, false)
		elsewhere := b.node(t.TempDir())
		stop := b.work(elsewhere)
		time.Sleep(300 * time.Millisecond)
		stop()
		if i := b.get(made.ID); i.Status != imports.Queued || i.Attempts != 0 {
			t.Fatalf("%+v", i)
		}
		defer b.work(b.service)()
		b.await(made.ID, imports.Succeeded)
	})
}

func TestCancel(t *testing.T) {
	data := export(t, 1)
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := newFixture(t, db)
		made := b.upload(data, false)
		cancel := func() error {
			return db.Write(b.ctx, func(tx *store.Tx) error {
				_, err := b.service.Cancel(b.ctx, tx, b.user.Team, b.user.ID, made.ID)
				return err
			})
		}
		if err := cancel(); err != nil {
			t.Fatal(err)
		}
		if i := b.get(made.ID); i.Status != imports.Canceled || len(b.files()) != 0 {
			t.Errorf("%s, files %v", i.Status, b.files())
		}
		if err := cancel(); err != nil {
			t.Errorf("canceling twice: %v", err)
		}
		made = b.upload(data, false)
		stop := b.work(b.service)
		b.await(made.ID, imports.Succeeded)
		stop()
		if err := cancel(); !fault.Is(err, fault.Conflict) {
			t.Errorf("canceling a finished import: %v", err)
		}
	})
}

// If only the job is canceled, its import is canceled, too.
func TestCanceledJob(t *testing.T) {
	data := export(t, 1)
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := newFixture(t, db)
		made := b.upload(data, false)
		if err := db.Write(b.ctx, func(tx *store.Tx) error {
			_, err := jobs.Cancel(b.ctx, tx, b.user.Team.UUID(), ids.FromUUID[jobs.Job](made.ID.UUID()))
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if i := b.get(made.ID); i.Status != imports.Canceled {
			t.Errorf("%s", i.Status)
		}
		if second := b.upload(data, false); second.ID == made.ID {
			t.Error("a canceled import took the place of a new one")
		}
	})
}

func TestForeignImportIsUnknown(t *testing.T) {
	data := export(t, 1)
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := newFixture(t, db)
		made := b.upload(data, false)
		other := userstest.New(t, db, b.user.Team, users.NewUser{})
		stranger := userstest.New(t, db, userstest.Team(t, db).ID, users.NewUser{})
		for _, who := range []users.User{other, stranger} {
			ctx := store.WithTeam(context.Background(), who.Team.UUID())
			err := db.Write(ctx, func(tx *store.Tx) error {
				_, err := b.service.Cancel(ctx, tx, who.Team, who.ID, made.ID)
				return err
			})
			if !fault.Is(err, fault.NotFound) {
				t.Errorf("%v", err)
			}
		}
	})
}

func TestReceiveRefuses(t *testing.T) {
	b := newFixture(t, storetest.SQLite(t))
	b.service.MaxUpload = 10_000
	whole := export(t, 1)
	cases := []struct {
		name, kind string
		body       io.Reader
		want       fault.Kind
	}{
		{"unknown kind", "fax", bytes.NewReader(whole), fault.Invalid},
		{"empty", "", strings.NewReader(""), fault.Invalid},
		{"too large", "", bytes.NewReader(make([]byte, 10_001)), fault.TooLarge},
		{"another thing", "", strings.NewReader("%PDF-1.4"), fault.Invalid},
		{"another thing by name", "apple-health", strings.NewReader("<gpx/>"), fault.Invalid},
		{"cut zip", "", bytes.NewReader(whole[:5000]), fault.Invalid},
		{"broken off", "", io.MultiReader(bytes.NewReader(whole[:5000]), iotest.ErrReader(io.ErrUnexpectedEOF)), fault.Refused},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if _, err := b.service.Receive(b.ctx, c.kind, c.body); !fault.Is(err, c.want) {
				t.Errorf("%v", err)
			}
			if names := b.files(); len(names) != 0 {
				t.Errorf("files stay: %v", names)
			}
		})
	}
}

// A damaged file fails with a reason and is not tried again.
func TestImportFails(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := newFixture(t, db)
		made := b.upload(export(t, 1), false)
		if err := os.WriteFile(filepath.Join(b.service.Dir, b.files()[0]), []byte("PK\x03\x04 no more"), 0o600); err != nil {
			t.Fatal(err)
		}
		defer b.work(b.service)()
		if i := b.await(made.ID, imports.Failed); !strings.Contains(i.Error, "zip") || i.Attempts != 1 || len(b.files()) != 0 {
			t.Errorf("%+v, files %v", i, b.files())
		}
	})
}

// age makes files of the spool folder look old.
func (b *fixture) age(by time.Duration, names ...string) {
	b.t.Helper()
	long := time.Now().Add(-by)
	for _, name := range names {
		if err := os.Chtimes(filepath.Join(b.service.Dir, name), long, long); err != nil {
			b.t.Fatal(err)
		}
	}
}

func TestSweep(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := newFixture(t, db)
		b.upload(export(t, 1), false)
		needed := b.files()[0]
		for _, name := range []string{"orphan", "receiving.part", "abandoned.part", "fresh"} {
			if err := os.WriteFile(filepath.Join(b.service.Dir, name), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		b.age(time.Hour, needed, "orphan", "receiving.part")
		b.age(25*time.Hour, "abandoned.part")
		if err := b.service.Sweep(context.Background()); err != nil {
			t.Fatal(err)
		}
		left := strings.Join(b.files(), " ")
		for name, want := range map[string]bool{needed: true, "receiving.part": true, "fresh": true, "orphan": false, "abandoned.part": false} {
			if strings.Contains(left, name) != want {
				t.Errorf("%s left in %q: want %v", name, left, want)
			}
		}
	})
}

// A service keeps the files that it is receiving, and no other service of the process
// shares that knowledge.
func TestReceivedFilesAreKept(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := newFixture(t, db)
		if _, err := b.service.Receive(b.ctx, "", bytes.NewReader(export(t, 1))); err != nil {
			t.Fatal(err)
		}
		b.age(time.Hour, b.files()...)
		for _, one := range []struct {
			service *imports.Service
			files   int
		}{{b.service, 1}, {b.node(b.service.Dir), 0}} {
			if err := one.service.Sweep(context.Background()); err != nil {
				t.Fatal(err)
			}
			if len(b.files()) != one.files {
				t.Errorf("%d files are left, want %d", len(b.files()), one.files)
			}
		}
	})
}

// An upload in parts stays while the client continues it, and for one day after the last
// part. Its outcome can be read for a day.
func TestSweepOfUploadsInParts(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := newFixture(t, db)
		data := export(t, 1)
		begin := func() imports.PartialUpload {
			p, err := b.begun(imports.NewPartial{Size: int64(len(data))})
			if err == nil {
				err = b.service.ReceivePart(b.ctx, &p, 0, -1, bytes.NewReader(data[:50]))
			}
			if err == nil {
				err = b.service.ReceivePart(b.ctx, &p, 50, -1, bytes.NewReader(data[50:]))
			}
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
		touched := func(p imports.PartialUpload, ago time.Duration) {
			b.exec(`UPDATE uploads SET touched_at = $1 WHERE id = $2`, store.Micros(time.Now().Add(-ago)), p.ID)
		}
		sweep := func(what string, chunks int, left map[string]imports.PartialUpload) {
			t.Helper()
			if err := b.service.Sweep(context.Background()); err != nil || b.chunks() != chunks {
				t.Errorf("%s: %v, %d chunks left, want %d", what, err, b.chunks(), chunks)
			}
			for name, p := range left {
				if _, err := b.partial(b.user.ID, p.ID); (err == nil) != strings.HasPrefix(name, "kept") {
					t.Errorf("%s: one that is %s: %v", what, name, err)
				}
			}
		}
		slow, over, swept, done := begin(), begin(), begin(), begin()
		touched(slow, 23*time.Hour)
		touched(over, 25*time.Hour)
		b.exec(`UPDATE uploads SET state = 'given_up' WHERE id = $1`, swept.ID)                // a process died before it was removed
		b.exec(`UPDATE uploads SET state = 'imported', import_id = id WHERE id = $1`, done.ID) // or what was imported
		sweep("first", 2, map[string]imports.PartialUpload{"kept": slow, "over": over, "given up": swept, "kept, and imported": done})
		touched(done, 25*time.Hour)
		sweep("a day later", 2, map[string]imports.PartialUpload{"kept": slow, "imported long ago": done})
	})
}

// exec runs a statement, for changes that would take too long in a test.
func (b *fixture) exec(text string, args ...any) {
	b.t.Helper()
	if err := b.db.Write(b.ctx, func(tx *store.Tx) error {
		_, err := tx.Exec(b.ctx, text, args...)
		return err
	}); err != nil {
		b.t.Fatal(err)
	}
}

// One node received a file, and another one imports it. The first node then removes its
// copy.
func TestEveryNodeSweeps(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := newFixture(t, db)
		b.service.Ledger = &ledger.Ledger{}
		if db.Engine() == store.SQLite {
			t.Skip("SQLite has one node")
		}
		made := b.upload(export(t, 1), false)
		taken := b.files()[0]
		b.age(time.Hour, taken)
		ctx, stop := context.WithCancel(context.Background())
		swept := make(chan error)
		go func() { swept <- b.service.KeepSwept(ctx, 5*time.Millisecond) }()
		elsewhere := b.node(t.TempDir())
		defer b.work(elsewhere)()
		b.await(made.ID, imports.Succeeded)
		for range 12000 {
			if len(b.files()) == 0 {
				break
			}
			time.Sleep(5 * time.Millisecond)
		}
		if len(b.files()) != 0 {
			t.Errorf("files stay: %v", b.files())
		}
		stop()
		if err := <-swept; err != nil {
			t.Error(err)
		}
	})
}
