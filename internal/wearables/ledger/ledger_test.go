package ledger_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"hale/internal/people/users"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/fault"
	"hale/internal/platform/rows"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/platform/teams"
	"hale/internal/wearables/ledger"
)

// fixture is a ledger with one user.
type fixture struct {
	t    *testing.T
	db   *store.DB
	ctx  context.Context
	user users.User
	l    *ledger.Ledger
	now  *time.Time
}

func forEachEngine(t *testing.T, fn func(b *fixture)) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	storetest.EachAt(t, func() time.Time { return now }, func(t *testing.T, db *store.DB) {
		user := userstest.New(t, db, userstest.Team(t, db).ID, users.NewUser{})
		fn(&fixture{t: t, db: db, user: user, ctx: store.WithTeam(t.Context(), user.Team.UUID()), l: &ledger.Ledger{}, now: &now})
	})
}

func (b *fixture) later(d time.Duration) { *b.now = b.now.Add(d) }

func (b *fixture) write(fn func(tx *store.Tx) error) {
	b.t.Helper()
	if err := b.db.Write(b.ctx, fn); err != nil {
		b.t.Fatal(err)
	}
}

func (b *fixture) keep(body []byte) (id ledger.ID) {
	b.t.Helper()
	return b.keepPacked(ledger.Pack(ledger.Samples, "apple_health_kit", "heartrate", body))
}

func (b *fixture) keepPacked(packed *ledger.PackedBody) (id ledger.ID) {
	b.t.Helper()
	b.write(func(tx *store.Tx) (err error) {
		var kept store.Batch
		if id, err = b.l.Keep(b.ctx, tx, &kept, b.user.Team, b.user.ID, packed); err != nil {
			return err
		}
		return tx.Run(b.ctx, &kept)
	})
	return id
}

func (b *fixture) list() (all []ledger.Payload) {
	b.t.Helper()
	b.write(func(tx *store.Tx) (err error) {
		all, err = ledger.List(b.ctx, tx, b.user.Team, b.user.ID)
		return err
	})
	return all
}

func (b *fixture) body(p ledger.Payload) (body []byte) {
	b.t.Helper()
	b.write(func(tx *store.Tx) (err error) {
		body, err = p.Body(b.ctx, tx)
		return err
	})
	return body
}

// file writes an upload of the user to a temporary file and returns its description.
func (b *fixture) file(data []byte) ledger.File {
	b.t.Helper()
	path := filepath.Join(b.t.TempDir(), "upload")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		b.t.Fatal(err)
	}
	sum := sha256.Sum256(data)
	return ledger.File{Team: b.user.Team, User: b.user.ID, Kind: "fit", Path: path, Size: int64(len(data)), SHA256: sum[:]}
}

// count returns the team's rows in a table.
func (b *fixture) count(table string) (n int) {
	b.t.Helper()
	b.write(func(tx *store.Tx) error {
		return tx.QueryRow(b.ctx, `SELECT COUNT(*) FROM `+table+` WHERE team_id = $1`, b.user.Team).Scan(&n)
	})
	return n
}

func randomBytes(n int) []byte {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	body := make([]byte, n)
	for i := range body {
		body[i] = byte(r.Uint32())
	}
	return body
}

func TestBodiesAreStoredUnchanged(t *testing.T) {
	forEachEngine(t, func(b *fixture) {
		bodies := [][]byte{[]byte(`{"data":[]}`), bytes.Repeat([]byte(`{"value":61},`), 300_000), randomBytes(3<<20 + 17), {}}
		for _, body := range bodies {
			b.keep(body)
			b.later(time.Second)
		}
		all := b.list()
		if len(all) != len(bodies) {
			t.Fatalf("kept %d", len(all))
		}
		for i, p := range all {
			if !bytes.Equal(b.body(p), bodies[i]) || p.Size != int64(len(bodies[i])) || p.Stale() || p.Times != 1 {
				t.Errorf("%d: %+v", i, p)
			}
		}
		if all[1].Packed*100 > all[1].Size {
			t.Errorf("%d bytes became %d", all[1].Size, all[1].Packed)
		}
	})
}

