package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"

	"hale/internal/cli/client"
	"hale/internal/labs/orderwords"
)

// shownOrder has the fields of an order that its page in the terminal shows.
type shownOrder struct {
	ID      string `json:"id"`
	User    string `json:"user_id"`
	Status  string `json:"status"`
	LabTest struct {
		Name string `json:"name"`
	} `json:"lab_test"`
	// Details has the collection method of the order. The lab test may have another one.
	Details struct {
		Method string `json:"type"`
	} `json:"details"`
	Patient struct {
		First string `json:"first_name"`
		Last  string `json:"last_name"`
		Birth string `json:"dob"`
	} `json:"patient_details"`
	Events []struct {
		At     string  `json:"created_at"`
		Status string  `json:"status"`
		Detail *string `json:"status_detail"`
	} `json:"events"`
	Sample         string  `json:"sample_id"`
	ABN            bool    `json:"has_abn"`
	Requisition    *string `json:"requisition_form_url"`
	Interpretation *string `json:"interpretation"`
	ExpectedBy     *string `json:"expected_result_by_date"`
}

// ended reports whether the order has ended.
func (o *shownOrder) ended() bool {
	switch o.Status {
	case orderwords.StageCompleted, orderwords.StageCancelled, orderwords.StageFailed:
		return true
	}
	return false
}

// needsVisit reports whether the order waits for the booking of a visit, which neither the
// laboratory nor the sandbox's clock brings.
func (o *shownOrder) needsVisit() bool {
	if o.Details.Method != orderwords.AtHome || len(o.Events) == 0 {
		return false
	}
	switch lastPart(o.Events[len(o.Events)-1].Status) {
	case orderwords.StatusRequisitionCreated, orderwords.StatusRequisitionBypassed, orderwords.StatusAppointmentCancelled:
		return true
	}
	return false
}

// showOrder prints an order with its events, documents and next step.
func (s *shell) showOrder(ctx context.Context, body []byte) error {
	var o shownOrder
	if err := json.Unmarshal(body, &o); err != nil {
		return err
	}
	line := func(name, value string) { fmt.Fprintf(s.out, "%-9s %s\n", name, cell(value)) }
	line("order", o.ID)
	line("user", o.User)
	line("patient", fmt.Sprintf("%s %s, born %s", o.Patient.First, o.Patient.Last, o.Patient.Birth))
	line("lab test", o.LabTest.Name+", "+o.Details.Method)
	line("status", o.Status)
	line("sample", o.Sample)
	fmt.Fprintln(s.out)
	w := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "TIME\tEVENT\tDETAIL")
	for _, e := range o.Events {
		detail := "-"
		if e.Detail != nil {
			detail = *e.Detail
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", shortenTime(e.At), lastPart(e.Status), cell(detail))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(s.out, "\ndocuments: hale api %s/NAME > FILE\n", client.Path("v3", "order", o.ID))
	for _, name := range o.documents() {
		fmt.Fprintf(s.out, "  %s\n", name)
	}
	fmt.Fprintf(s.out, "\nnext: %s\n", s.nextStep(ctx, &o))
	return nil
}

// documents lists the documents that the order has now, below its path.
func (o *shownOrder) documents() []string {
	all := []string{"collection_instruction_pdf"}
	if o.Requisition != nil {
		all = append(all, "requisition/pdf")
	}
	if o.Status != "cancelled" {
		all = append(all, "labels/pdf?collection_date=DATE")
	}
	if o.ABN {
		all = append(all, "abn_pdf")
	}
	if o.Interpretation != nil {
		all = append(all, "result/pdf")
	}
	return all
}

// nextStep says how the order continues. A sandbox lab has planned it.
func (s *shell) nextStep(ctx context.Context, o *shownOrder) string {
	results := "hale results show " + o.ID
	if o.ended() && o.Interpretation != nil {
		return results
	}
	if o.ended() {
		return "nothing; the order has ended"
	}
	if o.needsVisit() {
		return "book the visit of the patient\n      hale docs appointments"
	}
	var lab struct {
		Plans []struct {
			Order  string  `json:"order_id"`
			Due    string  `json:"due_at"`
			Act    string  `json:"act"`
			Status *string `json:"status"`
		} `json:"plans"`
	}
	if err := s.get(ctx, "/v3/sandbox", nil, &lab); err == nil { // not a sandbox team otherwise
		for _, p := range lab.Plans {
			if p.Order == o.ID && p.Status != nil {
				return fmt.Sprintf("%s at %s by the laboratory's clock\n      hale sandbox advance 10d", *p.Status, shortenTime(p.Due))
			}
		}
		return "hale sandbox advance 10d"
	}
	text := "the laboratory or its partner reports the next step"
	if o.ExpectedBy != nil {
		text += "; results are expected by " + *o.ExpectedBy
	}
	return text
}

// lastPart returns the low-level status of an event's status, such as ordered of
// received.walk_in_test.ordered.
func lastPart(status string) string { return status[strings.LastIndexByte(status, '.')+1:] }
