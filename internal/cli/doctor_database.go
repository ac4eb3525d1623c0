package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"hale/internal/app"
	"hale/internal/labs/critical"
	"hale/internal/labs/matching"
	"hale/internal/labs/readiness"
	"hale/internal/platform/config"
	"hale/internal/platform/secrets"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
	"hale/internal/wearables/storage"
)

// examineDatabase opens the database, if there is one, and looks at its
// version, its migrations, its seals and, on PostgreSQL, its role and its clock.
func (s *shell) examineDatabase(ctx context.Context, cfg *config.Config, deep bool) []finding {
	if err := app.RequireDatabase(cfg); err != nil {
		return []finding{{"database", broken, err.Error(), "the playbook has the steps: docs/playbook.md"}}
	}
	if !isPostgres(cfg) {
		if _, err := os.Stat(filepath.Join(cfg.Data, store.FileName)); errors.Is(err, os.ErrNotExist) {
			return []finding{{"database", good, "none yet", "hale serve creates it"}}
		}
	}
	ctx, cancel := context.WithCancel(store.AsSystem(ctx))
	defer cancel()
	if !deep {
		ctx, cancel = context.WithTimeout(ctx, 20*time.Second)
		defer cancel()
	}
	db, err := s.openWaiting(ctx, cfg, lockWait)
	if err != nil {
		return []finding{unopened(cfg, err)}
	}
	defer db.Close()
	version, skew, err := s.askDatabase(ctx, db)
	if err != nil {
		return []finding{unopened(cfg, err)}
	}
	findings := []finding{{Check: "database", Verdict: good, Detail: version}, examineMigrations(ctx, db)}
	if db.Engine() == store.Postgres {
		findings = append(findings, examineRole(ctx, db))
	}
	if findings[1].Verdict == good {
		findings[0] = examineWriting(ctx, db, findings[0])
		findings = append(findings, examineSeals(ctx, cfg, db), examineDeletions(ctx, db), examineSessions(ctx, db))
		findings = append(findings, s.examineResults(ctx, cfg, db)...)
		findings = append(findings, examineOrdering(ctx, cfg, db)...)
	}
	if skew > store.MaxSkew {
		findings = append(findings, finding{
			"database clock", unwell, fmt.Sprintf("differs from this machine's by %s", skew.Round(time.Millisecond)),
			"synchronize both clocks with the same time server: nodes start due work by their own clocks",
		})
	}
	if deep && db.Engine() == store.SQLite {
		findings = append(findings, examinePages(ctx, db))
	}
	return findings
}

// examineDeletions reports whether data is deleted by age.
func examineDeletions(ctx context.Context, db *store.DB) finding {
	err := db.ExamineClock(ctx)
	switch {
	case errors.Is(err, store.ErrClock):
		return finding{"retention", unwell, "no data is deleted by age: " + err.Error(), "hale clock confirm, if the clock is right"}
	case err != nil:
		return finding{"retention", broken, err.Error(), ""}
	}
	return finding{Check: "retention", Verdict: good, Detail: "the clock is trusted"}
}

// examineSessions looks for nights and workouts that are stored twice.
func examineSessions(ctx context.Context, db *store.DB) finding {
	const name = "nights and workouts"
	n := 0
	people := map[uuid.UUID]bool{}
	err := db.Read(ctx, func(tx *store.Tx) error {
		return storage.DuplicateSessions(ctx, tx, uuid.Nil, uuid.Nil, func(s *storage.Session) {
			n++
			people[s.User] = true
		})
	})
	switch {
	case err != nil:
		return finding{name, broken, err.Error(), ""}
	case n > 0:
		return finding{
			name, unwell, fmt.Sprintf("%s stored twice, of %s", plural(n, "session"), plural(len(people), "user")),
			"hale data merge --dry-run counts them by user, hale data merge keeps the newest version of each; with a key of each team",
		}
	}
	return finding{Check: name, Verdict: good, Detail: "none is stored twice"}
}

// lockWait is the time that the doctor waits for the write lock: longer than any
// transaction of a healthy service.
const lockWait = 2 * time.Second

// errUndo rolls the doctor's write back.
var errUndo = errors.New("nothing to keep")

