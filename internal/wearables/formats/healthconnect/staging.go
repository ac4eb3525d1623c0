package healthconnect

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// staging is a database with the tables of the phone's export, filled with records from
// JSON. So there is one reader for both: its order by time, its copies, zones and
// workouts.
//
// It is in the same folder as the upload, where a sweep finds it after a crash.
type staging struct {
	ctx     context.Context
	path    string
	db      *sql.DB
	tx      *sql.Tx
	inserts map[string]*sql.Stmt // by table
	last    map[string]int64     // row, by table
	apps    map[string]int64     // row, by package
	devices map[int64]bool       // types that have a row
	parents map[parent]int64     // of samples that come without a record
}

// parent identifies a record that was added for samples without a record.
type parent struct {
	table, app     string
	device, method int64
}

const (
	appsTable    = "application_info_table"
	devicesTable = "device_info_table"
)

// commonColumns are the columns that all records have.
var commonColumns = []string{"row_id INTEGER PRIMARY KEY", "uuid BLOB UNIQUE", "modified INTEGER", "app_info_id", "device_info_id", "recording_method"}

// layout maps tables to their columns. The columns have no types, so values keep theirs.
var layout = func() map[string][]string {
	all := map[string][]string{
		appsTable:    {"row_id INTEGER PRIMARY KEY", "package_name"},
		devicesTable: {"row_id INTEGER PRIMARY KEY", "device_type"},
		stagesTable:  {"parent_key", "stage_start_time", "stage_end_time", "stage_type"},
		routeTable:   {"parent_key", "timestamp_millis", "latitude", "longitude", "altitude"},
	}
	for _, list := range [][]form{forms, skippedForms} {
		for i := range list {
			f := &list[i]
			all[f.table] = append(slices.Clone(commonColumns), f.columns()...)
			if f.many != nil {
				all[f.many.table] = []string{"parent_key", "epoch_millis", f.many.column}
			}
		}
	}
	return all
}()

// columns returns the columns of a record without commonColumns.
func (f *form) columns() []string {
	all := []string{"time", "zone_offset"}
	if f.span {
		all = []string{"start_time", "start_zone_offset", "end_time", "end_zone_offset"}
	}
	for i := range f.fields {
		all = append(all, f.fields[i].column)
	}
	if f.table == exerciseTable {
		all = append(all, "exercise_type", "title")
	}
	return all
}

// stagingOptions settings are safe, because the database is deleted after the import. After a
// crash, the next attempt creates a new one.
const stagingOptions = "?_pragma=journal_mode(OFF)&_pragma=synchronous(OFF)&_pragma=locking_mode(EXCLUSIVE)&_pragma=cache_size(-8192)"

// newStaging makes an empty database beside the upload.
func newStaging(ctx context.Context, upload string) (*staging, error) {
	file, err := os.CreateTemp(filepath.Dir(upload), "health-connect-*.db")
	if err != nil {
		return nil, fmt.Errorf("healthconnect: staging: %w", err)
	}
	s := &staging{
		ctx: ctx, path: file.Name(), inserts: map[string]*sql.Stmt{}, last: map[string]int64{},
		apps: map[string]int64{}, devices: map[int64]bool{}, parents: map[parent]int64{},
	}
	if err := errors.Join(file.Close(), s.begin()); err != nil {
		s.discard()
		return nil, fmt.Errorf("healthconnect: staging: %w", err)
	}
	return s, nil
}

func (s *staging) begin() (err error) {
	if s.db, err = sql.Open("sqlite", "file:"+escapePath.Replace(s.path)+stagingOptions); err != nil {
		return err
	}
	s.db.SetMaxOpenConns(1)
	if s.tx, err = s.db.BeginTx(s.ctx, nil); err != nil {
		return err
	}
	return s.table(distinctTable)
}

// table creates a table and prepares the statement that fills it.
func (s *staging) table(name string) error {
	columns := layout[name]
	text := `CREATE TABLE ` + name + ` (` + strings.Join(columns, ", ") + `)` //nolint:gosec // names of our layout
	if name == stagesTable {
		text += `; CREATE INDEX stages_of ON ` + name + ` (parent_key)`
	}
	if _, err := s.tx.ExecContext(s.ctx, text); err != nil {
		return err
	}
	marks := strings.TrimSuffix(strings.Repeat("?, ", len(columns)), ", ")
	insert, err := s.tx.PrepareContext(s.ctx, `INSERT INTO `+name+` VALUES (`+marks+`)`) //nolint:sqlclosecheck,gosec // closed with its transaction; a name of our layout
	s.inserts[name] = insert
	return err
}

