package apitest

import (
	"bytes"
	"net/http"
	"slices"
	"strings"
	"testing"

	"hale/internal/store/storetest"
)

// leastCarriedOut is how many operations the plainest requests get through; the
// others are refused, which is repeated too.
const leastCarriedOut = 10

// Every operation that takes an Idempotency-Key gives its first answer again,
// and answers in the transaction of its change: a handler that does not is
// logged (docs/decisions/0008-idempotent-answers.md).
func TestEveryCreationIsRepeatedWithItsAnswer(t *testing.T) {
	s := start(t, storetest.NewSQLite(t))
	carried := 0
	for _, o := range s.doc.operations {
		if !slices.ContainsFunc(o.Params, func(p parameter) bool { return p.In == "header" && p.Name == "Idempotency-Key" }) {
			continue
		}
		t.Run(o.String(), func(t *testing.T) {
			own, f := s.apart(t)
			r := own.whole(t, o, f.knownTo(o))
			r.headers["idempotency-key"] = "the same"
			first := own.send(t, r, own.Key)
			again := own.send(t, r, own.Key)
			if first.status/100 == 2 {
				carried++
			}
			own.judge(t, o, r, first)
			if kept := first.status != http.StatusUnprocessableEntity; again.status != first.status || kept &&
				(!bytes.Equal(again.body, first.body) || again.header.Get("content-type") != first.header.Get("content-type") || again.header.Get("idempotent-replayed") != "true") {
				t.Errorf("%v\nwas answered %d %.300s\nand again %d %.300s", r, first.status, first.body, again.status, again.body)
			}
		})
	}
	if carried < leastCarriedOut {
		t.Errorf("only %d operations were carried out", carried)
	}
	if strings.Contains(s.Log.String(), "does not answer in the transaction") {
		t.Error("an operation does not answer in the transaction of its change; see the log")
	}
}
