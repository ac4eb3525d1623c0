package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"hale/internal/platform/config"
	"hale/internal/platform/secrets"
	"hale/internal/platform/store"
)

// examineDatabase opens the database, if there is one, and looks at its
// version, its migrations, its seals and, on PostgreSQL, its role and its clock.
func (s *shell) examineDatabase(ctx context.Context, cfg *config.Config, deep bool) []finding {
	if !isPostgres(cfg) {
		if _, err := os.Stat(filepath.Join(cfg.Data, store.FileName)); errors.Is(err, os.ErrNotExist) {
			return []finding{{"database", good, "none yet", "hale serve makes it"}}
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
		findings = append(findings, examineSeals(ctx, cfg, db))
	}
	if skew > store.MaxSkew {
		findings = append(findings, finding{
			"database clock", unwell, fmt.Sprintf("differs from this machine's by %s", skew.Round(time.Millisecond)),
			"let both follow the same time server: nodes tell by their own clocks when work is due",
		})
	}
	if deep && db.Engine() == store.SQLite {
		findings = append(findings, examinePages(ctx, db))
	}
	return findings
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
			"database", broken, fmt.Sprintf("the write lock is held by another process, for more than %s by now", lockWait),
			"find what has the database open" + holders(db.Path()) + " and end its transaction; reads continue",
		}
	case err != nil && err.Error() != errUndo.Error():
		return finding{"database", broken, "cannot be written: " + err.Error(), unwritten}
	}
	return readable
}

const unwritten = "is the disk full or mounted read-only, may this user write?"

// holders returns a command that lists the processes with an open file; empty for a
// server.
func holders(path string) string {
	if path == "" {
		return ""
	}
	return " (fuser -v " + path + " lists it, and hale serve)"
}

// unopened is the finding about a database that does not answer, and what to look
// at.
func unopened(cfg *config.Config, err error) finding {
	f := finding{Check: "database", Verdict: broken, Detail: withoutPackage(databaseTrouble(err).Error())}
	switch {
	case isPostgres(cfg):
		f.Hint = "is the address right, does it run, may this user in?"
	case store.IsLocked(err):
		f.Detail = fmt.Sprintf("another process has the whole database locked, for more than %s by now", lockWait)
		f.Hint = "find it" + holders(filepath.Join(cfg.Data, store.FileName)) + " and end it"
	default:
		f.Hint = "may this user read and write the data folder? When the file is damaged, stop hale serve and restore the last backup"
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
		return finding{"migrations", broken, err.Error(), "this version opens a backup that was made before the newer one ran"}
	}
	pending, err := pendingMigrations(ctx, db)
	switch {
	case err != nil:
		return finding{"migrations", broken, err.Error(), ""}
	case len(pending) > 0:
		return finding{"migrations", unwell, plural(len(pending), "migration") + " to be applied", "hale serve does it at start, hale migrate up now"}
	}
	return finding{Check: "migrations", Verdict: good, Detail: "up to date"}
}

func examineRole(ctx context.Context, db *store.DB) finding {
	above, err := db.BypassesRowSecurity(ctx)
	switch {
	case err != nil:
		return finding{"row security", broken, err.Error(), ""}
	case above:
		return finding{"row security", unwell, "the role of the database is not bound by it", "use one that owns its tables and is no superuser"}
	}
	return finding{Check: "row security", Verdict: good, Detail: "binds the role of the database"}
}

func examineSeals(ctx context.Context, cfg *config.Config, db *store.DB) finding {
	root, err := existingRoot(cfg)
	if err != nil {
		return finding{"seals", broken, err.Error(), ""}
	}
	sealed, err := anythingSealed(ctx, db)
	switch {
	case err != nil:
		return finding{"seals", broken, err.Error(), ""}
	case !sealed:
		return finding{Check: "seals", Verdict: good, Detail: "nothing is sealed yet"}
	case root == nil:
		return finding{"seals", broken, "the database holds sealed values and there is no root key", "put back your copy of the root key"}
	}
	switch err := db.ProveRoot(ctx); {
	case errors.Is(err, secrets.ErrSealed):
		return finding{"seals", broken, "the root key does not open what is sealed", "put back the root key that this database was made with"}
	case err != nil:
		return finding{"seals", broken, err.Error(), ""}
	}
	return finding{Check: "seals", Verdict: good, Detail: "the root key opens what is sealed"}
}

func examinePages(ctx context.Context, db *store.DB) finding {
	if err := db.Check(ctx); err != nil {
		return finding{"pages", broken, err.Error(), "stop hale serve and restore the last backup"}
	}
	return finding{Check: "pages", Verdict: good, Detail: "every page of the database reads well"}
}
