package catalogue

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"hale/internal/labs/loinc"
	"hale/internal/platform/fault"
	"hale/internal/platform/ids"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// longestText limits names and descriptions of lab tests, in characters.
const longestText = 500

// NewTest holds the fields of a new lab test. MarkerIDs or ProviderIDs name the
// markers; ProviderIDs need the lab or an account with it.
//
// Reference 1.16, CreateLabTestRequest.
type NewTest struct {
	Name        string
	Description string
	Method      Method
	Fasting     bool // also set if a marker requires it
	MarkerIDs   []MarkerID
	ProviderIDs []string
	LabSlug     string
	Account     *AccountID
}

// CreateTest creates a lab test that waits for approval.
func CreateTest(ctx context.Context, tx *store.Tx, team teams.ID, n NewTest) (Test, error) {
	name, err := checkText("name", n.Name, 1)
	if err != nil {
		return Test{}, err
	}
	description, err := checkText("description", n.Description, 0)
	if err != nil {
		return Test{}, err
	}
	if (len(n.MarkerIDs) == 0) == (len(n.ProviderIDs) == 0) {
		return Test{}, fault.New(fault.Refused, "Give exactly one of marker_ids and provider_ids").At("body", "marker_ids")
	}
	c, err := Load(ctx, tx, team)
	if err != nil {
		return Test{}, err
	}
	lab, err := labOfNewTest(ctx, tx, team, c, n)
	if err != nil {
		return Test{}, err
	}
	markers, err := c.findMarkers(lab, n.MarkerIDs, n.ProviderIDs)
	if err != nil {
		return Test{}, err
	}
	t := makeTest(tx, team, markers, n.Method)
	t.Name, t.Slug, t.Description, t.Account = name, loinc.Slug(name), description, n.Account
	t.Fasting = t.Fasting || n.Fasting
	l, _ := c.Lab(t.Lab) // findMarkers checked that it exists
	if err := checkMethod(l, markers, n.Method, "method"); err != nil {
		return Test{}, err
	}
	if _, err := insertTest(ctx, tx, t, markers); err != nil {
		return Test{}, fmt.Errorf("catalogue: creating a lab test: %w", err)
	}
	return t, nil
}

// labOfNewTest returns the lab of the account and the slug, nil if there is
// neither.
func labOfNewTest(ctx context.Context, tx *store.Tx, team teams.ID, c *Catalogue, n NewTest) (*Lab, error) {
	var lab *Lab
	if n.LabSlug != "" {
		l, ok := c.LabBySlug(n.LabSlug)
		if !ok {
			return nil, refuse("unknown_lab", "Lab does not exist: lab_slug", "lab_slug")
		}
		lab = &l
	}
	if n.Account != nil {
		a, err := GetAccount(ctx, tx, team, *n.Account)
		if err != nil {
			return nil, err
		}
		if lab != nil && lab.ID != a.Lab.ID {
			return nil, refuseOtherLab()
		}
		lab = &a.Lab
	}
	return lab, nil
}

// makeTest returns an unnamed lab test of markers. All markers are of one lab.
func makeTest(tx *store.Tx, team teams.ID, markers []*Marker, method Method) Test {
	t := Test{
		ID: ids.FromUUID[Test](tx.NewUUID()), Team: team, Lab: markers[0].Lab, Method: method,
		SampleType: mainSample(markers), CreatedAt: tx.Now(), UpdatedAt: tx.Now(),
	}
	for _, m := range markers {
		t.MarkerIDs = append(t.MarkerIDs, m.ID)
		t.Fasting = t.Fasting || m.Fasting
	}
	t.PriceMinor = PriceMinor(markers)
	return t
}

// mainSample returns the sample that most markers need. If two samples are needed equally
// often, it returns the one that SampleTypes lists first.
func mainSample(markers []*Marker) SampleType {
	count := map[SampleType]int{}
	for _, m := range markers {
		count[m.Sample]++
	}
	return slices.MaxFunc(slices.Clone(SampleTypes), func(a, b SampleType) int {
		return cmp.Or(cmp.Compare(count[a], count[b]), cmp.Compare(slices.Index(SampleTypes, b), slices.Index(SampleTypes, a)))
	})
}

func checkText(field, text string, least int) (string, error) {
	text = strings.TrimSpace(text)
	n := utf8.RuneCountInString(text)
	if n < least || n > longestText || !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
		return "", fault.Newf(fault.Invalid, "Value error, must have %d to %d characters", least, longestText).At("body", field)
	}
	return text, nil
}

