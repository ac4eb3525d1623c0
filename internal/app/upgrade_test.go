package app_test

import (
	"strings"
	"testing"

	"hale/internal/app"
	"hale/internal/app/apptest"
	"hale/internal/platform/ops"
	"hale/internal/platform/store/storetest"
)

// During a rolling upgrade, a newer node migrates PostgreSQL while this one serves. This
// one becomes not ready, answers 503 where its statements no longer fit, and does not start
// again.
func TestOldNodeDuringAnUpgrade(t *testing.T) {
	d := storetest.NewPostgres(t)
	s := apptest.Start(t, d)
	b := &brokenPostgres{Service: s, t: t, user: s.NewUser("ann")}
	admin := superuser(t, d)
	admin(`ALTER TABLE users RENAME COLUMN time_zone TO time_zone_of_the_next_version`)
	admin(`INSERT INTO goose_db_version (version_id, is_applied) VALUES (99999, TRUE)`)
	if status, code := b.create("bob"); status != 503 || code != "unavailable" {
		t.Errorf("a write: %d %s", status, code)
	}
	if status, code := b.request(s, "GET", "/v2/user/"+b.user, ""); status != 503 || code != "unavailable" {
		t.Errorf("a read: %d %s", status, code)
	}
	b.eventually(func() bool {
		status, text := b.Call("GET", "/readyz", "")
		return status == 503 && strings.Contains(string(text), "[-] schema")
	}, "the old node is ready")
	if !strings.Contains(s.Log.String(), "a newer version has migrated the database") {
		t.Error("the log does not say why")
	}
	d.Dir = t.TempDir()
	_, err := app.New(t.Context(), app.Options{Config: apptest.Config(t, d), Log: ops.NewLogger(&apptest.Buffer{}, "text", "info"), Version: "test"})
	if err == nil || !strings.Contains(err.Error(), "start a newer one") {
		t.Errorf("a start of the old version: %v", err)
	}
}
