package app_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hale/internal/app"
	"hale/internal/app/apptest"
	"hale/internal/harness/loopback"
	"hale/internal/labs/catalogue"
	"hale/internal/labs/networks/networktest"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/platform/teams"
)

const wireCompendium = `{
	"lab": {"slug":"wire_lab","name":"Wire Laboratory","address":"1 Example Way","city":"Nowhere","zip":"85004",
		"methods":["walk_in_test","at_home_phlebotomy"],"sample_types":["serum"],"states":["AZ"],"billings":["client_bill"]},
	"markers": [{"provider_id":"W1","name":"Glucose","expected_results":[{"provider_id":"W1-1","loinc":"2345-7"}]},
		{"provider_id":"W2","name":"Lead","expected_results":[{"provider_id":"W2-1","loinc":"5671-3"}]}]
}`

// startHL7Lab starts a production team with one real lab. The text is the address on which the
// node listens for the lab.
func startHL7Lab(t *testing.T, d storetest.Database) (*clinic, *networktest.WireLab, string) {
	t.Helper()
	return startHL7LabIn(t, d, teams.Production, "")
}

// startHL7LabIn starts a team of an environment like wired. settings are more lines about the
// lab in the networks file.
func startHL7LabIn(t *testing.T, d storetest.Database, environment teams.Environment, settings string) (*clinic, *networktest.WireLab, string) {
	t.Helper()
	lab := &networktest.WireLab{
		Codes: map[string][]networktest.WireResult{
			"W1": {{Code: "W1-1", Name: "Glucose", LOINC: "2345-7", Value: "91", Unit: "mg/dL", Range: "70-99"}},
		},
		Refuses: map[string]string{"W2": "Not offered here"},
	}
	address, err := lab.Open()
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- lab.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	listen := freePort(t)
	file := filepath.Join(t.TempDir(), "networks.yaml")
	text := fmt.Sprintf("networks:\n  hl7v2:\n    listen: %s\n    labs:\n      wire_lab:\n        address: %s\n        application: %s\n        lab_application: %s\n        lab_facility: %s\n%s",
		listen, address, networktest.WireCustomer, networktest.WireApplication, networktest.WireFacility, settings)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s := apptest.StartWith(t, d, func(o *app.Options) { o.Config.Networks, o.Config.Environment = file, string(environment) })
	setUpHL7Lab(t, s)
	c := &clinic{Service: s, t: t}
	var user struct {
		UserID string `json:"user_id"`
	}
	s.Expect(200, "POST", "/v2/user", `{"client_user_id":"patient-1"}`, &user)
	c.user = user.UserID
	return c, lab, listen
}

func freePort(t *testing.T) string {
	t.Helper()
	address, err := loopback.FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	return address
}

