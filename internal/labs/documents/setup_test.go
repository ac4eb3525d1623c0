package documents

import (
	"fmt"
	"time"

	"github.com/google/uuid"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/networks"
	"hale/internal/labs/orders"
	"hale/internal/labs/results"
	"hale/internal/people/users/person"
	"hale/internal/platform/civil"
)

var (
	placedAt    = time.Date(2026, 3, 5, 8, 30, 0, 0, time.UTC)
	collectedAt = time.Date(2026, 3, 6, 7, 15, 0, 0, time.FixedZone("", -7*3600))
)

var phoenix = func() *time.Location {
	zone, err := civil.Zone("America/Phoenix")
	if err != nil {
		panic(err)
	}
	return zone
}()

func id(n byte) uuid.UUID {
	all := uuid.MustParse("019f0000-0000-7000-8000-000000000000")
	all[15] = n
	return all
}

// subject returns an order that has every field and the given number of markers. Its Full
// is the same order as the lab gets it.
func subject(markers int) *Subject {
	s := &Subject{
		Zone: phoenix,
		Order: orders.Order{
			ID: orders.ID(id(1)), Method: catalogue.WalkIn, Status: orders.RequisitionCreated, CreatedAt: placedAt, SampleID: "S0012345678",
			Billing: catalogue.CommercialInsurance, HasABN: true,
			Body: orders.Body{Patient: &orders.Patient{FirstName: "Ada", LastName: "Byron", MedicalProxy: &person.Guarantor{
				FirstName: "Anne", LastName: "Noel", PhoneNumber: "+14155550155", Email: "anne@example.org",
			}}},
		},
		Facts: orders.Facts{
			Events: []orders.Event{{ID: 1, Status: orders.Ordered, CreatedAt: placedAt}, {ID: 2, Status: orders.RequisitionCreated, CreatedAt: placedAt.Add(time.Minute)}},
			Test:   catalogue.Test{ID: catalogue.TestID(id(9)), Name: "General panel", Method: catalogue.WalkIn, SampleType: catalogue.Serum, UpdatedAt: placedAt},
			Lab:    catalogue.Lab{ID: 2, Slug: "example", Name: "Example Laboratories", Address: "5 Tube Street", City: "Phoenix", State: "AZ", Zip: "85004", Phone: "+16025550100", CLIA: "03D0000001"},
		},
		Full: networks.Order{
			ID: id(1), Account: networks.Account{Number: "A-77001", Name: "Example Clinic"}, Method: "walk_in_test", SampleID: "S0012345678",
			Priority: true, Billing: "commercial_insurance", ICDCodes: []string{"E11.9", "I10"}, Fasting: true, PlacedAt: placedAt,
			Notes: "Known carrier (trait) \\ see letter of 2025.\nSecond line.",
			Patient: networks.Patient{
				ID: id(2), FirstName: "Ada", LastName: "Byron", DOB: civil.MustParse("1984-12-10"), Gender: "female", Phone: "+14155550132", Email: "ada@example.org",
				Address: networks.Address{FirstLine: "1 Main Street", SecondLine: "Apt 4", City: "Phoenix", State: "AZ", Zip: "85004"}, Race: "white", Ethnicity: "non_hispanic",
			},
			Physician: networks.Physician{FirstName: "Jane", LastName: "Example", NPI: "1234567893"},
			Practice: networks.Practice{
				Name: "Example Clinic", Phone: "+16025550111", Fax: "+16025550112", AfterHours: "+16025550113",
				Address: networks.Address{FirstLine: "7 Clinic Way", City: "Phoenix", State: "AZ", Zip: "85004"},
			},
			Insurance: &networks.Insurance{
				PayorCode: "60054", Company: "Example Mutual", CompanyAddress: networks.Address{FirstLine: "1 Policy Plaza", City: "Tempe", State: "AZ", Zip: "85281"}, MemberID: "M-1", GroupID: "G-2", Relationship: "Spouse",
				Insured:   networks.Patient{FirstName: "William", LastName: "King", DOB: civil.MustParse("1980-02-21"), Gender: "male", Address: networks.Address{FirstLine: "1 Main Street", City: "Phoenix", State: "AZ", Zip: "85004"}},
				Guarantor: &networks.Patient{FirstName: "Ralph", LastName: "King", Phone: "+14155550177", Address: networks.Address{FirstLine: "2 Side Road", City: "Mesa", State: "AZ", Zip: "85201"}},
			},
		},
	}
	for n := range markers {
		m := &catalogue.Marker{
			ID: int64(n + 1), ProviderID: fmt.Sprintf("7%04d", n), Name: fmt.Sprintf("Marker number %d", n+1), Price: "12.50", Sample: catalogue.Serum,
			Questions: []catalogue.Question{{ID: 1, Code: "FSTING", Value: "Has the patient fasted?", Type: catalogue.Choice, Answers: []catalogue.Answer{{ID: 1, Code: "Y", Value: "Yes, fasted"}, {ID: 2, Code: "N", Value: "No"}}}},
		}
		if n == 2 {
			m.Sample = catalogue.Urine
		}
		s.Facts.Markers = append(s.Facts.Markers, m)
		specimen := networks.SpecimenNeeded{Name: "Serum", Container: "Gel separator tube (SST)", MinVolume: "1 mL", Temperature: "refrigerated", Stability: "Refrigerated 7 days", Notes: "Let clot for 30 minutes."}
		if n == 2 {
			specimen = networks.SpecimenNeeded{Name: "Whole blood, EDTA", Container: "Lavender-top tube (EDTA)", MinVolume: "1 mL", Temperature: "ambient", Stability: "Ambient 24 hours", Notes: "Do not centrifuge."}
		}
		s.Full.Tests = append(s.Full.Tests, networks.Test{MarkerID: m.ID, ProviderID: m.ProviderID, Name: m.Name, Specimen: specimen})
	}
	s.Full.Answers = []networks.Answer{
		{MarkerID: 1, ProviderID: "70000", QuestionCode: "FSTING", Question: "Has the patient fasted?", Answer: "Y"},
		{MarkerID: 1, ProviderID: "70000", QuestionCode: "WEIGHT", Question: "Weight in pounds", Answer: "140"},
	}
	return s
}