// TestUpdate changes a lab test; nil fields stay unchanged.
//
// Reference 1.16, UpdateLabTestRequest.
type TestUpdate struct {
	Name   *string
	Active *bool // false archives, true unarchives
}

// UpdateTest renames, archives or unarchives a lab test. A test that was never
// approved waits for approval again after it is unarchived. The sandbox has no
// approvals: there, setting active is enough.
func UpdateTest(ctx context.Context, tx *store.Tx, team teams.ID, id TestID, u TestUpdate) (Test, error) {
	t, err := lockTest(ctx, tx, team, id)
	if err != nil {
		return Test{}, err
	}
	if u.Name != nil {
		if t.Name, err = checkText("name", *u.Name, 1); err != nil {
			return Test{}, err
		}
		t.Slug = loinc.Slug(t.Name)
	}
	now := tx.Now()
	if u.Active != nil && !*u.Active && t.ArchivedAt == nil {
		t.ArchivedAt = &now
	}
	if u.Active != nil && *u.Active {
		t.ArchivedAt = nil
		if t.ApprovedAt == nil {
			owner, err := teams.Get(ctx, tx, team)
			if err != nil {
				return Test{}, err
			}
			if owner.Environment == teams.Sandbox {
				t.ApprovedAt = &now
			}
		}
	}
	return t, saveTest(ctx, tx, &t, now)
}

// ApproveTest activates a lab test that waits for approval.
func ApproveTest(ctx context.Context, tx *store.Tx, team teams.ID, id TestID) (Test, error) {
	t, err := lockTest(ctx, tx, team, id)
	if err != nil {
		return Test{}, err
	}
	now := tx.Now()
	if t.ApprovedAt == nil {
		t.ApprovedAt = &now
	}
	return t, saveTest(ctx, tx, &t, now)
}

// lockTest locks a lab test for an update and returns it, so that concurrent updates do
// not undo each other. It returns a NotFound fault like GetTest.
func lockTest(ctx context.Context, tx *store.Tx, team teams.ID, id TestID) (Test, error) {
	if err := tx.Lock(ctx, "lab test:"+id.String()); err != nil {
		return Test{}, fmt.Errorf("catalogue: waiting for other changes of a lab test: %w", err)
	}
	return GetTest(ctx, tx, team, id)
}

func saveTest(ctx context.Context, tx *store.Tx, t *Test, now time.Time) error {
	t.UpdatedAt = now
	_, err := tx.Exec(ctx, `UPDATE lab_tests SET name = $1, name_folded = $2, slug = $3, approved_at = $4, archived_at = $5, updated_at = $6
		WHERE team_id = $7 AND id = $8`,
		t.Name, strings.ToLower(t.Name), t.Slug, t.ApprovedAt, t.ArchivedAt, t.UpdatedAt, t.Team, t.ID)
	if err != nil {
		return fmt.Errorf("catalogue: changing a lab test: %w", err)
	}
	return nil
}

const testColumns = `id, slug, name, description, lab_id, method, sample_type, fasting, price_minor, account_id, markers,
	auto_generated, created_at, updated_at, approved_at, archived_at`

type scanner interface{ Scan(dest ...any) error }

func scanTest(row scanner, team teams.ID) (Test, error) {
	t := Test{Team: team}
	var account AccountID
	var markers string
	err := row.Scan(&t.ID, &t.Slug, &t.Name, &t.Description, &t.Lab, &t.Method, &t.SampleType, &t.Fasting, &t.PriceMinor, &account, &markers,
		&t.AutoGenerated, store.ScanTime(&t.CreatedAt), store.ScanTime(&t.UpdatedAt), store.ScanNullTime(&t.ApprovedAt), store.ScanNullTime(&t.ArchivedAt))
	if err != nil {
		return Test{}, err
	}
	if !account.IsZero() {
		t.Account = &account
	}
	if err := json.Unmarshal([]byte(markers), &t.MarkerIDs); err != nil {
		return Test{}, fmt.Errorf("catalogue: markers of lab test %s: %w", t.ID, err)
	}
	return t, nil
}

// findTest reads a lab test; false if the team has no such test.
func findTest(ctx context.Context, tx *store.Tx, team teams.ID, id TestID) (Test, bool, error) {
	t, err := scanTest(tx.QueryRow(ctx, `SELECT `+testColumns+` FROM lab_tests WHERE team_id = $1 AND id = $2`, team, id), team)
	if errors.Is(err, store.ErrNoRows) {
		return Test{}, false, nil
	}
	return t, err == nil, err
}

