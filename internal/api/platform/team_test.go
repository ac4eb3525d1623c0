package platform

import (
	"context"
	"strings"
	"testing"

	"hale/internal/api/calltest"
	"hale/internal/labs/catalogue"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/store"
)

func TestMetricsAndTeam(t *testing.T) {
	c := newCaller(t)
	c.Connect(c.User("a"), "apple_health_kit", "heartrate")
	c.User("b")
	calltest.Golden(t, "metrics", c.Want(200, "GET", "/v2/user/metrics", ""))
	team := c.Want(200, "GET", "/v2/team/"+c.Team.String(), "")
	calltest.Golden(t, "team", team)
	if strings.Contains(team, c.Key) || strings.Contains(team, "secret") {
		t.Errorf("the team object holds a secret: %s", team)
	}
	c.Want(404, "GET", "/v2/team/"+calltest.NewTeamCaller(t, c.DB, c.API, c.Now).Team.String(), "", "Team not found")
}

// The flow of a team depends on its accounts.
func TestFlowOfATeam(t *testing.T) {
	c := newCaller(t)
	path := "/v2/team/" + c.Team.String()
	says := func(flow string) {
		t.Helper()
		c.Want(200, "GET", path, "", `"delegated_flow":"`+flow+`"`)
	}
	account := func(flow catalogue.DelegatedFlow, status catalogue.AccountStatus) {
		t.Helper()
		userstest.Write(t, c.DB, func(ctx context.Context, tx *store.Tx) error {
			_, err := catalogue.AddAccount(ctx, tx, catalogue.NewAccount{Owner: &c.Team, Lab: 1, Status: status, Flow: flow, Number: "12345"})
			return err
		})
	}
	says("order_and_results_with_vital_physician_network")
	account(catalogue.OrderDelegated, catalogue.AccountPending)
	says("order_and_results_with_vital_physician_network")
	account(catalogue.ResultDelegated, catalogue.AccountActive)
	says("order_with_vital_physician_network")
	account(catalogue.OrderDelegated, catalogue.AccountActive)
	says("order_and_results_with_customer_physician_network")
	if alone := flowOf(nil); alone != "order_and_results_with_customer_physician_network" {
		t.Errorf("without accounts: %s", alone)
	}
}
