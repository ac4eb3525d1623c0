package readiness

import (
	"slices"
	"testing"

	"hale/internal/labs/catalogue"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/platform/teams"
)

const compendium = `{"lab": {"slug":"acme_lab","name":"Acme","address":"1 Way","city":"Phoenix","zip":"85004","methods":["walk_in_test"],
	"sample_types":["serum"],"states":["AZ"],"billings":["client_bill"]},
	"markers": [{"provider_id":"GLU","name":"Glucose","expected_results":[{"loinc":"2345-7"}]}]}`

// A production team lacks one step after the other; a sandbox team lacks nothing.
func TestFind(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		ctx := store.AsSystem(t.Context())
		var team teams.Team
		write := func(fn func(tx *store.Tx) error) {
			t.Helper()
			if err := db.Write(ctx, fn); err != nil {
				t.Fatal(err)
			}
		}
		want := func(step Step, connected bool) {
			t.Helper()
			err := db.Read(ctx, func(tx *store.Tx) error {
				lacks, err := Find(ctx, tx, func(lab string) bool { return connected && lab == "acme_lab" })
				switch {
				case err != nil:
					return err
				case step == "" && len(lacks) > 0, step != "" && (len(lacks) != 1 || lacks[0].Step != step || Names(lacks, step) != "Clinic"):
					t.Errorf("lacks %+v, want %s", lacks, step)
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		write(func(tx *store.Tx) error { _, err := teams.Create(ctx, tx, "Trial", teams.Sandbox); return err })
		want("", false)
		write(func(tx *store.Tx) (err error) {
			team, err = teams.Create(ctx, tx, "Clinic", teams.Production)
			return err
		})
		want(NoCatalogue, true)
		c, err := catalogue.ReadJSON([]byte(compendium))
		if err != nil {
			t.Fatal(err)
		}
		write(func(tx *store.Tx) error {
			_, err := catalogue.Import(ctx, tx, c.Lab.Slug, c.Lab, c, true)
			return err
		})
		want(NoAccount, true)
		write(func(tx *store.Tx) error {
			offered, err := catalogue.Load(ctx, tx, team.ID)
			if err != nil {
				return err
			}
			lab, _ := offered.LabBySlug("acme_lab")
			_, err = catalogue.AddAccount(ctx, tx, catalogue.NewAccount{
				Owner: &team.ID, Lab: lab.ID, Number: "44120", Status: catalogue.AccountActive, Flow: catalogue.NotDelegated,
				AllowedBilling: map[catalogue.Billing][]string{catalogue.ClientBill: {"AZ"}},
			})
			return err
		})
		want(NoConnection, false)
		want("", true)
		wantIncomplete := func(want ...string) {
			t.Helper()
			var got []string
			if err := db.Read(ctx, func(tx *store.Tx) (err error) { got, err = LabsWithMissingFacts(ctx, tx); return err }); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got, want) {
				t.Errorf("incomplete are %q, want %q", got, want)
			}
		}
		wantIncomplete("Acme (clia, phone, state)")
		write(func(tx *store.Tx) error {
			c.Lab.CLIA, c.Lab.Phone, c.Lab.State = "05D9999901", "602-555-0100", "AZ"
			_, err := catalogue.Import(ctx, tx, c.Lab.Slug, c.Lab, c, true)
			return err
		})
		wantIncomplete()
	})
}