// examineWriting is the finding about the database once a write, which is
// rolled back, was tried. Room on the disk is the data folder's finding: a
// write that is rolled back takes none.
func examineWriting(ctx context.Context, db *store.DB, readable finding) finding {
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	err := db.Write(ctx, func(tx *store.Tx) error {
		_, err := tx.Exec(ctx, `UPDATE instance SET pinged_at = pinged_at WHERE id = 1`)
		return errors.Join(err, errUndo)
	})
	switch {
	case ctx.Err() != nil, store.IsLocked(err):
		return finding{
			"database", broken, fmt.Sprintf("another process has held the write lock for more than %s", lockWait),
			"find the process that has the database open" + holders(db.Path()) + " and end its transaction; reads still work",
		}
	case err != nil && err.Error() != errUndo.Error():
		return finding{"database", broken, "cannot be written: " + err.Error(), unwritten}
	}
	return readable
}

const unwritten = "check whether the disk is full or read-only, and whether this user may write"

// holders returns a command that lists the processes with an open file; empty for a
// server.
func holders(path string) string {
	if path == "" {
		return ""
	}
	return " (fuser -v " + path + " lists it and hale serve)"
}

// unopened is the finding about a database that does not answer, and what to look
// at.
func unopened(cfg *config.Config, err error) finding {
	f := finding{Check: "database", Verdict: broken, Detail: withoutPackage(databaseTrouble(err).Error())}
	switch {
	case isPostgres(cfg):
		f.Hint = "check the address, that PostgreSQL runs, and that this user may connect"
	case store.IsLocked(err):
		f.Detail = fmt.Sprintf("another process has locked the whole database for more than %s", lockWait)
		f.Hint = "find that process" + holders(filepath.Join(cfg.Data, store.FileName)) + " and end it"
	default:
		f.Hint = "check that this user may read and write the data folder; if the file is damaged, stop hale serve and restore the last backup"
	}
	return f
}

// askDatabase is the product and version of the database, and how far its
// clock is from ours.
func (s *shell) askDatabase(ctx context.Context, db *store.DB) (version string, skew time.Duration, err error) {
	err = db.Read(ctx, func(tx *store.Tx) error {
		if db.Engine() == store.SQLite {
			version = "SQLite "
			var number string
			err := tx.QueryRow(ctx, `SELECT sqlite_version()`).Scan(&number)
			version += number + ", embedded"
			return err
		}
		var number string
		err := tx.QueryRow(ctx, `SELECT current_setting('server_version')`).Scan(&number)
		version = "PostgreSQL " + number
		return err
	})
	if err == nil {
		skew, err = db.Skew(ctx)
	}
	return version, skew.Abs(), err
}

func examineMigrations(ctx context.Context, db *store.DB) finding {
	if err := db.RefuseNewer(ctx); err != nil {
		return finding{"migrations", broken, err.Error(), "run the newer version, or restore a backup that was made before it ran"}
	}
	pending, err := pendingMigrations(ctx, db)
	switch {
	case err != nil:
		return finding{"migrations", broken, err.Error(), ""}
	case len(pending) > 0:
		return finding{"migrations", unwell, plural(len(pending), "migration") + " pending", "hale serve applies them at start, hale migrate up now"}
	}
	return finding{Check: "migrations", Verdict: good, Detail: "up to date"}
}

func examineRole(ctx context.Context, db *store.DB) finding {
	above, err := db.BypassesRowSecurity(ctx)
	switch {
	case err != nil:
		return finding{"row security", broken, err.Error(), ""}
	case above:
		return finding{"row security", unwell, "the database role bypasses it", "use a role that owns its tables and is not a superuser"}
	}
	return finding{Check: "row security", Verdict: good, Detail: "applies to the database role"}
}

func examineSeals(ctx context.Context, cfg *config.Config, db *store.DB) finding {
	root, err := existingRoot(cfg)
	if err != nil {
		return finding{"encryption", broken, err.Error(), ""}
	}
	sealed, err := anythingSealed(ctx, db)
	switch {
	case err != nil:
		return finding{"encryption", broken, err.Error(), ""}
	case !sealed:
		return finding{Check: "encryption", Verdict: good, Detail: "nothing is encrypted yet"}
	case root == nil:
		return finding{"encryption", broken, "the database holds encrypted values and there is no root key", "restore your copy of the root key"}
	}
	switch err := db.ProveRoot(ctx); {
	case errors.Is(err, secrets.ErrSealed):
		return finding{"encryption", broken, "wrong root key: it does not decrypt this database", "restore the root key that this database was created with"}
	case err != nil:
		return finding{"encryption", broken, err.Error(), ""}
	}
	return finding{Check: "encryption", Verdict: good, Detail: "the root key decrypts the database"}
}

