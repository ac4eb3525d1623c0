package labs

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"codeberg.org/go-pdf/fpdf"
	"github.com/pdfcpu/pdfcpu/pkg/api"

	"hale/internal/api/calltest"
	"hale/internal/labs/catalogue"
	"hale/internal/labs/networks"
	"hale/internal/labs/orders"
	"hale/internal/labs/orders/orderstest"
	"hale/internal/labs/results"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/civil"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// page returns a document with one page.
func page(t testing.TB, says string) []byte {
	t.Helper()
	p := fpdf.New("P", "mm", "Letter", "")
	p.AddPage()
	p.SetFont("Helvetica", "", 12)
	p.Text(20, 20, says)
	var out bytes.Buffer
	if err := p.Output(&out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// atTheLab returns a caller with an order whose sample is at the lab.
func atTheLab(t testing.TB) (*calltest.Caller, *orders.Order) {
	t.Helper()
	c, _ := withLabs(t)
	o := orderstest.New(t, c.DB, c.Team, catalogue.WalkIn)
	orderstest.MoveTo(t, c.DB, &o, orders.RequisitionCreated)
	return c, &o
}

// asReported is the patient of the orders as a lab writes her.
var asReported = networks.ReportedPatient{FirstName: "ADA M.", LastName: "BYRON", DOB: civil.MustParse("1984-12-10"), Gender: "female"}

func takeResults(c *calltest.Caller, t testing.TB, o *orders.Order, key string, set networks.ResultSet) {
	t.Helper()
	userstest.Write(t, c.DB, func(ctx context.Context, tx *store.Tx) error {
		now, err := orders.Get(ctx, tx, o.Team, o.ID)
		if err != nil {
			return err
		}
		*o = now
		return results.Take(ctx, tx, o, results.Arrival{Key: key, At: time.Date(2026, 3, 4, 9, 0, 0, 0, time.UTC), Account: "A-17", Patient: asReported, Set: set})
	})
}

// richResults returns a report with a value in every field.
func richResults(t testing.TB) networks.ResultSet {
	east, fasting := -7*3600, true
	at := func(hour int) networks.Moment {
		return networks.Moment{Time: time.Date(2026, 3, 3, hour, 0, 0, 0, time.UTC), Offset: &east}
	}
	result := func(code, name, value, unit, rng, flag string) networks.Result {
		return networks.Result{ProviderID: code, Name: name, Value: value, Unit: unit, Range: rng, Flag: flag, Status: "F", At: at(20), Laboratory: "01D1234567"}
	}
	return networks.ResultSet{
		Specimen: networks.Specimen{
			Number: "SP-9", Collected: at(15), Received: at(18), Reported: networks.Moment{Time: at(23).Time}, Fasting: &fasting, Volume: "5 mL", Information: "FASTING",
		},
		Results: []networks.Result{
			result("70541", "Cholesterol", "231", "mg/dL", "100-199", "H"),
			result("70542", "Triglycerides", "<50", "mg/dL", "< OR = 149", ""),
			result("ZZ-1", "Remark", "Sample is slightly hemolyzed", "", "", ""),
			{ProviderID: "ZZ-2", Name: "Nitrite", Value: "Not detected", Type: "coded_value", Range: "Not Detected", Status: "F", Notes: []string{"Read twice."}},
		},
		Missing: []networks.MissingResult{{ProviderID: "70543", Name: "HDL", Note: "Quantity not sufficient"}},
		Laboratories: map[string]networks.Laboratory{"01D1234567": {
			Name: "Example Laboratory", CLIA: "01D1234567", Phone: "+14155550100", Director: "Dr. Grace Example",
			Address: &networks.Address{FirstLine: "9 Test Road", City: "Phoenix", State: "AZ", Zip: "85004", Country: "US"},
		}},
		CLIA: "01D1234567", Laboratory: "Example Laboratory", Comments: []string{"Reported by telephone."}, PDF: page(t, "the lab's own"),
	}
}

func TestResultShapes(t *testing.T) {
	c, o := atTheLab(t)
	path := "/v3/order/" + o.ID.String()
	c.Want(404, "GET", path+"/result", "", "Results are not available for order "+o.ID.String())
	c.Want(404, "GET", path+"/result/pdf", "", "Results are not available")
	c.Want(200, "GET", path+"/result/revisions", "", `{"revisions":[]}`)
	early := richResults(t)
	early.Partial, early.PDF, early.Results, early.Missing = true, nil, early.Results[:1], nil
	takeResults(c, t, o, "1", early)
	c.Want(404, "GET", path+"/result/pdf", "", "sent no PDF")
	whole := richResults(t)
	takeResults(c, t, o, "2", whole)
	calltest.Golden(t, "results", c.Want(200, "GET", path+"/result", ""))
	calltest.Golden(t, "result_metadata", c.Want(200, "GET", path+"/result/metadata", ""))
	calltest.Golden(t, "result_revisions", c.Want(200, "GET", path+"/result/revisions", ""))
	c.Want(200, "GET", path+"/result?revision=1", "", `"status":"partial"`, `"revision":1`, `"missing_results":[]`)
	c.Want(404, "GET", path+"/result?revision=3", "", "have no revision 3")
	c.Want(422, "GET", path+"/result?revision=0", "", `["query","revision"]`)
	if pdf := c.Want(200, "GET", path+"/result/pdf", ""); pdf != string(whole.PDF) {
		t.Errorf("the document has %d bytes", len(pdf))
	}
	unknownID := "/v3/order/019f0000-0000-7000-8000-000000000000"
	for _, of := range []string{"/result", "/result/metadata", "/result/pdf", "/result/revisions", "/fhir"} {
		c.Want(404, "GET", unknownID+of, "", `"Order not found"`)
	}
}

// The order is available as FHIR from the start. Its results follow when they arrive.
func TestFHIR(t *testing.T) {
	c, o := atTheLab(t)
	path := "/v3/order/" + o.ID.String() + "/fhir"
	if text := c.Want(200, "GET", path, "", `"resourceType":"Bundle"`, `"ServiceRequest"`, `"supportingInfo"`, `"linkId":"FSTING"`); strings.Contains(text, "DiagnosticReport") {
		t.Error("there is a report before there are results")
	}
	takeResults(c, t, o, "1", richResults(t))
	c.Want(200, "GET", path, "", `"DiagnosticReport"`, `"Observation"`, `"value":231`, `"comparator":"\u003c"`, `"application/pdf"`, `"http://loinc.org"`)
}

// The results of a transaction are those of all its orders. The same holds for
// documents.
func TestTransactionResults(t *testing.T) {
	c, o := atTheLab(t)
	userstest.Write(t, c.DB, func(ctx context.Context, tx *store.Tx) error {
		team, err := teams.Get(ctx, tx, c.Team)
		if err != nil {
			return err
		}
		team.Settings.Redraws = true
		return teams.Update(ctx, tx, team)
	})
	path := "/v3/order_transaction/" + o.Transaction.String()
	c.Want(404, "GET", path+"/result", "", "Results are not available for order transaction "+o.Transaction.String())
	c.Want(404, "GET", "/v3/order_transaction/019f0000-0000-7000-8000-000000000000/result", "", `"Order transaction not found"`)
	c.Want(404, "GET", "/v3/order_transaction/019f0000-0000-7000-8000-000000000000/result/pdf", "", `"Order transaction not found"`)
	var owed []catalogue.Result
	var next orders.Order
	userstest.Write(t, c.DB, func(ctx context.Context, tx *store.Tx) error {
		facts, err := orders.ReadFacts(ctx, tx, c.Team, []orders.Order{*o})
		owed = facts[0].Markers[0].Results
		return err
	})
	first := richResults(t)
	first.Missing[0].ProviderID, first.Missing[0].Name = owed[0].ProviderID, owed[0].Name
	first.Results = first.Results[2:3]
	takeResults(c, t, o, "1", first)
	c.Want(200, "GET", path+"/result", "", `"status":"partial"`, `"quantity_not_sufficient_failure"`)
	userstest.Write(t, c.DB, func(ctx context.Context, tx *store.Tx) error {
		members, err := orders.OrdersOfTransaction(ctx, tx, c.Team, o.Transaction)
		if len(members) != 2 {
			return fmt.Errorf("%d orders", len(members))
		}
		next = members[1]
		return err
	})
	orderstest.MoveTo(t, c.DB, &next, orders.RequisitionCreated)
	second := networks.ResultSet{PDF: page(t, "the second"), Results: []networks.Result{{ProviderID: owed[0].ProviderID, Value: "5", Flag: "N"}}}
	takeResults(c, t, &next, "2", second)
	whole := c.Want(200, "GET", path+"/result", "", `"status":"final"`, `"revision":null`, `"hemolyzed"`[1:9], owed[0].Slug)
	if strings.Contains(whole, `"quantity_not_sufficient_failure"`) {
		t.Error("what the second sample brought is still missing")
	}
	pdf := c.Want(200, "GET", path+"/result/pdf", "")
	if n, err := api.PageCount(bytes.NewReader([]byte(pdf)), nil); err != nil || n != 2 {
		t.Errorf("%d pages, %v", n, err)
	}
}
