package app_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"hale/internal/app"
	"hale/internal/app/apptest"
	"hale/internal/harness/sshd"
	"hale/internal/harness/testlab"
	"hale/internal/labs/catalogue"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/platform/teams"
)

const certifiedCompendium = `{
	"lab": {"slug":"north_lab","name":"North Laboratory","address":"1 Example Way","city":"Nowhere","zip":"85004",
		"methods":["walk_in_test"],"sample_types":["serum"],"states":["AZ"],"billings":["client_bill"]},
	"markers": [
		{"provider_id":"GLU","name":"Glucose","expected_results":[{"provider_id":"GLU-1","loinc":"2345-7","unit":"mg/dL","ranges":"70..99","critical_high":500}]},
		{"provider_id":"PB","name":"Lead","expected_results":[{"provider_id":"PB-1","loinc":"5671-3"}],
			"questions":[{"code":"PURPOSE","value":"Purpose of the test","type":"choice","required":true,
				"answers":[{"code":"I","value":"Initial"},{"code":"R","value":"Repeat"}]}]},
		{"provider_id":"UC","name":"Urine culture","expected_results":[{"provider_id":"UC-1","name":"Urine culture"}]},
		{"provider_id":"HB","name":"Hemoglobin","expected_results":[{"provider_id":"HB-1","loinc":"718-7"}]}]
}`

// certification is a production team that is connected to an independent test
// laboratory.
type certification struct {
	*clinic
	lab *testlab.Lab
	// send sends a message of the laboratory and returns its acknowledgement.
	send func(message string) string
	// setDown makes the laboratory unreachable, or reachable again.
	setDown func(down bool)
	clock   *atomic.Int64 // how far it was set forward, in nanoseconds
	panel   string        // a lab test with glucose
}

// connect connects the laboratory with a transport. It returns lines for the networks
// file: one about the listener, and one about the laboratory.
type connect func(c *certification) (listener, lab string)

func certify(t *testing.T, d storetest.Database, connect connect) *certification {
	t.Helper()
	c := &certification{clock: new(atomic.Int64), clinic: &clinic{t: t}, lab: &testlab.Lab{
		Application: "NLIS", Facility: "NORTH", Customer: "HALE", Questions: map[string][]string{"PB": {"PURPOSE"}},
		Tests: map[string][]testlab.Observation{
			"GLU": {{Code: "GLU-1", Name: "Glucose", LOINC: "2345-7", Unit: "mg/dL", Range: "70-99"}},
			"PB":  {{Code: "PB-1", Name: "Lead", LOINC: "5671-3", Unit: "ug/dL", Range: "<5.0"}},
			"UC":  {{Code: "UC-1", Name: "Urine culture"}},
			"HB":  {{Code: "HB-1", Name: "Hemoglobin", LOINC: "718-7", Unit: "g/dL", Range: "12.0-16.0"}},
		},
	}}
	listener, lines := connect(c)
	file := filepath.Join(t.TempDir(), "networks.yaml")
	text := "networks:\n  hl7v2:\n" + listener + "    labs:\n      north_lab:\n        application: HALE\n        lab_application: NLIS\n        lab_facility: NORTH\n" + lines
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c.Service = apptest.StartWith(t, d, func(o *app.Options) {
		o.Config.Networks, o.Config.Environment = file, string(teams.Production)
		o.Now = func() time.Time { return time.Now().Add(time.Duration(c.clock.Load())) }
	})
	c.setUp()
	t.Cleanup(func() {
		for _, complaint := range c.lab.Complaints() {
			t.Errorf("the laboratory complains: %s", complaint)
		}
	})
	return c
}

