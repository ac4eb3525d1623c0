package orders_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"hale/internal/civil"
	"hale/internal/fault"
	"hale/internal/ids"
	"hale/internal/labs"
	"hale/internal/orders"
	"hale/internal/orders/orderstest"
	"hale/internal/store"
	"hale/internal/store/storetest"
	"hale/internal/users"
	"hale/internal/users/userstest"
)

// Every rule of reference 1.9 has its own refusal, and a refused order leaves
// nothing behind.
func TestCreateRefuses(t *testing.T) {
	unknown := ids.MustParse[labs.Test]("019f0000-0000-7000-8000-000000000000")
	kit := labs.TestKit
	yesterday := civil.MustParse("2020-01-01")
	cases := map[string]struct {
		change func(r *orders.Request)
		kind   fault.Kind
		at     string // field, or part of the sentence
	}{
		"an empty first name":        {func(r *orders.Request) { r.Patient.FirstName = " " }, fault.Invalid, "patient_details.first_name"},
		"a name that is not ASCII":   {func(r *orders.Request) { r.Patient.LastName = "Müller" }, fault.Invalid, "patient_details.last_name"},
		"two blanks in a name":       {func(r *orders.Request) { r.Patient.LastName = "de  Vries" }, fault.Invalid, "patient_details.last_name"},
		"a name of 51 characters":    {func(r *orders.Request) { r.Patient.LastName = strings.Repeat("a", 51) }, fault.Invalid, "patient_details.last_name"},
		"an unknown gender":          {func(r *orders.Request) { r.Patient.Gender = "x" }, fault.Invalid, "patient_details.gender"},
		"a telephone number":         {func(r *orders.Request) { r.Patient.PhoneNumber = "123" }, fault.Invalid, "patient_details.phone_number"},
		"area code 555":              {func(r *orders.Request) { r.Patient.PhoneNumber = "+15551234567" }, fault.Refused, "Phone number is not correct"},
		"an e-mail address":          {func(r *orders.Request) { r.Patient.Email = "nobody" }, fault.Invalid, "patient_details.email"},
		"an unknown race":            {func(r *orders.Request) { r.Patient.Race = "x" }, fault.Invalid, "patient_details.race"},
		"a zip code":                 {func(r *orders.Request) { r.Address.Zip = "8500" }, fault.Invalid, "patient_address.zip"},
		"a state":                    {func(r *orders.Request) { r.Address.State = "XX" }, fault.Invalid, "patient_address.state"},
		"another country":            {func(r *orders.Request) { r.Address.Country = "DE" }, fault.Invalid, "patient_address.country"},
		"long access notes":          {func(r *orders.Request) { r.Address.AccessNotes = strings.Repeat("a", 1001) }, fault.Invalid, "patient_address.access_notes"},
		"long clinical notes":        {func(r *orders.Request) { r.ClinicalNotes = strings.Repeat("a", 1001) }, fault.Invalid, "clinical_notes"},
		"an unknown billing type":    {func(r *orders.Request) { r.Billing = "cash" }, fault.Invalid, "billing_type"},
		"an unknown method":          {func(r *orders.Request) { m := labs.Method("post"); r.Method = &m }, fault.Invalid, "collection_method"},
		"an unknown consent":         {func(r *orders.Request) { r.Consents = []orders.Consent{{Type: "x"}} }, fault.Invalid, "consents"},
		"a physician's number":       {func(r *orders.Request) { r.Physician = &labs.Physician{FirstName: "A", LastName: "B", NPI: "12"} }, fault.Invalid, "physician.npi"},
		"an unknown user":            {func(r *orders.Request) { r.User = ids.From[users.User](unknown.UUID()) }, fault.NotFound, "User does not exist on this team"},
		"nothing ordered":            {func(r *orders.Request) { r.Set = nil }, fault.Refused, "order_set"},
		"ordered twice":              {func(r *orders.Request) { r.LabTest = &unknown }, fault.Refused, "not both"},
		"an empty add-on":            {func(r *orders.Request) { r.Set.AddOn = &orders.AddOn{} }, fault.Refused, "add_on"},
		"an add-on without a method": {func(r *orders.Request) { r.Set.AddOn = &orders.AddOn{MarkerIDs: []int64{1}} }, fault.Refused, "collection_method"},
		"both kinds of marker ids": {func(r *orders.Request) {
			r.Method = &kit
			r.Set.AddOn = &orders.AddOn{MarkerIDs: []int64{1}, ProviderIDs: []string{"1"}}
		}, fault.Refused, "not both"},
		"an unknown lab test":         {func(r *orders.Request) { r.Set.TestIDs = []labs.TestID{unknown} }, fault.Refused, "Test does not exist"},
		"a method that is not had":    {func(r *orders.Request) { r.Method = &kit }, fault.Refused, "Cannot set collection_method to TESTKIT"},
		"a state the lab is not in":   {func(r *orders.Request) { r.Address.State = "GU" }, fault.Refused, "does not support state GU"},
		"questions without an answer": {func(r *orders.Request) { r.Answers = []orders.Answer{{MarkerID: -1, QuestionID: 1, Answer: "x"}} }, fault.Refused, "no question"},
		"a day in the past":           {func(r *orders.Request) { r.ActivateBy = &yesterday }, fault.Refused, "activate_by"},
		"a child":                     {func(r *orders.Request) { r.Patient.BirthDate = civil.MustParse("2020-01-01") }, fault.Refused, "under 18"},
		"insurance without a code":    {func(r *orders.Request) { r.Billing = labs.CommercialInsurance }, fault.Refused, "icd_codes"},
		"insurance without a record":  {func(r *orders.Request) { r.Billing = labs.CommercialInsurance; r.ICDCodes = []string{"E11.9"} }, fault.Refused, "no primary insurance"},
		"an unknown account":          {func(r *orders.Request) { a := ids.From[labs.Account](unknown.UUID()); r.Account = &a }, fault.NotFound, "Lab account does not exist"},
	}
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		team := orderstest.Team(t, db)
		user, test := orderstest.User(t, db, team.ID), orderstest.Test(t, db, team.ID, labs.WalkIn)
		for name, c := range cases {
			r := orderstest.Request(t, db, user, test)
			c.change(&r)
			err := db.Write(store.WithTeam(t.Context(), team.ID.UUID()), func(tx *store.Tx) error {
				_, err := orders.Create(t.Context(), tx, team.ID, r)
				return err
			})
			if fault.KindOf(err) != c.kind || !strings.Contains(err.Error(), c.at) {
				t.Errorf("%s: %v", name, err)
			}
			var problems []*fault.Error
			userstest.Write(t, db, func(ctx context.Context, tx *store.Tx) (err error) {
				problems, err = orders.Try(ctx, tx, team.ID, r)
				return err
			})
			if len(problems) == 0 || !errors.As(err, new(*fault.Error)) && !errors.As(err, new(fault.List)) {
				t.Errorf("%s: the dry run found nothing", name)
			}
		}
		userstest.Write(t, db, func(ctx context.Context, tx *store.Tx) error {
			all, total, err := orders.List(ctx, tx, team.ID, orders.Filter{Page: 1, Size: 10})
			if total != 0 || len(all) != 0 {
				t.Errorf("%d orders are left behind", total)
			}
			return err
		})
	})
}
