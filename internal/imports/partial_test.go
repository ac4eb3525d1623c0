package imports_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"slices"
	"testing"
	"testing/iotest"
	"time"

	"hale/internal/fault"
	"hale/internal/imports"
	"hale/internal/ledger"
	"hale/internal/store"
	"hale/internal/store/storetest"
	"hale/internal/users"
	"hale/internal/users/userstest"
)

// over waits until an import is no longer worked on.
func (b *bed) over(id imports.ID) imports.Import {
	b.t.Helper()
	for range 1200 {
		if i := b.get(id); i.Status != imports.Queued && i.Status != imports.Running {
			return i
		}
		time.Sleep(25 * time.Millisecond)
	}
	b.t.Fatalf("the import is %+v", b.get(id))
	return imports.Import{}
}

func sumOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// later completes an upload elsewhere.
func later() error { return nil }

// A line that breaks, a process that dies, the same command again: what
// arrived stays, and the import is that of the whole file.
func TestUploadsGoOn(t *testing.T) {
	data := export(t, 2)
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := newBed(t, db)
		order := imports.NewPartial{Size: int64(len(data)), SHA256: sumOf(data)}
		p, err := b.service.Begin(b.user.Team, b.user.ID, order)
		if err != nil || p.Offset != 0 {
			t.Fatalf("%+v, %v", p, err)
		}
		third := len(data) / 3
		broken := io.MultiReader(bytes.NewReader(data[:third]), iotest.ErrReader(errors.New("the line broke")))
		if err := b.service.ReceivePart(b.ctx, &p, 0, broken, later); !fault.Is(err, fault.Refused) || p.Offset != int64(third) {
			t.Fatalf("at %d, %v", p.Offset, err)
		}
		other := *b.service // another process with the same folder
		p, err = other.Begin(b.user.Team, b.user.ID, order)
		if err != nil || p.Offset != int64(third) {
			t.Fatalf("the same file again: at %d, %v", p.Offset, err)
		}
		if err := other.ReceivePart(b.ctx, &p, 0, bytes.NewReader(data), later); !fault.Is(err, fault.Conflict) {
			t.Errorf("at a wrong offset: %v", err)
		}
		if err := other.ReceivePart(b.ctx, &p, int64(third), bytes.NewReader(append(slices.Clone(data[third:]), 'x')), later); !fault.Is(err, fault.Invalid) {
			t.Errorf("longer than it said: %v", err)
		}
		if p, err = other.Partial(b.user.Team, b.user.ID, p.ID); err != nil || p.Offset != int64(third) {
			t.Fatalf("at %d, %v", p.Offset, err)
		}
		if err := other.ReceivePart(b.ctx, &p, int64(third), bytes.NewReader(data[third:]), later); err != nil || p.Offset != p.Size {
			t.Fatalf("at %d, %v", p.Offset, err)
		}
		up, err := other.Complete(&p)
		if err != nil {
			t.Fatal(err)
		}
		made := create(t, b, up)
		if err := other.Imported(&p, made.ID); err != nil {
			t.Fatal(err)
		}
		if p, err = other.Partial(b.user.Team, b.user.ID, p.ID); err != nil || p.Import == nil || *p.Import != made.ID || p.Offset != p.Size {
			t.Errorf("afterwards %+v, %v", p, err)
		}
		defer b.work(b.service)()
		if i := b.over(made.ID); i.Status != imports.Succeeded || !bytes.Equal(i.SHA256, up.SHA256) || i.Size != int64(len(data)) {
			t.Errorf("%+v", i)
		}
	})
}

// While a file is made an import of, which takes its time, whoever sends the last
// part again waits: nothing is done twice, and nothing is taken away.
func TestTheLastPartAgain(t *testing.T) {
	b := newBed(t, storetest.SQLite(t))
	data := export(t, 1)
	p, err := b.service.Begin(b.user.Team, b.user.ID, imports.NewPartial{Size: int64(len(data))})
	if err != nil {
		t.Fatal(err)
	}
	again := p
	err = b.service.ReceivePart(b.ctx, &p, 0, bytes.NewReader(data), func() error {
		up, err := b.service.Complete(&p)
		if err != nil {
			return err
		}
		if err := b.service.ReceivePart(b.ctx, &again, p.Size, bytes.NewReader(nil), later); !fault.Is(err, fault.Conflict) {
			t.Errorf("again: %v", err)
		}
		return b.service.Imported(&p, create(t, b, up).ID)
	})
	if err != nil {
		t.Fatal(err)
	}
	again.Offset = 0
	if err := b.service.ReceivePart(b.ctx, &again, p.Size, bytes.NewReader(nil), later); err != nil || again.Import == nil || *again.Import != *p.Import {
		t.Errorf("afterwards %+v, %v", again, err)
	}
}