// setUp makes the settings of an operator: compendium, account, lab test, reviews.
func (c *certification) setUp() {
	c.t.Helper()
	ctx := store.AsSystem(c.t.Context())
	compendium, err := catalogue.ReadJSON([]byte(certifiedCompendium))
	if err != nil {
		c.t.Fatal(err)
	}
	err = c.DB.Write(ctx, func(tx *store.Tx) error {
		if _, err := catalogue.Import(ctx, tx, compendium.Lab.Slug, compendium.Lab, compendium, true); err != nil {
			return err
		}
		all, err := teams.List(ctx, tx)
		if err != nil {
			return err
		}
		team, reviews := all[0], true
		team.Settings.ResultReviews, team.Settings.PartialWebhooks = &reviews, true
		if err := teams.Update(ctx, tx, team); err != nil {
			return err
		}
		offered, err := catalogue.Load(ctx, tx, team.ID)
		if err != nil {
			return err
		}
		lab, _ := offered.LabBySlug("north_lab")
		_, err = catalogue.AddAccount(ctx, tx, catalogue.NewAccount{
			Owner: &team.ID, Lab: lab.ID, Number: "44120", Name: "Clinic", Status: catalogue.AccountActive, Flow: catalogue.NotDelegated,
			AllowedBilling: map[catalogue.Billing][]string{catalogue.ClientBill: {"AZ"}},
		})
		return err
	})
	if err != nil {
		c.t.Fatal(err)
	}
	err = c.DB.Write(ctx, func(tx *store.Tx) error {
		all, err := teams.List(ctx, tx)
		if err != nil {
			return err
		}
		test, err := catalogue.CreateTest(ctx, tx, all[0].ID, catalogue.NewTest{
			Name: "Sugar", Description: "Glucose", Method: catalogue.WalkIn, ProviderIDs: []string{"GLU"}, LabSlug: "north_lab",
		})
		if err != nil {
			return err
		}
		c.panel = test.ID.String()
		_, err = catalogue.ApproveTest(ctx, tx, all[0].ID, test.ID)
		return err
	})
	if err != nil {
		c.t.Fatal(err)
	}
	var user struct {
		UserID string `json:"user_id"`
	}
	c.Expect(200, "POST", "/v2/user", `{"client_user_id":"patient-1"}`, &user)
	c.user = user.UserID
}

const certifiedPhysician = `{"first_name":"Rosa","last_name":"Lind","npi":"1234567893","licensed_states":["AZ"]}`

// orderSet orders a set, and answers the questions of its markers.
func (c *certification) orderSet(set string) orderView {
	c.t.Helper()
	body := func(answers string) string {
		return fmt.Sprintf(`{"user_id":%q,"order_set":%s,"collection_method":"walk_in_test","aoe_answers":%s,"physician":%s,"patient_details":%s,"patient_address":%s}`,
			c.user, set, answers, certifiedPhysician, aPatient, anAddress)
	}
	answers := "[]"
	if strings.Contains(set, "PB") {
		if status, text := c.Call("POST", "/v3/order", body(answers)); status != 400 {
			c.t.Errorf("an order without the answer that the laboratory needs was answered %d %s", status, text)
		}
		var markers struct {
			Markers json.RawMessage `json:"markers"`
		}
		c.Expect(200, "POST", "/v3/lab_tests/list_order_set_markers", set, &markers)
		var o orderView
		if err := json.Unmarshal(markers.Markers, &o.LabTest.Markers); err != nil {
			c.t.Fatal(err)
		}
		answers = answersTo(o)
	}
	var made struct{ Order orderView }
	c.Expect(200, "POST", "/v3/order", body(answers), &made)
	return made.Order
}

func addOnOnly(codes string) string { return `{"add_on":{"provider_ids":[` + codes + `]}}` }

// placed orders a set and waits until the laboratory has the order.
func (c *certification) placed(set string) orderView {
	c.t.Helper()
	return c.until(c.orderSet(set).ID, "received.walk_in_test.requisition_created")
}

// accept sends a report and expects its acknowledgement.
func (c *certification) accept(r testlab.Report) {
	c.t.Helper()
	if code := c.send(c.lab.Message(r)); code != "AA" {
		c.t.Fatalf("the report was answered %s", code)
	}
}

func result(test, status, value, flag string) testlab.Result {
	return testlab.Result{Test: test, Status: status, Values: []testlab.Value{{Text: value, Flag: flag}}}
}

// values returns the results of an order as text, in a fixed order.
func (c *certification) values(order string) []string {
	c.t.Helper()
	results, _ := c.results(order)
	var all []string
	for _, r := range results {
		all = append(all, fmt.Sprintf("%v=%v %v", r["provider_id"], r["result"], r["interpretation"]))
	}
	slices.Sort(all)
	return all
}

