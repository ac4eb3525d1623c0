package labs

import (
	"context"
	"encoding/json"
	"net/url"
	"testing"
	"time"

	"hale/internal/api/calltest"
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

// TestUnmatchedShapes checks the JSON of results without a certain order: a result
// that may belong to an order, and one that belongs to none. It also checks the list
// of both and the decisions.
func TestUnmatchedShapes(t *testing.T) {
	c := newCaller(t)
	team := orderstest.Team(t, c.DB)
	actAs(c, t, team.ID)
	c.Want(200, "GET", "/v3/unmatched_result", "", `"data":[],"next_cursor":null,"total":0`)

	o := orderstest.New(t, c.DB, team.ID, catalogue.WalkIn)
	orderstest.MoveTo(t, c.DB, &o, orders.RequisitionCreated)
	p := o.Body.Patient
	likely := arrives(c, t, o, networks.ReportedPatient{FirstName: p.FirstName, LastName: p.LastName, DOB: p.BirthDate, Gender: "F"})
	nobodys := arrives(c, t, o, networks.ReportedPatient{LastName: "Unknown"})

	path := "/v3/unmatched_result/"
	calltest.Golden(t, "unmatched_result", c.Want(200, "GET", path+likely.String(), "", `"match_demo"`))
	calltest.Golden(t, "unmatched_result_nobodys", c.Want(200, "GET", path+nobodys.String(), "", `"no_match"`))
	calltest.Golden(t, "unmatched_results", c.Want(200, "GET", "/v3/unmatched_result", "", `"total":2`))
	calltest.Golden(t, "unmatched_unsure", c.Want(200, "POST", path+nobodys.String()+"/resolve", `{"action":"unsure","note":"never seen"}`))
	calltest.Golden(t, "unmatched_rejected", c.Want(200, "POST", path+likely.String()+"/resolve", `{"action":"reject"}`))
	c.Want(404, "POST", path+likely.String()+"/resolve", `{"action":"reject"}`, "Unmatched result not found")

	// Accepting a result returns the order, like other operations.
	again := arrives(c, t, o, networks.ReportedPatient{FirstName: p.FirstName, LastName: p.LastName, DOB: p.BirthDate, Gender: "F"})
	var accepted, read map[string]any
	calltest.Decode(t, c.Want(200, "POST", path+again.String()+"/accept", `{"order_id":"`+o.ID.String()+`"}`), &accepted)
	calltest.Decode(t, c.Want(200, "GET", "/v3/order/"+accepted["id"].(string), ""), &read)
	if was, is := text(t, accepted), text(t, read); was != is {
		t.Errorf("an acceptance answers\n%s\nand the order is\n%s", was, is)
	}
	calltest.Golden(t, "unmatched_cases", c.Want(200, "GET", "/v3/unmatched_result_test/case", ""))
}

// A range of creation takes days and instants. Both ends are included, so the created_at
// of a result finds it.
func TestUnmatchedRange(t *testing.T) {
	c := newCaller(t)
	team := orderstest.Team(t, c.DB)
	actAs(c, t, team.ID)
	o := orderstest.New(t, c.DB, team.ID, catalogue.WalkIn)
	id := arrives(c, t, o, networks.ReportedPatient{LastName: "Unknown"})
	var one struct {
		CreatedAt string `json:"created_at"`
	}
	calltest.Decode(t, c.Want(200, "GET", "/v3/unmatched_result/"+id.String(), ""), &one)
	at, err := time.Parse(time.RFC3339Nano, one.CreatedAt)
	if err != nil {
		t.Fatal(err)
	}
	instant := func(at time.Time) string { return url.QueryEscape(at.Format(time.RFC3339Nano)) }
	day := at.UTC().Format(time.DateOnly)
	for query, total := range map[string]string{
		"created_at_start=" + url.QueryEscape(one.CreatedAt):                                       `"total":1`,
		"created_at_start=" + instant(at) + "&created_at_end=" + instant(at):                       `"total":1`,
		"created_at_start=" + day + "&created_at_end=" + day:                                       `"total":1`,
		"created_at_start=" + instant(at.Add(time.Microsecond)):                                    `"total":0`,
		"created_at_end=" + instant(at.Add(-time.Microsecond)):                                     `"total":0`,
		"created_at_end=" + at.UTC().AddDate(0, 0, -1).Format(time.DateOnly):                       `"total":0`,
		"created_at_start=" + at.UTC().AddDate(0, 0, 1).Format(time.DateOnly) + "&status=resolved": `"total":0`,
	} {
		c.Want(200, "GET", "/v3/unmatched_result?"+query, "", total)
	}
	c.Want(422, "GET", "/v3/unmatched_result?created_at_start=soon&created_at_end=later", "", "created_at_start", "created_at_end")
}

// actAs makes the caller one of another team.
func actAs(c *calltest.Caller, t *testing.T, team teams.ID) {
	t.Helper()
	userstest.Write(t, c.DB, func(ctx context.Context, tx *store.Tx) error {
		of, err := teams.Get(ctx, tx, team)
		if err != nil {
			return err
		}
		_, key, err := teams.CreateKey(ctx, tx, of, teams.NewKey{Label: "test", Rights: teams.FullRights})
		c.Team, c.Key = team, key.Reveal()
		return err
	})
}

// arrives delivers a report about a patient to the queue. It is about the first marker
// of an order and has an unknown sample number.
func arrives(c *calltest.Caller, t *testing.T, o orders.Order, patient networks.ReportedPatient) (id matching.ID) {
	t.Helper()
	userstest.Write(t, c.DB, func(ctx context.Context, tx *store.Tx) error {
		facts, err := orders.ReadFacts(ctx, tx, o.Team, []orders.Order{o})
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
	queue := matching.Queue{Orders: orders.NewIndex()}
	if err := queue.Match(store.WithTeam(t.Context(), c.Team.UUID()), c.DB, c.Team, id, false); err != nil {
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
