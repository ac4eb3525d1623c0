package app_test

import (
	"fmt"
	"strings"
	"testing"

	"hale/internal/app/apptest"
	"hale/internal/platform/store/storetest"
)

// Two Apps in one process, each with a database of its own, share nothing: events,
// names, sessions and addresses stay with their App.
func TestTwoAppsInOneProcess(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		other := storetest.NewSQLite(t)
		apps := []*apptest.Service{apptest.Start(t, d), apptest.Start(t, other)}
		boxes := []*eventCounter{newEventCounter(t), newEventCounter(t)}
		for i, a := range apps {
			a.Expect(200, "POST", "/v2/webhooks", fmt.Sprintf(`{"url": %q}`, boxes[i].URL), nil)
		}
		for i, a := range apps {
			pushHeartRate(t, a, "ann")
			a.Expect(200, "POST", "/v2/user/", fmt.Sprintf(`{"client_user_id": "bo-%d"}`, i), nil)
			boxes[i].await(t, 2)
			waitForNumbers(t, a, 4) // two more are of users, for the feed only
			var users struct {
				Users []struct {
					UserID           string `json:"user_id"`
					ClientUserID     string `json:"client_user_id"`
					ConnectedSources []struct {
						Source struct{ Logo string }
					} `json:"connected_sources"`
				}
			}
			a.Get("/v2/user?limit=10", &users)
			if len(users.Users) != 2 {
				t.Errorf("app %d has %d users of 2", i, len(users.Users))
			}
			for _, u := range users.Users {
				info := fmt.Sprintf(`{"first_name": "Name%d", "last_name": "Example", "email": "name@hale.invalid", "phone_number": "+12025550123",
					"gender": "female", "dob": "1990-01-02", "address": {"first_line": "1 Main St", "city": "Phoenix", "state": "AZ", "zip": "85004", "country": "US"}}`, i)
				if status, body := a.Call("PATCH", "/v2/user/"+u.UserID+"/info", info); status != 200 {
					t.Errorf("%d %s", status, body)
				}
				for _, s := range u.ConnectedSources {
					if !strings.HasPrefix(s.Source.Logo, a.URL()+"/static/providers/") {
						t.Errorf("app %d at %s: logo %s", i, a.URL(), s.Source.Logo)
					}
				}
			}
		}
		for i, a := range apps {
			for k := range apps {
				_, found := a.Call("GET", fmt.Sprintf("/v2/team/users/search?query_id=name%d", k), "")
				if got := strings.Contains(string(found), "client_user_id"); got != (i == k) {
					t.Errorf("app %d searches the name of app %d: %s", i, k, found)
				}
			}
		}
		apps[1].End()
		pushHeartRate(t, apps[0], "cy")
		boxes[0].await(t, 4)
		if n := boxes[1].messages(); n != 2 {
			t.Errorf("the stopped app posted %d messages of 2", n)
		}
	})
}
