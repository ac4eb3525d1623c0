package users

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"hale/internal/platform/jobs"
	"hale/internal/platform/secrets"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// A backup from before an erasure still has the person's rows and key. The list of
// erasures is a file outside the database and its backups. A start on a restored
// backup erases the people of the list again before it serves.

// ErasuresFile is the name of the list in the data folder.
const ErasuresFile = "erasures"

// Erasure names a user that was erased.
type Erasure struct {
	Team teams.ID
	User ID
}

// Erasures is the list of erased users. Each line of its file is one erasure, sealed
// with a key of its own that the root key gives.
type Erasures struct {
	path string
	root *secrets.Root   // derived
	ids  []secrets.KeyID // of the root keys, in the order of root

	mu sync.Mutex
}

// erasurePlace binds the sealed lines to their file.
const erasurePlace = "erasures"

// erasures has the list of each database. Tests may have none.
var erasures = store.NewSlot[*Erasures](nil)

// OpenErasures returns the list in a data folder.
func OpenErasures(folder string, root *secrets.Root) *Erasures {
	return &Erasures{path: filepath.Join(folder, ErasuresFile), root: root.Derive("erasures"), ids: root.IDs()}
}

// SetErasureList sets the list that records further erasures of a database.
func SetErasureList(db *store.DB, list *Erasures) { erasures.Set(db, list) }

// add appends an erasure durably. The transaction that erases calls it before its
// commit: an erasure that is listed and not committed is done again.
func (l *Erasures) add(e Erasure) error {
	sealed, err := l.root.Seal(erasurePlace, append(e.Team[:], e.User[:]...))
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	f, err := os.OpenFile(l.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	// A line that a crash cut short ends here.
	_, err = f.WriteString("\n" + base64.StdEncoding.EncodeToString(sealed) + "\n")
	return errors.Join(err, f.Sync(), f.Close(), store.SyncFolder(filepath.Dir(l.path)))
}

// All returns the erasures, without repetitions. It skips lines that are damaged or
// sealed with another root key, and counts them.
func (l *Erasures) All() (all []Erasure, unreadable int, err error) {
	text, err := os.ReadFile(l.path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, fmt.Errorf("users: reading the list of erasures: %w", err)
	}
	seen := map[Erasure]bool{}
	for line := range bytes.Lines(text) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		e, ok := l.open(line)
		switch {
		case !ok:
			unreadable++
		case !seen[e]:
			seen[e] = true
			all = append(all, e)
		}
	}
	return all, unreadable, nil
}

// Reseal seals the lines of other root keys with the first one. Only the process that
// appends may call it, before it serves.
func (l *Erasures) Reseal() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	text, err := os.ReadFile(l.path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("users: reading the list of erasures: %w", err)
	}
	var out bytes.Buffer
	changed := false
	for line := range bytes.Lines(text) {
		line = bytes.TrimSpace(line)
		if e, ok := l.open(line); ok && !l.root.IsCurrent(sealedLine(line)) {
			sealed, err := l.root.Seal(erasurePlace, append(e.Team[:], e.User[:]...))
			if err != nil {
				return err
			}
			line, changed = base64.StdEncoding.AppendEncode(nil, sealed), true
		}
		out.Write(append(line, '\n'))
	}
	if !changed {
		return nil
	}
	if err := store.ReplaceFile(l.path, out.Bytes()); err != nil {
		return fmt.Errorf("users: sealing the list of erasures again: %w", err)
	}
	return nil
}

// CountSealedWith counts the lines that a root key sealed.
func (l *Erasures) CountSealedWith(id secrets.KeyID) (n int, err error) {
	text, err := os.ReadFile(l.path)
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	derived, ok := l.derivedID(id)
	for line := range bytes.Lines(text) {
		if ok && secrets.SealedBy(sealedLine(bytes.TrimSpace(line))) == derived {
			n++
		}
	}
	return n, err
}

// Trouble has the numbers of the lines of a list that cannot be read.
type Trouble struct {
	Foreign []int // sealed by another root key
	Damaged []int
	// Cut has the lines that are too short. A crash during an erasure leaves such a line;
	// the erasure then runs again and adds a whole one.
	Cut []int
}

// Examine looks for lines that cannot be read.
func (l *Erasures) Examine() (t Trouble, err error) {
	text, err := os.ReadFile(l.path)
	if errors.Is(err, os.ErrNotExist) {
		return t, nil
	}
	if err != nil {
		return t, fmt.Errorf("users: reading the list of erasures: %w", err)
	}
	number := 0
	for line := range bytes.Lines(text) {
		number++
		line = bytes.TrimSpace(line)
		if _, ok := l.open(line); ok || len(line) == 0 {
			continue
		}
		switch sealed := sealedLine(line); {
		case isCut(line):
			t.Cut = append(t.Cut, number)
		case len(sealed) == sealedSize && !slices.Contains(l.root.IDs(), secrets.SealedBy(sealed)):
			t.Foreign = append(t.Foreign, number)
		default:
			t.Damaged = append(t.Damaged, number)
		}
	}
	return t, nil
}

