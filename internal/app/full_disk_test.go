package app_test

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"hale/internal/app/apptest"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
)

// On a full disk a write is answered with 503 and changes nothing. Reads continue, and
// writes continue when there is room again. A restart keeps exactly the acknowledged
// writes.
func TestAFullDiskLosesNothing(t *testing.T) {
	d := storetest.NewSQLite(t)
	a := apptest.Start(t, d)
	room := func(pages string) {
		ctx := store.AsSystem(t.Context())
		err := a.DB.Write(ctx, func(tx *store.Tx) error {
			rows, err := tx.Query(ctx, `PRAGMA max_page_count = `+pages)
			return errors.Join(err, rows.Close())
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	made, refused := map[string]bool{}, 0
	add := func(name string) int {
		status, text := a.Call(http.MethodPost, "/v2/user", fmt.Sprintf(`{"client_user_id":%q}`, name))
		made[name] = status == http.StatusOK
		if status != http.StatusOK {
			refused++
			if status != http.StatusServiceUnavailable || !strings.Contains(string(text), "disk is full") {
				t.Fatalf("%d %s", status, text)
			}
		}
		return status
	}
	long := func(i int) string { return fmt.Sprint(i, "-", strings.Repeat("x", 200)) }

	room("1") // never less than there are
	i := 0
	for ; refused < 5; i++ {
		add(long(i))
		if i > 10_000 {
			t.Fatal("the disk is never full")
		}
	}
	if res := a.Do(http.MethodPost, "/v2/user", fmt.Sprintf(`{"client_user_id":%q}`, long(i))); res.Header.Get("Retry-After") == "" || res.Body.Close() != nil {
		t.Errorf("headers %v", res.Header)
	}
	a.Get("/v2/user", nil)
	if log := a.Log.String(); !strings.Contains(log, "the database is not available") || !strings.Contains(log, "disk is full") {
		t.Errorf("the log does not say why: %s", log)
	}
	room("1000000")
	if status := add("after"); status != http.StatusOK {
		t.Errorf("with room again: %d", status)
	}

	a.End()
	a = apptest.Start(t, d)
	for name, kept := range made {
		want := http.StatusNotFound
		if kept {
			want = http.StatusOK
		}
		if status, text := a.Call(http.MethodGet, "/v2/user/resolve/"+name, ""); status != want {
			t.Errorf("after a restart %s is %d, want %d: %s", name[:min(len(name), 8)], status, want, text)
		}
	}
}

// The log reports a commit that waits for another process, at most once a minute.
func TestAHeldWriteLockIsLogged(t *testing.T) {
	d := storetest.NewSQLite(t)
	a := apptest.Start(t, d)
	other := d.Open(t, nil)
	ctx := store.AsSystem(t.Context())
	var waiting sync.WaitGroup
	for range 2 {
		err := other.Write(ctx, func(tx *store.Tx) error {
			if _, err := tx.Exec(ctx, `UPDATE instance SET pinged_at = pinged_at WHERE id = 1`); err != nil {
				return err
			}
			waiting.Go(func() { a.Call(http.MethodPost, "/v2/user", `{"client_user_id":"ann"}`) })
			time.Sleep(3 * time.Second)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		waiting.Wait()
	}
	if log := a.Log.String(); strings.Count(log, "another process holds the write lock") != 1 || !regexp.MustCompile(`waited=[1-9]`).MatchString(log) {
		t.Errorf("the log says %s", log)
	}
}
