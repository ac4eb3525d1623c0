package app_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"hale/internal/api"
	"hale/internal/api/routes"
	"hale/internal/app"
	"hale/internal/labs/networks/networktest"
	"hale/internal/platform/store/storetest"
)

// eventSchemas checks events against the section webhooks of the OpenAPI document.
type eventSchemas struct{ doc *huma.OpenAPI }

func newEventSchemas() eventSchemas {
	api.SetUpHuma()
	doc := routes.New(api.Deps{}, routes.Services{EventTypes: app.EventTypes()}).OpenAPI()
	for _, hook := range doc.Webhooks {
		schema := hook.Post.RequestBody.Content["application/json"].Schema
		schema.PrecomputeMessages() // validation needs them
		doc.Components.Schemas.SchemaFromRef(schema.Properties["data"].Ref).PrecomputeMessages()
	}
	return eventSchemas{doc}
}

// problems returns the violations of an event, with their places.
func (s eventSchemas) problems(event []byte) (found []string) {
	var envelope struct {
		Type string `json:"event_type"`
	}
	var value any
	if err := json.Unmarshal(event, &envelope); err != nil {
		return []string{err.Error()}
	}
	if err := json.Unmarshal(event, &value); err != nil {
		return []string{err.Error()}
	}
	hook := s.doc.Webhooks[envelope.Type]
	if hook == nil {
		return []string{"no webhook " + envelope.Type}
	}
	var result huma.ValidateResult
	schema := hook.Post.RequestBody.Content["application/json"].Schema
	huma.Validate(s.doc.Components.Schemas, schema, huma.NewPathBuffer([]byte{}, 0), huma.ModeWriteToServer, value, &result)
	for _, err := range result.Errors {
		found = append(found, err.Error())
	}
	return found
}

// Every event type has a webhook in the document, and its example has the schema.
func TestEventSchemas(t *testing.T) {
	s := newEventSchemas()
	types := app.EventTypes().Types()
	if len(s.doc.Webhooks) != len(types) {
		t.Errorf("%d webhooks and %d event types", len(s.doc.Webhooks), len(types))
	}
	for _, kind := range types {
		event := fmt.Sprintf(`{"event_type":%q,"data":%s,"team_id":%q,"user_id":%q,"client_user_id":"a"}`, kind.Name, kind.Example(uuid.Nil), uuid.Nil, uuid.Nil)
		if found := s.problems([]byte(event)); len(found) > 0 {
			t.Errorf("%s: %v", kind.Name, found)
		}
		if found := s.problems([]byte(strings.Replace(event, `"data":`, `"payload":`, 1))); len(found) == 0 {
			t.Errorf("%s: an event without data has the schema", kind.Name)
		}
	}
}

// Events of users, connections, data, orders, appointments and results have the
// schemas of the document.
func TestEventsHaveTheirSchemas(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		s := newEventSchemas()
		c := newClinic(t, d, &networktest.Lab{Name: "elsewhere"})
		c.Expect(200, "PATCH", "/v2/user/"+c.user, `{"fallback_time_zone":"Europe/Helsinki","fallback_birth_date":"1990-01-02"}`, nil)
		c.Expect(200, "POST", "/v2/link/connect/demo", `{"user_id":"`+c.user+`","provider":"apple_health_kit"}`, nil)
		for _, method := range []string{"testkit", "walk_in_test", "at_home_phlebotomy"} {
			o := c.order(method)
			c.Expect(200, "POST", "/v3/sandbox/order/"+o.ID+"/run", `{"script":"critical"}`, nil)
		}
		c.Expect(200, "POST", "/v3/sandbox/advance", `{"seconds":2592000}`, nil)
		c.Expect(200, "DELETE", "/v2/user/"+c.user+"/apple_health_kit", "", nil)
		c.Expect(200, "DELETE", "/v2/user/"+c.user, "", nil)
		seen := map[string]int{}
		var page struct {
			Next   int64 `json:"next_after"`
			More   bool  `json:"has_more"`
			Events []struct {
				Type  string `json:"event_type"`
				Event json.RawMessage
			}
		}
		deadline := time.Now().Add(time.Minute) // on PostgreSQL the last events have no number yet
		for page.More = true; page.More || seen["user.deleted"] == 0 && time.Now().Before(deadline); {
			after := page.Next
			page.Events = nil
			c.Get(fmt.Sprintf("/v2/events?limit=1000&wait=1&after=%d", after), &page)
			for _, e := range page.Events {
				if seen[e.Type]++; seen[e.Type] > 50 {
					continue
				}
				if found := s.problems(e.Event); len(found) > 0 {
					t.Errorf("%s: %v in %.600s", e.Type, found, e.Event)
				}
			}
		}
		for _, kind := range []string{"user.updated", "user.deleted", "provider.connection.created", "provider.connection.deleted", "labtest.order.created", "labtest.order.updated", "labtest.result.critical"} {
			if seen[kind] == 0 {
				t.Errorf("no event %s in %v", kind, seen)
			}
		}
		if len(seen) < 15 {
			t.Errorf("only %d types: %v", len(seen), seen)
		}
	})
}