// sealedSize is the size of a whole line, decoded.
const sealedSize = len(secrets.KeyID{}) + secrets.Overhead + len(teams.ID{}) + len(ID{})

// isCut reports whether a line is the beginning of one. After a crash of the machine, zero
// bytes may follow.
func isCut(line []byte) bool {
	line = bytes.TrimRight(line, "\x00")
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	return len(line) < base64.StdEncoding.EncodedLen(sealedSize) && len(bytes.Trim(line, alphabet)) == 0
}

// derivedID returns the id with which a root key marks the lines.
func (l *Erasures) derivedID(id secrets.KeyID) (secrets.KeyID, bool) {
	i := slices.Index(l.ids, id)
	if i < 0 {
		return id, false
	}
	return l.root.IDs()[i], true
}

// sealedLine decodes a line; nil if it is damaged.
func sealedLine(line []byte) []byte {
	sealed, err := base64.StdEncoding.AppendDecode(nil, line)
	if err != nil {
		return nil
	}
	return sealed
}

func (l *Erasures) open(line []byte) (e Erasure, ok bool) {
	sealed, err := base64.StdEncoding.AppendDecode(nil, line)
	if err != nil {
		return e, false
	}
	plain, err := l.root.Open(erasurePlace, sealed)
	if err != nil || len(plain) != len(e.Team)+len(e.User) {
		return e, false
	}
	copy(e.Team[:], plain)
	copy(e.User[:], plain[len(e.Team):])
	return e, true
}

// EraseAgain erases the users of a list that the database has, and returns how many
// those were. ctx is the system's. The database must not serve yet.
func EraseAgain(ctx context.Context, db *store.DB, list []Erasure) (int, error) {
	n := 0
	for _, e := range list {
		found, err := eraseAgain(ctx, db, e)
		if err != nil {
			return n, err
		}
		if found {
			n++
		}
	}
	return n, nil
}

func eraseAgain(ctx context.Context, db *store.DB, e Erasure) (found bool, err error) {
	err = db.Read(ctx, func(tx *store.Tx) (err error) {
		found, err = isStored(ctx, tx, e)
		return err
	})
	if err != nil || !found {
		return false, err
	}
	ctx = store.WithTeam(ctx, e.Team.UUID())
	err = db.Write(ctx, func(tx *store.Tx) error { return endGrace(ctx, tx, e) })
	if err == nil {
		err = eraseAll(ctx, db, eraseArgs(e), func(int, int, string) error { return nil })
	}
	if err != nil {
		return false, fmt.Errorf("users: erasing %s again: %w", e.User, err)
	}
	return true, nil
}

func isStored(ctx context.Context, tx *store.Tx, e Erasure) (bool, error) {
	var n int
	err := tx.QueryRow(ctx, `SELECT COUNT(*) FROM users WHERE team_id = $1 AND user_id = $2`, e.Team, e.User).Scan(&n)
	if err != nil {
		return false, fmt.Errorf("users: looking for an erased user: %w", err)
	}
	return n > 0, nil
}

// endGrace deletes a user unless that was done, and ends the grace period.
func endGrace(ctx context.Context, tx *store.Tx, e Erasure) error {
	var live int
	err := tx.QueryRow(ctx, `SELECT COUNT(*) FROM users WHERE team_id = $1 AND user_id = $2 AND deleted_at IS NULL`, e.Team, e.User).Scan(&live)
	if err != nil {
		return err
	}
	if live > 0 {
		if err := Delete(ctx, tx, e.Team, e.User); err != nil {
			return err
		}
	}
	_, err = tx.Exec(ctx, `UPDATE users SET deleted_at = $3 WHERE team_id = $1 AND user_id = $2`, e.Team, e.User, tx.Now().Add(-Grace-time.Second))
	return err
}

// ScrubJob removes the remains of erased keys from the database files. On SQLite it
// follows each erasure. On PostgreSQL it rewrites the table of all keys, so it waits
// and joins the erasures of an hour.
var ScrubJob = jobs.Define("users.scrub", func(ctx context.Context, run *jobs.Run, _ struct{}) error {
	err := run.DB().Scrub(ctx)
	if errors.Is(err, store.ErrScrubBusy) {
		return jobs.RetryLater(10 * time.Second)
	}
	return err
}).With(jobs.Limits{Concurrency: 1, Attempts: 1000})

func scheduleScrub(ctx context.Context, tx *store.Tx, team teams.ID) error {
	at := tx.Now()
	if tx.Engine() == store.Postgres {
		at = at.Add(time.Hour)
	}
	if _, err := ScrubJob.Enqueue(ctx, tx, struct{}{}, jobs.Options{Team: team.UUID(), Key: "users.scrub", At: at}); err != nil {
		return fmt.Errorf("users: scheduling a scrub: %w", err)
	}
	return nil
}
