package app_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"hale/internal/app"
	"hale/internal/app/apptest"
	"hale/internal/platform/ops"
	"hale/internal/platform/secrets"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
)

// After an erasure, no byte of the data folder is left of the person: no name, and no
// key that would open one. A backup from before the erasure loses the person again
// before the service answers.
func TestAnErasureLeavesNothing(t *testing.T) {
	d := storetest.NewSQLite(t)
	var clock atomic.Int64
	clock.Store(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).UnixNano())
	start := func() *apptest.Service {
		return apptest.StartWith(t, d, func(o *app.Options) {
			o.Now = func() time.Time { return time.Unix(0, clock.Load()).UTC() }
			o.Config.RootKey = secrets.Text("")
		})
	}
	s := start()
	person := createNamed(s, "client-id-of-the-erased", "Quintessa", "Vandermolen", "1984-12-10")
	kept := createPerson(s, "kept")
	wrapped := wrappedKey(t, s, person)
	marks := [][]byte{
		wrapped, openedKey(t, s, person, wrapped), []byte("client-id-of-the-erased"),
		[]byte("Quintessa"), []byte("Vandermolen"), []byte("1984-12-10"),
	}
	s.End()
	backup := readFile(t, filepath.Join(d.Dir, store.FileName))

	s = start()
	s.Expect(200, "DELETE", "/v2/user/"+person, "", nil)
	clock.Add(int64(8 * 24 * time.Hour))
	if err := s.DB.ConfirmClock(store.AsSystem(t.Context())); err != nil {
		t.Fatal(err)
	}
	waitForErasure(t, s, person)
	checkFilesContain(t, d.Dir, marks, false)
	s.End()
	checkFilesContain(t, d.Dir, marks, false)

	if err := os.WriteFile(filepath.Join(d.Dir, store.FileName), backup, 0o600); err != nil {
		t.Fatal(err)
	}
	requireDamageRefused(t, d)
	checkFilesContain(t, d.Dir, marks, true) // the search finds a key that is there
	s = start()
	if status, _ := s.Call("GET", "/v2/user/"+person, ""); status != 404 {
		t.Errorf("the person of a restored backup: %d", status)
	}
	s.Expect(200, "GET", "/v2/user/"+kept+"/info/latest", "", nil)
	if !strings.Contains(s.Log.String(), "erased people again") {
		t.Error("the log does not say that a person was erased again")
	}
	waitForErasure(t, s, person)
	checkFilesContain(t, d.Dir, marks, false)
	if list := readFile(t, filepath.Join(d.Dir, "erasures")); bytes.Contains(list, []byte(person)) {
		t.Error("the list of erasures names the person in clear")
	}
}

func createPerson(s *apptest.Service, name string) (id string) {
	return createNamed(s, name, "Ada", "Example", "1971-07-23")
}

func createNamed(s *apptest.Service, name, first, last, born string) (id string) {
	var user struct {
		ID string `json:"user_id"`
	}
	s.Expect(200, "POST", "/v2/user", `{"client_user_id":"`+name+`","fallback_birth_date":"`+born+`"}`, &user)
	s.Expect(200, "PATCH", "/v2/user/"+user.ID+"/info", `{"first_name":"`+first+`","last_name":"`+last+`","email":"a@example.org","phone_number":"+14155550132",
		"gender":"female","dob":"`+born+`","address":{"first_line":"1 Example Street","city":"Phoenix","state":"AZ","zip":"85004","country":"US"}}`, nil)
	s.Expect(200, "POST", "/v2/timeseries/"+user.ID+"/heartrate",
		`{"stage":"daily","provider":"apple_health_kit","data":[{"timestamp":"2026-03-01T00:00:00Z","value":61,"unit":"bpm"}]}`, nil)
	return user.ID
}

func wrappedKey(t *testing.T, s *apptest.Service, user string) (wrapped []byte) {
	t.Helper()
	err := s.DB.Read(store.AsSystem(t.Context()), func(tx *store.Tx) error {
		return tx.QueryRow(t.Context(), `SELECT wrapped FROM sealing_keys WHERE LOWER(HEX(subject_id)) = $1`,
			strings.ReplaceAll(user, "-", "")).Scan(&wrapped)
	})
	if err != nil || len(wrapped) < secrets.KeySize {
		t.Fatalf("the key of the person: %d bytes, %v", len(wrapped), err)
	}
	return wrapped
}

