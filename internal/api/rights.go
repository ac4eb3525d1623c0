package api

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"hale/internal/platform/teams"
)

// need is the right that a key needs for an operation.
type need struct {
	scope    teams.Scope
	personal bool // requests or answers may contain personal data
}

// Needs sets the scope of an operation whose path does not imply it.
func (rt Route) Needs(s teams.Scope) Route { rt.scope = s; return rt }

// need returns the right for the operation.
func (rt Route) need() need {
	n := need{scope: rt.scope}
	if n.scope == "" {
		n.scope = scopeOf(rt.op.Method, rt.op.Path)
	}
	fits := func(prefix string) bool { return strings.HasPrefix(rt.op.Path+"/", prefix) }
	n.personal = fits(notesPath) || !slices.ContainsFunc(withoutPersonalData, fits)
	return n
}

// scopePrefixes have the scopes of all operations below a path, the first that fits.
var scopePrefixes = []struct {
	path  string
	scope teams.Scope
}{
	{"/v2/webhooks/", teams.Webhooks},
	{"/v1/org/{org_id}/team/{team_id}/{environment}/webhook/", teams.Webhooks},
	{"/v2/events/", teams.Webhooks},
	{"/v2/link/", teams.Portal},
	{"/v2/user/{user_id}/create_portal_url/", teams.Portal},
	{"/v2/user/{user_id}/sign_in_token/", teams.Portal},
	{"/v2/team/users/search/", teams.Read},
	{"/v2/team/", teams.Admin},
	{"/v2/jobs/", teams.Admin},
	{"/v2/audit/", teams.Admin},
	// Questions that are posted.
	{"/aggregate/v1/user/{user_id}/query/", teams.Read},
	{"/v3/compendium/", teams.Read},
	{"/v3/insurance/", teams.Read},
	{"/v3/order/phlebotomy/appointment/availability/", teams.Read},
	{"/v3/order/psc/appointment/availability/", teams.Read},
}

// scopeOf returns the scope of an operation by its path and method.
func scopeOf(method, path string) teams.Scope {
	for _, p := range scopePrefixes {
		if strings.HasPrefix(path+"/", p.path) {
			return p.scope
		}
	}
	switch {
	case method == http.MethodGet:
		return teams.Read
	case strings.HasPrefix(path, "/v3/"), strings.HasPrefix(path, "/lab_report/"), strings.HasPrefix(path, "/v2/user/{user_id}/insurance"):
		return teams.Orders
	}
	return teams.Write
}

// withoutPersonalData lists the paths of operations whose requests and answers contain
// no names, contact data, birth dates, orders or results. They are about wearable data
// by user id, and the catalogues.
var withoutPersonalData = []string{
	"/aggregate/", "/v2/introspect/", "/v2/providers/", "/v2/timeseries/", "/v2/user/metrics/",
	"/v2/summary/activity/", "/v2/summary/body/", "/v2/summary/sleep/", "/v2/summary/sleep_cycle/", "/v2/summary/workouts/",
	"/v2/summary/meal/", "/v2/summary/menstrual_cycle/", "/v2/summary/electrocardiogram/",
	"/v2/user/providers/", "/v2/webhooks/event_types/", "/v2/webhooks/examples/",
	"/v3/lab_test", "/v3/lab_tests/", "/v3/labs/", "/v3/compendium/", "/v3/insurance/search/", "/v3/insurance/validate_icd_codes/",
	"/v3/order/area/info/", "/v3/order/psc/info/",
}

// notesPath is the path of notes: texts about a person.
const notesPath = "/v2/timeseries/{user_id}/note/"

// withinRights refuses operations that the key has no right for, and keys from other
// addresses. Phones have the rights of ownDataOnly.
func (a *API) withinRights(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rights := CallerOf(r.Context()).Rights
		if rights == nil {
			next.ServeHTTP(w, r)
			return
		}
		need := a.needs[requestName(r)]
		switch peer, err := netip.ParseAddrPort(r.RemoteAddr); {
		case len(rights.Addresses) > 0 && (err != nil || !rights.AllowAddress(peer.Addr().Unmap())):
			WriteDetail(w, http.StatusForbidden, "This API key may not be used from this address")
		case !rights.Allow(need.scope):
			WriteDetail(w, http.StatusForbidden, "This API key does not have the scope "+string(need.scope))
		case need.personal && !rights.PersonalData:
			WriteDetail(w, http.StatusForbidden, "This API key has no access to personal data")
		default:
			next.ServeHTTP(w, r)
		}
	})
}