func TestUploadsOfOthersAndOfNobody(t *testing.T) {
	b := newBed(t, storetest.SQLite(t))
	p, err := b.service.Begin(b.user.Team, b.user.ID, imports.NewPartial{Size: 5})
	if err != nil {
		t.Fatal(err)
	}
	other := userstest.New(t, b.db, b.user.Team, users.NewUser{})
	if _, err := b.service.Partial(b.user.Team, other.ID, p.ID); !fault.Is(err, fault.NotFound) {
		t.Errorf("of another user: %v", err)
	}
	for _, n := range []imports.NewPartial{{Size: 0}, {Size: 1, Kind: "diary"}, {Size: 1, SHA256: "abc"}} {
		if _, err := b.service.Begin(b.user.Team, b.user.ID, n); !fault.Is(err, fault.Invalid) {
			t.Errorf("%+v: %v", n, err)
		}
	}
	if _, err := b.service.Begin(b.user.Team, b.user.ID, imports.NewPartial{Size: 1 << 60}); !fault.Is(err, fault.TooLarge) {
		t.Errorf("too large: %v", err)
	}
	if err := b.service.ReceivePart(b.ctx, &p, 0, bytes.NewReader([]byte("diary")), later); err != nil {
		t.Fatal(err)
	}
	if _, err := b.service.Complete(&p); !fault.Is(err, fault.Invalid) || len(b.files()) != 0 {
		t.Errorf("of no kind: %v, files %v", err, b.files())
	}
	data := export(t, 1)
	wrong, err := b.service.Begin(b.user.Team, b.user.ID, imports.NewPartial{Size: int64(len(data)), SHA256: sumOf([]byte("another"))})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.service.ReceivePart(b.ctx, &wrong, 0, bytes.NewReader(data), later); err != nil {
		t.Fatal(err)
	}
	if _, err := b.service.Complete(&wrong); !fault.Is(err, fault.Invalid) || len(b.files()) != 0 {
		t.Errorf("of another digest: %v, files %v", err, b.files())
	}
}

// The node that took the file dies for good with its answer; another goes on
// from the ledger, as one does that has a backup of the database alone.
func TestAnotherNodeGoesOnFromTheLedger(t *testing.T) {
	data := export(t, 1)
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := newBed(t, db)
		b.service.Ledger = &ledger.Ledger{}
		made := b.upload(data, false)
		if err := os.RemoveAll(b.service.Dir); err != nil {
			t.Fatal(err)
		}
		elsewhere := *b.service
		elsewhere.Dir = t.TempDir()
		defer b.work(&elsewhere)()
		if i := b.over(made.ID); i.Status != imports.Succeeded || i.Report.Created == 0 {
			t.Errorf("%+v", i)
		}
	})
}

// What was left out is told by its first record, never by what that says.
func TestFirstOfWhatWasLeftOut(t *testing.T) {
	b := newBed(t, storetest.SQLite(t))
	record := func(kind, unit, value, start string) string {
		return `<Record type="` + kind + `" sourceName="Phone" unit="` + unit + `" value="` + value + `" startDate="` + start + `" endDate="` + start + `"/>` + "\n"
	}
	const at = "2026-02-01 08:00:00 +0100"
	text := exportHead + "\n" +
		record("HKQuantityTypeIdentifierHeartRate", "count/min", "61", at) +
		record("HKQuantityTypeIdentifierHeartRate", "count/min", "secret", at) +
		record("HKQuantityTypeIdentifierHeartRate", "count/min", "62", "secret") +
		record("HKQuantityTypeIdentifierStepCount", "count", "10", "secret") +
		record("HKQuantityTypeIdentifierOfNobody", "count", "10", at) + "</HealthData>"
	defer b.work(b.service)()
	i := b.over(b.upload([]byte(text), false).ID)
	if i.Report == nil {
		t.Fatalf("%+v", i)
	}
	for name, want := range map[string]string{"HeartRate": "2 bad_value", "StepCount": "1 bad_date", "OfNobody": "1 skipped"} {
		got := i.Report.FirstLeft[name]
		if text := string(rune('0'+got.Record)) + " " + got.Reason; text != want {
			t.Errorf("%s: %s, want %s; of %v", name, text, want, i.Report.FirstLeft)
		}
	}
}
