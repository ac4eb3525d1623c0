package webhooks

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"

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

// Contents lists the contents.
var Contents = []Content{FullContent, IDsOnly}

func checkContent(c Content) error {
	if !slices.Contains(Contents, c) {
		return fault.NotInEnum(Contents).At("body", "content").WithInput(string(c))
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
	var list []json.RawMessage
	var data any = idsOf(full.Data)
	if json.Unmarshal(full.Data, &list) == nil {
		all := []map[string]any{}
		for _, one := range list {
			all = append(all, idsOf(one))
		}
		data = all
	}
	return json.Marshal(struct {
		Type string     `json:"event_type"`
		Data any        `json:"data"`
		Team *uuid.UUID `json:"team_id"`
		User *uuid.UUID `json:"user_id"`
	}{full.Type, data, full.Team, full.User})
}

// ownIDs are the fields with ids of the service. The ids of others may be personal: those
// of a client, a device, an app, a provider or a laboratory.
var ownIDs = map[string]bool{
	"id": true, "ids": true, "user_id": true, "team_id": true, "order_id": true, "order_ids": true, "order_transaction_id": true,
	"appointment_id": true, "result_id": true, "report_id": true, "job_id": true, "match_review_id": true, "deletion_id": true,
	"sleep_id": true, "sleep_cycle_id": true, "workout_id": true, "query_id": true, "message_id": true, "endpoint_id": true,
	"critical_result_id": true, "import_id": true, "unmatched_result_id": true, "run_id": true, "parsing_job_id": true,
}

// idsOf returns the ids of the service in an object.
func idsOf(object json.RawMessage) map[string]any {
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(object, &fields) // another value has no ids
	ids := map[string]any{}
	for name, value := range fields {
		if found := idsIn(value); found != nil && ownIDs[name] {
			ids[name] = found
		}
	}
	return ids
}

// idsIn returns a value that is one id or several, else nil.
func idsIn(value json.RawMessage) any {
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