// setUpHL7Lab makes the settings of an operator for a lab: its compendium and an account.
func setUpHL7Lab(t *testing.T, s *apptest.Service) {
	t.Helper()
	ctx := store.AsSystem(t.Context())
	compendium, err := catalogue.ReadJSON([]byte(wireCompendium))
	if err != nil {
		t.Fatal(err)
	}
	err = s.DB.Write(ctx, func(tx *store.Tx) error {
		if _, err := catalogue.Import(ctx, tx, compendium.Lab.Slug, compendium.Lab, compendium, true); err != nil {
			return err
		}
		all, err := teams.List(ctx, tx)
		if err != nil {
			return err
		}
		offered, err := catalogue.Load(ctx, tx, all[0].ID)
		if err != nil {
			return err
		}
		lab, _ := offered.LabBySlug(compendium.Lab.Slug)
		_, err = catalogue.AddAccount(ctx, tx, catalogue.NewAccount{
			Lab: lab.ID, Number: "44120", Status: catalogue.AccountActive, Flow: catalogue.NotDelegated,
			AllowedBilling: map[catalogue.Billing][]string{catalogue.ClientBill: {"AZ"}},
		})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (c *clinic) orderFromWireLab() orderView { return c.orderOf(`"W1"`) }

// orderOf orders tests by the codes of the lab.
func (c *clinic) orderOf(codes string) orderView {
	c.t.Helper()
	var made struct{ Order orderView }
	c.Expect(200, "POST", "/v3/order", fmt.Sprintf(
		`{"user_id":%q,"order_set":{"add_on":{"provider_ids":[%s]}},"collection_method":"walk_in_test","patient_details":%s,"patient_address":%s}`,
		c.user, codes, aPatient, anAddress), &made)
	return made.Order
}

// A real order is sent as OML^O21 over TCP, and its results return as ORU^R01.
func TestOrderOverHL7(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		c, lab, listen := startHL7Lab(t, d)
		o := c.orderFromWireLab()
		o = c.until(o.ID, "received.walk_in_test.requisition_created")
		if taken := lab.Orders()[o.ID]; taken.Messages != 1 || o.SampleID == nil || *o.SampleID != taken.Number {
			t.Fatalf("the lab took %+v", taken)
		}
		if err := lab.Report(t.Context(), o.ID, "P", listen); err != nil {
			t.Fatal(err)
		}
		c.until(o.ID, "sample_with_lab.walk_in_test.partial_results")
		if err := lab.Report(t.Context(), o.ID, "F", listen); err != nil {
			t.Fatal(err)
		}
		o = c.until(o.ID, "completed.walk_in_test.completed")
		if want := withMethod("walk_in_test", "received.ordered", "received.requisition_created", "sample_with_lab.partial_results", "completed.completed"); !slices.Equal(o.path(), want) {
			t.Errorf("events %v", o.path())
		}
		results, metadata := c.results(o.ID)
		if len(results) != 1 || results[0]["result"] != "91" || metadata["status"] != "final" || metadata["interpretation"] != "normal" {
			t.Errorf("results %v, %v", results, metadata)
		}
		gone := c.orderFromWireLab()
		c.until(gone.ID, "received.walk_in_test.requisition_created")
		c.Expect(200, "POST", "/v3/order/"+gone.ID+"/cancel", ``, nil)
		c.eventually(func() bool { return lab.Orders()[gone.ID].Cancelled == 1 }, "the lab got no cancellation")
		if status, body := c.Call("POST", "/v3/order/"+gone.ID+"/test", ``); status != 404 {
			t.Errorf("simulating a real order was answered %d %s", status, body)
		}
	})
}

// A sandbox order for a lab with a test system is sent there as a test message, and its
// results return.
func TestOrderAtATestSystem(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		c, lab, listen := startHL7LabIn(t, d, teams.Sandbox, "        sandbox: true\n")
		o := c.orderFromWireLab()
		o = c.until(o.ID, "received.walk_in_test.requisition_created")
		if taken := lab.Orders()[o.ID]; taken.Messages != 1 || o.SampleID == nil || *o.SampleID != taken.Number || taken.Processing != "T" {
			t.Fatalf("the lab took %+v", taken)
		}
		if status, body := c.Call("POST", "/v3/order/"+o.ID+"/test", ``); status != 400 || !strings.Contains(string(body), "test system of the lab has this order") {
			t.Errorf("simulating the order was answered %d %s", status, body)
		}
		if err := lab.Report(t.Context(), o.ID, "F", listen); err != nil {
			t.Fatal(err)
		}
		c.until(o.ID, "completed.walk_in_test.completed")
		results, _ := c.results(o.ID)
		if len(results) != 1 || results[0]["result"] != "91" {
			t.Errorf("results %v", results)
		}
	})
}

