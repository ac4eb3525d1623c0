package teams

import (
	"errors"
	"fmt"
	"net/mail"
	"strconv"
	"strings"

	"hale/internal/platform/fault"
)

// Changer says who may change a setting.
type Changer int

const (
	// ByTeam: the operator, and the team with an admin key.
	ByTeam Changer = iota
	// ByOperator: only the operator. These settings weaken the identity check of
	// patients, or move a duty of the operator's physicians and reviewers to the team.
	ByOperator
)

// Switch is a setting of a team that is on or off.
type Switch struct {
	Name  string // as in the stored document
	Means string
	// By may change it.
	By  Changer
	get func(t Team) bool
	set func(s *Settings, on bool)
}

// On reports whether a team has the switch on.
func (w Switch) On(t Team) bool { return w.get(t) }

// Turn changes the switch in a team's settings.
func (w Switch) Turn(s *Settings, on bool) { w.set(s, on) }

// Switches has all settings of a team.
var Switches = []Switch{
	{
		"reject_duplicate_connection", "refuse a provider account that another user of the team has connected", ByTeam,
		func(t Team) bool { return t.Settings.RejectDuplicateConnection }, func(s *Settings, on bool) { s.RejectDuplicateConnection = on },
	},
	{
		"push_historical_data", "send history as daily events too", ByTeam,
		func(t Team) bool { return t.Settings.PushHistoricalData }, func(s *Settings, on bool) { s.PushHistoricalData = on },
	},
	{
		"partial_webhooks_enabled", "send events about partial results of lab orders", ByTeam,
		func(t Team) bool { return t.Settings.PartialWebhooks }, func(s *Settings, on bool) { s.PartialWebhooks = on },
	},
	{
		"minor_ordering_enabled", "order for people under 18, with a proxy", ByOperator,
		func(t Team) bool { return t.Settings.MinorOrdering }, func(s *Settings, on bool) { s.MinorOrdering = on },
	},
	{
		"consents_required", "refuse orders without a consent unless a physician of the team signs", ByOperator,
		func(t Team) bool { return t.Settings.ConsentsRequired }, func(s *Settings, on bool) { s.ConsentsRequired = on },
	},
	{
		"redraws_enabled", "order again the markers that a lab could not measure", ByTeam,
		func(t Team) bool { return t.Settings.Redraws }, func(s *Settings, on bool) { s.Redraws = on },
	},
	{
		"result_reviews_enabled", "let the team decide about results that fit no order", ByOperator,
		Team.ReviewsResults, func(s *Settings, on bool) { s.ResultReviews = &on },
	},
	{
		"portal_birth_date_enabled", "accept the date of birth, in place of a code, on a new device in the portal", ByOperator,
		func(t Team) bool { return t.Settings.PortalBirthDate }, func(s *Settings, on bool) { s.PortalBirthDate = on },
	},
	{
		"reference_compat", "send the fields that the reference's client libraries require where the specification differs", ByTeam,
		func(t Team) bool { return t.Settings.ReferenceCompat }, func(s *Settings, on bool) { s.ReferenceCompat = on },
	},
}

// Value is a setting of a team with a text.
type Value struct {
	Name  string // as in the stored document
	Means string
	By    Changer
	// Most is the largest number from 1. It is 0 for an e-mail address.
	Most int
	get  func(s Settings) string
	set  func(s *Settings, text string) error
}

// Of returns a team's value; empty for none.
func (v Value) Of(t Team) string { return v.get(t.Settings) }

// Set changes the value. An empty text removes it.
func (v Value) Set(s *Settings, text string) error {
	if err := v.set(s, text); err != nil {
		return fault.Newf(fault.Invalid, "%s: %s", v.Name, err.Error()).At("setting")
	}
	return nil
}

// Values has the settings that are no switches.
var Values = []Value{
	{
		"critical_result_notification_email", "address that gets an e-mail about each critical result", ByTeam, 0,
		func(s Settings) string { return s.CriticalEmail }, func(s *Settings, text string) error { return setAddress(&s.CriticalEmail, text) },
	},
	{
		"critical_result_escalation_email", "address that gets an e-mail when a critical result is not acknowledged in time", ByTeam, 0,
		func(s Settings) string { return s.CriticalEscalationEmail }, func(s *Settings, text string) error { return setAddress(&s.CriticalEscalationEmail, text) },
	},
	{
		"critical_result_minutes", "minutes to acknowledge a critical result before it escalates (default 60)", ByTeam, mostMinutes,
		func(s Settings) string { return strconv.Itoa(int(s.CriticalDelay().Minutes())) }, setCriticalMinutes,
	},
}

func setAddress(to *string, text string) error {
	if text != "" {
		if a, err := mail.ParseAddress(text); err != nil || a.Address != text {
			return errors.New("not an e-mail address")
		}
	}
	*to = text
	return nil
}

// mostMinutes is a week.
const mostMinutes = 7 * 24 * 60

func setCriticalMinutes(s *Settings, text string) error {
	if text == "" {
		s.CriticalMinutes = 0
		return nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > mostMinutes {
		return fmt.Errorf("must be a number from 1 to %d", mostMinutes)
	}
	s.CriticalMinutes = n
	return nil
}

// FindSetting finds a setting. Exactly one of the two is not nil. For an
// unknown name it returns an Invalid fault that lists them all.
func FindSetting(name string) (*Switch, *Value, error) {
	var names []string
	for i := range Switches {
		if Switches[i].Name == name {
			return &Switches[i], nil, nil
		}
		names = append(names, Switches[i].Name)
	}
	for i := range Values {
		if Values[i].Name == name {
			return nil, &Values[i], nil
		}
		names = append(names, Values[i].Name)
	}
	return nil, nil, fault.Newf(fault.Invalid, "a team has no setting %q; it has %s", name, strings.Join(names, ", ")).At("setting")
}
