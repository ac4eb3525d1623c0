package app_test

import (
	"errors"
	"fmt"
	"testing"

	"hale/internal/app/apptest"
	"hale/internal/platform/store"
	"hale/internal/platform/store/pgtemp"
	"hale/internal/platform/store/storetest"
)

// A service with the addresses of two servers continues on the second one when the first
// dies. It is not ready in between, and loses no user that it acknowledged.
func TestServiceContinuesAfterFailover(t *testing.T) {
	ctx := t.Context()
	primary, err := pgtemp.Start(ctx, pgtemp.Durable)
	if errors.Is(err, pgtemp.ErrMissing) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer primary.Stop()
	if _, err := primary.CreateDatabase(ctx, "hale"); err != nil {
		t.Fatal(err)
	}
	standby, err := primary.StartStandby(ctx)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = standby.Stop() }) // after the service
	s := apptest.Start(t, storetest.Database{Engine: store.Postgres, URL: pgtemp.EitherURL("hale", primary, standby), Dir: t.TempDir()})
	b := &brokenPostgres{Service: s, t: t}

	var stored []string
	create := func() bool {
		b.count++
		name := fmt.Sprint("user-", b.count)
		status, _ := b.create(name)
		if status == 200 {
			stored = append(stored, name)
		}
		return status == 200
	}
	for range 20 {
		if !create() {
			t.Error("a write before the failover failed")
		}
	}
	if err := primary.Stop(); err != nil {
		t.Fatal(err)
	}
	b.notReady("the database is not reachable")
	if create() {
		t.Error("a write without a primary succeeded")
	}
	if err := standby.Promote(ctx); err != nil {
		t.Fatal(err)
	}
	b.eventually(create, "no write succeeds")
	b.eventually(func() bool {
		status, _ := b.Call("GET", "/readyz", "")
		return status == 200
	}, "the node is not ready")
	for _, name := range stored {
		if status, _ := b.request(s, "GET", "/v2/user/resolve/"+name, ""); status != 200 {
			t.Errorf("%s: %d", name, status)
		}
	}
}