func (c *certification) wantValues(order string, want ...string) {
	c.t.Helper()
	if len(want) == 0 {
		c.Expect(404, "GET", "/v3/order/"+order+"/result", "", nil)
		return
	}
	if got := c.values(order); !slices.Equal(got, want) {
		c.t.Errorf("values %v, want %v", got, want)
	}
}

// reviews waits until n results wait for a person, and returns the decisions.
func (c *certification) reviews(n int) []string {
	c.t.Helper()
	var page struct {
		Data []struct {
			Decision string `json:"decision_code"`
		}
	}
	c.eventually(func() bool {
		c.Get("/v3/unmatched_result", &page)
		return len(page.Data) == n
	}, fmt.Sprintf("%d results wait for a person, not %d", len(page.Data), n))
	var all []string
	for _, r := range page.Data {
		all = append(all, r.Decision)
	}
	return all
}

func (c *certification) revisions(order string) int {
	c.t.Helper()
	var page struct{ Data []json.RawMessage }
	status, text := c.Call("GET", "/v3/order/"+order+"/result/revisions", "")
	if err := json.Unmarshal(text, &page); err != nil || status != 200 {
		c.t.Fatalf("%d %s", status, text)
	}
	return len(page.Data)
}

// The certification of a laboratory over MLLP.
func TestCertificationOverMLLP(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		certify(t, d, overMLLP(t)).runTests()
	})
}

// overMLLP connects a laboratory over MLLP.
func overMLLP(t *testing.T) connect {
	return func(c *certification) (string, string) {
		lab, err := c.lab.Listen(freePort(t))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { lab.Close() })
		listen := freePort(t)
		c.send = func(message string) string {
			var code string
			c.eventually(func() bool {
				code, err = testlab.Send(t.Context(), listen, message)
				return err == nil
			}, "the service does not listen")
			return code
		}
		c.setDown = func(down bool) {
			if lab.Close(); down {
				return
			}
			if lab, err = c.lab.Listen(lab.Address); err != nil {
				t.Fatal(err)
			}
		}
		return "    listen: " + listen + "\n", "        address: " + lab.Address + "\n"
	}
}

// The certification of a laboratory with files on an SFTP server.
func TestCertificationOverSFTP(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		server := sshd.Start(t)
		certify(t, d, func(c *certification) (string, string) {
			folder, err := c.lab.OpenFolder(filepath.Join(server.Root, "north"))
			if err != nil {
				t.Fatal(err)
			}
			var down atomic.Bool
			stop, done := make(chan struct{}), make(chan struct{})
			messages := make(chan func())
			go func() { // the one program of the laboratory
				defer close(done)
				for {
					select {
					case <-stop:
						return
					case do := <-messages:
						do()
					case <-time.After(10 * time.Millisecond):
						if down.Load() {
							continue
						}
						if _, err := folder.Take(); err != nil {
							t.Error(err)
						}
					}
				}
			}()
			t.Cleanup(func() { close(stop); <-done })
			c.send = func(message string) (code string) {
				ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
				defer cancel()
				answered := make(chan struct{})
				messages <- func() {
					defer close(answered)
					if code, err = folder.Send(ctx, message); err != nil {
						t.Error(err)
					}
				}
				<-answered
				return code
			}
			c.setDown = func(is bool) {
				down.Store(is)
				if server.Stop(); !is {
					server.Run(t)
				}
			}
			return "", server.Settings("        ", "north") + "          interval: 60ms\n          answers: true\n"
		}).runTests()
	})
}

// runTests runs the tests that a laboratory requires before the first real order.
func (c *certification) runTests() {
	c.testOrders()
	c.testResults()
	c.testIdentity()
	c.testCancellation()
	c.testOutage()
}