// revision returns a report with the given number of results. Six or more cover every
// kind of result.
func revision(found int) *results.Revision {
	offset := -7 * 3600
	no, yes := false, true
	r := &results.Revision{Number: 2, CreatedAt: placedAt.Add(48 * time.Hour)}
	r.Status, r.Interpretation = results.Final, orders.Abnormal
	r.Laboratory, r.CLIA, r.Account = "Example Laboratories", "03D0000001", "A-77001"
	r.Comments = []string{"Sample was slightly hemolyzed."}
	r.Samples = []results.Sample{{Key: "S0012345678", Specimen: networks.Specimen{
		Number: "T-1", Collected: networks.Moment{Time: collectedAt, Offset: &offset}, Received: networks.Moment{Time: collectedAt.Add(5 * time.Hour)}, Fasting: &yes,
		Volume: "8 mL",
	}, Laboratories: map[string]networks.Laboratory{
		"PH": {Name: "Phoenix Site", CLIA: "03D0000002", Director: "Max Muster, MD", Phone: "+16025550100", Address: &networks.Address{FirstLine: "9 Lab Road", City: "Phoenix", State: "AZ", Zip: "85004"}},
		"AA": {Name: "Another Site", CLIA: "03D0000003"},
	}}}
	for n := range found {
		one := results.Result{
			Name: fmt.Sprintf("Analyte %d", n+1), Text: fmt.Sprint(n + 1), Unit: "mg/dL", Range: results.Reference{Text: "5-50"}, Below: &no, Above: &no,
			Interpretation: orders.Normal, Status: "F", Laboratory: "PH", Markers: []results.Marker{{ID: int64(n/10 + 1), Name: fmt.Sprintf("Marker number %d", n/10+1)}},
		}
		switch n {
		case 0:
			one.Below, one.Interpretation = &yes, orders.Abnormal
		case 1:
			one.Flag, one.Interpretation, one.Status, one.Laboratory = "HH", orders.Critical, "C", "AA"
			one.Notes = []string{"Called to the clinic and read back."}
		case 2:
			one.Text, one.Range.Text, one.Unit, one.Status = "≥60", "", "µg/L", "P"
		case 3:
			one.Name, one.Unit = "eGFR (CKD-EPI 2021)", "mL/min/{1.73_m2}"
		case 4:
			one.Name, one.Unit, one.Range.Text = "TSH", "m[IU]/L", "0.450-4.500"
		case 5:
			one.Name, one.Unit = "Platelets", "10*3/uL"
		}
		r.Results = append(r.Results, one)
	}
	r.Missing = []results.MissingResult{{Name: "Insulin", Failure: results.QuantityNotSufficient, Note: "QNS"}}
	return r
}
