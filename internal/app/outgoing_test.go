package app_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"hale/internal/app"
	"hale/internal/app/apptest"
	"hale/internal/labs/critical"
	"hale/internal/labs/networks"
	"hale/internal/labs/networks/networktest"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
)

// A copy that is held posts no webhook and places no order, also after a start without
// the setting. It does both once it is released.
func TestARestoredCopySendsNothing(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		var posts atomic.Int64
		receiver := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { posts.Add(1) }))
		defer receiver.Close()
		lab := &networktest.Lab{}
		start := func(hold bool) *clinic {
			s := apptest.StartWith(t, d, func(o *app.Options) {
				o.Networks, o.Config.HoldOutgoing = []networks.Network{lab}, hold
			})
			return &clinic{Service: s, t: t, lab: lab}
		}
		var hook struct{ ID string }
		c := clinicOf(t, start(true).Service, lab, "patient-1")
		c.Expect(200, "POST", "/v2/webhooks", fmt.Sprintf(`{"url":%q}`, receiver.URL), &hook)
		c.Expect(503, "POST", "/v2/webhooks/"+hook.ID+"/example", `{"event_type":"daily.data.sleep.created"}`, nil)
		order := c.order("testkit")
		placed := uuid.MustParse(order.ID)
		if status, text := c.Call("GET", "/readyz?verbose", ""); status != 200 || !strings.Contains(string(text), "[!] outgoing") {
			t.Errorf("readiness: %d %s", status, text)
		}
		waitForLog(t, c.Service, "nothing is sent to other systems")
		c.End()

		again := start(false)
		time.Sleep(300 * time.Millisecond) // a sender that is not held would need 20
		if _, calls := lab.Placed(placed); calls > 0 || posts.Load() > 0 {
			t.Errorf("%d orders placed, %d events posted", calls, posts.Load())
		}
		ctx := store.AsSystem(t.Context())
		if err := again.DB.Write(ctx, func(tx *store.Tx) error { return critical.NotifyOperators(ctx, tx, uuid.New()) }); err != nil {
			t.Fatal(err)
		}
		waiting, err := app.CountOutgoing(ctx, again.DB)
		if last := waiting[len(waiting)-1]; last.Kind != "e-mails to the operators" || last.Count != 1 {
			t.Errorf("%+v", last)
		}
		if err != nil || waiting[0].Count == 0 || waiting[0].First.IsZero() || waiting[1].Count != 1 {
			t.Errorf("waiting: %+v, %v", waiting, err)
		}
		if err := again.DB.ResumeOutgoing(ctx); err != nil {
			t.Fatal(err)
		}
		for deadline := time.Now().Add(90 * time.Second); ; time.Sleep(20 * time.Millisecond) {
			_, calls := lab.Placed(placed)
			if calls == 1 && posts.Load() >= waiting[0].Count {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("after the release %d orders placed, %d of %d events posted", calls, posts.Load(), waiting[0].Count)
			}
		}
	})
}
