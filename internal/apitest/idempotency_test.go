package apitest

import (
	"bytes"
	"net/http"
	"slices"
	"strings"
	"testing"

	"hale/internal/platform/store/storetest"
)

// refusedOperations are operations with an Idempotency-Key for which the generated request
// does not succeed, with the reason. Their refusals are repeated too.
var refusedOperations = map[string]string{
	"PATCH /v3/order/{order_id}":                               "needs an order that was created with activate_by",
	"PATCH /v3/order/{order_id}/draw_completed":                "needs an order whose sample is taken on site",
	"PATCH /v3/order/{order_id}/phlebotomy/appointment/cancel": "needs an order with a visit at home",
	"PATCH /v3/order/{order_id}/psc/appointment/cancel":        "needs an order with an appointment",
	"POST /v3/order/{order_id}/fulfilment":                     "needs a real order: the sandbox plays these steps",
	"POST /v3/order/{order_id}/phlebotomy/appointment/book":    "needs an order of a visit at home, and a slot that is free",
	"POST /v3/order/{order_id}/phlebotomy/appointment/request": "needs an order of a visit at home",
	"POST /v3/order/{order_id}/psc/appointment/book":           "needs an order that its lab has taken, and a slot that is free",
}

// unusedValues replaces values of the fixture that an operation cannot use twice.
var unusedValues = map[string]func(t *testing.T, s *service, f *fixture){
	"POST /v2/user": func(_ *testing.T, _ *service, f *fixture) { f.ids["client_user_id"] = newUserName() },
	"POST /v2/link/connect/demo": func(t *testing.T, s *service, f *fixture) {
		f.ids["user_id"] = s.requestField(t, "POST", "/v2/user", `{"client_user_id":"`+newUserName()+`"}`, "user_id")
	},
}

// Every operation with an Idempotency-Key runs once and returns the first answer again.
// It stores the answer in the transaction of its change: a handler that does not is
// logged (docs/decisions/0008-idempotent-answers.md).
func TestIdempotentCreations(t *testing.T) {
	s := start(t, storetest.NewSQLite(t))
	for _, o := range s.doc.operations {
		if !slices.ContainsFunc(o.Params, func(p parameter) bool { return p.In == "header" && p.Name == "Idempotency-Key" }) {
			continue
		}
		t.Run(o.String(), func(t *testing.T) {
			own, f := s.newTeamWithFixture(t)
			if prepare := unusedValues[o.String()]; prepare != nil {
				prepare(t, own, f)
			}
			r := own.minimalRequest(t, o, f.valuesFor(o))
			r.headers["idempotency-key"] = "the same"
			first := own.send(t, r, own.Key)
			again := own.send(t, r, own.Key)
			if reason := refusedOperations[o.String()]; (first.status/100 == 2) != (reason == "") {
				t.Errorf("%v\nwas answered %d %.300s\nthe reason why it is not carried out: %q", r, first.status, first.body, reason)
			}
			own.judge(t, o, r, first)
			if kept := first.status != http.StatusUnprocessableEntity; again.status != first.status || kept &&
				(!bytes.Equal(again.body, first.body) || again.header.Get("content-type") != first.header.Get("content-type") || again.header.Get("idempotent-replayed") != "true") {
				t.Errorf("%v\nwas answered %d %.300s\nand again %d %.300s", r, first.status, first.body, again.status, again.body)
			}
		})
	}
	if strings.Contains(s.Log.String(), "does not answer in the transaction") {
		t.Error("an operation does not answer in the transaction of its change; see the log")
	}
}
