package api

import (
	"context"
	"encoding/json"
	"testing"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/inbox"
	"hale/internal/labs/matching"
	"hale/internal/labs/networks"
	"hale/internal/labs/orders"
	"hale/internal/labs/orders/orderstest"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// The answers about results whose order is not certain, as they go over the
// wire: a result that may be an order's, one that is nobody's, the list of both,
// and what becomes of them.
func TestUnmatchedShapes(t *testing.T) {
	c := newCaller(t)
	team := orderstest.Team(t, c.db)
	c.as(t, team.ID)
	c.want(200, "GET", "/v3/unmatched_result", "", `"data":[],"next_cursor":null,"total":0`)

	o := orderstest.New(t, c.db, team.ID, catalogue.WalkIn)
	orderstest.To(t, c.db, &o, orders.RequisitionCreated)
	p := o.Body.Patient
	likely := c.arrives(t, o, networks.ReportedPatient{FirstName: p.FirstName, LastName: p.LastName, DOB: p.BirthDate, Gender: "F"})
	nobodys := c.arrives(t, o, networks.ReportedPatient{LastName: "Unknown"})

	path := "/v3/unmatched_result/"
	golden(t, "unmatched_result", c.want(200, "GET", path+likely.String(), "", `"match_demo"`))
	golden(t, "unmatched_result_nobodys", c.want(200, "GET", path+nobodys.String(), "", `"no_match"`))
	golden(t, "unmatched_results", c.want(200, "GET", "/v3/unmatched_result", "", `"total":2`))
	golden(t, "unmatched_unsure", c.want(200, "POST", path+nobodys.String()+"/resolve", `{"action":"unsure","note":"never seen"}`))
	golden(t, "unmatched_rejected", c.want(200, "POST", path+likely.String()+"/resolve", `{"action":"reject"}`))
	c.want(404, "POST", path+likely.String()+"/resolve", `{"action":"reject"}`, "Unmatched result not found")

	// What is accepted is answered with the order, as everywhere.
	again := c.arrives(t, o, networks.ReportedPatient{FirstName: p.FirstName, LastName: p.LastName, DOB: p.BirthDate, Gender: "F"})
	var accepted, read map[string]any
	decode(t, c.want(200, "POST", path+again.String()+"/accept", `{"order_id":"`+o.ID.String()+`"}`), &accepted)
	decode(t, c.want(200, "GET", "/v3/order/"+accepted["id"].(string), ""), &read)
	if was, is := text(t, accepted), text(t, read); was != is {
		t.Errorf("an acceptance answers\n%s\nand the order is\n%s", was, is)
	}
	golden(t, "unmatched_cases", c.want(200, "GET", "/v3/unmatched_result_test/case", ""))
}

// as makes the caller one of another team.
func (c *caller) as(t *testing.T, team teams.ID) {
	t.Helper()
	userstest.Write(t, c.db, func(ctx context.Context, tx *store.Tx) error {
		of, err := teams.Get(ctx, tx, team)
		if err != nil {
			return err
		}
		_, key, err := teams.CreateKey(ctx, tx, of, "test")
		c.team, c.key = team, key.Reveal()
		return err
	})
}

// arrives brings a report about a patient before the queue: of an order's first
// marker, with a sample number that nobody knows.
func (c *caller) arrives(t *testing.T, o orders.Order, patient networks.ReportedPatient) (id matching.ID) {
	t.Helper()
	userstest.Write(t, c.db, func(ctx context.Context, tx *store.Tx) error {
		facts, err := orders.Around(ctx, tx, o.Team, []orders.Order{o})
		if err != nil {
			return err
		}
		marker := facts[0].Markers[0]
		expected := marker.Results[0]
		raw := tx.NewUUID()
		id, err = matching.Put(ctx, tx, o.Team, inbox.Arrival{ID: raw, Network: "sandboxlab", Key: "test:" + raw.String(), ReceivedAt: tx.Now(), Report: networks.Report{
			Lab: facts[0].Lab.Slug, SampleID: "UNKNOWN-1", At: tx.Now(), Patient: patient,
			Results: &networks.ResultSet{Results: []networks.Result{{
				ProviderID: expected.ProviderID, TestProviderID: marker.ProviderID, Name: expected.Name, LOINC: expected.LOINC,
				Value: "7.5", Unit: expected.Assay.Unit, Status: "F", Flag: "H",
			}}},
		}})
		return err
	})
	if err := matching.Match(store.WithTeam(t.Context(), c.team.UUID()), c.db, c.team, id, false); err != nil {
		t.Fatal(err)
	}
	return id
}

func text(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
