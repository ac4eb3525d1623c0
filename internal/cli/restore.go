package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"hale/internal/app"
	"hale/internal/people/users"
	"hale/internal/platform/config"
	"hale/internal/platform/fault"
	"hale/internal/platform/secrets"
	"hale/internal/platform/store"
)

// restoredBackup describes a restore, or with --dry-run the check of a backup.
type restoredBackup struct {
	manifest
	RootKeyCheck keyCheck `json:"root_key_check"`
	Data         string   `json:"restored_to,omitempty"`
	Held         bool     `json:"outgoing_held"`
}

var restoredView = view{
	id:      "path",
	columns: append(backupView.columns[:len(backupView.columns):len(backupView.columns)], column{"root key", "root_key_check"}, column{"restored to", "restored_to"}, column{"outgoing held", "outgoing_held"}),
}

// keyCheck states whether the root key decrypts the database of a backup.
type keyCheck string

const (
	keyFits      keyCheck = "checked"
	keyNotNeeded keyCheck = "not needed: nothing is encrypted"
	keyMissing   keyCheck = "not checked: there is no root key"
)

func (s *shell) restoreCommand() *cobra.Command {
	var force, dryRun bool
	c := &cobra.Command{
		Use: "restore FOLDER", Short: "check a backup and restore it into the data folder or an empty PostgreSQL",
		Long: `Check a backup and restore it into the data folder. The command checks every page
of the database, its migrations, and that the root key decrypts it. Without a root
key it says that the key was not checked.

The restored copy is held: hale serve sends nothing to other systems, such as
webhooks, orders and messages, until hale resume-outgoing. The original may have
sent the same things already.

The data folder must be empty except for backups, root.key and erasures. --force moves existing data into
a folder before-restore-… inside the data folder and deletes nothing. The command
fails while hale serve uses the folder. If it is interrupted, hale serve refuses to
start until the restore is repeated. --dry-run makes the same checks on a
temporary copy, also while hale serve runs.

A backup of PostgreSQL is restored into the database of --database, which must be
empty. After an error it is empty again. After an interruption, repeat the command.

If root runs the command, the files belong to the owner of the data folder.`,
		Example: examples(
			"hale restore /backups/hale-2026-03-01",
			"hale restore ./copy --data /var/lib/hale --force",
			"hale restore ./copy --dry-run   # only check the backup",
		),
		Args: wantArgs("FOLDER"),
	}
	addSettings(c.Flags(), storageSettings...)
	c.Flags().BoolVar(&force, "force", false, "move existing data into a folder before-restore-…")
	c.Flags().BoolVar(&dryRun, "dry-run", false, "check the backup and change nothing")
	c.RunE = func(c *cobra.Command, args []string) error {
		cfg, err := s.settings(c)
		if err != nil {
			return err
		}
		m, err := readManifest(args[0])
		if err != nil {
			return err
		}
		if err := requireEngine(cfg, &m); err != nil {
			return err
		}
		switch {
		case dryRun:
			return s.rehearse(c.Context(), cfg, args[0], m)
		case m.Postgres != nil:
			return s.restorePostgres(c.Context(), cfg, args[0], m)
		}
		return s.restore(c.Context(), cfg, args[0], m, force)
	}
	return c
}

// readManifest checks that a folder is a whole backup.
func readManifest(folder string) (manifest, error) {
	const hint = "FOLDER is a folder that hale backup created"
	var m manifest
	info, err := os.Stat(folder)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return m, withHint(fault.Newf(fault.NotFound, "%s: no such folder", folder), hint)
	case err != nil:
		return m, fileTrouble(folder, err)
	case !info.IsDir():
		return m, withHint(badUsagef("%s is a file", folder), hint)
	}
	path := filepath.Join(folder, manifestFile)
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return m, withHint(fault.Newf(fault.NotFound, "%s is not a backup: it has no %s", folder, manifestFile), hint)
	}
	if err != nil {
		return m, fileTrouble(path, err)
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return m, sayingf(err, "the backup is damaged: its %s is not JSON", manifestFile)
	}
	if m.Postgres != nil {
		return m, checkTables(folder, &m)
	}
	sum, size, err := digest(filepath.Join(folder, store.FileName))
	if errors.Is(err, os.ErrNotExist) {
		return m, fmt.Errorf("the backup is damaged: it has no %s", store.FileName)
	}
	if err != nil {
		return m, err
	}
	if sum != m.SHA256 || size != m.Bytes {
		return m, errors.New("the backup is damaged: its database has changed since the backup")
	}
	return m, nil
}

