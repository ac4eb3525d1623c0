package imports_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/uuid"

	"hale/internal/people/users"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/wearables/imports"
	"hale/internal/wearables/ledger"
)

// awaitEnd waits until an import is no longer worked on.
func (b *fixture) awaitEnd(id imports.ID) imports.Import {
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

// begun begins an upload in parts.
func (b *fixture) begun(n imports.NewPartial) (p imports.PartialUpload, err error) {
	err = b.db.Write(b.ctx, func(tx *store.Tx) (err error) {
		p, err = b.service.Begin(b.ctx, tx, b.user.Team, b.user.ID, n)
		return err
	})
	return p, err
}

func (b *fixture) partial(user users.ID, id imports.PartialID) (p imports.PartialUpload, err error) {
	err = b.db.Read(b.ctx, func(tx *store.Tx) (err error) {
		p, err = imports.GetPartial(b.ctx, tx, b.user.Team, user, id)
		return err
	})
	return p, err
}

// chunks returns the number of stored pieces of uploads in parts.
func (b *fixture) chunks() (n int) {
	b.t.Helper()
	err := b.db.Read(b.ctx, func(tx *store.Tx) error {
		return tx.QueryRow(b.ctx, `SELECT COUNT(*) FROM upload_chunks`).Scan(&n)
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return n
}

// A line that breaks, another node, the same command again: what arrived stays,
// and the import is that of the whole file.
func TestUploadsContinue(t *testing.T) {
	data := export(t, 2)
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := newFixture(t, db)
		order := imports.NewPartial{Size: int64(len(data)), SHA256: sumOf(data)}
		p, err := b.begun(order)
		if err != nil || p.Offset != 0 {
			t.Fatalf("%+v, %v", p, err)
		}
		third := len(data) / 3
		broken := io.MultiReader(bytes.NewReader(data[:third]), iotest.ErrReader(errors.New("the line broke")))
		if err := b.service.ReceivePart(b.ctx, &p, 0, int64(len(data)), broken); !fault.Is(err, fault.Refused) || p.Offset != int64(third) {
			t.Fatalf("at %d, %v", p.Offset, err)
		}
		late := p
		other := b.node(filepath.Join(t.TempDir(), "elsewhere"))
		order.SHA256 = strings.ToUpper(order.SHA256)
		if p, err = b.begun(order); err != nil || p.ID != late.ID || p.Offset != int64(third) {
			t.Fatalf("the same file again: at %d, %v", p.Offset, err)
		}
		if err := other.ReceivePart(b.ctx, &p, 0, -1, bytes.NewReader(data)); !fault.Is(err, fault.Conflict) {
			t.Errorf("at a wrong offset: %v", err)
		}
		longer := append(slices.Clone(data[third:]), 'x')
		for _, length := range []int64{-1, int64(len(longer))} {
			if err := other.ReceivePart(b.ctx, &p, int64(third), length, bytes.NewReader(longer)); !fault.Is(err, fault.Invalid) {
				t.Errorf("longer than it said: %v", err)
			}
		}
		if p, err = b.partial(b.user.ID, p.ID); err != nil || p.Offset != int64(third) {
			t.Fatalf("at %d, %v", p.Offset, err)
		}
		if err := other.ReceivePart(b.ctx, &p, int64(third), -1, bytes.NewReader(data[third:2*third])); err != nil || p.Offset != int64(2*third) {
			t.Fatalf("at %d, %v", p.Offset, err)
		}
		if err := b.service.ReceivePart(b.ctx, &late, int64(third), -1, bytes.NewReader(data[third:])); !fault.Is(err, fault.Conflict) {
			t.Errorf("what is there already, of one who did not know: %v", err)
		}
		if err := other.ReceivePart(b.ctx, &p, p.Offset, -1, bytes.NewReader(data[2*third:])); err != nil || p.Offset != p.Size {
			t.Fatalf("at %d, %v", p.Offset, err)
		}
		made, err := other.Complete(b.ctx, &p)
		if err != nil || b.chunks() != 0 {
			t.Fatalf("%v, and %d chunks are left", err, b.chunks())
		}
		if p, err = b.partial(b.user.ID, p.ID); err != nil || p.Import == nil || *p.Import != made.ID || p.Offset != p.Size {
			t.Errorf("afterwards %+v, %v", p, err)
		}
		defer b.work(other)()
		if i := b.awaitEnd(made.ID); i.Status != imports.Succeeded || hex.EncodeToString(i.SHA256) != sumOf(data) || i.Size != int64(len(data)) {
			t.Errorf("%+v", i)
		}
	})
}

// A file of several chunks, in parts that begin and end anywhere, comes out as it
// went in.
func TestPartsOfAnySize(t *testing.T) {
	noise := make([]byte, 5<<19)
	rand.NewChaCha8([32]byte{1}).Read(noise)
	data := slices.Concat([]byte(exportHead+"\n<!--"), []byte(hex.EncodeToString(noise)), []byte("--></HealthData>"))
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := newFixture(t, db)
		p, err := b.begun(imports.NewPartial{Size: int64(len(data)), Kind: "apple_health"})
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{1, 1 << 20, 0, 3<<20 - 7, len(data)} {
			part := data[p.Offset:min(int64(len(data)), p.Offset+int64(n))]
			if err := b.service.ReceivePart(b.ctx, &p, p.Offset, -1, iotest.HalfReader(bytes.NewReader(part))); err != nil {
				t.Fatal(err)
			}
		}
		made, err := b.service.Complete(b.ctx, &p)
		if err != nil || hex.EncodeToString(made.SHA256) != sumOf(data) || made.Size != int64(len(data)) {
			t.Errorf("%+v, %v", made, err)
		}
	})
}