// openedKey returns the key of a person that opens what is sealed.
func openedKey(t *testing.T, s *apptest.Service, user string, wrapped []byte) (key []byte) {
	t.Helper()
	err := s.DB.Read(store.AsSystem(t.Context()), func(tx *store.Tx) (err error) {
		var team uuid.UUID
		if err = tx.QueryRow(t.Context(), `SELECT team_id FROM sealing_keys WHERE wrapped = $1`, wrapped).Scan(&team); err == nil {
			key, err = tx.Unseal(t.Context(), team, uuid.Nil, fmt.Sprintf("sealing_keys.wrapped:%s:%s:1", team, user), wrapped)
		}
		return err
	})
	if err != nil || len(key) != secrets.KeySize {
		t.Fatalf("the opened key of the person: %d bytes, %v", len(key), err)
	}
	return key
}

// waitForErasure waits until the person's rows are gone and the remains of the key are
// scrubbed.
func waitForErasure(t *testing.T, s *apptest.Service, user string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		var users, waiting int
		err := s.DB.Read(store.AsSystem(t.Context()), func(tx *store.Tx) error {
			if err := tx.QueryRow(t.Context(), `SELECT COUNT(*) FROM users WHERE LOWER(HEX(user_id)) = $1`,
				strings.ReplaceAll(user, "-", "")).Scan(&users); err != nil {
				return err
			}
			return tx.QueryRow(t.Context(), `SELECT COUNT(*) FROM jobs WHERE kind = 'users.scrub' AND status IN ('queued', 'running')`).Scan(&waiting)
		})
		if err != nil {
			t.Fatal(err)
		}
		if users == 0 && waiting == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("after a minute: %d users, %d scrubs", users, waiting)
		}
	}
}

// checkFilesContain searches the bytes of every file of a folder.
func checkFilesContain(t *testing.T, folder string, keys [][]byte, want bool) {
	t.Helper()
	found := ""
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content := readFile(t, path)
		for _, key := range keys {
			if bytes.Contains(content, key) {
				found = entry.Name()
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if want != (found != "") {
		t.Errorf("the key of the erased person is in %q; should it be: %v", found, want)
	}
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// requireDamageRefused damages the list of erasures. A start is refused and names the
// lines.
func requireDamageRefused(t *testing.T, d storetest.Database) {
	t.Helper()
	path := filepath.Join(d.Dir, "erasures")
	whole := readFile(t, path)
	flipped := bytes.Clone(whole)
	flipped[len(flipped)/2] ^= 1
	for name, text := range map[string][]byte{"one bit": flipped, "garbage": append(bytes.Clone(whole), "\x01garbage\n"...)} {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if text := requireRefusedStart(t, d); !strings.Contains(text, "damaged lines") && !strings.Contains(text, "another root key") || !strings.Contains(text, "line") {
			t.Errorf("%s: %s", name, text)
		}
	}
	if err := os.WriteFile(path, whole, 0o600); err != nil {
		t.Fatal(err)
	}
}

// A folder may have only a list of erasures, whose key is missing. The start is refused
// and creates no key and no database.
func TestAListOfErasuresWithoutItsKeyCreatesNothing(t *testing.T) {
	folder := t.TempDir()
	_, line := secrets.NewRootKey()
	root, err := secrets.ParseRoot(line)
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := root.Derive("erasures").Seal("erasures", make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "erasures"), []byte(base64.StdEncoding.EncodeToString(sealed)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg := apptest.Config(t, storetest.Database{Engine: store.SQLite, Dir: folder})
	for _, key := range []secrets.Text{"", cfg.RootKey} {
		cfg.RootKey = key
		if _, err := app.New(t.Context(), app.Options{Config: cfg, Log: ops.Discard()}); !errors.Is(err, app.ErrErasures) {
			t.Errorf("the start: %v", err)
		}
		if files := listFiles(t, folder); strings.TrimSpace(files) != "erasures +" {
			t.Errorf("the folder has %s", files)
		}
	}
}