// GetTest returns a lab test of the team, or a NotFound fault.
func GetTest(ctx context.Context, tx *store.Tx, team teams.ID, id TestID) (Test, error) {
	t, ok, err := findTest(ctx, tx, team, id)
	if err == nil && !ok {
		err = fault.New(fault.NotFound, "Lab test does not exist")
	}
	return t, err
}

// insertTest stores a new lab test and reports whether it did. An existing one,
// with the same id or the same generated set, stays unchanged.
func insertTest(ctx context.Context, tx *store.Tx, t Test, markers []*Marker) (bool, error) {
	list, err := json.Marshal(t.MarkerIDs)
	if err != nil {
		return false, fmt.Errorf("catalogue: marshalling markers: %w", err)
	}
	var account any
	if t.Account != nil {
		account = *t.Account
	}
	n, err := tx.Exec(ctx, `INSERT INTO lab_tests (team_id, name_folded, composition, `+testColumns+`)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19) ON CONFLICT DO NOTHING`,
		t.Team, strings.ToLower(t.Name), composition(t), t.ID, t.Slug, t.Name, t.Description, t.Lab, string(t.Method), string(t.SampleType),
		t.Fasting, t.PriceMinor, account, string(list), t.AutoGenerated, t.CreatedAt, t.UpdatedAt, t.ApprovedAt, t.ArchivedAt)
	if err != nil || n == 0 {
		return false, err
	}
	for _, m := range markers {
		_, err := tx.Exec(ctx, `INSERT INTO lab_test_markers (team_id, test_id, marker_id, provider_id) VALUES ($1, $2, $3, $4)`,
			t.Team, t.ID, m.ID, m.ProviderID)
		if err != nil {
			return false, fmt.Errorf("catalogue: storing the markers of a lab test: %w", err)
		}
	}
	return true, nil
}

// generatedTest returns the lab test that an earlier order of the same set
// created.
func generatedTest(ctx context.Context, tx *store.Tx, t Test) (Test, error) {
	return scanTest(tx.QueryRow(ctx, `SELECT `+testColumns+` FROM lab_tests WHERE team_id = $1 AND composition = $2 AND auto_generated`,
		t.Team, composition(t)), t.Team)
}

// composition returns a hash of the lab, markers, method and fasting of a lab
// test. The order of the markers does not change it.
func composition(t Test) []byte {
	h := sha256.New()
	fmt.Fprintf(h, "%d %s %t\n", t.Lab, t.Method, t.Fasting)
	for _, id := range slices.Sorted(slices.Values(t.MarkerIDs)) {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(id)))
	}
	return h.Sum(nil)
}

// TestOrder is the sort key of a list of lab tests.
type TestOrder string

// The sort keys. The id decides between equals.
const (
	ByCreation TestOrder = "created_at"
	ByUpdate   TestOrder = "updated_at"
	ByPrice    TestOrder = "price"
)

// TestFilter selects and sorts lab tests.
//
// Reference 1.16, GET /v3/lab_test.
type TestFilter struct {
	Generated   *bool        // nil for all
	Labs        []LabID      // any when nil
	Methods     []Method     // any when empty
	Statuses    []TestStatus // any when empty
	MarkerIDs   []MarkerID   // the test must have all of them
	ProviderIDs []string     // the test must have all of them
	Name        string       // part of the name, in any case
	Account     *Account     // only tests that the account offers
	Order       TestOrder    // ByCreation when empty
	Descending  bool
	After       *TestPlace // end of the page before
	Limit       int        // 0 for all
}

// TestPlace is a position in a sorted list of lab tests.
type TestPlace struct {
	Key int64  `json:"k"`
	ID  TestID `json:"i"`
}

// Place returns the position of a test in the sorted list.
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

// conditions collects conditions with their arguments.
type conditions struct {
	conditions []string
	args       []any
}

