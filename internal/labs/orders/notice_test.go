package orders_test

import (
	"context"
	"testing"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/orders"
	"hale/internal/labs/orders/orderstest"
	"hale/internal/people/insurance"
	"hale/internal/people/users"
	"hale/internal/people/users/person"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/civil"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
)

// insure creates a primary insurance record with a payor.
func insure(t testing.TB, db *store.DB, user users.User, payor string, changes ...func(*insurance.Record)) {
	t.Helper()
	record := insurance.Record{
		PayorCode: payor, MemberID: "M-1", Relationship: insurance.Self, IsPrimary: true,
		Insured: insurance.Insured{
			FirstName: "Ada", LastName: "Byron", Gender: "female", BirthDate: civil.MustParse("1950-12-10"),
			Email: "ada@example.org", PhoneNumber: "+15125550132",
			Address: person.Address{FirstLine: "1 Main Street", City: "Phoenix", State: "AZ", Zip: "85004", Country: person.US},
		},
	}
	for _, change := range changes {
		change(&record)
	}
	userstest.Write(t, db, func(ctx context.Context, tx *store.Tx) error {
		_, err := insurance.Create(ctx, tx, user.Team, user.ID, record)
		return err
	})
}

// A notice is required only for Medicare patients, if no diagnosis covers a test
// that needs one. The seeded lab test has lipids and thyrotropin, which need
// one, and a blood count, which does not.
func TestNeedsNotice(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		team := orderstest.Team(t, db)
		test := orderstest.Test(t, db, team.ID, catalogue.WalkIn)
		for name, c := range map[string]struct {
			payor   string // none: the team pays
			icd     []string
			markers []int64 // of the catalogue instead of the lab test
			want    bool
		}{
			"Medicare, a diagnosis for one test of two":    {payor: "MEDFED", icd: []string{"N40.1"}, want: true},
			"Medicare, one for fats and none for the rest": {payor: "MEDFED", icd: []string{"I10"}, want: true},
			"Medicare, one for every test":                 {payor: "MEDFED", icd: []string{"E78.5", "E03.9"}},
			"Medicare, one without its dot":                {payor: "MEDFED", icd: []string{"e785"}, markers: []int64{40010}},
			"Medicare, a test that asks for none":          {payor: "MEDFED", icd: []string{"N40.1"}, markers: []int64{40002}},
			"Medicaid":                                     {payor: "MAIDFED", icd: []string{"N40.1"}},
			"a commercial payor":                           {payor: "UHC", icd: []string{"N40.1"}},
			"billed to the team":                           {icd: []string{"N40.1"}},
		} {
			user := orderstest.User(t, db, team.ID)
			r := orderstest.Request(t, db, user, test)
			r.ICDCodes = c.icd
			if c.payor != "" {
				insure(t, db, user, c.payor)
				r.Billing = catalogue.CommercialInsurance
			}
			if c.markers != nil {
				walkIn := catalogue.WalkIn
				r.Method, r.Set = &walkIn, &orders.OrderSet{AddOn: &orders.AddOn{MarkerIDs: c.markers}}
			}
			var o orders.Order
			userstest.Write(t, db, func(ctx context.Context, tx *store.Tx) error {
				made, err := orders.Create(ctx, tx, team.ID, r)
				if err == nil {
					o, err = orders.Get(ctx, tx, team.ID, made.ID)
				}
				return err
			})
			if o.HasABN != c.want {
				t.Errorf("%s: has_abn is %v", name, o.HasABN)
			}
		}
	})
}
