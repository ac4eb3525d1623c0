package app_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hale/internal/labs/networks/networktest"
	"hale/internal/platform/store/storetest"
)

// feedEvent is an event of the feed.
type feedEvent struct {
	Seq   int64  `json:"seq"`
	Type  string `json:"event_type"`
	Event struct {
		Data map[string]any `json:"data"`
		User string         `json:"user_id"`
	}
}

// eventRead is the read that an event's payload equals.
type eventRead struct {
	types  []string // the last of them counts
	ends   string   // the type after which there is nothing to read
	key    func(e *feedEvent) string
	path   func(e *feedEvent) string
	record func(e *feedEvent, body map[string]any) map[string]any // the part of the answer
	adjust func(record map[string]any)                            // removes what differs by design
}

var eventReads = []eventRead{
	{
		types: []string{"user.created", "user.updated", "user.restored"}, ends: "user.deleted",
		key:    func(e *feedEvent) string { return e.Event.User },
		path:   func(e *feedEvent) string { return "/v2/user/" + e.Event.User },
		adjust: func(record map[string]any) { delete(record, "connected_sources") }, // connections have events of their own
	},
	{
		types: []string{"labtest.order.created", "labtest.order.updated"},
		key:   func(e *feedEvent) string { return fmt.Sprint(e.Event.Data["id"]) },
		path:  func(e *feedEvent) string { return "/v3/order/" + fmt.Sprint(e.Event.Data["id"]) },
		adjust: func(record map[string]any) {
			delete(record, "order_transaction") // other orders change it
			for _, name := range []string{"lab", "markers", "is_delegated"} {
				delete(record["lab_test"].(map[string]any), name) // left out of events
			}
			if link, ok := record["requisition_form_url"].(string); ok {
				record["requisition_form_url"], _, _ = strings.Cut(link, "?")
			}
		},
	},
	{
		types: []string{"labtest.appointment.created", "labtest.appointment.updated"},
		key:   func(e *feedEvent) string { return fmt.Sprint(e.Event.Data["order_id"]) },
		path: func(e *feedEvent) string {
			kind := map[any]string{"phlebotomy": "phlebotomy", "patient_service_center": "psc"}[e.Event.Data["type"]]
			return "/v3/order/" + fmt.Sprint(e.Event.Data["order_id"]) + "/" + kind + "/appointment"
		},
	},
	{
		types: []string{"provider.connection.created", "provider.connection.updated"}, ends: "provider.connection.deleted",
		key:  func(e *feedEvent) string { return e.Event.User + " " + connectionSlug(e) },
		path: func(e *feedEvent) string { return "/v2/user/providers/" + e.Event.User },
		record: func(e *feedEvent, body map[string]any) map[string]any {
			for _, one := range body["providers"].([]any) {
				if c := one.(map[string]any); c["slug"] == connectionSlug(e) {
					c["user_id"] = e.Event.User
					c["provider"] = map[string]any{"name": c["name"], "slug": c["slug"], "logo": c["logo"]}
					for _, name := range []string{"name", "slug", "logo"} {
						delete(c, name)
					}
					return c
				}
			}
			return nil
		},
	},
}

func connectionSlug(e *feedEvent) string {
	provider, _ := e.Event.Data["provider"].(map[string]any)
	return fmt.Sprint(provider["slug"])
}

// documentedEvents are the schemas of events.
var documentedEvents = sync.OnceValue(newEventSchemas)

// feed returns all events of the team. Each must have the schema of the document.
func (c *clinic) feed() (all []feedEvent) {
	c.t.Helper()
	for after, more := int64(0), true; more; {
		var page struct {
			Next   int64 `json:"next_after"`
			More   bool  `json:"has_more"`
			Events []json.RawMessage
		}
		c.Get(fmt.Sprintf("/v2/events?limit=1000&after=%d", after), &page)
		for _, text := range page.Events {
			var e feedEvent
			var whole struct{ Event json.RawMessage }
			if err := errors.Join(json.Unmarshal(text, &e), json.Unmarshal(text, &whole)); err != nil {
				c.t.Fatal(err)
			}
			if found := documentedEvents().problems(whole.Event); len(found) > 0 {
				c.t.Errorf("%s: %v in %.600s", e.Type, found, whole.Event)
			}
			all = append(all, e)
		}
		after, more = page.Next, page.More
	}
	return all
}

