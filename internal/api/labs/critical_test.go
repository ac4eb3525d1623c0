package labs

import (
	"context"
	"strings"
	"testing"

	"hale/internal/api/calltest"
	"hale/internal/labs/catalogue"
	"hale/internal/labs/critical"
	"hale/internal/labs/networks"
	"hale/internal/labs/orders"
	"hale/internal/labs/orders/orderstest"
	"hale/internal/labs/results"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/civil"
	"hale/internal/platform/store"
)

// A critical result is listed, read, and acknowledged once.
func TestCriticalResults(t *testing.T) {
	c := newCaller(t)
	actAs(c, t, orderstest.Team(t, c.DB).ID)
	o := orderstest.New(t, c.DB, c.Team, catalogue.WalkIn)
	raise := func(o orders.Order) {
		userstest.Write(t, c.DB, func(ctx context.Context, tx *store.Tx) error {
			return critical.Raise(ctx, tx, c.Team, critical.Subject{Order: &o, Revision: 2})
		})
	}
	raise(o)
	raise(o)
	type notice struct {
		ID, State string
		OrderID   string `json:"order_id"`
		Revision  int
		Said      *struct {
			Person   string `json:"notified_person"`
			By       string `json:"acknowledged_by"`
			ReadBack bool   `json:"read_back"`
		} `json:"acknowledgement"`
	}
	var page struct {
		Data       []notice
		NextCursor *string `json:"next_cursor"`
	}
	const path = "/v3/critical_result"
	calltest.Decode(t, c.Want(200, "GET", path+"?state=open&limit=1", ""), &page)
	if len(page.Data) != 1 || page.NextCursor == nil || page.Data[0].OrderID != o.ID.String() || page.Data[0].Revision != 2 {
		t.Fatalf("the first page: %+v", page)
	}
	first := page.Data[0].ID
	calltest.Decode(t, c.Want(200, "GET", path+"?state=open&limit=1&next_cursor="+*page.NextCursor, ""), &page)
	if len(page.Data) != 1 || page.NextCursor != nil || page.Data[0].ID == first {
		t.Fatalf("the second page: %+v", page)
	}
	c.Want(422, "POST", path+"/"+first+"/acknowledge", `{"notified_person":"","read_back":true}`)
	c.Want(422, "POST", path+"/"+first+"/acknowledge", `{"notified_person":"Dr. Example"}`)
	var got notice
	calltest.Decode(t, c.Want(200, "POST", path+"/"+first+"/acknowledge", `{"notified_person":"Dr. Example","read_back":true}`), &got)
	if got.State != "acknowledged" || got.Said == nil || got.Said.Person != "Dr. Example" || !got.Said.ReadBack || !strings.HasPrefix(got.Said.By, "API key") {
		t.Errorf("acknowledged: %+v %+v", got, got.Said)
	}
	c.Want(409, "POST", path+"/"+first+"/acknowledge", `{"notified_person":"Dr. Example","read_back":true}`)
	calltest.Decode(t, c.Want(200, "GET", path+"/"+first, ""), &got)
	if got.State != "acknowledged" {
		t.Errorf("read: %+v", got)
	}
	c.Want(404, "GET", path+"/019f0000-0000-7000-8000-000000000000", "", "Critical result not found")
}

// The FHIR bundle names the person as the laboratory reported it.
func TestReportedPatientInFHIR(t *testing.T) {
	r := results.Revision{Version: results.Version{Comments: []string{"A comment."}, Patient: networks.ReportedPatient{
		FirstName: "ADA", LastName: "BYRON", DOB: civil.MustParse("1984-12-10"), Gender: "female",
	}}}
	got := fhirReport(&r, nil).Comments
	if want := "Patient as reported by the laboratory: BYRON, ADA; born 1984-12-10; sex female"; len(got) != 2 || got[1] != want || len(r.Comments) != 1 {
		t.Errorf("comments %q, want %q", got, want)
	}
	r.Patient = networks.ReportedPatient{}
	if got := fhirReport(&r, nil).Comments; len(got) != 1 {
		t.Errorf("without a person: %q", got)
	}
}

// FHIR has the note about a flag that contradicts its value, and the side of
// the value.
func TestConflictInFHIR(t *testing.T) {
	above := true
	r := results.Result{Text: "7.2", Flag: "N", Above: &above, Conflict: results.NormalBeyondLimit, Notes: []string{"Repeated."}, Interpretation: orders.Critical}
	got := fhirResult(&r)
	if !got.Above || got.Below || len(got.Notes) != 2 || !strings.Contains(got.Notes[1], "beyond the critical limit") || len(r.Notes) != 1 {
		t.Errorf("%+v", got)
	}
}
