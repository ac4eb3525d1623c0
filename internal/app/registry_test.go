package app_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/uuid"

	"hale/internal/app"
)

// Every type of the catalogue has an example that makes a whole envelope.
func TestEventTypes(t *testing.T) {
	catalogue := app.EventTypes()
	for _, e := range catalogue.Types() {
		body, err := catalogue.Example(uuid.New(), e.Name)
		if err != nil {
			t.Errorf("%s: %v", e.Name, err)
			continue
		}
		var got struct {
			Type string `json:"event_type"`
			User string `json:"user_id"`
		}
		if err := json.Unmarshal(body, &got); err != nil || got.Type != e.Name || got.User == "" {
			t.Errorf("%s: %v, %s", e.Name, err, body)
		}
	}
	for _, name := range []string{"daily.data.weight.created", "historical.data.workout_stream.created", "message.attempt.exhausted", "labtest.order.updated"} {
		if !catalogue.Known(name) {
			t.Errorf("%s is missing", name)
		}
	}
	if catalogue.Known("daily.timeseries.hypnogram.created") {
		t.Error("the specification removed the hypnogram types")
	}
}

// Spec: Events, data of daily and historical events always carries user_id and
// source, and source its slug.
func TestExamplesOfDataNameUserAndSource(t *testing.T) {
	user := uuid.New()
	for _, e := range app.EventTypes().Types() {
		if !strings.HasPrefix(e.Name, "daily.") && !strings.HasPrefix(e.Name, "historical.") {
			continue
		}
		var data struct {
			User   string `json:"user_id"`
			Source struct {
				Provider, Type, Slug string
			}
		}
		if err := json.Unmarshal(e.Example(user), &data); err != nil {
			t.Fatal(err)
		}
		if s := data.Source; data.User != user.String() || s.Provider == "" || s.Type == "" || s.Slug != s.Provider {
			t.Errorf("%s: %+v", e.Name, data)
		}
	}
}

// The sentence of a type that is never sent says so.
func TestTypesThatAreNotSentYet(t *testing.T) {
	unsent := 0
	for _, e := range app.EventTypes().Types() {
		if strings.Contains(e.Sentence, " does not send it yet") {
			unsent++
		}
	}
	if unsent != 1 { // the error of a connection
		t.Errorf("%d types", unsent)
	}
}