// A repeated body is the same payload, with the time of the last repetition. The same
// body of another user is another payload.
func TestRepeatedBody(t *testing.T) {
	forEachEngine(t, func(b *fixture) {
		large := randomBytes(2 << 20)
		for _, body := range [][]byte{[]byte("a"), large, []byte("b"), []byte("a"), large} {
			b.keep(body)
			b.later(time.Second)
		}
		all := b.list()
		if len(all) != 3 || all[0].Times != 1 || all[1].Times != 2 || all[2].Times != 2 || !bytes.Equal(b.body(all[2]), large) {
			t.Fatalf("%+v", all)
		}
		if got := string(b.body(all[0])) + string(b.body(all[1])); got != "ba" {
			t.Errorf("in the order %s", got)
		}
		first := b.keep([]byte("a"))
		b.user = userstest.New(t, b.db, b.user.Team, users.NewUser{})
		if b.keep([]byte("a")) == first {
			t.Error("two users' digests of one body are the same")
		}
	})
}

// A stored file is restored unchanged, even if the first attempt to store it broke off.
// An incomplete file is not in the ledger's list.
func TestFilesAreRestored(t *testing.T) {
	forEachEngine(t, func(b *fixture) {
		data := append(randomBytes(2<<20+5), bytes.Repeat([]byte("x"), 1<<20)...)
		f := b.file(data)
		broken, cancel := context.WithCancel(b.ctx)
		cancel()
		if _, err := b.l.KeepFile(broken, b.db, f); err == nil {
			t.Fatal("kept with a context that is over")
		}
		missing := f
		missing.Path += "-not-there"
		if _, err := b.l.KeepFile(b.ctx, b.db, missing); err == nil || len(b.list()) != 0 {
			t.Fatalf("a file that is not there: %v, %d payloads", err, len(b.list()))
		}
		for range 2 {
			if _, err := b.l.KeepFile(b.ctx, b.db, f); err != nil {
				t.Fatal(err)
			}
		}
		b.write(func(tx *store.Tx) error {
			p, ok, err := b.l.FileOf(b.ctx, tx, f)
			if err == nil && (!ok || p.Kind != "fit" || !p.Whole()) {
				t.Errorf("%v %+v", ok, p)
			}
			return err
		})
		var back bytes.Buffer
		all := b.list()
		if err := all[0].Restore(b.ctx, b.db, &back); err != nil || !bytes.Equal(back.Bytes(), data) {
			t.Errorf("%d bytes came back of %d, %v", back.Len(), len(data), err)
		}
	})
}

func TestLaterPayloadsTakeOverSummaries(t *testing.T) {
	forEachEngine(t, func(b *fixture) {
		one, two := uuid.New(), uuid.New()
		first := b.keep([]byte("first"))
		second := b.keep([]byte("second"))
		b.write(func(tx *store.Tx) error {
			if err := ledger.Link(b.ctx, tx, b.user.Team, b.user.ID, first, []ledger.Item{{one, 0}, {two, 1}}); err != nil {
				return err
			}
			return ledger.Link(b.ctx, tx, b.user.Team, b.user.ID, second, []ledger.Item{{two, -1}})
		})
		b.write(func(tx *store.Tx) error {
			got, err := ledger.Origins(b.ctx, tx, b.user.Team, b.user.ID)
			if got[one] != (ledger.Origin{Payload: first, Place: 0}) || got[two] != (ledger.Origin{Payload: second, Place: -1}) || len(got) != 2 {
				t.Errorf("%+v", got)
			}
			return err
		})
	})
}

