package apitest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"hale/internal/platform/store"
)

// literals are the beginnings of SQL statements in the source, each with its place.
type literals map[string]string

// otherSQL lists folders whose SQL is not for the service's database, or not part of
// the service.
var otherSQL = map[string]string{
	"internal/platform/store":           "migrations, backups and checks of the schema",
	"internal/wearables/formats":        "the databases of other makers' apps",
	"internal/platform/store/pgtemp":    "the tests' own PostgreSQL",
	"internal/platform/store/storetest": "tests",
}

var (
	beginsSQL = regexp.MustCompile(`^(SELECT|INSERT INTO|UPDATE|DELETE FROM|WITH) `)
	verb      = regexp.MustCompile(`%[a-z]`)
)

// sqlLiterals returns the SQL of all packages except of tests.
func sqlLiterals(t *testing.T) literals {
	t.Helper()
	root := filepath.Join("..", "..")
	all := literals{}
	err := filepath.WalkDir(filepath.Join(root, "internal"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil || slices.ContainsFunc(ancestors(filepath.ToSlash(name)), func(dir string) bool { return otherSQL[dir] != "" }) {
			return err
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if one, ok := n.(*ast.BasicLit); ok && one.Kind == token.STRING {
				text, err := strconv.Unquote(one.Value)
				if err != nil {
					return false
				}
				if line := oneLine(text); beginsSQL.MatchString(line + " ") {
					line = oneLine(verb.Split(line, 2)[0])
					all[line] = filepath.ToSlash(name) + ":" + strconv.Itoa(fset.Position(one.Pos()).Line)
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func ancestors(path string) (all []string) {
	for i, c := range path {
		if c == '/' {
			all = append(all, path[:i])
		}
	}
	return all
}

// strike removes the literals that a recorded statement contains.
func (l literals) strike(recorded map[string][]any) {
	for text := range recorded {
		line := oneLine(text)
		for literal := range l {
			if strings.Contains(line, literal) {
				delete(l, literal)
			}
		}
	}
}

// explain checks the plans of the literals that are whole statements, and removes
// them. The rest are beginnings of statements.
func (l literals) explain(t *testing.T, db *store.DB, seen map[string]bool) {
	t.Helper()
	for literal, place := range l {
		args := make([]any, len(slices.Compact(slices.Sorted(slices.Values(placeholder.FindAllString(literal, -1))))))
		var steps []step
		var err error
		if db.Engine() == store.SQLite {
			steps, err = explainSQLite(t, db, literal, args)
		} else {
			steps, err = explainGeneric(t, db, literal, len(args))
		}
		if err != nil {
			continue
		}
		delete(l, literal)
		if steps = slices.DeleteFunc(steps, step.bounded); !isException(literal, seen) && len(steps) > 0 {
			t.Errorf("%s: %s\n\treads an unlimited number of rows: %v", place, literal, steps)
		}
	}
}

var placeholder = regexp.MustCompile(`\$[0-9]+`)

// explainGeneric explains a statement without values for its parameters.
func explainGeneric(t *testing.T, db *store.DB, text string, args int) (steps []step, err error) {
	t.Helper()
	err = db.Read(store.AsSystem(t.Context()), func(tx *store.Tx) error {
		if _, err := tx.Exec(t.Context(), `PREPARE checked AS `+text); err != nil {
			return err
		}
		if _, err := tx.Exec(t.Context(), `SET LOCAL plan_cache_mode = force_generic_plan`); err != nil {
			return err
		}
		execute := `EXECUTE checked`
		if args > 0 {
			execute += `(NULL` + strings.Repeat(`, NULL`, args-1) + `)`
		}
		steps, err = postgresSteps(t, tx, execute)
		if err != nil {
			return err
		}
		_, err = tx.Exec(t.Context(), `DEALLOCATE checked`)
		return err
	})
	return steps, err
}

// byKey lists beginnings of statements that the test does not send. Each continues
// with the key of a row or of a user.
var byKey = []string{
	"INSERT INTO sample_records (",                    // samples with ids, written by key
	"SELECT EXISTS (SELECT 1 FROM jobs WHERE kind IN", // Settle, for tests; both parts by an index of the kind
	"SELECT root_keys FROM nodes WHERE",               // a command of the operator; a row for each node
	"INSERT INTO appointments (",
	"INSERT INTO order_events (team_id, order_id, status, created_at)",
	"INSERT INTO service_center_lists (owner, lab, version, imported_at)",
	"INSERT INTO service_centers (owner,",
	`SELECT COUNT(*) FROM "`,
	"SELECT id FROM orders WHERE team_id = $1 AND user_id = $2 AND status IN (",
	"SELECT resource, start_at, end_at,",
	"SELECT team_id, user_id, context, expires_on, order_id, code_hash IS NOT NULL, code_method, code_sent_on, code_tries FROM portal_links WHERE token_hash = $1",
	"SELECT team_id, user_id, created_on, seen_at FROM portal_sessions WHERE token_hash = $1",
	"UPDATE SET imported_at = excluded.imported_at",
	"UPDATE SET version = excluded.version, imported_at = excluded.imported_at",
	"UPDATE history_announced AS h SET days = $6 WHERE team_id = $1 AND user_id = $2",
	"UPDATE audit_pending SET refused = 1 WHERE team_id = $1 AND id IN",
	"UPDATE idempotency_keys SET node_id = $1, locked_until =",
	"UPDATE imports SET status = 'queued', error = $3 WHERE team_id = $1 AND id = $2 AND",
	"UPDATE payloads SET last_at = $5 WHERE",
	"UPDATE payloads SET mapping = $4 WHERE (hour, user_id, id) IN",
	"UPDATE payloads SET times = times + 1, last_at = $5, mapping = $6 WHERE",
	"UPDATE payloads SET whole = FALSE WHERE",
	"UPDATE uploads SET arrived = arrived + $5",
	"UPDATE uploads SET node_id = $4, touched_at = $5 WHERE",
	"UPDATE uploads SET node_id = NULL WHERE",
	"UPDATE uploads SET state = 'imported', import_id = $4",
	"UPDATE webhook_deliveries SET lane = 1, due_at = $5, node = NULL",
	"UPDATE webhook_deliveries SET state = 'failed', ended_at = $5",
}

// report fails for each literal that was neither sent nor explained, unless byKey
// lists it.
func (l literals) report(t *testing.T) {
	t.Helper()
	for literal, place := range l {
		if !slices.ContainsFunc(byKey, func(start string) bool { return strings.HasPrefix(literal, start) }) {
			t.Errorf("%s: let recordStatements send this statement, or list it in byKey: %s", place, literal)
		}
	}
}
