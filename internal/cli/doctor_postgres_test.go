package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hale/internal/app"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
)

// The doctor names a PostgreSQL database that is not the one of the data folder, also an
// empty one.
func TestTheDoctorKnowsTheDatabaseOfItsFolder(t *testing.T) {
	d := storetest.NewPostgres(t)
	if err := os.WriteFile(filepath.Join(d.Dir, app.InstallationFile), []byte("postgres 6d8f3a55-0000-4000-8000-000000000001\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	db := d.Open(t, nil)
	ctx := store.AsSystem(t.Context())
	err := db.Write(ctx, func(tx *store.Tx) error {
		_, err := tx.Exec(ctx, `UPDATE instance SET installation = 'another' WHERE id = 1`)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	s := newTerminal("HALE_DATA="+d.Dir, "HALE_DATABASE="+d.URL, "HALE_LISTEN=127.0.0.1:0", "HALE_METRICS_LISTEN=off")
	code := s.run(t.Context(), []string{"doctor"})
	if said := s.out.String(); code != exitFailure || !strings.Contains(said, "belongs to another installation") {
		t.Errorf("exit code %d: %s", code, said)
	}
}

// The doctor says why PostgreSQL accepts no writes or no connections, without the password
// of the address.
func TestTheDoctorSaysWhyPostgresIsNotAvailable(t *testing.T) {
	proxy, d := storetest.NewProxy(t, storetest.NewPostgres(t))
	examine := func(url, want string) {
		t.Helper()
		s := newTerminal("HALE_DATA="+d.Dir, "HALE_DATABASE="+url, "HALE_LISTEN=127.0.0.1:0", "HALE_METRICS_LISTEN=off")
		code := s.run(t.Context(), []string{"doctor"})
		said := s.out.String() + s.err.String()
		if code != exitFailure || !strings.Contains(said, want) || strings.Contains(said, storetest.ProxyPassword) {
			t.Errorf("exit code %d; it does not say %q: %s", code, want, said)
		}
	}
	examine(d.URL+"&default_transaction_read_only=on", "cannot be written: the database is read-only")
	proxy.RefuseWith("57P03", "the database system is starting up")
	examine(d.URL, "the database system is starting up")
	proxy.Refuse()
	examine(d.URL, "no answer from PostgreSQL at 127.0.0.1:")
}
