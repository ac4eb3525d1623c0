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
	"hale/internal/platform/audit"
	"hale/internal/platform/config"
	"hale/internal/platform/secrets"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
	"hale/internal/wearables/storage"
)

// examineDatabase opens the database, if there is one. It checks its version, its
// migrations, its seals and, on PostgreSQL, its role and its clock.
func (s *shell) examineDatabase(ctx context.Context, cfg *config.Config, deep bool) []finding {
	if err := app.RequireDatabase(cfg); err != nil {
		return []finding{{"database", verdictBroken, withoutPackage(err.Error()), "the playbook has the steps: hale docs playbook"}}
	}
	if !isPostgres(cfg) {
		if _, err := os.Stat(filepath.Join(cfg.Data, store.FileName)); errors.Is(err, os.ErrNotExist) {
			return []finding{{"database", verdictOK, "none yet", "hale serve creates it"}}
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
		return []finding{openFinding(cfg, err)}
	}
	defer db.Close()
	version, skew, err := s.askDatabase(ctx, db)
	if err != nil {
		return []finding{openFinding(cfg, err)}
	}
	if err := app.ExamineInstallation(ctx, cfg, db); errors.Is(err, app.ErrLost) {
		return []finding{{"database", verdictBroken, err.Error(), "the playbook has the steps: hale docs playbook"}}
	}
	findings := []finding{{Check: "database", Verdict: verdictOK, Detail: version}, examineMigrations(ctx, db)}
	if db.Engine() == store.Postgres {
		findings = append(findings, examineRole(ctx, db))
	}
	if findings[1].Verdict == verdictOK {
		findings[0] = examineWriting(ctx, db, findings[0])
		findings = append(findings, examineSeals(ctx, cfg, db), examineAudit(ctx, cfg, db), examineDeletions(ctx, db), examineSessions(ctx, db))
		findings = append(findings, s.examineResults(ctx, cfg, db)...)
		findings = append(findings, examineOrdering(ctx, cfg, db)...)
	}
	if skew > store.MaxSkew {
		findings = append(findings, finding{
			"database clock", verdictWarning, fmt.Sprintf("differs from this machine's by %s", skew.Round(time.Millisecond)),
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
		return finding{"retention", verdictWarning, "no data is deleted by age: " + err.Error(), "hale clock confirm, if the clock is right"}
	case err != nil:
		return finding{"retention", verdictBroken, err.Error(), ""}
	}
	return finding{Check: "retention", Verdict: verdictOK, Detail: "the clock is trusted"}
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
		return finding{name, verdictBroken, err.Error(), ""}
	case n > 0:
		return finding{
			name, verdictWarning, fmt.Sprintf("%s stored twice, of %s", pluralOf(n, "session"), pluralOf(len(people), "user")),
			"hale data merge --dry-run counts them by user, hale data merge keeps the newest version of each; with a key of each team",
		}
	}
	return finding{Check: name, Verdict: verdictOK, Detail: "none is stored twice"}
}

// lockWait is the time that the doctor waits for the write lock: longer than any
// transaction of a healthy service.
const lockWait = 2 * time.Second

// errUndo rolls back the doctor's write.
var errUndo = errors.New("nothing to keep")

// examineWriting returns readable if a write succeeds, and otherwise a finding about the
// failure. It rolls the write back. Such a write needs no disk space, so the check of the
// data folder looks at the free space.
func examineWriting(ctx context.Context, db *store.DB, readable finding) finding {
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	err := db.Write(ctx, func(tx *store.Tx) error {
		_, err := tx.Exec(ctx, `UPDATE instance SET pinged_at = pinged_at WHERE id = 1`)
		return errors.Join(err, errUndo)
	})
	var down *store.Unavailable
	switch {
	case ctx.Err() != nil, store.IsLocked(err):
		return finding{
			"database", verdictBroken, fmt.Sprintf("another process has held the write lock for more than %s", lockWait),
			"find the process that has the database open" + holders(db.Path()) + " and end its transaction; reads still work",
		}
	case errors.As(err, &down) && db.Engine() == store.Postgres:
		return finding{"database", verdictBroken, "cannot be written: " + down.Reason(), postgresHint}
	case err != nil && err.Error() != errUndo.Error():
		return finding{"database", verdictBroken, "cannot be written: " + err.Error(), writeHint}
	}
	return readable
}

// postgresHint is the hint for a PostgreSQL server that accepts no writes.
const postgresHint = "connect to the primary; an address with all servers and target_session_attrs=read-write finds it after a failover"

const writeHint = "check whether the disk is full or read-only, and whether this user may write"

// holders returns a command that lists the processes with an open file; empty for a
// server.
func holders(path string) string {
	if path == "" {
		return ""
	}
	return " (fuser -v " + path + " lists it and hale serve)"
}

// openFinding returns the finding about a database that does not open, with a hint for the
// operator.
func openFinding(cfg *config.Config, err error) finding {
	f := finding{Check: "database", Verdict: verdictBroken, Detail: withoutPackage(databaseTrouble(err).Error())}
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

// askDatabase returns the product and version of the database. skew is the absolute
// difference between its clock and the clock of this machine.
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
	err := db.RefuseNewer(ctx)
	if errors.Is(err, store.ErrUnfinished) {
		return finding{"database", verdictBroken, withoutPackage(err.Error()), "hale serve refuses to start on it"}
	}
	if store.IsDamaged(err) {
		return finding{"database", verdictBroken, "pages of the database are damaged", "Repair a damaged database in hale docs playbook has the steps"}
	}
	if err != nil {
		return finding{"migrations", verdictBroken, err.Error(), "run the newer version, or restore a backup that was made before it ran"}
	}
	pending, err := pendingMigrations(ctx, db)
	switch {
	case err != nil:
		return finding{"migrations", verdictBroken, err.Error(), ""}
	case len(pending) > 0:
		return finding{"migrations", verdictWarning, pluralOf(len(pending), "migration") + " pending", "hale serve applies them at start, hale migrate up now"}
	}
	return finding{Check: "migrations", Verdict: verdictOK, Detail: "up to date"}
}

func examineRole(ctx context.Context, db *store.DB) finding {
	above, err := db.BypassesRowSecurity(ctx)
	switch {
	case err != nil:
		return finding{"row security", verdictBroken, err.Error(), ""}
	case above:
		return finding{"row security", verdictWarning, "the database role bypasses it", "use a role that owns its tables and is not a superuser"}
	}
	return finding{Check: "row security", Verdict: verdictOK, Detail: "applies to the database role"}
}

func examineSeals(ctx context.Context, cfg *config.Config, db *store.DB) finding {
	root, err := existingRoot(cfg)
	if err != nil {
		return finding{"encryption", verdictBroken, err.Error(), ""}
	}
	sealed, err := anythingSealed(ctx, db)
	switch {
	case err != nil:
		return finding{"encryption", verdictBroken, err.Error(), ""}
	case !sealed:
		return finding{Check: "encryption", Verdict: verdictOK, Detail: "nothing is encrypted yet"}
	case root == nil:
		return finding{"encryption", verdictBroken, "the database holds encrypted values and there is no root key", "restore your copy of the root key"}
	}
	switch err := db.ProveRoot(ctx); {
	case errors.Is(err, secrets.ErrSealed):
		return finding{"encryption", verdictBroken, "wrong root key: it does not decrypt this database", "restore the root key that this database was created with"}
	case err != nil:
		return finding{"encryption", verdictBroken, err.Error(), ""}
	}
	return finding{Check: "encryption", Verdict: verdictOK, Detail: "the root key decrypts the database"}
}

// examineAudit looks for changes of the audit log that were made without the root key. It
// does not read the rows; hale audit verify does.
func examineAudit(ctx context.Context, cfg *config.Config, db *store.DB) finding {
	const name = "audit log"
	if db.RootKeys() == "" {
		return finding{Check: name, Verdict: verdictOK, Detail: "not checked: there is no root key"}
	}
	err := errors.Join(db.ProveRoot(ctx), db.LoadRetiredKeys(ctx))
	if errors.Is(err, secrets.ErrSealed) {
		return finding{Check: name, Verdict: verdictOK, Detail: "not checked: the root key is another one"}
	}
	var known bool
	if err == nil {
		known, err = app.KnowsAuditChains(cfg.Data, db.Engine())
	}
	var problems []string
	var refused int
	if err == nil {
		problems, refused, err = audit.New(db, nil).Examine(ctx, known)
	}
	if refused > 0 {
		problems = append(problems, pluralOf(refused, "row")+" without a valid code")
	}
	switch {
	case err != nil:
		return finding{name, verdictBroken, err.Error(), ""}
	case len(problems) > 0:
		return finding{name, verdictBroken, "changed without the root key: " + strings.Join(problems, "; "), "hale audit verify; docs/audit.md#check-the-log"}
	}
	return finding{Check: name, Verdict: verdictOK, Detail: "the list of chains is complete"}
}

// examineResults looks for results that wait for a person.
func (s *shell) examineResults(ctx context.Context, cfg *config.Config, db *store.DB) []finding {
	var inbox matching.UnassignedCounts
	var reviews matching.ReviewCounts
	var urgent critical.WaitingNotices
	mailed := false
	err := db.Read(ctx, func(tx *store.Tx) (err error) {
		if inbox, err = matching.CountUnassigned(ctx, tx); err != nil {
			return err
		}
		if reviews, err = matching.CountReviews(ctx, tx); err != nil {
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
		return []finding{{"results inbox", verdictBroken, err.Error(), ""}}
	}
	age := func(since time.Time) string { return s.now().Sub(since).Round(time.Minute).String() }
	findings := []finding{
		{Check: "results inbox", Verdict: verdictOK, Detail: "no result is without a team"},
		{Check: "results review", Verdict: verdictOK, Detail: "no result waits for an operator"},
		{Check: "critical values", Verdict: verdictOK, Detail: "none is overdue"},
	}
	if inbox.Waiting > 0 {
		findings[0] = finding{
			"results inbox", verdictWarning, fmt.Sprintf("%s without a team or order, %d critical, %d of rejected or blocked tests, the oldest for %s", pluralOf(inbox.Waiting, "report"), inbox.Critical, inbox.WithoutResults, age(inbox.Oldest)),
			"hale results inbox list shows them",
		}
	}
	if reviews.Waiting > 0 {
		findings[1] = finding{
			"results review", verdictWarning, fmt.Sprintf("%s of production teams in review, %d critical, the oldest for %s", pluralOf(reviews.Waiting, "result"), reviews.Critical, age(reviews.Oldest)),
			"hale results review list shows them",
		}
	}
	switch {
	case urgent.Escalated > 0:
		findings[2] = finding{
			"critical values", verdictWarning, fmt.Sprintf("%s not acknowledged in time, the oldest for %s", pluralOf(urgent.Escalated, "critical result"), age(urgent.Oldest)),
			"hale results critical list --state open, with a key of each team",
		}
	case mailed && cfg.SMTPURL == "":
		findings[2] = finding{"critical values", verdictWarning, "a team has critical_result_notification_email, and no SMTP server is set up", "set smtp-url"}
	}
	return findings
}

// examineOrdering returns findings about missing settings of production teams that order
// laboratory tests.
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
		incomplete, err = readiness.LabsWithMissingFacts(ctx, tx)
		return err
	})
	switch {
	case err != nil:
		return []finding{{name, verdictBroken, err.Error(), ""}}
	case !production:
		return []finding{{Check: name, Verdict: verdictOK, Detail: "no production team"}}
	case len(lacks) == 0 && len(incomplete) == 0:
		return []finding{{Check: name, Verdict: verdictOK, Detail: "every production team has a catalogue, an account and a connection"}}
	}
	var findings []finding
	if len(incomplete) > 0 {
		findings = append(findings, finding{
			name, verdictWarning, "the documents of these laboratories lack facts that each page must have: " + strings.Join(incomplete, "; "),
			"hale catalog import COMPENDIUM --lab LAB.json",
		})
	}
	for _, step := range []readiness.Step{readiness.NoCatalogue, readiness.NoAccount, readiness.NoConnection} {
		if names := readiness.Names(lacks, step); names != "" {
			findings = append(findings, finding{name, verdictWarning, step.Problem() + ": " + names, step.Remedy() + "; hale docs production has all steps"})
		}
	}
	return findings
}

func examinePages(ctx context.Context, db *store.DB) finding {
	if err := db.Check(ctx); err != nil {
		return finding{"pages", verdictBroken, err.Error(), "stop hale serve and restore the last backup"}
	}
	return finding{Check: "pages", Verdict: verdictOK, Detail: "every page of the database is readable"}
}
