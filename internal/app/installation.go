package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/uuid"

	"hale/internal/platform/audit"
	"hale/internal/platform/config"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// A data folder remembers which database it served, so that a start does not accept an
// empty or foreign database. The file has a line for each engine: its name, and the id
// that the database has in the table instance. Other lines state that the API keys of
// that database have codes, and that its audit log has a list of chains.

// InstallationFile is the name of the file in the data folder.
const InstallationFile = "installation"

// ErrLost is returned by a start whose database is missing, empty or another one.
var ErrLost = errors.New("app: not the database of this data folder")

func lostError(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrLost, fmt.Sprintf(format, args...))
}

const beginAgain = "to begin with an empty database, or with this one, remove the file " + InstallationFile

// RequireDatabase returns ErrLost if the folder has served an embedded database whose
// file is missing or empty, and ErrUnfinished if a restore was interrupted. It opens
// nothing and creates nothing.
func RequireDatabase(cfg *config.Config) error {
	if store.IsPostgresURL(cfg.Database.Reveal()) {
		return nil
	}
	if err := RequireRestored(cfg.Data); err != nil {
		return err
	}
	info, err := os.Stat(filepath.Join(cfg.Data, store.FileName))
	if err == nil && info.Size() > 0 {
		return nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("app: looking for the database: %w", err)
	}
	served, err := servedBy(cfg.Data)
	if err != nil || served[store.SQLite] == "" {
		return err
	}
	what := "is missing from"
	if info != nil {
		what = "is empty in"
	}
	return lostError("%s %s %s; put it back together with its log, or restore a backup with hale restore --force; %s",
		store.FileName, what, cfg.Data, beginAgain)
}