func TestRetention(t *testing.T) {
	forEachEngine(t, func(b *fixture) {
		b.keep(randomBytes(3 << 20))
		old := b.keep([]byte("old"))
		b.write(func(tx *store.Tx) error {
			return ledger.Link(b.ctx, tx, b.user.Team, b.user.ID, old, []ledger.Item{{uuid.New(), 0}})
		})
		b.later(time.Hour)
		b.keep([]byte("new"))
		incomplete := func() (yes bool) {
			b.write(func(tx *store.Tx) (err error) {
				yes, err = ledger.HasRemovedPayloads(b.ctx, tx, b.user.Team, b.user.ID)
				return err
			})
			return yes
		}
		if incomplete() {
			t.Error("incomplete before anything was forgotten")
		}
		if n, err := ledger.RemoveExpired(b.ctx, b.db, teams.ID{}, b.now.Add(time.Hour)); n != 0 || err != nil {
			t.Errorf("another team forgot %d, %v", n, err)
		}
		if n, err := ledger.RemoveExpired(b.ctx, b.db, b.user.Team, b.now.Add(-time.Minute)); n != 2 || err != nil {
			t.Errorf("forgot %d, %v", n, err)
		}
		all := b.list()
		if len(all) != 1 || string(b.body(all[0])) != "new" || b.count("payload_chunks") != 0 || b.count("payload_items") != 0 || !incomplete() {
			t.Errorf("left %+v, %d chunks, %d items", all, b.count("payload_chunks"), b.count("payload_items"))
		}
	})
}

// A small file that was never completely written leaves no chunk after its retention.
func TestRetentionOfABrokenFile(t *testing.T) {
	forEachEngine(t, func(b *fixture) {
		f := b.file([]byte("the beginning of a file"))
		if _, err := b.l.KeepFile(b.ctx, b.db, f); err != nil {
			t.Fatal(err)
		}
		b.write(func(tx *store.Tx) error { // as it is before the last transaction
			_, err := tx.Exec(b.ctx, `UPDATE payloads SET whole = FALSE, chunks = 0, packed = 0 WHERE team_id = $1`, b.user.Team)
			return err
		})
		if n, err := ledger.RemoveExpired(b.ctx, b.db, b.user.Team, b.now.Add(time.Hour)); n != 1 || err != nil {
			t.Errorf("forgot %d, %v", n, err)
		}
		if b.count("payloads") != 0 || b.count("payload_chunks") != 0 {
			t.Errorf("left %d payloads, %d chunks", b.count("payloads"), b.count("payload_chunks"))
		}
	})
}

// After Touch, a payload that is being read counts as later than the payloads that
// arrived before.
func TestTouch(t *testing.T) {
	forEachEngine(t, func(b *fixture) {
		file := b.keep([]byte("file"))
		b.later(time.Second)
		b.keep([]byte("push"))
		b.later(time.Second)
		b.write(func(tx *store.Tx) error { return ledger.Touch(b.ctx, tx, b.user.Team, b.user.ID, file) })
		if all := b.list(); all[1].ID != file || all[1].Times != 1 || !all[1].LastAt.Equal(*b.now) {
			t.Errorf("%+v", all)
		}
	})
}

// Erasing a user leaves no payload. A copy of the database still has payloads,
// but they cannot be opened.
func TestErasure(t *testing.T) {
	forEachEngine(t, func(b *fixture) {
		b.keep(randomBytes(3 << 20))
		b.keep([]byte("small"))
		all := b.list()
		b.write(func(tx *store.Tx) error { return tx.Shred(b.ctx, b.user.Team.UUID(), b.user.ID.UUID()) })
		err := b.db.Read(b.ctx, func(tx *store.Tx) error {
			_, err := all[1].Body(b.ctx, tx)
			return err
		})
		if err == nil {
			t.Error("a payload opens without the user's key")
		}
		for _, table := range []string{"payloads", "payload_chunks", "payload_items", "payload_keys"} {
			for more := true; more; {
				b.write(func(tx *store.Tx) (err error) {
					more, err = ledger.EraseTable(b.ctx, tx, table, b.user.Team, b.user.ID)
					return err
				})
			}
			if n := b.count(table); n != 0 {
				t.Errorf("%d rows of %s are left", n, table)
			}
		}
	})
}

func TestUnknownPayloads(t *testing.T) {
	forEachEngine(t, func(b *fixture) {
		id := b.keep([]byte("mine"))
		other := userstest.New(t, b.db, b.user.Team, users.NewUser{})
		err := b.db.Read(b.ctx, func(tx *store.Tx) error {
			_, err := ledger.Get(b.ctx, tx, b.user.Team, other.ID, id)
			return err
		})
		if !fault.Is(err, fault.NotFound) {
			t.Errorf("of another user: %v", err)
		}
	})
}

