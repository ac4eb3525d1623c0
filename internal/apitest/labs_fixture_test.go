package apitest

import (
	"context"
	"testing"

	"hale/internal/labs/catalogue"
	"hale/internal/platform/ids"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

func init() {
	wholeBodies["POST /v3/lab_tests"] = someLabTest
	wholeBodies["POST /v3/lab_tests/list_order_set_markers"] = `{"add_on":{"provider_ids":["70002"]}}`
	wholeBodies["POST /v3/compendium/search"] = `{"mode":"crosswalk","query":"lipid panel"}`
	wholeBodies["POST /v3/compendium/convert"] = `{"target_lab":"labcorp"}`
	wholeBodies["POST /v3/compendium/search_orderable_tests"] = `{"target_lab":"labcorp","provider_ids":["70002"]}`
}

const someLabTest = `{"name":"Panel","description":"","method":"walk_in_test","provider_ids":["70002"],"lab_slug":"quest"}`

// labs makes a lab test that may be ordered, an account with its lab and a
// physician.
func (s *service) labs(t *testing.T, f *fixture) {
	t.Helper()
	f.ids["lab_test_id"] = s.activeTest(t, someLabTest)
	team := ids.MustParse[teams.Team](f.ids["team_id"])
	s.write(t, func(ctx context.Context, tx *store.Tx) error {
		c, err := catalogue.Load(ctx, tx, team)
		if err != nil {
			return err
		}
		quest, _ := c.LabBySlug("quest")
		id, err := catalogue.AddAccount(ctx, tx, catalogue.NewAccount{
			Owner: &team, Lab: quest.ID, Status: catalogue.AccountActive, Flow: catalogue.NotDelegated, Number: "12345",
			AllowedBilling: map[catalogue.Billing][]string{catalogue.ClientBill: {"AZ"}},
		})
		if err != nil {
			return err
		}
		f.ids["lab_account_id"] = id.String()
		_, err = catalogue.AddPhysician(ctx, tx, team, catalogue.Physician{FirstName: "Jane", LastName: "Example", NPI: "1234567893"})
		return err
	})
}

// activeTest makes a lab test that may be ordered.
func (s *service) activeTest(t *testing.T, body string) (id string) {
	t.Helper()
	id = s.field(t, "POST", "/v3/lab_tests", body, "id")
	s.make(t, "PATCH", "/v3/lab_tests/"+id, `{"active":true}`)
	return id
}