// staysInPlace reports whether a restore leaves an entry of a data folder in place,
// because the entry is not part of the data:
//
//   - backups
//   - attempts to restore, their marker, and data that earlier restores set aside
//   - the list of erasures
//   - the file system's own entries
func staysInPlace(name string) bool {
	return name == backupsFolder || name == "lost+found" || name == users.ErasuresFile || name == app.UnfinishedFile ||
		strings.HasPrefix(name, app.StagingFolder) || strings.HasPrefix(name, app.SetAsidePrefix)
}

func (s *shell) restore(ctx context.Context, cfg *config.Config, from string, m manifest, force bool) error {
	if err := os.MkdirAll(cfg.Data, 0o700); err != nil {
		return err
	}
	lock, err := app.HoldFolder(cfg.Data)
	if errors.Is(err, app.ErrInUse) {
		return withHint(fault.Newf(fault.Conflict, "hale serve uses %s", cfg.Data), "stop it first")
	}
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := ownByFolder(cfg.Data, app.LockName); err != nil {
		return err
	}
	if err := s.prepareFolder(cfg.Data, force); err != nil {
		return err
	}
	key, err := s.replaceData(ctx, cfg, from)
	if err != nil {
		return err
	}
	switch {
	case cfg.RootKey != "":
		s.say("the folder has no %s: give hale serve the same root-key setting (%s)", secrets.RootFileName, cfg.Origin("root-key"))
	case key == keyMissing:
		s.say("put your copy of %s into %s before you start hale serve: without it the data cannot be decrypted", secrets.RootFileName, absolutePath(cfg.Data))
	}
	s.say("%s", heldHint)
	m.Path, m.Integrity = absolutePath(from), "checked"
	return s.showValue(restoredView, restoredBackup{manifest: m, RootKeyCheck: key, Data: absolutePath(cfg.Data), Held: true})
}

// prepareFolder checks that a restore may replace the data, and removes the remains of an
// interrupted restore.
func (s *shell) prepareFolder(data string, force bool) error {
	before, err := entriesOf(data)
	if err != nil {
		return err
	}
	aside, _, err := app.ReadUnfinished(data)
	if err != nil {
		return err
	}
	onlyKey := slices.Equal(before, []string{secrets.RootFileName}) // put there for this restore
	if !force && (len(before) > 0 && !onlyKey || aside != "") {
		return withHint(fault.Newf(fault.Conflict, "%s is not empty", data), "--force moves existing data into a folder and deletes nothing")
	}
	if err := s.undoInterrupted(data); err != nil {
		return err
	}
	return removeStaging(data)
}

// replaceData checks the backup in the staging folder, and sets it in the place of the
// data.
func (s *shell) replaceData(ctx context.Context, cfg *config.Config, from string) (keyCheck, error) {
	before, err := entriesOf(cfg.Data)
	if err != nil {
		return "", err
	}
	staging := filepath.Join(cfg.Data, app.StagingFolder)
	if err := os.Mkdir(staging, 0o700); err != nil {
		return "", err
	}
	key, err := s.stage(ctx, cfg, from, staging)
	if err == nil {
		err = s.holdRestored(ctx, cfg, staging)
	}
	if err == nil {
		err = ownByFolder(cfg.Data, app.StagingFolder)
	}
	if err == nil {
		err = s.swap(cfg.Data, staging, before)
	}
	return key, errors.Join(err, os.RemoveAll(staging))
}

// rehearse makes all checks of a restore on a copy of the backup. It leaves the existing
// data alone.
func (s *shell) rehearse(ctx context.Context, cfg *config.Config, from string, m manifest) error {
	var key keyCheck
	var err error
	if m.Postgres != nil {
		key, err = s.proveTables(cfg, from, &m)
	} else {
		err = s.withStaged(ctx, cfg, from, func(_ context.Context, checked keyCheck, _ *store.DB) error {
			key = checked
			return nil
		})
	}
	if err != nil {
		return err
	}
	s.sayDone("the backup is valid; nothing was changed")
	m.Path, m.Integrity = absolutePath(from), "checked"
	return s.showValue(restoredView, restoredBackup{manifest: m, RootKeyCheck: key})
}