// While an upload is turned into an import, which takes time, a client that sends the
// last part again waits. No step runs twice, and no data is removed. A node that dies
// during this time does not block others.
func TestLastPartIsRepeated(t *testing.T) {
	b := newFixture(t, storetest.SQLite(t))
	data := export(t, 1)
	p, err := b.begun(imports.NewPartial{Size: int64(len(data))})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.service.ReceivePart(b.ctx, &p, 0, -1, bytes.NewReader(data)); err != nil {
		t.Fatal(err)
	}
	other := uuid.New()
	b.exec(`INSERT INTO nodes (id, until, started_at) VALUES ($1, 0, 0)`, other)
	b.exec(`UPDATE uploads SET node_id = $1`, other)
	if _, err := b.service.Complete(b.ctx, &p); !fault.Is(err, fault.Conflict) {
		t.Errorf("while another does: %v", err)
	}
	b.exec(`DELETE FROM nodes`)
	again := p
	made, err := b.service.Complete(b.ctx, &p)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.service.Complete(b.ctx, &again); !fault.Is(err, fault.Conflict) {
		t.Errorf("by one who did not know: %v", err)
	}
	if p, err = b.partial(b.user.ID, p.ID); err != nil || p.Import == nil || *p.Import != made.ID {
		t.Errorf("afterwards %+v, %v", p, err)
	}
}

// A failure that a retry may fix keeps the upload; any other failure removes it.
func TestUploadsThatCannotBeCompleted(t *testing.T) {
	b := newFixture(t, storetest.SQLite(t))
	data := export(t, 1)
	whole := func(n imports.NewPartial, data []byte) imports.PartialUpload {
		t.Helper()
		n.Size = int64(len(data))
		p, err := b.begun(n)
		if err == nil {
			err = b.service.ReceivePart(b.ctx, &p, 0, n.Size, bytes.NewReader(data))
		}
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	for name, p := range map[string]imports.PartialUpload{
		"of no kind":        whole(imports.NewPartial{}, []byte("diary")),
		"of another kind":   whole(imports.NewPartial{Kind: "gpx"}, data),
		"of another digest": whole(imports.NewPartial{SHA256: sumOf([]byte("another"))}, data),
	} {
		if _, err := b.service.Complete(b.ctx, &p); !fault.Is(err, fault.Invalid) || len(b.files()) != 0 {
			t.Errorf("%s: %v, files %v", name, err, b.files())
		}
		if _, err := b.partial(b.user.ID, p.ID); !fault.Is(err, fault.NotFound) {
			t.Errorf("%s is left: %v", name, err)
		}
	}
	p := whole(imports.NewPartial{}, data)
	broken := b.node(filepath.Join(t.TempDir(), "file"))
	broken.Node = uuid.New
	if err := os.WriteFile(broken.Dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := broken.Complete(b.ctx, &p); !errors.Is(err, syscall.ENOTDIR) {
		t.Errorf("on a node without a folder: %v", err)
	}
	if _, err := b.service.Complete(b.ctx, &p); err != nil || b.chunks() != 0 {
		t.Errorf("%v, and %d chunks are left", err, b.chunks())
	}
}

func TestForeignAndMissingUploads(t *testing.T) {
	b := newFixture(t, storetest.SQLite(t))
	p, err := b.begun(imports.NewPartial{Size: 5})
	if err != nil {
		t.Fatal(err)
	}
	other := userstest.New(t, b.db, b.user.Team, users.NewUser{})
	if _, err := b.partial(other.ID, p.ID); !fault.Is(err, fault.NotFound) {
		t.Errorf("of another user: %v", err)
	}
	for _, n := range []imports.NewPartial{{Size: 0}, {Size: 1, Kind: "diary"}, {Size: 1, SHA256: "abc"}, {Size: 1, SHA256: "abcd"}} {
		if _, err := b.begun(n); !fault.Is(err, fault.Invalid) {
			t.Errorf("%+v: %v", n, err)
		}
	}
	if _, err := b.begun(imports.NewPartial{Size: 1 << 60}); !fault.Is(err, fault.TooLarge) {
		t.Errorf("too large: %v", err)
	}
	if err := b.service.Abandon(b.ctx, &p); err != nil {
		t.Fatal(err)
	}
	if err := b.service.ReceivePart(b.ctx, &p, 0, -1, bytes.NewReader([]byte("diary"))); !fault.Is(err, fault.NotFound) || b.chunks() != 0 {
		t.Errorf("given up: %v, and %d chunks are left", err, b.chunks())
	}
}

// The node that took the file dies for good with its answer. Another node resumes from
// the ledger, as after restoring a backup of the database alone.
func TestAnotherNodeResumesFromTheLedger(t *testing.T) {
	data := export(t, 1)
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := newFixture(t, db)
		b.service.Ledger = &ledger.Ledger{}
		made := b.upload(data, false)
		if err := os.RemoveAll(b.service.Dir); err != nil {
			t.Fatal(err)
		}
		elsewhere := b.node(t.TempDir())
		defer b.work(elsewhere)()
		if i := b.awaitEnd(made.ID); i.Status != imports.Succeeded || i.Report.Created == 0 {
			t.Errorf("%+v", i)
		}
	})
}