// BenchmarkKeep measures the cost of the ledger for a push: packing before the
// transaction and a row in it.
func BenchmarkKeep(b *testing.B) {
	db := storetest.SQLite(b)
	user := userstest.New(b, db, userstest.Team(b, db).ID, users.NewUser{})
	ctx := store.WithTeam(b.Context(), user.Team.UUID())
	var l ledger.Ledger
	for _, n := range []int{1, 5, 1440} {
		b.Run(fmt.Sprint(n, " samples"), func(b *testing.B) {
			var body bytes.Buffer
			for i := range n {
				fmt.Fprintf(&body, `{"timestamp":"2026-03-01T%02d:%02d:00Z","value":%d,"source_type":"watch"},`, i/60, i%60, 60+i*7%40)
			}
			serial := 0
			for b.Loop() {
				serial++
				packed := ledger.Pack(ledger.Samples, "apple_health_kit", "heartrate", fmt.Appendf(body.Bytes(), "%d", serial))
				if err := db.Write(ctx, func(tx *store.Tx) error {
					var kept store.Batch
					if _, err := l.Keep(ctx, tx, &kept, user.Team, user.ID, packed); err != nil {
						return err
					}
					return tx.Run(ctx, &kept)
				}); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprint(n, " samples, packing alone"), func(b *testing.B) {
			body := bytes.Repeat([]byte(`{"timestamp":"2026-03-01T12:34:00Z","value":61,"source_type":"watch"},`), n)
			for b.Loop() {
				ledger.Pack(ledger.Samples, "apple_health_kit", "heartrate", body)
			}
		})
	}
}

func TestRowsAreRestored(t *testing.T) {
	forEachEngine(t, func(b *fixture) {
		text := rows.Table{
			Head: []byte(`{"data":[{"value":`), Tail: []byte(`Z"}]}`),
			Fields:     []rows.Field{rows.Value, rows.Start},
			Separators: [][]byte{[]byte(`,"timestamp":"`), []byte(`Z"},{"value":`)},
		}
		for i := range 100_000 {
			text.Columns.Time = append(text.Columns.Time, int64(i)*60_000_000)
			text.Columns.Value = append(text.Columns.Value, float64(60+i%40))
		}
		sorted, _ := text.Append(nil, math.MaxInt)
		packed := ledger.PackRows(ledger.Samples, "apple_health_kit", "heartrate", sorted, &text)
		slices.Reverse(text.Columns.Time)
		reversed, _ := text.Append(nil, math.MaxInt)
		for _, c := range []struct {
			packed *ledger.PackedBody
			body   []byte
			most   int64
		}{
			{packed, sorted, 100_000},
			// Rows that are no block are kept as any other body.
			{ledger.PackRows(ledger.Samples, "apple_health_kit", "heartrate", reversed, &text), reversed, 1_000_000},
			{ledger.PackRows(ledger.Samples, "apple_health_kit", "heartrate", []byte(`{"data":[]}`), nil), []byte(`{"data":[]}`), 100},
		} {
			id := b.keepPacked(c.packed)
			for _, p := range b.list() {
				if p.ID == id && (!bytes.Equal(b.body(p), c.body) || p.Packed > c.most || p.Size != int64(len(c.body))) {
					t.Errorf("%d bytes of %d came back otherwise", p.Packed, p.Size)
				}
			}
		}
	})
}

// Since these versions, a rate of steps covers at least ten minutes. So steps of short
// intervals that older versions refused are reprocessed, for every kind that may have
// steps.
func TestPayloadsWithStepsAreReprocessed(t *testing.T) {
	for kind, older := range map[string]int{
		ledger.Samples: 2, ledger.Series: 2, "apple_health": 2, "health_connect": 2, "fitbit": 2,
		"withings": 1, "fit": 1, "garmin": 1, "google_fit": 1, "polar": 1,
	} {
		if p := (ledger.Payload{Kind: kind, Mapping: older}); !p.Stale() {
			t.Errorf("%s that version %d read is not read again", kind, older)
		}
	}
}