// servedBy reads the file and returns the id of the database of each engine.
func servedBy(folder string) (map[store.Engine]string, error) {
	text, err := os.ReadFile(filepath.Join(folder, InstallationFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("app: reading which database the data folder served: %w", err)
	}
	served := map[store.Engine]string{}
	for line := range strings.Lines(string(text)) {
		if words := strings.Fields(line); len(words) == 2 && !strings.HasPrefix(line, "#") {
			served[store.Engine(words[0])] = words[1]
		}
	}
	return served, nil
}

// requireTables returns ErrLost if the folder has served a PostgreSQL database and
// this one is empty. It runs before the migration would fill it.
func (a *App) requireTables(ctx context.Context) error {
	if a.DB.Engine() != store.Postgres {
		return nil
	}
	served, err := servedBy(a.Config.Data)
	if err != nil || served[store.Postgres] == "" {
		return err
	}
	var there bool
	err = a.DB.Read(ctx, func(tx *store.Tx) error {
		return tx.QueryRow(ctx, `SELECT to_regclass('instance') IS NOT NULL`).Scan(&there)
	})
	if err != nil {
		return fmt.Errorf("app: checking the database: %w", err)
	}
	if !there {
		return lostError("the PostgreSQL database is empty, and %s has served another one; check --database, or restore a backup; %s", a.Config.Data, beginAgain)
	}
	return nil
}

// recognize compares the database with the file, and writes the file of a folder that
// has served none. A database of an older version gets its id here. If it has data, it
// may be an old backup of the one that the folder served, and gets that id.
func (a *App) recognize(ctx context.Context) error {
	served, err := servedBy(a.Config.Data)
	if err != nil {
		return err
	}
	engine := a.DB.Engine()
	known := served[engine]
	id := known
	if id == "" {
		id = uuid.NewString()
	}
	err = a.DB.Write(ctx, func(tx *store.Tx) error {
		var own string
		var used bool
		err := tx.QueryRow(ctx, `SELECT installation FROM instance WHERE id = 1`).Scan(&own)
		if err == nil {
			err = tx.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM sealing_keys)`).Scan(&used)
		}
		if err != nil {
			return err
		}
		switch {
		case own == "" && known != "" && !used:
			return lostError("the database is empty, and %s has served another one; put that back, or restore a backup with hale restore --force; %s", a.Config.Data, beginAgain)
		case own == "":
			_, err := tx.Exec(ctx, `UPDATE instance SET installation = $1 WHERE id = 1`, id)
			return err
		case known != "" && own != known:
			return otherInstallation(a.Config.Data)
		}
		id = own
		return nil
	})
	if errors.Is(err, ErrLost) {
		return err
	}
	if err != nil {
		return fmt.Errorf("app: looking at the id of the database: %w", err)
	}
	a.DB.Expect(id)
	if known != "" {
		return nil
	}
	served[engine] = id
	return writeServed(a.Config.Data, served)
}

// ExamineInstallation returns ErrLost if the folder has served another PostgreSQL database.
// It changes nothing.
func ExamineInstallation(ctx context.Context, cfg *config.Config, db *store.DB) error {
	served, err := servedBy(cfg.Data)
	known := served[store.Postgres]
	if err != nil || db.Engine() != store.Postgres || known == "" {
		return err
	}
	a := &App{Options: Options{Config: cfg}, DB: db}
	if err := a.requireTables(ctx); err != nil {
		return err
	}
	var own string
	err = db.Read(ctx, func(tx *store.Tx) error {
		return tx.QueryRow(ctx, `SELECT installation FROM instance WHERE id = 1`).Scan(&own)
	})
	if err == nil && own != "" && own != known {
		err = otherInstallation(cfg.Data)
	}
	return err
}

func otherInstallation(folder string) error {
	return lostError("this database belongs to another installation than %s; check --database and --data; %s", folder, beginAgain)
}

func writeServed(folder string, served map[store.Engine]string) error {
	text := "# The databases that this data folder served. hale serve refuses to start on others.\n"
	for _, engine := range []store.Engine{store.SQLite, store.Postgres} {
		for _, name := range []store.Engine{engine, codedKeys(engine), listedAudit(engine)} {
			if id := served[name]; id != "" {
				text += string(name) + " " + id + "\n"
			}
		}
	}
	if err := store.ReplaceFile(filepath.Join(folder, InstallationFile), []byte(text)); err != nil {
		return fmt.Errorf("app: writing which database the data folder serves: %w", err)
	}
	return nil
}

// codedKeys returns the name of the line that states that the API keys of a database have
// codes.
func codedKeys(engine store.Engine) store.Engine { return engine + "-key-codes" }

// listedAudit returns the name of the line that states that the audit log of a database
// has a list of chains.
func listedAudit(engine store.Engine) store.Engine { return engine + "-audit-chains" }

// KnowsAuditChains reports whether the data folder has served the database of an engine
// with a list of chains. A database without the list was then changed by hand.
func KnowsAuditChains(folder string, engine store.Engine) (bool, error) {
	served, err := servedBy(folder)
	return served[listedAudit(engine)] != "", err
}

// openAudit opens the audit log, and begins its list of chains in a database of an older
// version. The data folder remembers it.
func (a *App) openAudit(ctx context.Context) error {
	a.audit = audit.New(a.DB, a.Log)
	served, err := servedBy(a.Config.Data)
	if err != nil {
		return err
	}
	line := listedAudit(a.DB.Engine())
	if err := a.audit.Prepare(ctx, served[line] != ""); err != nil {
		return err
	}
	problems, refused, err := a.audit.Examine(ctx, true)
	if err != nil {
		return err
	}
	if len(problems) > 0 || refused > 0 {
		a.Log.Error("the audit log was changed without the root key; run hale audit verify for details", "problems", strings.Join(problems, "; "), "refused rows", refused)
	}
	if served[line] != "" {
		return nil
	}
	served[line] = served[a.DB.Engine()]
	return writeServed(a.Config.Data, served)
}

// codeKeys gives the API keys of an older version their codes. The data folder remembers
// it, so that a change of the database alone does not make it happen again.
func (a *App) codeKeys(ctx context.Context) error {
	served, err := servedBy(a.Config.Data)
	if err != nil {
		return err
	}
	line := codedKeys(a.DB.Engine())
	var c teams.Coding
	err = a.DB.Write(ctx, func(tx *store.Tx) (err error) {
		c, err = teams.CodeKeys(ctx, tx, served[line] != "")
		return err
	})
	if err != nil {
		return err
	}
	if c.Coded > 0 {
		a.Log.Info("protected the API keys of an older version with the root key", "keys", c.Coded)
	}
	if c.Refused > 0 {
		a.Log.Warn("API keys without a code open nothing: they come from an older version or were written into the database by hand; hale docs api-keys", "keys", c.Refused)
	}
	if served[line] != "" {
		return nil
	}
	served[line] = served[a.DB.Engine()]
	return writeServed(a.Config.Data, served)
}

// ForgetCodes lets the next start give the API keys and the audit log of a database
// their codes. A restored backup may be of an older version.
func ForgetCodes(folder string, engine store.Engine) error {
	served, err := servedBy(folder)
	if err != nil || served[codedKeys(engine)] == "" && served[listedAudit(engine)] == "" {
		return err
	}
	delete(served, codedKeys(engine))
	delete(served, listedAudit(engine))
	return writeServed(folder, served)
}
