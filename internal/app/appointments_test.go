package app_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hale/internal/labs/networks/networktest"
	"hale/internal/platform/store/storetest"
)

// visit holds the fields of an appointment that a test checks.
type visit struct {
	ID          string  `json:"id"`
	Status      string  `json:"status"`
	EventStatus string  `json:"event_status"`
	Provider    string  `json:"provider"`
	Start       *string `json:"start_at"`
	TimeZone    *string `json:"iana_timezone"`
	Reschedules bool    `json:"can_reschedule"`
	Events      []struct {
		Status string `json:"status"`
	} `json:"events"`
}

// freeTimes is the answer to a request for availability.
type freeTimes struct {
	TimeZone *string `json:"timezone"`
	Slots    []struct {
		Location *struct {
			Code     string  `json:"code"`
			TimeZone *string `json:"iana_timezone"`
		} `json:"location"`
		Date  string `json:"date"`
		Slots []struct {
			Key   string  `json:"booking_key"`
			Start string  `json:"start"`
			Price float64 `json:"price"`
		} `json:"slots"`
	} `json:"slots"`
}

// key returns the booking key of the n-th free time, or "" if there are fewer.
func (f freeTimes) key(n int) string {
	for _, day := range f.Slots {
		if n < len(day.Slots) {
			return day.Slots[n].Key
		}
		n -= len(day.Slots)
	}
	return ""
}

// The test books, moves and cancels the visit of a phlebotomist of the sandbox.
// It uses the running service and the sandbox's own network.
func TestVisitOfAPhlebotomist(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		c := newClinic(t, d, &networktest.Lab{Name: "elsewhere"})
		o := c.order("at_home_phlebotomy")
		c.Expect(200, "POST", "/v3/order/"+o.ID+"/test?final_status=received.at_home_phlebotomy.requisition_created", ``, nil)
		c.until(o.ID, "received.at_home_phlebotomy.requisition_created")
		path := "/v3/order/" + o.ID + "/phlebotomy/appointment"
		c.Expect(404, "GET", path, "", nil)
		c.Expect(404, "POST", "/v3/order/phlebotomy/appointment/availability", `{"first_line":"1 Main Street","city":"New York","state":"NY","zip_code":"10001"}`, nil)
		var free freeTimes
		c.Expect(200, "POST", "/v3/order/phlebotomy/appointment/availability", `{"first_line":"1 West Lincoln Street","city":"Phoenix","state":"AZ","zip_code":"85004"}`, &free)
		if len(free.Slots) != 14 || free.TimeZone == nil || *free.TimeZone != "America/Phoenix" || free.Slots[2].Slots[0].Price != 3500 {
			t.Fatalf("free times: %+v", free)
		}
		var a visit
		c.Expect(200, "POST", path+"/book", `{"booking_key":"`+free.key(9)+`","appointment_notes":"Ring twice"}`, &a)
		if a.Status != "confirmed" || a.EventStatus != "scheduled" || a.Provider != "getlabs" || !a.Reschedules {
			t.Fatalf("booked: %+v", a)
		}
		c.Expect(400, "POST", path+"/book", `{"booking_key":"`+free.key(10)+`"}`, nil)
		first := *a.Start
		c.Expect(200, "PATCH", path+"/reschedule", `{"booking_key":"`+free.key(12)+`"}`, &a)
		if *a.Start == first {
			t.Errorf("it was not moved: %+v", a)
		}
		c.Expect(422, "PATCH", path+"/cancel", `{"cancellation_reason_id":"2b9f23fd-6fea-4c0e-8a4d-5f1c1f1a0005"}`, nil)
		c.Expect(200, "PATCH", path+"/cancel", `{"cancellation_reason_id":"2b9f23fd-6fea-4c0e-8a4d-5f1c1f1a0005","notes":"Away"}`, &a)
		var read visit
		c.Get(path, &read)
		if a.Status != "cancelled" || read.Status != "cancelled" || len(read.Events) != 4 || read.ID != a.ID {
			t.Errorf("cancelled: %+v, %+v", a, read)
		}
		const s = "collecting_sample.at_home_phlebotomy.appointment_"
		got := c.until(o.ID, s+"cancelled").path()
		if !slices.Equal(got[2:], []string{s + "scheduled", s + "scheduled", s + "cancelled"}) {
			t.Errorf("the order went %v", got)
		}
	})
}

