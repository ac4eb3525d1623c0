package storetest

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"strings"
	"testing"
)

// Grow fills the tables of a PostgreSQL database for a look at query plans. It
// copies each row copies times, with other ids and earlier times, and creates
// statistics. An empty table gets an invented row first. Then it makes the planner assume times as many rows as there are.
// Constraints do not survive. The database is for EXPLAIN only.
func Grow(t testing.TB, d Database, copies, times int) {
	t.Helper()
	ctx := t.Context()
	db, err := sql.Open("pgx", SuperuserURL(t, d))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1) // for the session's setting
	run := func(statement string, args ...any) {
		t.Helper()
		if _, err := db.ExecContext(ctx, statement, args...); err != nil {
			t.Fatalf("storetest: %s: %v", statement, err)
		}
	}
	run(`SET session_replication_role = replica`) // no triggers and no foreign keys
	run(`DO $$ DECLARE c record; BEGIN
		FOR c IN SELECT conrelid::regclass AS t, conname FROM pg_constraint WHERE contype = 'c' AND connamespace = 'public'::regnamespace LOOP
			EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', c.t, c.conname);
		END LOOP; END $$`)
	for table, columns := range tableColumns(ctx, t, db) {
		run(firstRow(table, columns))
		run(copyRows(table, columns), copies)
	}
	run(`ANALYZE`)
	run(`UPDATE pg_class SET reltuples = reltuples * $1
		WHERE relkind IN ('r', 'i') AND relnamespace = 'public'::regnamespace AND reltuples > 0`, times)
}

// SuperuserURL returns the address of the database for the superuser.
func SuperuserURL(t testing.TB, d Database) string {
	t.Helper()
	admin, err := cluster()
	if err != nil {
		t.Fatal(err)
	}
	own, err := url.Parse(d.URL)
	if err != nil {
		t.Fatal(err)
	}
	superuser, err := url.Parse(admin)
	if err != nil {
		t.Fatal(err)
	}
	superuser.Path = own.Path
	return superuser.String()
}

type column struct {
	name, kind string
	unique     bool // in a unique index without an id other than the team's
}

func tableColumns(ctx context.Context, t testing.TB, db *sql.DB) map[string][]column {
	t.Helper()
	rows, err := db.QueryContext(ctx, `SELECT c.relname, a.attname, format_type(a.atttypid, NULL), EXISTS (
			SELECT 1 FROM pg_index i WHERE i.indrelid = c.oid AND i.indisunique AND a.attnum = ANY (i.indkey) AND NOT EXISTS (
				SELECT 1 FROM pg_attribute o WHERE o.attrelid = c.oid AND o.attnum = ANY (i.indkey)
				AND o.atttypid = 'uuid'::regtype AND o.attname <> 'team_id'))
		FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
		WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace AND c.relname <> 'goose_db_version' ORDER BY a.attnum`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	all := map[string][]column{}
	for rows.Next() {
		var table string
		var c column
		if err := rows.Scan(&table, &c.name, &c.kind, &c.unique); err != nil {
			t.Fatal(err)
		}
		all[table] = append(all[table], c)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// firstRow returns a statement that gives an empty table a row of the team that has
// the most users.
func firstRow(table string, columns []column) string {
	var names, values []string
	for _, c := range columns {
		value := `'x'`
		switch {
		case c.name == "team_id":
			value = `(SELECT team_id FROM users GROUP BY team_id ORDER BY COUNT(*) DESC LIMIT 1)`
		case c.kind == "uuid":
			value = `gen_random_uuid()`
		case c.kind == "bigint" || c.kind == "integer" || c.kind == "smallint" || c.kind == "double precision":
			value = `1`
		case c.kind == "boolean":
			value = `FALSE`
		}
		names, values = append(names, c.name), append(values, value)
	}
	return fmt.Sprintf(`INSERT INTO %s (%s) OVERRIDING SYSTEM VALUE SELECT %s WHERE NOT EXISTS (SELECT 1 FROM %s)`,
		table, strings.Join(names, ", "), strings.Join(values, ", "), table)
}

// copyRows returns a statement that copies the rows of a table $1 times. An id gets
// the same replacement in all tables.
func copyRows(table string, columns []column) string {
	var names, values []string
	for _, c := range columns {
		value := c.name
		switch {
		case c.kind == "uuid" && c.name != "team_id":
			value = `md5(` + c.name + `::text || g)::uuid`
		case c.kind == "bigint" && (strings.HasSuffix(c.name, "_at") || strings.HasSuffix(c.name, "_on")):
			value += ` - g * 60000000` // one minute
		case c.kind == "bigint" && c.unique:
			value += ` + g * 1000`
		case c.kind == "text" && c.unique:
			value += ` || g`
		case c.kind == "bytea" && c.unique:
			value += ` || convert_to(g::text, 'UTF8')`
		}
		names, values = append(names, c.name), append(values, value)
	}
	return fmt.Sprintf(`INSERT INTO %s (%s) OVERRIDING SYSTEM VALUE SELECT %s FROM %s CROSS JOIN generate_series(1, $1::bigint) AS g ON CONFLICT DO NOTHING`,
		table, strings.Join(names, ", "), strings.Join(values, ", "), table)
}
