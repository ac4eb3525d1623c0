package app_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"hale/internal/app"
	"hale/internal/app/apptest"
	"hale/internal/harness/testpartner"
	"hale/internal/labs/catalogue"
	"hale/internal/labs/networks"
	"hale/internal/labs/networks/networktest"
	"hale/internal/labs/places"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/platform/teams"
)

const careCompendium = `{
	"lab": {"slug":"care_lab","name":"Care Laboratory","address":"1 Example Way","city":"Nowhere","zip":"85004",
		"methods":["testkit","at_home_phlebotomy","walk_in_test"],"sample_types":["serum"],"states":["AZ"],"billings":["client_bill"]},
	"markers": [{"provider_id":"GLU","name":"Glucose","methods":["testkit","at_home_phlebotomy","walk_in_test"],"expected_results":[{"provider_id":"GLU-1","loinc":"2345-7"}]}]
}`

// startFulfilment starts a production team with a lab. Its kits and visits need staff or a partner.
// settings is the text of the networks file; "" means no file. kitTest is the id of the
// lab test for kits.
func startFulfilment(t *testing.T, d storetest.Database, settings string) (c *clinic, kitTest string) {
	t.Helper()
	file := ""
	if settings != "" {
		file = filepath.Join(t.TempDir(), "networks.yaml")
		if err := os.WriteFile(file, []byte(settings), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	lab := &networktest.Lab{Name: "hl7v2"}
	c = &clinic{t: t, lab: lab, Service: apptest.StartWith(t, d, func(o *app.Options) {
		o.Config.Environment, o.Config.Networks = string(teams.Production), file
		o.Networks = []networks.Network{lab}
	})}
	compendium, err := catalogue.ReadJSON([]byte(careCompendium))
	if err != nil {
		t.Fatal(err)
	}
	err = c.DB.Write(store.AsSystem(t.Context()), func(tx *store.Tx) error {
		ctx := store.AsSystem(t.Context())
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
		lab, _ := offered.LabBySlug("care_lab")
		if _, err = catalogue.AddAccount(ctx, tx, catalogue.NewAccount{
			Lab: lab.ID, Number: "44120", Status: catalogue.AccountActive, Flow: catalogue.NotDelegated,
			AllowedBilling: map[catalogue.Billing][]string{catalogue.ClientBill: {"AZ"}},
		}); err != nil {
			return err
		}
		if _, err = places.ImportSites(ctx, tx, places.AllTeams, []places.Site{{
			Lab: "care_lab", Code: "PHX-1", Name: "Center", FirstLine: "2 Main Street", City: "Phoenix", State: "AZ", ZIP: "85004",
			Point: places.Point{Lat: 33.45, Lng: -112.07}, TimeZone: "America/Phoenix", Active: true,
		}}, false); err != nil {
			return err
		}
		_, err = places.ImportOffers(ctx, tx, places.AllTeams, []places.Offer{
			{ZIP: "85004", Provider: "getlabs", Tier: places.AppointmentReady, Days: places.EveryDay, Latest: 24 * 60},
			{ZIP: "85004", Provider: "phlebfinders", Tier: places.AppointmentRequest, Days: places.EveryDay, Latest: 24 * 60},
		}, false)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	err = c.DB.Write(store.AsSystem(t.Context()), func(tx *store.Tx) error {
		ctx := store.AsSystem(t.Context())
		all, err := teams.List(ctx, tx)
		if err != nil {
			return err
		}
		test, err := catalogue.CreateTest(ctx, tx, all[0].ID, catalogue.NewTest{
			Name: "Sugar", Description: "Glucose", Method: catalogue.TestKit, ProviderIDs: []string{"GLU"}, LabSlug: "care_lab",
		})
		if err != nil {
			return err
		}
		kitTest = test.ID.String()
		_, err = catalogue.ApproveTest(ctx, tx, all[0].ID, test.ID)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	var user struct {
		UserID string `json:"user_id"`
	}
	c.Expect(200, "POST", "/v2/user", `{"client_user_id":"patient-1"}`, &user)
	c.user = user.UserID
	return c, kitTest
}

// orderBy orders glucose with a collection method and waits until the lab has the order.
func (c *clinic) orderBy(method string) orderView {
	c.t.Helper()
	var made struct{ Order orderView }
	c.Expect(200, "POST", "/v3/order", fmt.Sprintf(
		`{"user_id":%q,"order_set":{"add_on":{"provider_ids":["GLU"]}},"collection_method":%q,"patient_details":%s,"patient_address":%s}`,
		c.user, method, aPatient, anAddress), &made)
	return c.until(made.Order.ID, "received."+method+".requisition_created")
}

func (c *clinic) step(status int, order, body string) {
	c.t.Helper()
	c.Expect(status, "POST", "/v3/order/"+order+"/fulfilment", body, nil)
}

// Staff send a kit, follow it and label it.
func TestStaffShipKits(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		c, kitTest := startFulfilment(t, d, "")
		o := c.orderBy("testkit")
		c.step(422, o.ID, `{}`)
		c.step(422, o.ID, `{"status":"completed"}`)
		c.step(400, o.ID, `{"visit":{"status":"scheduled","provider":"nurses","start_at":"2030-01-01T10:00:00Z"}}`)
		c.step(404, uuid.NewString(), `{"status":"transit_customer"}`)
		c.step(400, o.ID, `{"status":"out_for_delivery","sample_id":"K-77"}`) // the lab has its number
		c.step(200, o.ID, `{"status":"transit_customer","shipment":{"direction":"outbound","courier":"USPS","tracking_number":"9400","tracking_url":"https://usps.example/9400"}}`)
		c.step(422, o.ID, `{"status":"transit_customer","at":"2090-01-01T00:00:00Z"}`)
		for _, status := range []string{"out_for_delivery", "with_customer"} {
			c.step(200, o.ID, `{"status":"`+status+`"}`)
		}
		c.step(400, o.ID, `{"status":"transit_customer"}`)
		c.step(200, o.ID, `{"status":"transit_lab","shipment":{"direction":"inbound","courier":"UPS","tracking_number":"1Z"}}`)
		c.step(200, o.ID, `{"status":"delivered_to_lab"}`)
		c.step(400, o.ID, `{"status":"lost"}`)
		want := withMethod("testkit", kitSteps[:len(kitSteps)-1]...)
		if o = c.until(o.ID, "sample_with_lab.testkit.delivered_to_lab"); !slices.Equal(o.path(), want) {
			t.Errorf("events %v", o.path())
		}
		var details struct {
			Details struct {
				Data struct {
					Shipment struct {
						Outbound string `json:"outbound_tracking_number"`
						Inbound  string `json:"inbound_tracking_number"`
					}
				}
			}
		}
		c.Get("/v3/order/"+o.ID, &details)
		if s := details.Details.Data.Shipment; s.Outbound != "9400" || s.Inbound != "1Z" {
			t.Errorf("shipment %+v", details)
		}

		// A kit that the warehouse labels.
		var made struct{ Order orderView }
		c.Expect(200, "POST", "/v3/order/testkit", fmt.Sprintf(`{"user_id":%q,"lab_test_id":%q,"shipping_details":%s}`, c.user, kitTest, anAddress), &made)
		kit := made.Order.ID
		c.step(422, kit, `{"sample_id":"no spaces"}`)
		c.step(200, kit, `{"sample_id":"bx-0001","status":"transit_customer"}`)
		c.Expect(200, "POST", "/v3/order/testkit", fmt.Sprintf(`{"user_id":%q,"lab_test_id":%q,"shipping_details":%s}`, c.user, kitTest, anAddress), &made)
		c.step(409, made.Order.ID, `{"sample_id":"BX-0001"}`)
		c.Expect(200, "POST", "/v3/order/testkit/register", fmt.Sprintf(`{"user_id":%q,"sample_id":"bx-0001","patient_details":%s,"patient_address":%s}`, c.user, aPatient, anAddress), nil)
		c.step(400, kit, `{"sample_id":"BX-0002"}`)
		if placed := c.until(kit, "received.testkit.requisition_created"); *placed.SampleID != "BX-0001" {
			t.Errorf("the sample id is %v", *placed.SampleID)
		}
	})
}

// Staff agree on a visit with the patient, and enter its outcome.
func TestStaffMakeVisits(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		c, _ := startFulfilment(t, d, "")
		o := c.orderBy("at_home_phlebotomy")
		path := "/v3/order/" + o.ID + "/phlebotomy/appointment"
		start := time.Now().Add(24 * time.Hour).UTC().Truncate(time.Hour).Format(time.RFC3339)
		c.step(400, o.ID, `{"visit":{"status":"completed"}}`)
		c.step(422, o.ID, `{"visit":{"status":"scheduled"}}`)
		c.step(422, o.ID, `{"visit":{"status":"scheduled","start_at":"`+start+`"}}`)
		c.step(400, o.ID, `{"status":"transit_customer"}`)
		c.step(200, o.ID, `{"visit":{"status":"scheduled","provider":"nurses","start_at":"`+start+`"}}`)
		var a visit
		c.Get(path, &a)
		if a.Status != "confirmed" || a.Provider != "nurses" || a.Start == nil || *a.TimeZone != "America/Phoenix" {
			t.Errorf("scheduled: %+v", a)
		}
		later := time.Now().Add(48 * time.Hour).UTC().Truncate(time.Hour).Format(time.RFC3339)
		c.step(200, o.ID, `{"visit":{"status":"scheduled","start_at":"`+later+`"}}`)
		c.step(200, o.ID, `{"visit":{"status":"in_progress"}}`)
		c.step(400, o.ID, `{"visit":{"status":"scheduled","start_at":"`+later+`"}}`)
		c.step(200, o.ID, `{"visit":{"status":"completed"}}`)
		c.until(o.ID, "collecting_sample.at_home_phlebotomy.draw_completed")
		c.Get(path, &a)
		if a.Status != "completed" {
			t.Errorf("at the end: %+v", a)
		}

		// A visit to a service center of the laboratory.
		center := c.orderBy("walk_in_test")
		c.step(400, center.ID, `{"visit":{"status":"scheduled","provider":"care_lab","start_at":"`+start+`"}}`)
		c.step(200, center.ID, `{"visit":{"status":"scheduled","provider":"care_lab","start_at":"`+start+`","site":"PHX-1"}}`)
		c.until(center.ID, "collecting_sample.walk_in_test.appointment_scheduled")
		c.Get("/v3/order/"+center.ID+"/psc/appointment", &a)
		if a.Status != "confirmed" || a.Provider != "care_lab" {
			t.Errorf("at the center: %+v", a)
		}

		// A visit that the patient asks for waits for staff.
		asked := c.orderBy("at_home_phlebotomy")
		path = "/v3/order/" + asked.ID + "/phlebotomy/appointment"
		c.Expect(200, "POST", path+"/request", `{"provider":"phlebfinders","address":{"first_line":"1 Main Street","city":"Phoenix","state":"AZ","zip_code":"85004"}}`, &a)
		if a.Status != "pending" {
			t.Errorf("asked: %+v", a)
		}
		c.step(200, asked.ID, `{"visit":{"status":"scheduled","start_at":"`+start+`"}}`)
		c.Get(path, &a)
		if a.Status != "confirmed" || a.Provider != "phlebfinders" {
			t.Errorf("agreed: %+v", a)
		}
		c.step(200, asked.ID, `{"visit":{"status":"cancelled"}}`)
		c.until(asked.ID, "collecting_sample.at_home_phlebotomy.appointment_cancelled")
	})
}

const partnerSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo="

// withPartner starts the team of care with a partner that ships kits and makes visits.
func withPartner(t *testing.T, d storetest.Database) (*clinic, *testpartner.Partner) {
	t.Helper()
	p := &testpartner.Partner{Name: "acme", Secret: partnerSecret, Hours: []int{16, 18}}
	url := p.Open()
	t.Cleanup(p.Close)
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte(partnerSecret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, _ := startFulfilment(t, d, fmt.Sprintf("networks:\n  fulfilment:\n    partners:\n      acme: {url: %q, secret_file: %q, kits: true, providers: [getlabs]}\n", url, secret))
	t.Cleanup(func() {
		for _, fault := range p.Faults() {
			t.Errorf("the partner complains: %s", fault)
		}
	})
	return c, p
}

// A partner ships kits. Its reports need its signature.
func TestPartnerShipsKits(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		c, p := withPartner(t, d)
		report := func(status int, body string, change func(*http.Request)) {
			t.Helper()
			got, text, err := p.Report(t.Context(), c.URL(), body, change)
			if err != nil || got != status {
				t.Errorf("%s was answered %d %s, %v", body, got, text, err)
			}
		}
		p.SetDown(true)
		o := c.orderBy("testkit")
		c.eventually(func() bool { return strings.Contains(c.Log.String(), "acme answered 503") }, "the kit was not asked for")
		p.SetDown(false)
		other := c.orderBy("testkit") // its job does not wait
		c.eventually(func() bool { _, ok := p.Kit(other.ID); return ok }, "the partner has no kit")
		if kit, _ := p.Kit(other.ID); kit.Lab != "care_lab" || kit.ShipTo.Zip != "85004" || len(kit.Tests) != 1 || kit.SampleID != *other.SampleID {
			t.Errorf("the partner has %+v", kit)
		}
		sent := fmt.Sprintf(`{"order_id":%q,"status":"transit_customer","shipment":{"direction":"outbound","courier":"USPS","tracking_number":"9400"}}`, other.ID)
		for name, change := range map[string]func(*http.Request){
			"no signature":      func(r *http.Request) { r.Header.Del("webhook-signature") },
			"another signature": func(r *http.Request) { r.Header.Set("webhook-signature", p.Sign("x", "1", []byte(sent))) },
			"another id":        func(r *http.Request) { r.Header.Set("webhook-id", "x") },
			"an old signature": func(r *http.Request) {
				r.Header.Set("webhook-timestamp", "1700000000")
				r.Header.Set("webhook-signature", p.Sign(r.Header.Get("webhook-id"), "1700000000", []byte(sent)))
			},
			"another partner": func(r *http.Request) { r.URL.Path = "/v3/fulfilment/bolt" },
		} {
			if status, text, err := p.Report(t.Context(), c.URL(), sent, change); status != 401 {
				t.Errorf("%s was answered %d %s, %v", name, status, text, err)
			}
		}
		c.until(other.ID, "received.testkit.requisition_created")
		report(200, sent, nil)
		report(200, sent, nil)
		report(200, fmt.Sprintf(`{"order_id":%q,"status":"with_customer"}`, other.ID), nil)
		report(200, fmt.Sprintf(`{"order_id":%q,"status":"out_for_delivery"}`, other.ID), nil) // late
		report(404, fmt.Sprintf(`{"order_id":%q,"status":"with_customer"}`, uuid.NewString()), nil)
		report(422, fmt.Sprintf(`{"order_id":%q,"status":"completed"}`, other.ID), nil)
		got := c.until(other.ID, "collecting_sample.testkit.with_customer")
		if want := withMethod("testkit", "received.ordered", "received.requisition_created", "collecting_sample.transit_customer", "collecting_sample.with_customer"); !slices.Equal(got.path(), want) {
			t.Errorf("events %v", got.path())
		}
		visiting := c.orderBy("at_home_phlebotomy")
		report(400, fmt.Sprintf(`{"order_id":%q,"status":"transit_customer"}`, visiting.ID), nil)
		c.Expect(200, "POST", "/v3/order/"+o.ID+"/cancel", ``, nil)
		third := c.orderBy("testkit")
		c.eventually(func() bool { _, ok := p.Kit(third.ID); return ok }, "the partner has no third kit")
		c.Expect(200, "POST", "/v3/order/"+third.ID+"/cancel", ``, nil)
		c.eventually(func() bool { kit, _ := p.Kit(third.ID); return kit.Cancelled }, "the partner was not asked to stop")
	})
}

// A partner offers times, makes visits and reports the outcome.
func TestPartnerMakesVisits(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		c, p := withPartner(t, d)
		o := c.orderBy("at_home_phlebotomy")
		path := "/v3/order/" + o.ID + "/phlebotomy/appointment"
		var free freeTimes
		c.Expect(200, "POST", "/v3/order/phlebotomy/appointment/availability", `{"first_line":"1 West Lincoln Street","city":"Phoenix","state":"AZ","zip_code":"85004"}`, &free)
		var a visit
		c.Expect(200, "POST", path+"/book", `{"booking_key":"`+free.key(5)+`"}`, &a)
		all := p.Visits(o.ID)
		if len(all) != 1 || all[0].Patient.LastName != "Byron" || all[0].Address.City != "Phoenix" || a.Status != "confirmed" {
			t.Fatalf("the partner has %+v, the appointment is %+v", all, a)
		}
		report := func(status int, booking, state string) {
			t.Helper()
			got, text, err := p.Report(t.Context(), c.URL(), fmt.Sprintf(`{"order_id":%q,"visit":{"status":%q,"booking_id":%q}}`, o.ID, state, booking), nil)
			if err != nil || got != status {
				t.Errorf("%s was answered %d %s, %v", state, got, text, err)
			}
		}
		// Another slot: the first visit is released.
		c.Expect(200, "PATCH", path+"/reschedule", `{"booking_key":"`+free.key(8)+`"}`, nil)
		c.eventually(func() bool { all = p.Visits(o.ID); return len(all) == 2 && all[0].Cancelled && !all[1].Cancelled }, "the first visit stays")
		report(404, all[0].BookingID, "in_progress")
		report(200, all[1].BookingID, "in_progress")
		report(200, all[1].BookingID, "completed")
		report(404, all[0].BookingID+"x", "cancelled")
		c.until(o.ID, "collecting_sample.at_home_phlebotomy.draw_completed")

		other := c.orderBy("at_home_phlebotomy")
		path = "/v3/order/" + other.ID + "/phlebotomy/appointment"
		c.Expect(200, "POST", path+"/book", `{"booking_key":"`+free.key(11)+`"}`, &a)
		c.Expect(200, "PATCH", path+"/cancel", `{"cancellation_reason_id":"5330c863-6fea-4c0e-8a4d-5f1c1f1a0004"}`, nil)
		c.eventually(func() bool { all = p.Visits(other.ID); return len(all) == 1 && all[0].Cancelled }, "the partner got no cancellation")
	})
}
