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

// longestText bounds names and descriptions of lab tests, in characters.
const longestText = 500

// NewTest is what a lab test is made of. Markers are named by MarkerIDs or by
// ProviderIDs; the latter need the lab or an account with it.
//
// Reference 1.16, CreateLabTestRequest.
type NewTest struct {
	Name        string
	Description string
	Method      Method
	Fasting     bool // set as well when a marker asks for it
	MarkerIDs   []MarkerID
	ProviderIDs []string
	LabSlug     string
	Account     *AccountID
}

// CreateTest makes a lab test that waits for approval.
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
	c, err := For(ctx, tx, team)
	if err != nil {
		return Test{}, err
	}
	lab, err := labOfNewTest(ctx, tx, team, c, n)
	if err != nil {
		return Test{}, err
	}
	markers, err := c.pick(lab, n.MarkerIDs, n.ProviderIDs)
	if err != nil {
		return Test{}, err
	}
	t := makeTest(tx, team, markers, n.Method)
	t.Name, t.Slug, t.Description, t.Account = name, loinc.Slug(name), description, n.Account
	t.Fasting = t.Fasting || n.Fasting
	l, _ := c.Lab(t.Lab) // pick found it
	if err := offered(l, markers, n.Method, "method"); err != nil {
		return Test{}, err
	}
	if _, err := insertTest(ctx, tx, t, markers); err != nil {
		return Test{}, fmt.Errorf("labs: creating a lab test: %w", err)
	}
	return t, nil
}

// labOfNewTest is the lab that the account and the slug name, nil when there
// is neither.
func labOfNewTest(ctx context.Context, tx *store.Tx, team teams.ID, c *Catalogue, n NewTest) (*Lab, error) {
	var lab *Lab
	if n.LabSlug != "" {
		l, ok := c.LabNamed(n.LabSlug)
		if !ok {
			return nil, fault.New(fault.Refused, "Lab does not exist").At("body", "lab_slug")
		}
		lab = &l
	}
	if n.Account != nil {
		a, err := GetAccount(ctx, tx, team, *n.Account)
		if err != nil {
			return nil, err
		}
		if lab != nil && lab.ID != a.Lab.ID {
			return nil, accountOfOtherLab()
		}
		lab = &a.Lab
	}
	return lab, nil
}

// makeTest is an unnamed lab test of markers, which are of one lab.
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

// mainSample is the sample that most markers need; of equals the first.
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

// TestUpdate changes a lab test; nil leaves as it is.
//
// Reference 1.16, UpdateLabTestRequest.
type TestUpdate struct {
	Name   *string
	Active *bool // false archives, true unarchives
}

// UpdateTest renames, archives or unarchives. A lab test that was never
// approved waits for that again when it is unarchived; in the sandbox, where
// nobody approves, asking for an active one is enough.
func UpdateTest(ctx context.Context, tx *store.Tx, team teams.ID, id TestID, u TestUpdate) (Test, error) {
	t, err := testToChange(ctx, tx, team, id)
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

// ApproveTest makes a lab test that waits for approval active.
func ApproveTest(ctx context.Context, tx *store.Tx, team teams.ID, id TestID) (Test, error) {
	t, err := testToChange(ctx, tx, team, id)
	if err != nil {
		return Test{}, err
	}
	now := tx.Now()
	if t.ApprovedAt == nil {
		t.ApprovedAt = &now
	}
	return t, saveTest(ctx, tx, &t, now)
}

// testToChange is GetTest for who writes it back: another change of it waits, so
// that neither undoes the other.
func testToChange(ctx context.Context, tx *store.Tx, team teams.ID, id TestID) (Test, error) {
	if err := tx.Lock(ctx, "lab test:"+id.String()); err != nil {
		return Test{}, fmt.Errorf("labs: waiting for other changes of a lab test: %w", err)
	}
	return GetTest(ctx, tx, team, id)
}

func saveTest(ctx context.Context, tx *store.Tx, t *Test, now time.Time) error {
	t.UpdatedAt = now
	_, err := tx.Exec(ctx, `UPDATE lab_tests SET name = $1, name_folded = $2, slug = $3, approved_at = $4, archived_at = $5, updated_at = $6
		WHERE team_id = $7 AND id = $8`,
		t.Name, strings.ToLower(t.Name), t.Slug, t.ApprovedAt, t.ArchivedAt, t.UpdatedAt, t.Team, t.ID)
	if err != nil {
		return fmt.Errorf("labs: changing a lab test: %w", err)
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
		return Test{}, fmt.Errorf("labs: markers of lab test %s: %w", t.ID, err)
	}
	return t, nil
}

// findTest reads a lab test; false when the team has none of that id.
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

// insertTest stores a new lab test and reports whether it did: one that is
// already there, by id or as the same generated set, stays.
func insertTest(ctx context.Context, tx *store.Tx, t Test, markers []*Marker) (bool, error) {
	list, err := json.Marshal(t.MarkerIDs)
	if err != nil {
		return false, fmt.Errorf("labs: marshalling markers: %w", err)
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
			return false, fmt.Errorf("labs: storing the markers of a lab test: %w", err)
		}
	}
	return true, nil
}

// generatedTest finds the lab test that an earlier order of the same set made.
func generatedTest(ctx context.Context, tx *store.Tx, t Test) (Test, error) {
	return scanTest(tx.QueryRow(ctx, `SELECT `+testColumns+` FROM lab_tests WHERE team_id = $1 AND composition = $2 AND auto_generated`,
		t.Team, composition(t)), t.Team)
}

// composition is the same for lab tests of the same markers of one lab, in
// any order, collected and prepared for in the same way.
func composition(t Test) []byte {
	h := sha256.New()
	fmt.Fprintf(h, "%d %s %t\n", t.Lab, t.Method, t.Fasting)
	for _, id := range slices.Sorted(slices.Values(t.MarkerIDs)) {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(id)))
	}
	return h.Sum(nil)
}

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

// generate is a lab test that is made behind the scenes for a panel's markers.
// It is active at once.
func generate(tx *store.Tx, team teams.ID, p Panel) Test {
	t := makeTest(tx, team, p.Markers, p.Method)
	t.AutoGenerated, t.Fasting, t.ApprovedAt, t.Name = true, p.Fasting, &t.CreatedAt, nameOf(p.Markers)
	t.Slug = loinc.Slug(t.Name)
	return t
}

// keep stores the panel's generated lab test, or takes the one that an earlier
// order of the same set made. Orders take active ones only, so that one that was
// archived is taken back.
func (p *Panel) keep(ctx context.Context, tx *store.Tx) error {
	made, err := insertTest(ctx, tx, p.Test, p.Markers)
	if err == nil && !made {
		p.Test, err = generatedTest(ctx, tx, p.Test)
	}
	if err == nil && p.Test.ArchivedAt != nil {
		active := true
		p.Test, err = UpdateTest(ctx, tx, p.Test.Team, p.Test.ID, TestUpdate{Active: &active})
	}
	if err != nil {
		return fmt.Errorf("labs: generating a lab test: %w", err)
	}
	return nil
}