// insert adds a row to a table. It creates the table with the first row.
func (s *staging) insert(table string, values ...any) error {
	if s.inserts[table] == nil {
		if err := s.table(table); err != nil {
			return s.failed(err)
		}
	}
	_, err := s.inserts[table].ExecContext(s.ctx, values...)
	return s.failed(err)
}

func (s *staging) failed(err error) error {
	if err != nil {
		return fmt.Errorf("healthconnect: staging: %w", err)
	}
	return nil
}

// add adds a record and returns its row. twice is true if a record with the same
// id already exists. The new record replaces the existing one, unless that was changed
// later. Then the existing one stays, and row is 0.
func (s *staging) add(f *form, w *writtenRecord, values ...any) (row int64, twice bool, err error) {
	if w.id != nil {
		stays := false
		if twice, stays, err = s.known(f, w); err != nil || stays {
			return 0, twice, err
		}
	}
	app, device, err := s.writer(w)
	if err != nil {
		return 0, twice, err
	}
	s.last[f.table]++
	row = s.last[f.table]
	all := []any{row, w.id, w.modified, app, device, w.method, w.start, w.startOffset}
	if f.span {
		all = append(all, w.end, w.endOffset)
	}
	return row, twice, s.insert(f.table, append(all, values...)...)
}

// known looks for a record with the same id, and removes it unless it was changed later
// than the new one. Samples without a record have no id.
func (s *staging) known(f *form, w *writtenRecord) (twice, stays bool, err error) {
	if s.inserts[f.table] == nil {
		return false, false, nil
	}
	var row, modified int64
	err = s.tx.QueryRowContext(s.ctx, `SELECT row_id, modified FROM `+f.table+` WHERE uuid = ?`, w.id).Scan(&row, &modified)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return false, false, nil
	case err != nil || modified > w.modified:
		return true, true, s.failed(err)
	}
	_, err = s.tx.ExecContext(s.ctx, `DELETE FROM `+f.table+` WHERE row_id = ?`, row) //nolint:gosec // a name of our layout
	if err == nil && f.table == sleepTable && s.inserts[stagesTable] != nil {
		_, err = s.tx.ExecContext(s.ctx, `DELETE FROM `+stagesTable+` WHERE parent_key = ?`, row)
	}
	return true, false, s.failed(err)
}

// writer returns the rows of the app and the device of a record, or nil if the
// record does not name one.
func (s *staging) writer(w *writtenRecord) (app, device any, err error) {
	if w.app != "" {
		row, ok := s.apps[w.app]
		if !ok && len(s.apps) < maxSources {
			row, ok = int64(len(s.apps)+1), true
			s.apps[w.app] = row
			if err := s.insert(appsTable, row, w.app); err != nil {
				return nil, nil, err
			}
		}
		if ok {
			app = row
		}
	}
	if w.device < 0 || w.device > 100 {
		return app, nil, nil
	}
	device = w.device + 1
	if !s.devices[w.device] {
		s.devices[w.device] = true
		err = s.insert(devicesTable, device, w.device)
	}
	return app, device, err
}

// samplesOf returns the row of the record that is added for samples without a
// record. Each writer has one such record.
func (s *staging) samplesOf(f *form, w *writtenRecord) (row int64, err error) {
	key := parent{f.table, w.app, w.device, w.method}
	row, ok := s.parents[key]
	if ok {
		return row, nil
	}
	only := *w
	only.id, only.start, only.end = nil, nil, nil
	if row, _, err = s.add(f, &only, make([]any, len(f.fields))...); err == nil && len(s.parents) < maxSources {
		s.parents[key] = row
	}
	return row, err
}

// finish completes the database for reading.
func (s *staging) finish() error {
	err := s.failed(s.tx.Commit())
	s.tx = nil
	err = errors.Join(err, s.failed(s.db.Close()))
	s.db = nil
	return err
}

// discard removes the database.
func (s *staging) discard() {
	if s.tx != nil {
		_ = s.tx.Rollback() // none of it is needed
	}
	if s.db != nil {
		_ = s.db.Close()
	}
	_ = os.Remove(s.path) // a sweep removes a file that remains
}