// readAt reads a record, and returns the number of the last event that it contains.
func (c *clinic) readAt(path string) (seq int64, body map[string]any) {
	c.t.Helper()
	res := c.Do("GET", path, "")
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != 200 {
		c.t.Fatalf("%s: %d %v %s", path, res.StatusCode, err, text)
	}
	seq, err = strconv.ParseInt(res.Header.Get("X-Hale-Event-Seq"), 10, 64)
	if err != nil {
		c.t.Fatal(err)
	}
	if err := json.Unmarshal(text, &body); err != nil {
		c.t.Fatal(err)
	}
	return seq, body
}

// differences compares the last event of each record with its read. Records that
// change meanwhile are left out. It counts the compared events by their type.
func (c *clinic) differences(r *eventRead, compared map[string]int) (found []string) {
	c.t.Helper()
	last := func() map[string]*feedEvent {
		events := map[string]*feedEvent{}
		all := c.feed()
		for i := range all {
			e := &all[i]
			for _, kind := range r.types {
				if e.Type == kind {
					events[r.key(e)] = e
				}
			}
			switch e.Type {
			case r.ends:
				delete(events, r.key(e))
			case "user.deleted":
				for key, other := range events {
					if other.Event.User == e.Event.User {
						delete(events, key)
					}
				}
			}
		}
		return events
	}
	type answer struct {
		seq  int64
		body map[string]any
	}
	reads := map[string]answer{}
	for key, e := range last() {
		seq, body := c.readAt(r.path(e))
		reads[key] = answer{seq, body}
	}
	for key, e := range last() {
		read, ok := reads[key]
		if !ok || e.Seq > read.seq { // a later change
			continue
		}
		record, data := read.body, e.Event.Data
		if r.record != nil {
			record = r.record(e, record)
		}
		if r.adjust != nil && record != nil {
			r.adjust(record)
			r.adjust(data)
		}
		compared[e.Type]++
		if diff := cmp.Diff(data, record); diff != "" {
			found = append(found, fmt.Sprintf("event %d, %s (-event +read at %d):\n%s", e.Seq, e.Type, read.seq, diff))
		}
	}
	return found
}

// After random changes, the payload of the last event of each record equals the read
// that contains the event: users, connections, orders and appointments.
func TestPayloadsEqualTheirReads(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		c := newClinic(t, d, &networktest.Lab{Name: "elsewhere"})
		seed := rand.Uint64()
		t.Logf("seed %d", seed)
		random := rand.New(rand.NewPCG(seed, 1))
		pick := func(words ...string) string { return words[random.IntN(len(words))] }
		var orders, users []string
		actions := []func(){
			func() {
				var user struct {
					ID string `json:"user_id"`
				}
				c.Expect(200, "POST", "/v2/user", fmt.Sprintf(`{"client_user_id":"u-%d"}`, len(users)), &user)
				users = append(users, user.ID)
			},
			func() {
				c.Call("PATCH", "/v2/user/"+c.user, pick(`{"fallback_time_zone":"Asia/Tokyo"}`, `{"fallback_time_zone":null}`, `{"ingestion_start":"2026-01-01"}`, `{"fallback_birth_date":"1990-01-02"}`))
			},
			func() {
				c.Call("POST", "/v2/timeseries/"+c.user+"/"+pick("heartrate", "steps", "weight"), `{"stage":"daily","provider":"`+pick("apple_health_kit", "health_connect")+`","time_zone":"UTC","data":[{"timestamp":"2026-01-02T03:04:05+00:00","value":`+strconv.Itoa(50+random.IntN(50))+`,"unit":"count"}]}`)
			},
			func() { c.Call("DELETE", "/v2/user/"+c.user+"/"+pick("apple_health_kit", "health_connect"), "") },
			func() {
				o := c.order(pick("testkit", "walk_in_test", "at_home_phlebotomy", "on_site_collection"))
				orders = append(orders, o.ID)
				c.Call("POST", "/v3/sandbox/order/"+o.ID+"/run", `{"script":"`+pick("success", "critical", "partial_then_corrected", "hemolyzed", "late")+`"}`)
			},
			func() {
				if len(orders) > 0 {
					c.Call("POST", "/v3/order/"+orders[random.IntN(len(orders))]+"/cancel", "")
				}
			},
			func() { c.Call("POST", "/v3/sandbox/advance", fmt.Sprintf(`{"seconds":%d}`, 3600*random.IntN(200))) },
			func() {
				if len(users) > 0 {
					user := users[random.IntN(len(users))]
					c.Call("DELETE", "/v2/user/"+user, "")
					if random.IntN(2) == 0 {
						c.Call("POST", "/v2/user/undo_delete?user_id="+user, "")
					}
				}
			},
			func() {
				if len(orders) > 0 {
					c.Call("POST", "/v3/order/"+orders[random.IntN(len(orders))]+"/phlebotomy/appointment/book", `{"booking_key":"`+c.freeVisits().key(random.IntN(10))+`"}`)
				}
			},
		}
		compared := map[string]int{}
		compare := func() {
			t.Helper()
			for i := range eventReads {
				found := c.differences(&eventReads[i], compared)
				for try := 0; len(found) > 0 && try < 100; try++ { // a read may contain a change whose event comes later
					time.Sleep(300 * time.Millisecond)
					found = c.differences(&eventReads[i], compared)
				}
				for _, text := range found {
					t.Error(text)
				}
			}
		}
		c.eachOnce(compare)
		for end := time.Now().Add(time.Minute); compared["user.restored"] == 0 && time.Now().Before(end); compare() { // the last event
			time.Sleep(300 * time.Millisecond)
		}
		expectCompared(t, "TestPayloadsEqualTheirReads", compared)
		for _, act := range actions {
			act()
		}
		for range 6 {
			compare()
			for range 12 {
				actions[random.IntN(len(actions))]()
			}
		}
		compare()
		t.Logf("compared %v", compared)
	})
}

