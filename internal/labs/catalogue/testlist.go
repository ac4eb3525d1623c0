package catalogue

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// TestOrder is what lab tests are sorted by.
type TestOrder string

// The orders. Among equals the id decides.
const (
	ByCreation TestOrder = "created_at"
	ByUpdate   TestOrder = "updated_at"
	ByPrice    TestOrder = "price"
)

// TestFilter narrows and sorts the list of lab tests.
//
// Reference 1.16, GET /v3/lab_test.
type TestFilter struct {
	Generated   *bool // nil for all
	Lab         *LabID
	Method      Method
	Status      TestStatus
	MarkerIDs   []MarkerID // all of them must be in the test
	ProviderIDs []string   // likewise
	Name        string     // part of it, any case
	Account     *Account   // only what is offered with it
	Order       TestOrder  // ByCreation when empty
	Descending  bool
	After       *TestPlace // where the page before ended
	Limit       int        // 0 for all
}

// TestPlace is a place in a sorted list of lab tests.
type TestPlace struct {
	Key int64  `json:"k"`
	ID  TestID `json:"i"`
}

// Place is where a test stands in the list of the filter.
func (f TestFilter) Place(t Test) TestPlace {
	switch f.Order {
	case ByPrice:
		return TestPlace{t.PriceMinor, t.ID}
	case ByUpdate:
		return TestPlace{store.Micros(t.UpdatedAt), t.ID}
	default:
		return TestPlace{store.Micros(t.CreatedAt), t.ID}
	}
}

func (f TestFilter) column() string {
	switch f.Order {
	case ByPrice:
		return "price_minor"
	case ByUpdate:
		return "updated_at"
	default:
		return "created_at"
	}
}

// where is a growing list of conditions with their arguments.
type where struct {
	conditions []string
	args       []any
}

// and adds a condition, in which ? stands for the arguments in turn.
func (w *where) and(condition string, args ...any) {
	var b strings.Builder
	for i, part := range strings.Split(condition, "?") {
		if i > 0 {
			w.args = append(w.args, args[i-1])
			fmt.Fprintf(&b, "$%d", len(w.args))
		}
		b.WriteString(part)
	}
	w.conditions = append(w.conditions, b.String())
}

// statusConditions say by the columns what Test.Status computes.
var statusConditions = map[TestStatus]string{
	Active:          `archived_at IS NULL AND approved_at IS NOT NULL`,
	PendingApproval: `archived_at IS NULL AND approved_at IS NULL`,
	Inactive:        `archived_at IS NOT NULL`,
}

func (f TestFilter) where(team teams.ID) *where {
	w := &where{}
	w.and(`team_id = ?`, team)
	if f.Generated != nil {
		w.and(`auto_generated = ?`, *f.Generated)
	}
	if f.Lab != nil {
		w.and(`lab_id = ?`, *f.Lab)
	}
	if f.Method != "" {
		w.and(`method = ?`, string(f.Method))
	}
	if f.Status != "" {
		w.and(statusConditions[f.Status])
	}
	if f.Name != "" {
		w.and(`name_folded LIKE ? ESCAPE '\'`, "%"+store.LikePrefix(strings.ToLower(f.Name)))
	}
	if f.Account != nil {
		w.and(`lab_id = ? AND (account_id IS NULL OR account_id = ?)`, f.Account.Lab.ID, f.Account.ID)
	}
	contains(w, team, "marker_id", f.MarkerIDs)
	contains(w, team, "provider_id", f.ProviderIDs)
	if f.After != nil {
		than := map[bool]string{false: ">", true: "<"}[f.Descending]
		w.and(`(`+f.column()+`, id) `+than+` (?, ?)`, f.After.Key, f.After.ID)
	}
	return w
}

// contains wants every value among the test's markers.
func contains[T int64 | string](w *where, team teams.ID, column string, values []T) {
	sorted := slices.Compact(slices.Sorted(slices.Values(values)))
	if len(sorted) == 0 {
		return
	}
	args := []any{team}
	for _, v := range sorted {
		args = append(args, v)
	}
	marks := strings.TrimSuffix(strings.Repeat("?, ", len(sorted)), ", ")
	w.and(`id IN (SELECT test_id FROM lab_test_markers WHERE team_id = ? AND `+column+` IN (`+marks+`)
		GROUP BY test_id HAVING COUNT(DISTINCT `+column+`) = ?)`, append(args, len(sorted))...)
}

// ListTests lists the team's lab tests.
//
// Reference 1.16, GET /v3/lab_test and GET /v3/lab_tests.
func ListTests(ctx context.Context, tx *store.Tx, team teams.ID, f TestFilter) ([]Test, error) {
	w := f.where(team)
	direction := map[bool]string{false: " ASC", true: " DESC"}[f.Descending]
	query := `SELECT ` + testColumns + ` FROM lab_tests WHERE ` + strings.Join(w.conditions, " AND ") +
		` ORDER BY ` + f.column() + direction + `, id` + direction
	if f.Limit > 0 {
		w.args = append(w.args, f.Limit)
		query += fmt.Sprintf(` LIMIT $%d`, len(w.args))
	}
	rows, err := tx.Query(ctx, query, w.args...)
	if err != nil {
		return nil, fmt.Errorf("labs: listing lab tests: %w", err)
	}
	defer rows.Close()
	all := []Test{}
	for rows.Next() {
		t, err := scanTest(rows, team)
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	return all, rows.Err()
}
