package apitest

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
)

// Every statement reads its rows by a key or stops after a page. The number of rows
// that it reads does not grow with the users, orders and events of a team.
//
// The planner has no statistics here. SQLite never has them, and PostgreSQL has
// them only some time after a table has grown.
func TestEveryStatementReadsByKeyOrPage(t *testing.T) {
	literals, seen := sqlLiterals(t), map[string]bool{}
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		recorded := recordStatements(t, d)
		literals.strike(recorded)
		explain := explainSQLite
		if d.Engine == store.Postgres {
			storetest.Grow(t, d, 200, 500)
			explain = explainPostgres
		}
		db := d.Open(t, nil)
		for _, text := range slices.Sorted(maps.Keys(recorded)) {
			line := oneLine(text)
			if !readsRows.MatchString(line) {
				continue
			}
			steps, err := explain(t, db, text, recorded[text])
			if err != nil {
				t.Errorf("%s\n%v", line, err)
			}
			steps = slices.DeleteFunc(steps, step.bounded)
			if isException(line, seen) || len(steps) == 0 {
				continue
			}
			t.Errorf("%s", line)
			for _, s := range steps {
				t.Logf("\treads an unlimited number of rows: %s", s.text)
			}
		}
		rest := maps.Clone(literals)
		rest.explain(t, db, seen)
		maps.DeleteFunc(literals, func(text, _ string) bool { return rest[text] == "" })
	})
	for start := range unlimitedReads {
		if !seen[start] {
			t.Errorf("no statement begins with %q: remove the exception", start)
		}
	}
	literals.report(t)
}