// existingParent returns a folder, or its nearest parent that exists.
func existingParent(folder string) string {
	folder = absolutePath(folder)
	for {
		if _, err := os.Stat(folder); err == nil || folder == filepath.Dir(folder) {
			return folder
		}
		folder = filepath.Dir(folder)
	}
}

// removeStaging removes the folders of interrupted restores.
func removeStaging(data string) error {
	entries, err := os.ReadDir(data)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), app.StagingFolder) {
			if err := os.RemoveAll(filepath.Join(data, entry.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// stage copies the backup into the staging folder and checks it there.
func (s *shell) stage(ctx context.Context, cfg *config.Config, from, staging string) (keyCheck, error) {
	if err := copyFile(filepath.Join(from, store.FileName), filepath.Join(staging, store.FileName)); err != nil {
		return "", err
	}
	if err := stageRootKey(cfg, from, staging); err != nil {
		return "", err
	}
	return s.checkRestored(ctx, cfg, staging)
}

// stageRootKey copies the root key of the backup, followed by those of the data folder. A
// key of the data folder may have replaced the one of the backup, and opens the list of
// erasures. If the settings contain a root key, stageRootKey copies none: the files may
// have other keys, and only the key of the settings is checked.
func stageRootKey(cfg *config.Config, from, staging string) error {
	if cfg.RootKey != "" {
		return nil
	}
	var text string
	for _, path := range []string{filepath.Join(from, secrets.RootFileName), rootKeyPath(cfg)} {
		more, err := os.ReadFile(path)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if text, err = secrets.JoinRootKeys(text, string(more)); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	if text == "" {
		return nil
	}
	return writeDurably(filepath.Join(staging, secrets.RootFileName), []byte(text))
}

// checkRestored reads the whole staged database and tries the root key.
func (s *shell) checkRestored(ctx context.Context, cfg *config.Config, staging string) (key keyCheck, err error) {
	staged := *cfg
	staged.Data = staging
	root, err := existingRoot(&staged)
	if err != nil {
		return "", err
	}
	db, err := s.openDatabase(store.AsSystem(ctx), &staged)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := db.Check(ctx); err != nil {
		return "", err
	}
	if err := db.RefuseNewer(ctx); err != nil {
		return "", err
	}
	if root == nil {
		sealed, err := anythingSealed(store.AsSystem(ctx), db)
		if !sealed {
			return keyNotNeeded, err
		}
		return keyMissing, err
	}
	if err := db.ProveRoot(store.AsSystem(ctx)); err != nil {
		return "", withHint(fmt.Errorf("wrong root key for this backup: %w", err),
			wrongKeyHint)
	}
	return keyFits, nil
}

// holdRestored marks the staged database, so that it sends nothing. It migrates a
// backup of an older version first: hale serve would do that next.
func (s *shell) holdRestored(ctx context.Context, cfg *config.Config, staging string) (err error) {
	staged := *cfg
	staged.Data = staging
	ctx = store.AsSystem(ctx)
	db, err := s.openDatabase(ctx, &staged)
	if err != nil {
		return err
	}
	if err = db.Migrate(ctx); err == nil {
		err = db.HoldOutgoing(ctx, restoredReason)
	}
	if err = errors.Join(err, db.Close()); err != nil {
		return err
	}
	path := filepath.Join(staging, store.FileName+"-wal") // it is not moved
	if info, err := os.Stat(path); err == nil && info.Size() > 0 {
		return fmt.Errorf("the mark of the restored database is still in its log %s", path)
	}
	return nil
}

// restoredReason is the reason why a restored copy sends nothing.
const restoredReason = "restored from a backup"

const (
	wrongKeyHint = "give the root key of the installation that made it: --root-key-file FILE"
	heldHint     = "nothing is sent to other systems yet: hale resume-outgoing --dry-run counts what waits, hale resume-outgoing sends it"
)

// swap sets the previous data aside and puts the staged files in its place. The
// database comes last: without it the folder has no owner yet. If a file cannot be
// moved, everything stays where it was. From the first move to the last one the folder
// has a marker, so that no service starts after an interruption.
func (s *shell) swap(data, staging string, before []string) error {
	staged, err := stagedEntries(staging)
	if err != nil {
		return err
	}
	aside := ""
	if len(before) > 0 {
		if aside, err = s.makeAside(data); err != nil {
			return err
		}
	}
	err = markUnfinished(data, aside)
	if err == nil {
		err = s.exchange(data, staging, aside, before, staged)
	}
	if err != nil {
		return errors.Join(err, abandon(data, aside))
	}
	if err := app.RemoveUnfinished(data); err != nil {
		return err
	}
	s.stepDone()
	if aside != "" {
		s.say("the previous data is in %s", absolutePath(aside))
	}
	return nil
}

// exchange makes the moves of swap. After an error it moves the files back.
func (s *shell) exchange(data, staging, aside string, before, staged []string) error {
	s.stepDone()
	if aside == "" {
		return s.moveAll(staging, data, staged)
	}
	if err := s.moveAll(data, aside, before); err != nil {
		return err
	}
	if err := s.moveAll(staging, data, staged); err != nil {
		return errors.Join(err, s.moveAll(aside, data, before))
	}
	return nil
}

// abandon removes the marker after an error. The marker stays if files of the previous
// data could not be moved back.
func abandon(data, aside string) error {
	if aside != "" {
		if err := os.Remove(aside); err != nil { // it has files
			return err
		}
	}
	return app.RemoveUnfinished(data)
}

// markUnfinished writes the marker, readable by the service.
func markUnfinished(data, aside string) error {
	names := []string{app.UnfinishedFile}
	if aside != "" {
		aside = filepath.Base(aside)
		names = append(names, aside)
	}
	return errors.Join(app.MarkUnfinished(data, aside), ownByFolder(data, names...))
}

// undoInterrupted returns a folder to the data from before an interrupted restore. It can
// be interrupted itself and repeated. If only the marker was left to remove, it keeps the
// restored data.
func (s *shell) undoInterrupted(data string) error {
	aside, found, err := app.ReadUnfinished(data)
	if err != nil || !found {
		return err
	}
	if aside != "" && !allMoved(data) {
		if err := s.moveBack(data, filepath.Join(data, aside)); err != nil {
			return err
		}
		s.say("undid an interrupted restore: the previous data is back in %s", absolutePath(data))
	}
	return app.RemoveUnfinished(data)
}

// allMoved reports whether an interrupted restore had made its last move: the database has
// left the staging folder.
func allMoved(data string) bool {
	_, folder := os.Stat(filepath.Join(data, app.StagingFolder))
	_, staged := os.Stat(filepath.Join(data, app.StagingFolder, store.FileName))
	_, database := os.Stat(filepath.Join(data, store.FileName))
	return folder == nil && errors.Is(staged, os.ErrNotExist) && database == nil
}

// moveBack moves all files that were set aside back. They replace files of the backup.
func (s *shell) moveBack(data, aside string) error {
	entries, err := os.ReadDir(aside)
	if errors.Is(err, os.ErrNotExist) { // moved back by hand
		return nil
	}
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if err := os.Rename(filepath.Join(aside, entry.Name()), filepath.Join(data, entry.Name())); err != nil {
			return err
		}
		s.stepDone()
	}
	return errors.Join(store.SyncFolder(data), os.Remove(aside))
}

// stepDone runs after each step of a restore that changes the data folder.
func (s *shell) stepDone() {
	if s.afterStep != nil {
		s.afterStep()
	}
}

// makeAside creates a folder named after the current time, to the second. If this name
// exists, it appends a number.
func (s *shell) makeAside(data string) (string, error) {
	name := filepath.Join(data, app.SetAsidePrefix+s.now().UTC().Format("20060102T150405Z"))
	aside := name
	for n := 2; ; n++ {
		err := os.Mkdir(aside, 0o700)
		if !errors.Is(err, os.ErrExist) {
			return aside, err
		}
		aside = fmt.Sprintf("%s-%d", name, n)
	}
}

// stagedEntries lists the staged files, the database last.
func stagedEntries(staging string) (names []string, err error) {
	all, err := os.ReadDir(staging)
	if err != nil {
		return nil, err
	}
	for _, entry := range all {
		if name := entry.Name(); !strings.HasPrefix(name, store.FileName) { // the log of the check just made is empty
			names = append(names, name)
		}
	}
	return append(names, store.FileName), nil
}

// entriesOf lists the entries of a data folder that are part of the data, without the
// lock.
func entriesOf(folder string) ([]string, error) {
	all, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, entry := range all {
		if name := entry.Name(); name != app.LockName && !staysInPlace(name) {
			names = append(names, name)
		}
	}
	return names, nil
}
