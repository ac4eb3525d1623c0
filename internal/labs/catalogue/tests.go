package catalogue

import (
	"cmp"
	"context"
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
		ID: ids.From[Test](tx.NewUUID()), Team: team, Lab: markers[0].Lab, Method: method,
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
