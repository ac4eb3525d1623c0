package webhooks

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/google/uuid"

	"hale/internal/platform/fault"
)

// Content says how much of an event is posted to an endpoint.
type Content string

// The contents.
const (
	FullContent Content = "full"
	// IDsOnly posts the type of the event and the ids in it. The receiver reads the rest,
	// so that no personal data passes the systems between.
	IDsOnly Content = "ids"
)

func checkContent(c Content) error {
	if !slices.Contains([]Content{FullContent, IDsOnly}, c) {
		return fault.Newf(fault.Invalid, "must be %s or %s", FullContent, IDsOnly).At("body", "content").WithType("enum")
	}
	return nil
}

// of returns the body to post for an event.
func (c Content) of(body []byte) ([]byte, error) {
	if c != IDsOnly {
		return body, nil
	}
	var full struct {
		Type string          `json:"event_type"`
		Data json.RawMessage `json:"data"`
		Team *uuid.UUID      `json:"team_id"`
		User *uuid.UUID      `json:"user_id"`
	}
	if err := json.Unmarshal(body, &full); err != nil {
		return nil, fmt.Errorf("webhooks: reading an event: %w", err)
	}
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(full.Data, &fields) // data that is no object has no ids
	ids := map[string]any{}
	for name, value := range fields {
		if found := idsIn(name, value); found != nil {
			ids[name] = found
		}
	}
	return json.Marshal(struct {
		Type string         `json:"event_type"`
		Data map[string]any `json:"data"`
		Team *uuid.UUID     `json:"team_id"`
		User *uuid.UUID     `json:"user_id"`
	}{full.Type, ids, full.Team, full.User})
}

// idsIn returns the value of a field that has one or several ids of the service, else
// nil. Ids of others may be personal: an e-mail address as client_user_id, the number of
// a sample.
func idsIn(name string, value json.RawMessage) any {
	if name != "id" && name != "ids" && !strings.HasSuffix(name, "_id") && !strings.HasSuffix(name, "_ids") {
		return nil
	}
	var one uuid.UUID
	if json.Unmarshal(value, &one) == nil && one != uuid.Nil {
		return one
	}
	var several []uuid.UUID
	if json.Unmarshal(value, &several) == nil && len(several) > 0 {
		return several
	}
	var text string
	if json.Unmarshal(value, &text) == nil && messageID.MatchString(text) {
		return text
	}
	return nil
}

// messageID matches the ids of messages and endpoints.
var messageID = regexp.MustCompile(`^(?:msg|evt|ep)_[0-9A-Za-z]+$`)