// The visits of an order at a test system are simulated, its results are not.
func TestVisitOfAnOrderAtATestSystem(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		c, lab, listen := startHL7LabIn(t, d, teams.Sandbox, "        sandbox: true\n")
		var made struct{ Order orderView }
		c.Expect(200, "POST", "/v3/order", fmt.Sprintf(
			`{"user_id":%q,"order_set":{"add_on":{"provider_ids":["W1"]}},"collection_method":"at_home_phlebotomy","patient_details":%s,"patient_address":%s}`,
			c.user, aPatient, anAddress), &made)
		o := c.until(made.Order.ID, "received.at_home_phlebotomy.requisition_created")
		var free freeTimes
		c.Expect(200, "POST", "/v3/order/phlebotomy/appointment/availability", `{"first_line":"1 West Lincoln Street","city":"Phoenix","state":"AZ","zip_code":"85004"}`, &free)
		c.Expect(200, "POST", "/v3/order/"+o.ID+"/phlebotomy/appointment/book", `{"booking_key":"`+free.key(9)+`"}`, nil)
		c.until(o.ID, "collecting_sample.at_home_phlebotomy.appointment_scheduled")
		c.advance(20)
		c.until(o.ID, "collecting_sample.at_home_phlebotomy.draw_completed")
		if err := lab.Report(t.Context(), o.ID, "F", listen); err != nil {
			t.Fatal(err)
		}
		c.until(o.ID, "completed.at_home_phlebotomy.completed")
		if results, _ := c.results(o.ID); len(results) != 1 || results[0]["result"] != "91" {
			t.Errorf("results %v", results)
		}
	})
}

// A test that the lab refuses in its answer is missing as soon as the order has
// its requisition, with the lab's words.
func TestARefusedTestOverHL7(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		c, lab, listen := startHL7Lab(t, d)
		o := c.orderOf(`"W1", "W2"`)
		c.until(o.ID, "received.walk_in_test.requisition_created")
		var now struct {
			Missing *bool `json:"has_missing_results"`
		}
		var found struct {
			Metadata struct{ Status string }
			Results  []map[string]any
			Missing  []struct {
				Failure string  `json:"inferred_failure_type"`
				Note    *string `json:"note"`
				LOINC   string  `json:"loinc"`
			} `json:"missing_results"`
		}
		c.Get("/v3/order/"+o.ID, &now)
		c.Get("/v3/order/"+o.ID+"/result", &found)
		if now.Missing == nil || !*now.Missing || found.Metadata.Status != "partial" || len(found.Results) != 0 || len(found.Missing) != 1 {
			t.Fatalf("the order has missing results: %v; its results are %+v", now.Missing, found)
		}
		if m := found.Missing[0]; m.LOINC != "5671-3" || m.Failure != "order_entry_failure" || m.Note == nil || *m.Note != "Not offered here" {
			t.Errorf("missing is %+v", m)
		}
		if err := lab.Report(t.Context(), o.ID, "F", listen); err != nil {
			t.Fatal(err)
		}
		c.until(o.ID, "completed.walk_in_test.completed")
		c.Get("/v3/order/"+o.ID+"/result", &found)
		if len(found.Results) != 1 || len(found.Missing) != 1 {
			t.Errorf("at the end: %+v", found)
		}
	})
}

// Without a connection to its lab, an order waits, and its job shows the reason.
func TestAnOrderWaitsForItsLab(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		s := apptest.StartWith(t, d, func(o *app.Options) { o.Config.Environment = string(teams.Production) })
		setUpHL7Lab(t, s)
		c := &clinic{Service: s, t: t}
		var user struct {
			UserID string `json:"user_id"`
		}
		s.Expect(200, "POST", "/v2/user", `{"client_user_id":"patient-1"}`, &user)
		c.user = user.UserID
		o := c.orderFromWireLab()
		c.eventually(func() bool {
			var page struct {
				Jobs []struct{ Kind, Error string }
			}
			_, text := c.Call("GET", "/v2/jobs?kind=orders.place", "")
			if err := json.Unmarshal(text, &page); err != nil {
				t.Fatalf("%v: %s", err, text)
			}
			return len(page.Jobs) == 1 && page.Jobs[0].Error != ""
		}, "the job does not say what is missing")
		if got := c.until(o.ID, "received.walk_in_test.ordered"); len(got.Events) != 1 {
			t.Errorf("events %v", got.path())
		}
	})
}
