package app_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"hale/internal/app/apptest"
	"hale/internal/platform/config"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/platform/teams"
)

func TestACreationRepeatedWithItsKeyHappensOnce(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		a := apptest.Start(t, d)
		const body = `{"client_user_id": "ann"}`
		first := answerOf(t, a.Do("POST", "/v2/user/", body, "Idempotency-Key", "k1"))
		again := answerOf(t, a.Do("POST", "/v2/user/", body, "X-Idempotency-Key", "k1"))
		if first.status != 200 || again.status != 200 || first.body != again.body || again.replayed != "true" || first.replayed != "" {
			t.Fatalf("first %+v\nagain %+v", first, again)
		}
		if other := answerOf(t, a.Do("POST", "/v2/user/", `{"client_user_id": "bob"}`, "Idempotency-Key", "k1")); other.status != 409 {
			t.Errorf("another body under the same key: %+v", other)
		}
		if foreign := answerOf(t, a.NewTeam("other").Do("POST", "/v2/user/", body, "Idempotency-Key", "k1")); foreign.status != 200 || foreign.body == first.body {
			t.Errorf("another team with the same key: %+v", foreign)
		}
		var list struct{ Total int }
		if a.Get("/v2/user/", &list); list.Total != 1 {
			t.Errorf("%d users of 1", list.Total)
		}
	})
}

func TestARefusalIsRepeatedAndAFailedValidationIsNot(t *testing.T) {
	a := apptest.Start(t, storetest.NewSQLite(t))
	a.Expect(200, "POST", "/v2/user/", `{"client_user_id": "ann"}`, nil)
	refused := answerOf(t, a.Do("POST", "/v2/user/", `{"client_user_id": "ann"}`, "Idempotency-Key", "k2"))
	again := answerOf(t, a.Do("POST", "/v2/user/", `{"client_user_id": "ann"}`, "Idempotency-Key", "k2"))
	if refused.status != 400 || again.status != 400 || again.replayed != "true" || again.body != refused.body {
		t.Errorf("refused %+v\nagain %+v", refused, again)
	}
	if bad := answerOf(t, a.Do("POST", "/v2/user/", `{}`, "Idempotency-Key", "k3")); bad.status != 422 {
		t.Errorf("bad input: %+v", bad)
	}
	if mended := answerOf(t, a.Do("POST", "/v2/user/", `{"client_user_id": "bob"}`, "Idempotency-Key", "k3")); mended.status != 200 {
		t.Errorf("the mended request: %+v", mended)
	}
	if long := answerOf(t, a.Do("POST", "/v2/user/", `{"client_user_id": "x"}`, "Idempotency-Key", strings.Repeat("k", 256))); long.status != 422 {
		t.Errorf("a key that is too long: %+v", long)
	}
}

// Of many equal requests at once, on any node, one is carried out. The others are
// answered that it runs, or get its answer.
func TestTheSameRequestManyTimesAtOnce(t *testing.T) {
	d := storetest.NewPostgres(t)
	nodes := []*apptest.Service{apptest.Start(t, d), apptest.Start(t, d)}
	var mu sync.Mutex
	created := map[string]bool{}
	var wg sync.WaitGroup
	for i := range 40 {
		wg.Go(func() {
			got := answerOf(t, nodes[i%2].Do("POST", "/v2/user/", `{"client_user_id": "ann"}`, "Idempotency-Key", "k4"))
			switch got.status {
			case http.StatusOK:
				mu.Lock()
				created[got.body] = true
				mu.Unlock()
			case http.StatusConflict:
			default:
				t.Errorf("%+v", got)
			}
		})
	}
	wg.Wait()
	if len(created) != 1 {
		t.Errorf("%d different users", len(created))
	}
}

