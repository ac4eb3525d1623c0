package apitest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"hale/internal/app"
	"hale/internal/platform/store/storetest"
	"hale/internal/platform/webhooks"
)

// additions are event types of our own.
var additions = []string{webhooks.AttemptExhausted, webhooks.EndpointDisabled}

// shape is the schema of an event's envelope, of which the contract has one
// for each type or for a type's created and updated.
func (c *contract) shape(eventType string) *schema {
	name, ok := c.events[eventType]
	if !ok {
		name = c.events[eventType[:strings.LastIndex(eventType, ".")]+".*"]
	}
	return c.schemas[name]
}

// checkEvent says where an envelope is not what the contract says of its type.
func (c *contract) checkEvent(envelope []byte) error {
	value, err := decode(envelope)
	if err != nil {
		return err
	}
	eventType := value.(map[string]any)["event_type"].(string)
	shape := c.shape(eventType)
	if shape == nil {
		if slices.Contains(additions, eventType) {
			return nil
		}
		return fmt.Errorf("the contract has no event %s", eventType)
	}
	return c.validate(shape, value, eventType)
}

// Every type of the contract can be subscribed to, and its example is one that
// a receiver written for the contract takes.
func TestEventExamplesAreInTheContract(t *testing.T) {
	c, _ := readContract(t)
	catalogue := app.EventTypes()
	for _, pattern := range slices.Sorted(maps.Keys(c.events)) {
		name := strings.Replace(pattern, "*", "created", 1)
		if !catalogue.Known(name) {
			t.Errorf("%s is not in our catalogue", name)
		}
	}
	team := uuid.New()
	for _, of := range catalogue.Types() {
		text, err := catalogue.Example(team, of.Name)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.checkEvent(text); err != nil {
			t.Errorf("%v\nexample: %s", err, text)
		}
	}
}

// The events that really happen are too.
func TestEventsAreInTheContract(t *testing.T) {
	c, _ := readContract(t)
	s := start(t, storetest.NewSQLite(t))
	s.measured(t, s.fixture(t))
	seen := map[string]int{}
	for after := int64(0); ; {
		var page struct {
			Events []struct {
				Seq   int64           `json:"seq"`
				Event json.RawMessage `json:"event"`
			} `json:"events"`
		}
		s.Get(fmt.Sprintf("/v2/events?limit=1000&after=%d", after), &page)
		if len(page.Events) == 0 {
			break
		}
		for _, e := range page.Events {
			after = e.Seq
			var head struct {
				EventType string `json:"event_type"`
			}
			if err := json.Unmarshal(e.Event, &head); err != nil {
				t.Fatal(err)
			}
			seen[head.EventType]++
			if err := c.checkEvent(e.Event); err != nil {
				t.Errorf("%v\nevent: %.1500s", err, e.Event)
			}
		}
	}
	t.Logf("seen %v", seen)
}