// An order with an answer at order entry and an add-on arrives as ordered. Its
// results are partial, final and corrected; a late and a repeated report change
// nothing.
func (c *certification) testOrders() {
	c.t.Helper()
	o := c.placed(`{"lab_test_ids":["` + c.panel + `"],"add_on":{"provider_ids":["PB"]}}`)
	taken := c.lab.Orders()[o.ID]
	want := testlab.Person{Last: "Byron", First: "Ada", Born: "19841210", Sex: "F"}
	if taken.Person != want || taken.Account != "44120" || taken.Processing != "P" || taken.Messages != 1 || o.SampleID == nil || *o.SampleID != taken.Number {
		c.t.Errorf("the laboratory has %+v, the order %v", taken, o.SampleID)
	}
	codes := map[string]string{}
	for _, test := range taken.Tests {
		codes[test.Code] = test.Answers["PURPOSE"]
	}
	if len(taken.Tests) != 2 || codes["GLU"] != "" || codes["PB"] != "I" {
		c.t.Errorf("the laboratory has the tests %+v", taken.Tests)
	}
	// Partial, final with a reflex test, corrected.
	c.accept(c.lab.ReportOn(o.ID, result("GLU", "P", "91", "N")))
	c.until(o.ID, "sample_with_lab.walk_in_test.partial_results")
	c.wantValues(o.ID, "GLU-1=91 normal")
	final := c.lab.ReportOn(o.ID, result("GLU", "F", "92", "N"), result("PB", "F", "2.1", "N"))
	reflex := result("HB", "F", "11.5", "L")
	reflex.Parent = o.ID
	final.Results = append(final.Results, reflex)
	c.accept(final)
	c.until(o.ID, "completed.walk_in_test.completed")
	c.wantValues(o.ID, "GLU-1=92 normal", "HB-1=11.5 abnormal", "PB-1=2.1 normal")
	c.accept(c.lab.ReportOn(o.ID, result("GLU", "C", "95", "N"), result("PB", "F", "2.1", "N"), reflex))
	c.until(o.ID, "completed.walk_in_test.corrected")
	c.wantValues(o.ID, "GLU-1=95 normal", "HB-1=11.5 abnormal", "PB-1=2.1 normal")
	// Out of order, and a duplicate: nothing changes.
	before := c.revisions(o.ID)
	late := c.lab.ReportOn(o.ID, result("GLU", "P", "91", "N"))
	late.At = late.At.Add(-time.Hour)
	c.accept(late)
	again := c.lab.ReportOn(o.ID, result("GLU", "C", "96", "N"))
	again.Control = "DUPLICATE-1"
	message := c.lab.Message(again)
	for range 3 {
		if code := c.send(message); code != "AA" {
			c.t.Errorf("a duplicate was answered %s", code)
		}
	}
	c.eventually(func() bool { return slices.Contains(c.values(o.ID), "GLU-1=96 normal") }, "the second correction is missing")
	c.wantValues(o.ID, "GLU-1=96 normal", "HB-1=11.5 abnormal", "PB-1=2.1 normal")
	if n := c.revisions(o.ID) - before; n > 2 {
		c.t.Errorf("three copies of one message and a late one made %d revisions", n)
	}
}

// A critical value is reported, and so is a specimen that the laboratory rejects.
func (c *certification) testResults() {
	c.t.Helper()
	critical := c.placed(addOnOnly(`"GLU"`))
	c.accept(c.lab.ReportOn(critical.ID, result("GLU", "F", "612", "HH")))
	c.until(critical.ID, "completed.walk_in_test.completed")
	c.wantValues(critical.ID, "GLU-1=612 critical")
	var events struct {
		Events []struct {
			Event struct {
				Data struct {
					OrderID string `json:"order_id"`
				}
			}
		}
	}
	c.eventually(func() bool {
		c.Get("/v2/events?limit=100&types=labtest.result.critical", &events)
		return len(events.Events) == 1 && events.Events[0].Event.Data.OrderID == critical.ID
	}, "the critical value raised no event")
	rejected := c.placed(addOnOnly(`"GLU"`))
	report := c.lab.ReportOn(rejected.ID, testlab.Result{Test: "GLU", Status: "X"})
	report.Rejected = "RH"
	c.accept(report)
	if o := c.until(rejected.ID, "failed.walk_in_test.sample_error"); *o.Events[len(o.Events)-1].Detail != "sample_hemolyzed" {
		c.t.Errorf("the detail is %v", o.Events[len(o.Events)-1].Detail)
	}
}

