package connections_test

import (
	"context"
	"testing"
	"time"

	"hale/internal/people/users"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/wearables/connections"
)

// Of two versions of a device that come at once the newer one stays, whichever
// is committed first.
func TestVersionsAtOnce(t *testing.T) {
	db := storetest.Postgres(t)
	user := userstest.New(t, db, userstest.Team(t, db).ID, users.NewUser{})
	ctx := store.WithTeam(context.Background(), user.Team.UUID())
	see := func(version string, meanwhile func()) error {
		return db.Write(ctx, func(tx *store.Tx) error {
			_, err := connections.EnsureDevice(ctx, tx, user, connections.Device{Provider: "garmin", Model: "Watch", Version: version})
			meanwhile()
			return err
		})
	}
	if err := see("1.0", func() {}); err != nil {
		t.Fatal(err)
	}
	second := make(chan error, 1)
	err := see("3.0", func() {
		go func() { second <- see("2.0", func() {}) }()
		time.Sleep(200 * time.Millisecond) // it has read 1.0, and waits
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := <-second; err != nil {
		t.Fatal(err)
	}
	userstest.Read(t, db, func(ctx context.Context, tx *store.Tx) error {
		all, err := connections.Devices(ctx, tx, user.Team, user.ID)
		if err != nil || len(all) != 1 || all[0].Version != "3.0" {
			t.Errorf("devices %+v, %v", all, err)
		}
		return nil
	})
	if n := len(announced(t, db, user, connections.DeviceUpdatedEvent)); n != 1 {
		t.Errorf("%d times updated", n)
	}
}