// With an index in the order of a statement SQLite reads all connections of a team. The
// test finds that plan, and accepts the lookup by key.
func TestPlansThatReadATeamAreFound(t *testing.T) {
	db := storetest.SQLite(t)
	if err := db.Write(t.Context(), func(tx *store.Tx) error {
		_, err := tx.Exec(t.Context(), `CREATE INDEX connections_by_age ON connections (team_id, created_on, status)`)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	for order, want := range map[string]bool{
		"created_on, provider": false, "+created_on, provider": true, "created_on LIMIT 1": false, "+created_on LIMIT 1": true,
	} {
		query := `SELECT provider FROM connections WHERE team_id = $1 AND user_id = $2 ORDER BY ` + order
		steps, err := explainSQLite(t, db, query, []any{1, 2})
		if err != nil {
			t.Fatal(err)
		}
		if got := !slices.ContainsFunc(steps, func(s step) bool { return !s.bounded() }); got != want {
			t.Errorf("ordered by %s: bounded is %v: %v", order, got, steps)
		}
	}
}

// isException reports whether unlimitedReads has a reason for the statement, and notes in
// seen that the reason has a statement.
func isException(line string, seen map[string]bool) bool {
	for start := range unlimitedReads {
		if strings.HasPrefix(line+end, start) {
			seen[start] = true
			return true
		}
	}
	return false
}

const (
	removesDue   = "background: reads the rows that are due, and no others"
	oneBatch     = "reads a range of event numbers whose length the code limits"
	onePage      = "reads the rows of the users of one page, from the first to the last"
	readsOrders  = "fills the index of orders in memory, once after the start, and then only what changed"
	countsReview = "the answer contains the total of the queue"
	teamFigures  = "a figure of the whole team, for an operator"
	afterRestore = "once, after a restore of a dump of PostgreSQL"
	eventsPage   = "a page of events by their numbers"
	backlog      = "a figure of the jobs that wait"
)

// end follows a statement of unlimitedReads that must be whole.
const end = " ;"

// unlimitedReads lists the beginnings of statements that may read without a limit, and
// the reasons.
var unlimitedReads = map[string]string{
	"DELETE FROM access_tokens WHERE expires_on":                                                                               removesDue,
	"DELETE FROM booking_keys_used WHERE expires_at < $1" + end:                                                                removesDue,
	"DELETE FROM idempotency_keys WHERE created_at < $1" + end:                                                                 removesDue,
	"DELETE FROM jobs WHERE finished_at < $1 AND status IN ('succeeded', 'failed', 'canceled')" + end:                          removesDue,
	"DELETE FROM messages WHERE (team_id, id) IN ( SELECT team_id, id FROM messages WHERE ended_at IS NOT NULL AND ended_at <": removesDue,
	"DELETE FROM phone_sessions WHERE expires_on":                                                                              removesDue,
	"DELETE FROM sign_ins WHERE expires_on":                                                                                    removesDue,
	"SELECT team_id, user_id, id, kind, provider, resource, mapping, size, packed, chunks, whole, times, first_at, last_at FROM payloads WHERE team_id = $1 AND last_at <": removesDue,
	"UPDATE uploads SET state = 'given_up' WHERE state IN":                                                                                       "background: the table has the uploads of a few days",
	"SELECT d.team_id, d.user_id, d.provider FROM demo_connections d":                                                                            "background: demos that have not ended",
	"SELECT COALESCE(CASE WHEN d.state = 'pending' AND":                                                                                          oneBatch,
	"INSERT INTO webhook_deliveries (team_id, endpoint_id, event_id, state, lane, due_at, attempts, tries) SELECT v.team_id":                     oneBatch,
	"UPDATE webhook_deliveries SET due_at = $3, tries = 0":                                                                                       oneBatch,
	"SELECT COALESCE(SUM(checksum_failures)":                                                                                                     "reads the databases of the server",
	"SELECT v.id, v.seq, v.type, v.user_id, a.n, a.at":                                                                                           oneBatch,
	"SELECT COUNT(*) FROM events v JOIN webhook_endpoints e":                                                                                     "counts the range of events that a caller wants to replay",
	"SELECT user_id, id, kind, status, error, attempts, created_at, started_at, finished_at FROM imports WHERE team_id = $1 AND user_id BETWEEN": onePage,
	"SELECT user_id, provider, resource, attempted_at, stored, sent, oldest, newest, history_since, history_until FROM resource_statistics":      onePage,
	"SELECT user_id, provider, resource, start_at, end_at, announced_at, COALESCE(days, $5) FROM history_announced":                              onePage,
	"SELECT change, id, user_id, created_at, updated_at, status, method, is_critical":                                                            readsOrders,
	"SELECT order_id FROM order_erasures WHERE team_id = $1 AND change >=":                                                                       readsOrders,
	"SELECT was, change, at, order_id, user_id":                                                                                                  readsOrders,
	"DELETE FROM order_past WHERE at < $1" + end:                                                                                                 removesDue,
	"SELECT COUNT(*) FROM orders WHERE team_id = $1" + end:                                                                                       readsOrders,
	"SELECT COUNT(*) FROM unmatched_results":                                                                                                     countsReview,
	"SELECT team_id, id, status, decision, account_differs":                                                                                      "a page of the review queue: PostgreSQL may find it cheaper to sort",
	"SELECT week, CAST(SUM(made) AS BIGINT)":                                                                                                     "a few rows for a week",
	"SELECT COUNT(*) FROM payload_keys WHERE team_id = $1" + end:                                                                                 teamFigures,
	"SELECT COUNT(*) FROM sandbox_steps WHERE team_id = $1 AND due_at <= $2" + end:                                                               "counts the steps of a test laboratory that are due",
	"SELECT COUNT(*), COUNT(CASE WHEN interpretation = 'critical'":                                                                               "a figure of the results that wait for an operator",
	"SELECT COUNT(*), SUM(CASE WHEN n.escalated_at IS NULL":                                                                                      "a figure of the critical results that wait",
	"SELECT COUNT(*) FROM unassigned_results WHERE state = $1" + end:                                                                             "a command of the operator",
	"SELECT COUNT(*), MIN(run_at) FROM jobs WHERE kind = $1 AND status = 'queued'":                                                               backlog,
	"SELECT MIN(run_at) FROM jobs WHERE kind = $1 AND status = 'queued'" + end:                                                                   "the first row of an index",
	"SELECT user_id, started_at FROM continuous_query_states WHERE team_id = $1 AND user_id > $2 AND query_id = $3":                              "background: reads the states of all users of a team after a change of a query",
	"INSERT INTO users (team_id, user_id, block":                                                                                                 "the last row of an index",
	"SELECT team_id, number, wrapped FROM sealing_keys WHERE subject_id = $1" + end:                                                              "reads the keys of all teams at the start",
	"SELECT rolsuper OR rolbypassrls FROM pg_roles":                                                                                              "reads the roles of the server at the start",
	"SELECT EXISTS (SELECT 1 FROM ":                                                                                                              "stops at the first row",
	"DELETE FROM order_erasures WHERE team_id = $1" + end:                                                                                        afterRestore,
	"UPDATE orders SET change = 0 WHERE team_id = $1" + end:                                                                                      afterRestore,
	"SELECT block, CAST(SUM(n) AS BIGINT) FROM user_counts":                                                                                      "one row for some thousand users",
	"SELECT created_at FROM events WHERE team_id = $1 ORDER BY seq LIMIT 1":                                                                      "the first row of an index",
	"SELECT COALESCE(MIN(seq), $2) FROM events WHERE team_id = $1 AND seq > $2" + end:                                                            "the first row of an index",
	"SELECT COUNT(*) FROM audit_pending WHERE refused = 1" + end:                                                                                 "read at a start and by operators, with an index of rows that were written by hand",
	"SELECT DISTINCT team_id FROM audit_pending WHERE refused = 1" + end:                                                                         "read at a start and by operators, with an index of rows that were written by hand",
	"UPDATE webhook_deliveries SET state = 'held', ended_at = $1":                                                                                "a range of deliveries whose length the code limits",
	"SELECT COUNT(*) FROM sealing_keys" + end:                                                                                                    "a command of the operator",
	"SELECT type FROM events WHERE team_id = $1 AND type NOT LIKE":                                                                               "tests",
	erasures: "this test",
	"SELECT v.id, v.seq, v.type, v.created_at": eventsPage,
}

var readsRows = regexp.MustCompile(`(?i)^(SELECT|INSERT|UPDATE|DELETE|WITH)\b`)

// smallTables do not grow with the users, orders and events of a team.
var smallTables = strings.Fields(`
	acme_cache api_keys appointment_settings audit_chains catalogue order_changes catalogue_labs catalogue_markers continuous_queries instance
	lab_account_teams lab_accounts lab_test_markers lab_tests message_settings nodes order_number_keys payors phlebotomy_coverage practices
	public_lists renormalisations retired_root_keys sandbox_clocks service_center_lists service_centers source_priorities
	team_physicians teams unmatched_drills webhook_endpoints webhook_filters webhook_secrets webhook_targets`)

// queueIndexes contain only rows that wait or are in progress.
var queueIndexes = strings.Fields(`audit_pending_refused audit_pending_waiting critical_notices_open events_unnumbered imports_live jobs_due jobs_running parsed_reports_waiting unmatched_results_of_operators users_deleted`)

// coarseColumns have few values, so that one value selects a share of a table.
var coarseColumns = strings.Fields(`team_id status kind state lane provider environment type resource owner lab`)

// step is one access to a table.
type step struct {
	table string
	index string
	by    []string // columns compared by equality through an index
	paged bool     // stops with the page of a LIMIT

	columns []string // of the table; on SQLite only
	text    string
}

// bounded reports whether the number of rows of the step is limited.
func (s step) bounded() bool {
	if s.paged || slices.Contains(smallTables, s.table) || slices.Contains(queueIndexes, s.index) {
		return true
	}
	return slices.ContainsFunc(s.by, func(column string) bool { return !slices.Contains(coarseColumns, column) })
}

var (
	searchStep = regexp.MustCompile(`^(?:SCAN|SEARCH) (\S+)(?:.* INDEX (\w+))?(?:.*?\((.*)\))?`)
	equalTo    = regexp.MustCompile(`(\w+)=\?`)
	// A column in brackets may be absent, as in ($4 = '' OR type = $4).
	equalToParameter = regexp.MustCompile(`(?:WHERE|AND|ON) (?:\w+\.)?(\w+) (?:= |IN \()\$\d+`)
	tableNames       = regexp.MustCompile(`(?i)(?:FROM|JOIN|UPDATE|INTO|,)\s+([a-z]\w+)\s+(?:AS\s+)?([a-z]\w*)`)
)

func explainSQLite(t *testing.T, db *store.DB, text string, args []any) (steps []step, err error) {
	t.Helper()
	aliases := map[string]string{}
	for _, m := range tableNames.FindAllStringSubmatch(text, -1) {
		aliases[m[2]] = m[1]
	}
	sorted := false
	err = db.Read(store.AsSystem(t.Context()), func(tx *store.Tx) error {
		tables, err := tableColumns(t, tx)
		if err != nil {
			return err
		}
		rows, err := tx.Query(t.Context(), "EXPLAIN QUERY PLAN "+text, args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var id, parent, unused int
			var line string
			if err := rows.Scan(&id, &parent, &unused, &line); err != nil {
				return err
			}
			sorted = sorted || strings.HasPrefix(line, "USE TEMP B-TREE FOR ") && !strings.Contains(line, " LAST ")
			m := searchStep.FindStringSubmatch(line)
			if m == nil || m[1] == "CONSTANT" {
				continue
			}
			one := step{table: m[1], index: m[2], text: line}
			if table, ok := aliases[m[1]]; ok {
				one.table = table
			}
			if one.columns = tables[one.table]; one.columns == nil { // a row of VALUES, a subquery
				continue
			}
			for _, column := range equalTo.FindAllStringSubmatch(m[3], -1) {
				one.by = append(one.by, column[1])
			}
			steps = append(steps, one)
		}
		return rows.Err()
	})
	for i := range steps {
		steps[i].paged = !sorted && strings.Contains(text, "LIMIT") && !steps[i].skipsRows(equalToParameter.FindAllStringSubmatch(text, -1))
	}
	return steps, err
}

// skipsRows reports whether a step reads rows and drops those with another key. The
// statement then compares a column of the table with a value that the step does not use,
// and a page ends late or never. columns are the compared columns of the statement.
func (s step) skipsRows(columns [][]string) bool {
	return slices.ContainsFunc(columns, func(match []string) bool {
		column := match[1]
		return slices.Contains(s.columns, column) && !slices.Contains(s.by, column) && !slices.Contains(coarseColumns, column)
	})
}

// tableColumns returns the columns of each table.
func tableColumns(t *testing.T, tx *store.Tx) (map[string][]string, error) {
	t.Helper()
	rows, err := tx.Query(t.Context(), `SELECT m.name, c.name FROM sqlite_master m JOIN pragma_table_info(m.name) c WHERE m.type = 'table'`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	columns := map[string][]string{}
	for rows.Next() {
		var table, column string
		if err := rows.Scan(&table, &column); err != nil {
			return nil, err
		}
		columns[table] = append(columns[table], column)
	}
	return columns, rows.Err()
}

// node is a node of a plan of PostgreSQL.
type node struct {
	Type         string `json:"Node Type"`
	Table        string `json:"Relation Name"`
	Index        string `json:"Index Name"`
	Condition    string `json:"Index Cond"`
	Filter       string `json:"Filter"`
	Relationship string `json:"Parent Relationship"`
	Plans        []node
}

func explainPostgres(t *testing.T, db *store.DB, text string, args []any) (steps []step, err error) {
	t.Helper()
	err = db.Read(store.AsSystem(t.Context()), func(tx *store.Tx) error {
		steps, err = postgresSteps(t, tx, text, args...)
		return err
	})
	return steps, err
}

func postgresSteps(t *testing.T, tx *store.Tx, text string, args ...any) (steps []step, err error) {
	t.Helper()
	var doc string
	if err := tx.QueryRow(t.Context(), "EXPLAIN (FORMAT JSON) "+text, args...).Scan(&doc); err != nil {
		return nil, err
	}
	var plans []struct{ Plan node }
	if err := json.Unmarshal([]byte(doc), &plans); err != nil {
		return nil, err
	}
	for _, p := range plans {
		steps = p.Plan.steps(steps, "", false)
	}
	return steps, nil
}

var (
	equalInPostgres = regexp.MustCompile(`\((\w+)(?:\)::\w+)? = |(\w+) = ANY`)
	blockingSteps   = strings.Fields(`Sort Aggregate Hash Materialize WindowAgg`)
)

// skipsRows reports whether an access to a table drops rows with another key.
func (n node) skipsRows() bool {
	return slices.ContainsFunc(equalInPostgres.FindAllStringSubmatch(n.Filter, -1), func(match []string) bool {
		return !slices.Contains(coarseColumns, match[1]+match[2])
	})
}

// steps appends the accesses to tables below n. paged is true below a Limit, until
// a node that reads all rows of its input first.
func (n node) steps(all []step, table string, paged bool) []step {
	switch {
	case n.Type == "Limit":
		paged = true
	case n.Type == "Bitmap Heap Scan":
		table, paged = n.Table, false
	case slices.Contains(blockingSteps, n.Type):
		paged = false
	case n.Type == "Bitmap Index Scan" || n.Table != "" && strings.HasSuffix(n.Type, "Scan"):
		if n.Table != "" {
			table = n.Table
		}
		one := step{table: table, index: n.Index, paged: paged && !n.skipsRows(), text: fmt.Sprintf("%s %s %s %s Filter: %s", n.Type, table, n.Index, n.Condition, n.Filter)}
		for _, column := range equalInPostgres.FindAllStringSubmatch(n.Condition, -1) {
			one.by = append(one.by, column[1]+column[2])
		}
		all = append(all, one)
	}
	for _, child := range n.Plans {
		all = child.steps(all, table, paged && child.Relationship != "Inner")
	}
	return all
}