// A request that began on another node is left to that node while it lives. After that,
// without a stored answer, it is not carried out a second time.
func TestARequestInProgressBelongsToItsNode(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		a := apptest.Start(t, d)
		const body = `{"client_user_id": "ann"}`
		first := answerOf(t, a.Do("POST", "/v2/user/", body, "Idempotency-Key", "k5"))
		if first.status != 200 {
			t.Fatalf("%+v", first)
		}
		ctx := store.AsSystem(t.Context())
		if err := a.DB.Write(ctx, func(tx *store.Tx) error {
			node := tx.NewUUID()
			if _, err := tx.Exec(ctx, `INSERT INTO nodes (id, until, started_at) VALUES ($1, $2, $2)`, node, tx.Now().Add(time.Hour)); err != nil {
				return err
			}
			_, err := tx.Exec(ctx, `UPDATE idempotency_keys SET status = 0, node_id = $1`, node)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if runs := answerOf(t, a.Do("POST", "/v2/user/", body, "Idempotency-Key", "k5")); runs.status != 409 || !strings.Contains(runs.body, "still running") {
			t.Errorf("while the other node lives: %+v", runs)
		}
		if err := a.DB.Write(ctx, func(tx *store.Tx) error {
			_, err := tx.Exec(ctx, `DELETE FROM nodes WHERE id = (SELECT node_id FROM idempotency_keys)`)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if lost := answerOf(t, a.Do("POST", "/v2/user/", body, "Idempotency-Key", "k5")); lost.status != 409 || !strings.Contains(lost.body, "IDEMPOTENT_ANSWER_LOST") {
			t.Errorf("after it died: %+v", lost)
		}
	})
}

func TestAKeyOverItsRateLimit(t *testing.T) {
	a := apptest.Start(t, storetest.NewSQLite(t), func(c *config.Config) { c.RateLimit, c.RateBurst = 0.001, 3 })
	for i := range 3 {
		if status, _ := a.Call("GET", "/v2/providers", ""); status != 200 {
			t.Fatalf("request %d: %d", i, status)
		}
	}
	res := a.Do("GET", "/v2/providers", "")
	defer res.Body.Close()
	if res.StatusCode != 429 || res.Header.Get("Retry-After") == "" {
		t.Errorf("%d, Retry-After %q", res.StatusCode, res.Header.Get("Retry-After"))
	}
	if status, _ := a.NewTeam("other").Call("GET", "/v2/providers", ""); status != 200 {
		t.Errorf("another key: %d", status)
	}
}

// Every answer to a key with a limit says how many requests are left, also a refusal.
func TestRefusalsHaveTheHeadersOfTheLimit(t *testing.T) {
	a := apptest.Start(t, storetest.NewSQLite(t), func(c *config.Config) { c.RateLimit, c.RateBurst = 0.001, 5 })
	other := a.NewTeam("other")
	left := 5
	check := func(path string, want int) {
		t.Helper()
		res := other.Do("GET", path, "")
		defer res.Body.Close()
		left--
		if got := res.Header.Get("RateLimit-Remaining"); res.StatusCode != want || got != strconv.Itoa(left) {
			t.Errorf("%s: %d with %q requests left, want %d with %d", path, res.StatusCode, got, want, left)
		}
	}
	check("/v2/providers", 200)
	check("/v2/user/x", 422)
	check("/v2/user/resolve/nobody", 404)
	ctx := store.AsSystem(t.Context())
	err := a.DB.Write(ctx, func(tx *store.Tx) error {
		all, err := teams.List(ctx, tx)
		if err != nil {
			return err
		}
		_, key, err := teams.CreateKey(ctx, tx, all[len(all)-1], teams.NewKey{Label: "limited", Rights: teams.Rights{Scopes: []teams.Scope{teams.Webhooks}}})
		other.Key = key.Reveal()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	left = 5 // each key has its own limit
	check("/v2/providers", 403)
}

type keyedAnswer struct {
	status   int
	body     string
	replayed string
}

func answerOf(t *testing.T, res *http.Response) keyedAnswer {
	t.Helper()
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Error(err)
	}
	if !json.Valid(text) {
		t.Errorf("not JSON: %s", text)
	}
	return keyedAnswer{res.StatusCode, string(text), res.Header.Get("Idempotent-Replayed")}
}