// examineResults looks for results that wait for a person.
func (s *shell) examineResults(ctx context.Context, cfg *config.Config, db *store.DB) []finding {
	var inbox matching.UnassignedCounts
	var urgent critical.Waiting
	mailed := false
	err := db.Read(ctx, func(tx *store.Tx) (err error) {
		if inbox, err = matching.CountUnassigned(ctx, tx); err != nil {
			return err
		}
		if urgent, err = critical.CountWaiting(ctx, tx); err != nil {
			return err
		}
		all, err := teams.List(ctx, tx)
		mailed = slices.ContainsFunc(all, func(t teams.Team) bool { return t.Environment == teams.Production && t.Settings.CriticalEmail != "" })
		return err
	})
	if err != nil {
		return []finding{{"results inbox", broken, err.Error(), ""}}
	}
	age := func(since time.Time) string { return s.now().Sub(since).Round(time.Minute).String() }
	findings := []finding{{Check: "results inbox", Verdict: good, Detail: "no result is without a team"}, {Check: "critical values", Verdict: good, Detail: "none is overdue"}}
	if inbox.Waiting > 0 {
		findings[0] = finding{
			"results inbox", unwell, fmt.Sprintf("%s without a team, %d critical, the oldest for %s", plural(inbox.Waiting, "result"), inbox.Critical, age(inbox.Oldest)),
			"hale results inbox list shows them",
		}
	}
	switch {
	case urgent.Escalated > 0:
		findings[1] = finding{
			"critical values", unwell, fmt.Sprintf("%s not acknowledged in time, the oldest for %s", plural(urgent.Escalated, "critical result"), age(urgent.Oldest)),
			"hale results critical list --state open, with a key of each team",
		}
	case mailed && cfg.SMTPURL == "":
		findings[1] = finding{"critical values", unwell, "a team has critical_result_notification_email, and no SMTP server is set up", "set smtp-url"}
	}
	return findings
}

// examineOrdering says what production teams lack to order laboratory tests.
func examineOrdering(ctx context.Context, cfg *config.Config, db *store.DB) []finding {
	const name = "lab ordering"
	var lacks []readiness.Lack
	var incomplete []string
	production := false
	err := db.Read(ctx, func(tx *store.Tx) (err error) {
		all, err := teams.List(ctx, tx)
		if err != nil {
			return err
		}
		production = slices.ContainsFunc(all, func(t teams.Team) bool { return t.Environment == teams.Production })
		if lacks, err = readiness.Find(ctx, tx, app.ConnectedLabs(cfg)); err != nil {
			return err
		}
		incomplete, err = readiness.Incomplete(ctx, tx)
		return err
	})
	switch {
	case err != nil:
		return []finding{{name, broken, err.Error(), ""}}
	case !production:
		return []finding{{Check: name, Verdict: good, Detail: "no production team"}}
	case len(lacks) == 0 && len(incomplete) == 0:
		return []finding{{Check: name, Verdict: good, Detail: "every production team has a catalogue, an account and a connection"}}
	}
	var findings []finding
	if len(incomplete) > 0 {
		findings = append(findings, finding{
			name, unwell, "the documents of these laboratories lack facts that each page must have: " + strings.Join(incomplete, "; "),
			"hale catalog import COMPENDIUM --lab LAB.json",
		})
	}
	for _, step := range []readiness.Step{readiness.NoCatalogue, readiness.NoAccount, readiness.NoConnection} {
		if names := readiness.Names(lacks, step); names != "" {
			findings = append(findings, finding{name, unwell, step.Problem() + ": " + names, step.Remedy() + "; docs/production.md has all steps"})
		}
	}
	return findings
}

func examinePages(ctx context.Context, db *store.DB) finding {
	if err := db.Check(ctx); err != nil {
		return finding{"pages", broken, err.Error(), "stop hale serve and restore the last backup"}
	}
	return finding{Check: "pages", Verdict: good, Detail: "every page of the database is readable"}
}