// eachOnce makes records whose last event is of each type, and compares them: first the
// records that stay as they were created, then their changes.
func (c *clinic) eachOnce(compare func()) {
	c.t.Helper()
	var user struct {
		ID string `json:"user_id"`
	}
	c.Expect(200, "POST", "/v2/user", `{"client_user_id":"created-once"}`, &user)
	c.Expect(200, "POST", "/v2/link/provider/manual/samsung_health", `{"user_id":"`+user.ID+`"}`, nil)
	c.Expect(200, "POST", "/v3/order/testkit", `{"user_id":"`+user.ID+`","lab_test_id":"`+c.tests["testkit"]+`","shipping_details":`+anAddress+`}`, nil)
	c.Expect(200, "PATCH", "/v2/team/appointment_settings", `{"booking_before_requisition_enabled":true}`, nil)
	o := c.order("at_home_phlebotomy")
	address := "/v3/order/" + o.ID + "/phlebotomy/appointment"
	c.Expect(200, "POST", address+"/book", `{"booking_key":"`+c.freeVisits().key(0)+`"}`, nil)
	c.order("on_site_collection")
	asked := c.order("at_home_phlebotomy")
	c.Expect(200, "POST", "/v3/order/"+asked.ID+"/phlebotomy/appointment/request", `{"provider":"phlebfinders","address":{"first_line":"1 Main Street","city":"Onalaska","state":"WI","zip_code":"54650"}}`, nil)
	compare()

	c.Expect(200, "PATCH", "/v2/user/"+user.ID, `{"fallback_time_zone":"Asia/Tokyo"}`, nil)
	c.Expect(200, "POST", "/v2/timeseries/"+user.ID+"/heartrate", `{"stage":"daily","provider":"samsung_health","data":[{"timestamp":"2026-01-02T03:04:05Z","value":61,"unit":"bpm"}]}`, nil)
	c.Expect(200, "PATCH", address+"/cancel", `{"cancellation_reason_id":"5330c863-6fea-4c0e-8a4d-5f1c1f1a0004"}`, nil)
	run := c.order("on_site_collection")
	c.Expect(200, "POST", "/v3/sandbox/order/"+run.ID+"/run", `{"script":"success"}`, nil)
	c.Expect(200, "POST", "/v3/sandbox/advance", `{"seconds":2592000}`, nil)
	c.until(run.ID, "completed.on_site_collection.completed")
	compare()

	c.Expect(200, "DELETE", "/v2/user/"+user.ID, "", nil)
	c.Expect(200, "POST", "/v2/user/undo_delete?user_id="+user.ID, "", nil)
	compare()
}

func (c *clinic) freeVisits() (free freeTimes) {
	c.t.Helper()
	c.Expect(200, "POST", "/v3/order/phlebotomy/appointment/availability", `{"first_line":"1 West Lincoln Street","city":"Phoenix","state":"AZ","zip_code":"85004"}`, &free)
	return free
}
