package app

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/uuid"

	"hale/internal/labs/catalogue"
	"hale/internal/platform/config"
	"hale/internal/platform/fault"
	"hale/internal/platform/secrets"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// FirstTeam is the team and key of a database that had no team.
type FirstTeam struct {
	Team teams.Team
	Key  secrets.Text // to be shown once
	// Given means that the key came from the configuration, so that there is
	// no need to show it.
	Given bool
	// File has the key in production, where the first screen ends up in a journal
	// that many can read. Empty otherwise.
	File string
}

// FirstKeyFile is the file of the first key in the data folder.
const FirstKeyFile = "first-api-key"

// bootstrap makes what every database has: something sealed, which only the right
// root key opens, and a team. It runs last. If startup fails, no key has been created
// or printed.
func (a *App) bootstrap(ctx context.Context) (err error) {
	a.First, err = a.firstTeam(ctx)
	if err == nil || errors.Is(err, secrets.ErrSealed) {
		return a.proveRootKey(ctx)
	}
	return err
}

// firstTeam creates a team and a key if there is no team. It also creates the
// system's own sealing key. Several nodes may start at once. One of them creates
// everything. A node with another root key then fails, because it cannot open the
// sealing key.
func (a *App) firstTeam(ctx context.Context) (first *FirstTeam, err error) {
	ignored := false
	err = a.DB.Write(ctx, func(tx *store.Tx) error {
		first, ignored = nil, false
		if err := tx.Lock(ctx, "first team"); err != nil {
			return err
		}
		if _, err := tx.Seal(ctx, uuid.Nil, uuid.Nil, "root key", nil); err != nil { // makes the key, or opens it
			return err
		}
		all, err := teams.List(ctx, tx)
		if err != nil {
			return err
		}
		if len(all) > 0 {
			ignored = !a.namesTeam(all)
			return nil
		}
		team, err := teams.Create(ctx, tx, a.Config.Team, teams.Environment(a.Config.Environment))
		if err != nil {
			return err
		}
		key := a.Config.BootstrapAPIKey
		if key == "" {
			key = teams.NewKeyText(team.Environment)
		}
		if _, err := teams.AddKey(ctx, tx, team, "first key", key); fault.Is(err, fault.Invalid) {
			return bootstrapKeyError(err)
		} else if err != nil {
			return err
		}
		if err := catalogue.Seed(ctx, tx, team); err != nil {
			return err
		}
		first = &FirstTeam{Team: team, Key: key, Given: a.Config.BootstrapAPIKey != ""}
		if a.Config.Production() && !first.Given {
			first.File = filepath.Join(a.Config.Data, FirstKeyFile)
			return writeFirstKey(first.File, key)
		}
		return nil
	})
	if err == nil && ignored {
		a.Log.Warn("the setting team is ignored: it names only the first team of an empty database; hale teams rename changes the name of a team")
	}
	return first, err
}

// namesTeam reports whether a team has the name in the settings. The default names none.
func (a *App) namesTeam(all []teams.Team) bool {
	return a.Config.Team == config.DefaultTeam ||
		slices.ContainsFunc(all, func(t teams.Team) bool { return t.Name == strings.TrimSpace(a.Config.Team) })
}

// writeFirstKey writes a key to a file that only its owner can read, and replaces the
// file of a start that failed.
func writeFirstKey(path string, key secrets.Text) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(key.Reveal() + "\n")
	return errors.Join(err, f.Sync(), f.Close())
}
