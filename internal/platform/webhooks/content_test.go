package webhooks_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/events"
	"hale/internal/platform/patch"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/platform/webhooks"
)

// An endpoint that asks for ids gets the type and our own ids, signed as they are sent.
// Another one gets the whole event.
func TestEndpointsForIDsOnly(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newFixture(t, db, webhooks.Config{})
		secret := webhooks.NewSecret()
		full, ids := newReceiver(t, nil), newReceiver(t, nil)
		full.secret, ids.secret = secret.Reveal(), secret.Reveal()
		r.endpoint(webhooks.NewEndpoint{URL: full.server.URL, Secret: &secret})
		e := r.endpoint(webhooks.NewEndpoint{URL: ids.server.URL, Secret: &secret, Content: webhooks.IDsOnly})
		user, order, cycle := uuid.New(), uuid.New(), uuid.New()
		emit := func(data string) (id events.ID) {
			r.write(func(tx *store.Tx) (err error) {
				id, err = events.Emit(system, tx, events.New{Team: r.team.UUID(), User: user, ClientUserID: "ada@example.org", Type: "daily.data.sleep.created", Data: []byte(data)})
				return err
			})
			return id
		}
		id := emit(`{"id":"` + order.String() + `","user_id":"` + user.String() + `","sleep_cycle_id":"` + cycle.String() + `","ids":["` + order.String() + `"],` +
			`"external_id":"ada@example.org","client_user_id":"` + uuid.NewString() + `","device_id":"` + uuid.NewString() + `","provider_id":"` + uuid.NewString() + `","sample_id":"798656","source_id":3,"duration":3600,"message_id":"msg_2abc","name":"Ada","source":{"id":"` + order.String() + `"}}`)
		plain := emit(`[1,{"query_id":"` + cycle.String() + `","n":2}]`)
		waitFor(t, time.Minute, "four posts", func() bool { return full.distinct() == 2 && ids.distinct() == 2 })
		want := map[string]any{
			"event_type": "daily.data.sleep.created", "team_id": r.team.String(), "user_id": user.String(),
			"data": map[string]any{"id": order.String(), "user_id": user.String(), "sleep_cycle_id": cycle.String(), "ids": []any{order.String()}, "message_id": "msg_2abc"},
		}
		var got map[string]any
		if err := json.Unmarshal(ids.bodies[id.String()], &got); err != nil {
			t.Fatal(err)
		}
		if a, b := asText(t, got), asText(t, want); a != b {
			t.Errorf("%s\nwant\n%s", a, b)
		}
		if body := string(ids.bodies[plain.String()]); body != `{"event_type":"daily.data.sleep.created","data":[{},{"query_id":"`+cycle.String()+`"}],"team_id":"`+r.team.String()+`","user_id":"`+user.String()+`"}` {
			t.Errorf("data that is a list: %s", body)
		}
		if len(full.bodies[id.String()]) <= len(ids.bodies[id.String()]) {
			t.Errorf("the other endpoint got %s", full.bodies[id.String()])
		}

		r.write(func(tx *store.Tx) error {
			changed, err := webhooks.Update(system, tx, allowPrivate, r.team, e.ID, webhooks.Changes{Content: patch.Set(webhooks.FullContent)})
			if err == nil && changed.Content != webhooks.FullContent {
				t.Errorf("the content is still %s", changed.Content)
			}
			return err
		})
		later := emit(`{"n":1}`)
		waitFor(t, time.Minute, "full posts", func() bool { return full.distinct() == 3 && ids.distinct() == 3 })
		if a, b := string(ids.bodies[later.String()]), string(full.bodies[later.String()]); a != b {
			t.Errorf("after the change: %s, want %s", a, b)
		}
	})
}

func asText(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