// The error about a skipped record names the position of the record and never its
// content.
func TestFirstSkippedRecord(t *testing.T) {
	b := newFixture(t, storetest.SQLite(t))
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
	i := b.awaitEnd(b.upload([]byte(text), false).ID)
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

// A file is sent in two parts over HTTP; the sender who missed the last answer
// asks and finds the import.
func TestUploadInPartsScenario(t *testing.T) {
	data := export(t, 1)
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		s := newScenario(t, d)
		base := "/v2/user/" + s.user + "/uploads"
		var up struct {
			ID     string
			Offset int
			Import *struct{ ID, Kind string }
		}
		send := func(offset int, part []byte) int {
			t.Helper()
			status, body := s.Call("PATCH", base+"/"+up.ID, string(part), "Upload-Offset", fmt.Sprint(offset), "Content-Type", "application/offset+octet-stream")
			if status < 300 {
				if err := json.Unmarshal(body, &up); err != nil {
					t.Fatalf("%s: %v", body, err)
				}
			}
			return status
		}
		s.Expect(201, "POST", base, fmt.Sprintf(`{"size":%d,"sha256":"%s"}`, len(data), sumOf(data)), &up)
		if status := send(0, data[:100]); status != http.StatusOK || up.Offset != 100 || up.Import != nil {
			t.Fatalf("the first part: %d %+v", status, up)
		}
		if status := send(0, data); status != http.StatusConflict {
			t.Errorf("from the beginning again: %d", status)
		}
		if status := send(-1, data); status != http.StatusUnprocessableEntity {
			t.Errorf("before the beginning: %d", status)
		}
		other := s.NewTeam("Other")
		if status, _ := other.Call("GET", base+"/"+up.ID, ""); status != http.StatusNotFound {
			t.Errorf("another team: %d", status)
		}
		if status := send(100, data[100:]); status != http.StatusAccepted || up.Import == nil || up.Import.Kind != "apple_health" {
			t.Fatalf("the last part: %d %+v", status, up)
		}
		first := up.Import.ID
		if s.Get(base+"/"+up.ID, &up); up.Import == nil || up.Import.ID != first || up.Offset != len(data) {
			t.Errorf("afterwards %+v", up)
		}
		if status := send(len(data), nil); status != http.StatusAccepted || up.Import.ID != first {
			t.Errorf("the last part again: %d %+v", status, up)
		}
		s.Expect(200, "DELETE", base+"/"+up.ID, "", nil)
		if status, _ := s.Call("GET", base+"/"+up.ID, ""); status != http.StatusNotFound {
			t.Errorf("given up: %d", status)
		}
	})
}