// An unknown order and a wrong patient wait for a person. Messages of another
// sender, and test messages, are rejected.
func (c *certification) testIdentity() {
	c.t.Helper()
	o := c.placed(addOnOnly(`"HB"`))
	unknown := c.lab.ReportOn(o.ID, result("HB", "F", "13.1", "N"))
	unknown.Placer, unknown.Number = "0199a000-0000-7000-8000-000000000000", "L999999"
	unknown.Person = testlab.Person{Last: "Unknown", First: "Una", Born: "19500101", Sex: "M"}
	c.accept(unknown)
	c.reviews(1)
	wrong := c.lab.ReportOn(o.ID, result("HB", "F", "13.2", "N"))
	wrong.Person.First = "Anabella"
	c.accept(wrong)
	if all := c.reviews(2); !slices.Contains(all, "match_sample_id_mismatch_demo") {
		c.t.Errorf("the decisions are %v", all)
	}
	for name, change := range map[string]func(r *testlab.Report){
		"a test message": func(r *testlab.Report) { r.Processing = "T" },
	} {
		r := c.lab.ReportOn(o.ID, result("HB", "F", "13.3", "N"))
		change(&r)
		if code := c.send(c.lab.Message(r)); code != "AR" {
			c.t.Errorf("%s was answered %s", name, code)
		}
	}
	foreign := strings.Replace(c.lab.Message(c.lab.ReportOn(o.ID, result("HB", "F", "13.4", "N"))), "|NORTH|", "|SOUTH|", 1)
	if code := c.send(foreign); code != "AR" {
		c.t.Errorf("a message of an unknown sender was answered %s", code)
	}
	c.until(o.ID, "received.walk_in_test.requisition_created")
	c.wantValues(o.ID)
	c.accept(c.lab.ReportOn(o.ID, result("HB", "F", "13.5", "N")))
	c.until(o.ID, "completed.walk_in_test.completed")
	c.wantValues(o.ID, "HB-1=13.5 normal")
}

// The laboratory gets a cancellation, and its late results wait for a person.
func (c *certification) testCancellation() {
	c.t.Helper()
	o := c.placed(addOnOnly(`"GLU"`))
	c.Expect(200, "POST", "/v3/order/"+o.ID+"/cancel", ``, nil)
	c.eventually(func() bool { return c.lab.Orders()[o.ID].Cancellations == 1 }, "the laboratory got no cancellation")
	c.accept(c.lab.ReportOn(o.ID, result("GLU", "F", "90", "N")))
	if all := c.reviews(3); !slices.Contains(all, "match_cancelled") {
		c.t.Errorf("the decisions are %v", all)
	}
	c.until(o.ID, "cancelled.walk_in_test.cancelled")
	c.wantValues(o.ID)
}

// Orders wait for a laboratory that is down for a day, and arrive once, in order.
func (c *certification) testOutage() {
	c.t.Helper()
	arrived := len(c.lab.Arrivals())
	c.setDown(true)
	first := c.orderSet(addOnOnly(`"GLU"`))
	second := c.orderSet(addOnOnly(`"HB"`))
	c.eventually(func() bool {
		var page struct {
			Jobs []struct{ Error string }
		}
		c.Get("/v2/jobs?kind=orders.place&status=queued", &page)
		return len(page.Jobs) == 2 && page.Jobs[0].Error != "" && page.Jobs[1].Error != ""
	}, "the jobs of the orders do not wait for the laboratory")
	c.clock.Add(int64(24 * time.Hour))
	c.setDown(false)
	third := c.placed(addOnOnly(`"GLU"`)) // its job wakes the others
	for _, o := range []orderView{first, second, third} {
		c.until(o.ID, "received.walk_in_test.requisition_created")
		if taken := c.lab.Orders()[o.ID]; taken.Messages != 1 {
			c.t.Errorf("the laboratory got %s %d times", o.ID, taken.Messages)
		}
	}
	if n := len(c.lab.Arrivals()) - arrived; n != 3 {
		c.t.Errorf("%d orders arrived", n)
	}
	c.accept(c.lab.ReportOn(first.ID, result("GLU", "F", "88", "N")))
	c.until(first.ID, "completed.walk_in_test.completed")
}