// The test books an appointment at a service center of the sandbox, and compares the JSON
// of the answers.
func TestAppointmentAtAServiceCenter(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		c := newClinic(t, d, &networktest.Lab{Name: "elsewhere"})
		o := c.order("walk_in_test")
		c.Expect(200, "POST", "/v3/order/"+o.ID+"/test?final_status=received.walk_in_test.requisition_created", ``, nil)
		c.until(o.ID, "received.walk_in_test.requisition_created")
		var near struct {
			Slug   string
			Places []struct {
				Code         string   `json:"site_code"`
				Capabilities []string `json:"capabilities"`
			} `json:"patient_service_centers"`
		}
		c.Get("/v3/order/"+o.ID+"/psc/info?radius=50&capabilities=appointment_scheduling_via_junction", &near)
		if near.Slug != "quest" || len(near.Places) == 0 {
			t.Fatalf("centers: %+v", near)
		}
		for query, want := range map[string]int{
			"lab=quest": 400, "lab=quest&zip_code=85004&radius=": 400, "lab=quest&site_codes=a&site_codes=b&site_codes=c&site_codes=d": 400,
			"lab=quest&site_codes=nowhere": 400, "lab=quest&zip_code=85004&start_date=2020-01-01": 400, "lab=labcorp&zip_code=85004": 422,
			"lab=sonora_quest&zip_code=85004": 403, "lab=quest&zip_code=8500": 422,
		} {
			if got, body := c.Call("POST", "/v3/order/psc/appointment/availability?"+query, ""); got != want {
				t.Errorf("%s: %d %s", query, got, body)
			}
		}
		var free freeTimes
		c.Expect(200, "POST", "/v3/order/psc/appointment/availability?lab=quest&allow_stale=true&site_codes="+near.Places[0].Code, "", &free)
		if len(free.Slots) != 14 || free.TimeZone != nil || *free.Slots[0].Location.TimeZone != "America/New_York" {
			t.Fatalf("free times: %+v", free)
		}
		path, body := "/v3/order/"+o.ID+"/psc/appointment", `{"booking_key":"`+free.key(30)+`"}`
		status, text := c.Call("POST", path+"/book", body, "X-Idempotency-Key", "one")
		if status != 200 {
			t.Fatalf("%d %s", status, text)
		}
		again, replayed := c.Call("POST", path+"/book", body, "X-Idempotency-Key", "one")
		if again != 200 || string(replayed) != string(text) {
			t.Errorf("repeated: %d %s", again, replayed)
		}
		if got := shapeOf(t, text); got != centerShape {
			t.Errorf("on the wire it has\n%s\nwant\n%s", got, centerShape)
		}
		c.Expect(200, "PATCH", path+"/cancel", `{"cancellationReasonId":"226a6520-6fea-4c0e-8a4d-5f1c1f1a0101"}`, nil)
	})
}

// centerShape is the JSON of an appointment as in the reference. Each value is replaced
// by its kind.
const centerShape = `{"address":{"access_notes":null,"city":"S","first_line":"S","second_line":null,"state":"S","unit":null,"zip_code":"S"},` +
	`"appointment_notes":null,"can_reschedule":true,"end_at":"T","event_data":null,"event_status":"scheduled",` +
	`"events":[{"created_at":"T","data":null,"status":"pending"},{"created_at":"T","data":null,"status":"scheduled"}],` +
	`"external_id":"S","iana_timezone":"America/New_York","id":"U","location":{"lat":0,"lng":0},"order_id":"U","order_transaction_id":"U",` +
	`"provider":"quest","provider_id":"U","start_at":"T","status":"confirmed","type":"patient_service_center","user_id":"U"}`

var (
	aUUID = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
	aTime = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?\+00:00$`)
)

// keptWords are the values that a shape keeps.
var keptWords = []string{"pending", "scheduled", "confirmed", "quest", "patient_service_center", "America/New_York"}

// shapeOf returns a JSON document with sorted keys in which kinds replace the values.
func shapeOf(t *testing.T, text []byte) string {
	t.Helper()
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	shape, err := json.Marshal(kindsOf(v))
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(shape))
}

func kindsOf(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, value := range v {
			v[name] = kindsOf(value)
		}
	case []any:
		for i, value := range v {
			v[i] = kindsOf(value)
		}
	case float64:
		return 0
	case string:
		switch {
		case aUUID.MatchString(v):
			return "U"
		case aTime.MatchString(v):
			return "T"
		case !slices.Contains(keptWords, v):
			return "S"
		}
	}
	return v
}
