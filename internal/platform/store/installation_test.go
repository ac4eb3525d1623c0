package store_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"hale/internal/platform/store"
)

// setInstallation sets the id of the database.
func setInstallation(t *testing.T, db *store.DB, id string) {
	t.Helper()
	ctx := store.AsSystem(t.Context())
	err := db.Write(ctx, func(tx *store.Tx) error {
		_, err := tx.Exec(ctx, `UPDATE instance SET installation = $1 WHERE id = 1`, id)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A running node does not use the database of another installation, to which a failover or
// a name server leads it. It uses its own one again.
func TestAnotherInstallationIsRefused(t *testing.T) {
	s := openSilent(t, 10*time.Second)
	ctx := store.AsSystem(t.Context())
	setInstallation(t, s.db, "own")
	s.db.Expect("own")
	s.proxy.Close()
	for try := 0; s.db.Ping(ctx) != nil; try++ { // connections that broke
		if try == 100 {
			t.Fatal("the own database is refused")
		}
	}
	refused := func(err error) {
		t.Helper()
		unavailable(t, "another installation", err)
		var down *store.Unavailable
		if errors.As(err, &down) && !strings.Contains(down.Reason(), "another installation") {
			t.Errorf("the reason is %q", down.Reason())
		}
	}
	setInstallation(t, s.db, "another")
	s.proxy.Close()
	var err error
	for range 100 {
		if err = s.db.Ping(ctx); err != nil && strings.Contains(err.Error(), "installation") {
			break
		}
	}
	refused(err)
	refused(s.db.Read(ctx, func(*store.Tx) error { return nil }))
	refused(s.db.Write(ctx, func(*store.Tx) error { return nil }))
	s.db.Expect("another")
	if err := s.db.Ping(ctx); err != nil {
		t.Errorf("the expected database: %v", err)
	}
}

// A statement that PostgreSQL cancels can be tried again. The timeout of the role does not
// end a copy of the database.
func TestCanceledStatementIsUnavailable(t *testing.T) {
	s := openSilent(t, 10*time.Second)
	ctx := store.AsSystem(t.Context())
	unavailable(t, "a canceled statement", s.db.Read(ctx, func(tx *store.Tx) error {
		if _, err := tx.Exec(ctx, `SET LOCAL statement_timeout = 20`); err != nil {
			return err
		}
		return sleep(ctx, "5")(tx)
	}))
}
