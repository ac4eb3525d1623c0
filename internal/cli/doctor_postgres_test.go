package cli

import (
	"strings"
	"testing"

	"hale/internal/platform/store/storetest"
)

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