// add adds a condition. Each ? in it is replaced by the next argument.
func (w *conditions) add(condition string, args ...any) {
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

// statusConditions maps each Test.Status to its condition on the columns.
var statusConditions = map[TestStatus]string{
	Active:          `archived_at IS NULL AND approved_at IS NOT NULL`,
	PendingApproval: `archived_at IS NULL AND approved_at IS NULL`,
	Inactive:        `archived_at IS NOT NULL`,
}

func (f TestFilter) conditions(team teams.ID) *conditions {
	w := &conditions{}
	w.add(`team_id = ?`, team)
	if f.Generated != nil {
		w.add(`auto_generated = ?`, *f.Generated)
	}
	amongValues(w, "lab_id", f.Labs)
	amongValues(w, "method", f.Methods)
	var statuses []string
	for _, status := range f.Statuses {
		statuses = append(statuses, `(`+statusConditions[status]+`)`)
	}
	if statuses != nil {
		w.add(`(` + strings.Join(statuses, ` OR `) + `)`)
	}
	if f.Name != "" {
		w.add(`name_folded LIKE ? ESCAPE '\'`, "%"+store.LikePrefix(strings.ToLower(f.Name)))
	}
	if f.Account != nil {
		w.add(`lab_id = ? AND (account_id IS NULL OR account_id = ?)`, f.Account.Lab.ID, f.Account.ID)
	}
	contains(w, team, "marker_id", f.MarkerIDs)
	contains(w, team, "provider_id", f.ProviderIDs)
	if f.After != nil {
		than := map[bool]string{false: ">", true: "<"}[f.Descending]
		w.add(`(`+f.column()+`, id) `+than+` (?, ?)`, f.After.Key, f.After.ID)
	}
	return w
}

// amongValues adds the condition that a column has one of some values; no values add none.
func amongValues[T any](w *conditions, column string, values []T) {
	if condition := store.AmongValues(&w.args, column, values); condition != "" {
		w.conditions = append(w.conditions, strings.TrimPrefix(condition, " AND "))
	}
}

// contains adds the condition that the test's markers have every value.
func contains[T int64 | string](w *conditions, team teams.ID, column string, values []T) {
	sorted := slices.Compact(slices.Sorted(slices.Values(values)))
	if len(sorted) == 0 {
		return
	}
	args := []any{team}
	for _, v := range sorted {
		args = append(args, v)
	}
	marks := strings.TrimSuffix(strings.Repeat("?, ", len(sorted)), ", ")
	w.add(`id IN (SELECT test_id FROM lab_test_markers WHERE team_id = ? AND `+column+` IN (`+marks+`)
		GROUP BY test_id HAVING COUNT(DISTINCT `+column+`) = ?)`, append(args, len(sorted))...)
}

// ListTests lists the team's lab tests.
//
// Reference 1.16, GET /v3/lab_test and GET /v3/lab_tests.
func ListTests(ctx context.Context, tx *store.Tx, team teams.ID, f TestFilter) ([]Test, error) {
	w := f.conditions(team)
	direction := map[bool]string{false: " ASC", true: " DESC"}[f.Descending]
	query := `SELECT ` + testColumns + ` FROM lab_tests WHERE ` + strings.Join(w.conditions, " AND ") +
		` ORDER BY ` + f.column() + direction + `, id` + direction
	if f.Limit > 0 {
		w.args = append(w.args, f.Limit)
		query += fmt.Sprintf(` LIMIT $%d`, len(w.args))
	}
	rows, err := tx.Query(ctx, query, w.args...)
	if err != nil {
		return nil, fmt.Errorf("catalogue: listing lab tests: %w", err)
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

// generateTest returns the generated lab test for a panel's markers. It is
// active at once.
func generateTest(tx *store.Tx, team teams.ID, p Panel) Test {
	t := makeTest(tx, team, p.Markers, p.Method)
	t.AutoGenerated, t.Fasting, t.ApprovedAt, t.Name = true, p.Fasting, &t.CreatedAt, nameOf(p.Markers)
	t.Slug = loinc.Slug(t.Name)
	return t
}

// storeTest stores the panel's generated lab test, or uses the one that an earlier
// order of the same set created. Orders need active tests, so an archived one is
// unarchived.
func (p *Panel) storeTest(ctx context.Context, tx *store.Tx) error {
	made, err := insertTest(ctx, tx, p.Test, p.Markers)
	if err == nil && !made {
		p.Test, err = generatedTest(ctx, tx, p.Test)
	}
	if err == nil && p.Test.ArchivedAt != nil {
		active := true
		p.Test, err = UpdateTest(ctx, tx, p.Test.Team, p.Test.ID, TestUpdate{Active: &active})
	}
	if err != nil {
		return fmt.Errorf("catalogue: generating a lab test: %w", err)
	}
	return nil
}
