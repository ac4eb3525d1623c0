package cli

import (
	"context"
	"encoding/base64"
	"strings"
	"testing"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/orders"
	"hale/internal/labs/orders/orderstest"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/config"
	"hale/internal/platform/ops"
	"hale/internal/platform/secrets"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
)

// A newer version has migrated the database, so this version refuses it. No
// command works on it, the doctor reports it, and no backup of it is restored.
func TestANewerDatabaseIsRefused(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		ctx := store.AsSystem(t.Context())
		db := d.Open(t, nil)
		if err := mustBeMigrated(ctx, db); err != nil {
			t.Fatal(err)
		}
		err := db.Write(ctx, func(tx *store.Tx) error {
			applied := "1"
			if db.Engine() == store.Postgres {
				applied = "TRUE"
			}
			_, err := tx.Exec(ctx, `INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, `+applied+`)`)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if f := examineRole(ctx, db); f.Verdict != verdictOK {
			t.Errorf("of a role that owns its tables the doctor says %+v", f)
		}
		const want = "the database has schema 9999"
		if err := mustBeMigrated(ctx, db); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("a command continues: %v", err)
		}
		if f := examineMigrations(ctx, db); f.Verdict != verdictBroken || !strings.Contains(f.Detail, want) {
			t.Errorf("the doctor says %+v", f)
		}
		if db.Engine() == store.Postgres {
			return
		}
		cfg, err := config.Load(config.Input{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := newTerminal().checkRestored(ctx, cfg, d.Dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("a backup is restored: %v", err)
		}
	})
}

// Hale makes events of orders on the command line too; the links in them are
// those of the server.
func TestCommandsSignLinks(t *testing.T) {
	d := storetest.NewSQLite(t)
	s := newTerminal()
	cfg, err := config.Load(config.Input{Flags: map[string][]string{
		"data": {d.Dir}, "base-url": {"https://health.example/"}, "root-key": {base64.StdEncoding.EncodeToString(secrets.Bytes(secrets.KeySize))},
	}})
	if err != nil {
		t.Fatal(err)
	}
	db, err := s.openDatabase(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	o := orderstest.New(t, db, orderstest.Team(t, db).ID, catalogue.WalkIn)
	orderstest.MoveTo(t, db, &o, orders.RequisitionCreated)
	o.SampleID = "1"
	var facts []orders.Facts
	userstest.Read(t, db, func(ctx context.Context, tx *store.Tx) (err error) {
		facts, err = orders.ReadFacts(ctx, tx, o.Team, []orders.Order{o})
		return err
	})
	document := orders.DocumentOf(&o, facts[0], 0, s.now())
	if link := document.RequisitionFormURL; link == nil || !strings.HasPrefix(*link, "https://health.example/v3/requisition_form?token=") {
		t.Errorf("the link is %v", link)
	}
}

func TestAFullDiskIsBroken(t *testing.T) {
	for free, want := range map[uint64]string{ops.MinFree - 1: verdictBroken, ops.MinFree: verdictWarning, comfortableSpace: verdictOK} {
		if got := room(free); got.Verdict != want {
			t.Errorf("%d bytes free: %+v", free, got)
		}
	}
}
