package teams

import (
	"strings"

	"hale/internal/platform/fault"
)

// Switch is a setting of a team that the operator turns on or off.
type Switch struct {
	Name  string // as in the stored document
	Means string
	get   func(t Team) bool
	set   func(s *Settings, on bool)
}

// On reports whether a team has the switch on.
func (w Switch) On(t Team) bool { return w.get(t) }

// Turn changes the switch in a team's settings.
func (w Switch) Turn(s *Settings, on bool) { w.set(s, on) }

// Switches has all settings of a team.
var Switches = []Switch{
	{
		"reject_duplicate_connection", "refuse a provider account that another user of the team has connected",
		func(t Team) bool { return t.Settings.RejectDuplicateConnection }, func(s *Settings, on bool) { s.RejectDuplicateConnection = on },
	},
	{
		"push_historical_data", "send history as daily events too",
		func(t Team) bool { return t.Settings.PushHistoricalData }, func(s *Settings, on bool) { s.PushHistoricalData = on },
	},
	{
		"partial_webhooks_enabled", "send events about partial results of lab orders",
		func(t Team) bool { return t.Settings.PartialWebhooks }, func(s *Settings, on bool) { s.PartialWebhooks = on },
	},
	{
		"minor_ordering_enabled", "order for people under 18, with a proxy",
		func(t Team) bool { return t.Settings.MinorOrdering }, func(s *Settings, on bool) { s.MinorOrdering = on },
	},
	{
		"consents_required", "refuse orders without a consent unless a physician of the team signs",
		func(t Team) bool { return t.Settings.ConsentsRequired }, func(s *Settings, on bool) { s.ConsentsRequired = on },
	},
	{
		"redraws_enabled", "order again the markers that a lab could not measure",
		func(t Team) bool { return t.Settings.Redraws }, func(s *Settings, on bool) { s.Redraws = on },
	},
	{
		"result_reviews_enabled", "let the team decide about results that fit no order",
		Team.ReviewsResults, func(s *Settings, on bool) { s.ResultReviews = &on },
	},
	{
		"portal_birth_date_enabled", "accept the date of birth, in place of a code, on a new device in the portal",
		func(t Team) bool { return t.Settings.PortalBirthDate }, func(s *Settings, on bool) { s.PortalBirthDate = on },
	},
	{
		"reference_compat", "send the fields that the reference's client libraries require where the specification differs",
		func(t Team) bool { return t.Settings.ReferenceCompat }, func(s *Settings, on bool) { s.ReferenceCompat = on },
	},
}

// SwitchNamed finds a setting, or returns an Invalid fault that lists them all.
func SwitchNamed(name string) (Switch, error) {
	var names []string
	for _, w := range Switches {
		if w.Name == name {
			return w, nil
		}
		names = append(names, w.Name)
	}
	return Switch{}, fault.New(fault.Invalid, "a team has no such setting; it has "+strings.Join(names, ", ")).At("setting")
}
