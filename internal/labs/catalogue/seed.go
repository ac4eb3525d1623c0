package catalogue

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"hale/internal/labs/loinc"
	"hale/internal/platform/ids"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// seeds are the lab tests that every sandbox team has, one for each way to
// collect a sample.
//
// Reference 1.15.
var seeds = []struct {
	name, description, lab string
	method                 Method
	codes                  []string
}{
	{"Home Health Kit", "A finger-prick card by post, for a first look at sugar, fats and inflammation.", "ussl", TestKit, []string{"US-050"}},
	{"Annual Check", "Blood drawn at a service centre.", "quest", WalkIn, []string{"70002", "70007", "70010", "70013"}},
	{"Annual Check at Home", "Blood drawn at home by a phlebotomist.", "labcorp", AtHome, []string{"800002", "800006", "800009", "800013"}},
	{"Clinic Draw", "Blood drawn on site by your own staff.", "crl", OnSite, []string{"CR0002", "CR0006", "CR0009"}},
}

// Seed gives a sandbox team its first lab tests, active at once, whatever was
// imported. It may be called again: a team that has them, renamed or archived,
// keeps them as they are. Other teams get none.
func Seed(ctx context.Context, tx *store.Tx, team teams.Team) error {
	if team.Environment != teams.Sandbox {
		return nil
	}
	for _, s := range seeds {
		lab, _ := shipped().LabNamed(s.lab)
		markers, err := shipped().pick(&lab, nil, s.codes)
		if err != nil {
			return fmt.Errorf("labs: seeding %s: %w", s.name, err)
		}
		now := tx.Now()
		t := makeTest(tx, team.ID, markers, s.method)
		t.ID = ids.From[Test](uuid.NewSHA1(team.ID.UUID(), []byte("seeded:"+string(s.method))))
		t.Name, t.Slug, t.Description, t.ApprovedAt = s.name, loinc.Slug(s.name), s.description, &now
		if _, err := insertTest(ctx, tx, t, markers); err != nil {
			return fmt.Errorf("labs: seeding a team: %w", err)
		}
	}
	return nil
}
