package main

import (
	"context"
	"math/rand/v2"
	"net/http"
)

// teamSwitches lists the settings that change during a run, by their path.
var teamSwitches = map[string][]string{
	"/v2/team/settings":             {"partial_webhooks_enabled", "push_historical_data", "redraws_enabled", "reject_duplicate_connection"},
	"/v2/team/message_settings":     {"email_enabled", "reminders_enabled", "sms_enabled"},
	"/v2/team/appointment_settings": {"async_confirmation_enabled", "booking_before_requisition_enabled", "sonora_quest_enabled"},
}

// changeSettings turns a setting of the team on or off.
func (w *world) changeSettings(ctx context.Context, r *rand.Rand) (int, error) {
	path := pick(r, []string{"/v2/team/settings", "/v2/team/settings", "/v2/team/message_settings", "/v2/team/appointment_settings"})
	status, _, err := w.send(ctx, http.MethodPatch, path, "", object{pick(r, teamSwitches[path]): r.IntN(2) == 0})
	return status, err
}

// resolveReview decides about a result that fits no order.
func (w *world) resolveReview(ctx context.Context, r *rand.Rand) (int, error) {
	a, err := w.api.ask(ctx, http.MethodGet, "/v3/unmatched_result?status=pending_customer_review", "", nil)
	if err != nil {
		return 0, err
	}
	one := pick(r, listField(a.body, "data"))
	if one == nil {
		return 0, nil
	}
	status, _, err := w.send(ctx, http.MethodPost, "/v3/unmatched_result/"+textField(one, "id")+"/resolve", keyOf(r), object{"action": "reject", "note": "not ours"})
	return status, err
}
