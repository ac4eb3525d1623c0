package platform

import (
	"context"

	"hale/internal/api"
	"hale/internal/labs/catalogue"
	"hale/internal/people/messages"
	"hale/internal/people/users"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
	"hale/internal/wearables/connections"
)

func (h *Handlers) metricRoutes() []api.Route {
	return []api.Route{
		api.Get("/v2/user/metrics", h.userMetrics, "Count users and connections"),
		api.Get("/v2/team/{team_id}", h.getTeam, "Get your team").Deprecated(),
	}
}

// metricsBody contains the numbers of a team's records.
//
// Reference 5.10, MetricsResult.
type metricsBody struct {
	TeamID        teams.ID      `json:"team_id" format:"uuid"`
	Users         int64         `json:"number_of_users"`
	Sources       int64         `json:"number_of_connected_sources"`
	Errored       int64         `json:"number_of_errored_connected_sources"`
	SourcesByWeek []metricPoint `json:"number_of_connected_sources_by_week"`
	OrderedTests  int64         `json:"number_of_ordered_tests"`
}

type metricPoint struct {
	Date  api.Time `json:"date" doc:"Monday of the week, 00:00 UTC."`
	Value int64    `json:"value" doc:"Connections created in the week."`
	All   int64    `json:"all" doc:"Connections at the end of the week."`
}

func (h *Handlers) userMetrics(ctx context.Context, c api.Caller, _ *api.Empty) (*api.Out[metricsBody], error) {
	if err := h.Orders.Ready(ctx, h.DB, c.Team); err != nil {
		return nil, err
	}
	var n int64
	var ordered int
	var m connections.Metrics
	err := h.DB.Read(ctx, func(tx *store.Tx) (err error) {
		if n, err = users.Count(ctx, tx, c.Team); err != nil {
			return err
		}
		if ordered, err = h.Orders.Count(ctx, tx, c.Team); err != nil {
			return err
		}
		m, err = connections.Measure(ctx, tx, c.Team)
		return err
	})
	if err != nil {
		return nil, err
	}
	body := metricsBody{
		TeamID: c.Team, Users: n, OrderedTests: int64(ordered), Sources: m.Connected, Errored: m.Errored, SourcesByWeek: make([]metricPoint, len(m.Weeks)),
	}
	for i, w := range m.Weeks {
		body.SourcesByWeek[i] = metricPoint{api.Time(w.Start), w.Made, w.All}
	}
	return api.Answer(body), nil
}

// teamBody is the team in the form for older clients. It contains no secret: the fields
// that formerly did are absent or empty.
//
// Reference 5.10, ClientFacingTeam.
type teamBody struct {
	ID                 teams.ID   `json:"id" format:"uuid"`
	OrgID              teams.ID   `json:"org_id" format:"uuid" doc:"The team's own id: there are no organisations above teams."`
	Name               string     `json:"name"`
	Configuration      teamConfig `json:"configuration"`
	TestkitsTexts      bool       `json:"testkits_texts_enabled"`
	Communication      bool       `json:"lab_tests_patient_communication_enabled"`
	SMSCommunication   bool       `json:"lab_tests_patient_sms_communication_enabled"`
	EmailCommunication bool       `json:"lab_tests_patient_email_communication_enabled"`
	CriticalEmail      *string    `json:"critical_result_notification_email" doc:"The address that gets an e-mail about each critical result."`
	DelegatedFlow      string     `json:"delegated_flow" doc:"Party whose physicians order tests and review results, by the team's lab accounts."`
}

// The values of delegated_flow say whose physicians order tests and review results:
//
//   - teamPhysicians: the team's physicians do both.
//   - servicePhysicians: the service's physicians do both.
//   - serviceOrders: the service's physicians only order.
//
// Reference 5.10, DelegatedFlowType.
const (
	teamPhysicians    = "order_and_results_with_customer_physician_network"
	servicePhysicians = "order_and_results_with_vital_physician_network"
	serviceOrders     = "order_with_vital_physician_network"
)

// flowOf returns the flow of the team's accounts that requires most of the team. A team
// without an account can use only its own physicians.
func flowOf(accounts []catalogue.Account) string {
	word := servicePhysicians
	for _, a := range accounts {
		switch {
		case a.Flow.TeamOrders():
			return teamPhysicians
		case a.Flow == catalogue.ResultDelegated:
			word = serviceOrders
		}
	}
	if len(accounts) == 0 {
		return teamPhysicians
	}
	return word
}

type teamConfig struct {
	LibreView                 libreViewConfig `json:"libreview"`
	TextsEnabled              bool            `json:"texts_enabled"`
	PushHistoricalData        bool            `json:"push_historical_data"`
	RejectDuplicateConnection bool            `json:"reject_duplicate_connection"`
	PartialWebhooks           bool            `json:"partial_webhooks_enabled"`
	MinorOrdering             bool            `json:"minor_ordering_enabled"`
}

type libreViewConfig struct {
	PracticeID map[string]string `json:"practice_id"`
}

type getTeamIn struct {
	TeamID teams.ID `path:"team_id" format:"uuid"`
}

func (h *Handlers) getTeam(ctx context.Context, c api.Caller, in *getTeamIn) (*api.Out[teamBody], error) {
	if in.TeamID != c.Team {
		return nil, fault.New(fault.NotFound, "Team not found")
	}
	var team teams.Team
	var says messages.Settings
	var accounts []catalogue.Account
	err := h.DB.Read(ctx, func(tx *store.Tx) (err error) {
		if team, err = teams.Get(ctx, tx, c.Team); err != nil {
			return err
		}
		if says, err = messages.SettingsOf(ctx, tx, c.Team); err != nil {
			return err
		}
		accounts, err = catalogue.Accounts(ctx, tx, c.Team, catalogue.AccountFilter{Statuses: []catalogue.AccountStatus{catalogue.AccountActive}})
		return err
	})
	if err != nil {
		return nil, err
	}
	return api.Answer(teamBody{
		ID: team.ID, OrgID: team.ID, Name: team.Name, DelegatedFlow: flowOf(accounts),
		TestkitsTexts: says.SMS, Communication: says.SMS || says.Email, SMSCommunication: says.SMS, EmailCommunication: says.Email,
		CriticalEmail: api.TextOrNull(team.Settings.CriticalEmail),
		Configuration: teamConfig{
			LibreView: libreViewConfig{map[string]string{}}, TextsEnabled: says.SMS,
			PushHistoricalData: team.Settings.PushHistoricalData, RejectDuplicateConnection: team.Settings.RejectDuplicateConnection,
			PartialWebhooks: team.Settings.PartialWebhooks, MinorOrdering: team.Settings.MinorOrdering,
		},
	}), nil
}
