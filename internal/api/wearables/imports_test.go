package wearables_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"hale/internal/api"
	"hale/internal/api/routes"
	"hale/internal/people/users"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/platform/teams"
	"hale/internal/wearables/formats/applehealth/applehealthtest"
	"hale/internal/wearables/imports"
)

// importServer serves one user; no worker runs the imports.
type importServer struct {
	t      *testing.T
	server *httptest.Server
	key    string
	user   users.User
	spool  string
}

func newImportServer(t *testing.T, db *store.DB) *importServer {
	t.Helper()
	team := userstest.Team(t, db)
	var key string
	userstest.Write(t, db, func(ctx context.Context, tx *store.Tx) error {
		_, text, err := teams.CreateKey(ctx, tx, team, teams.NewKey{Label: "test", Rights: teams.FullRights})
		key = text.Reveal()
		return err
	})
	spool := filepath.Join(t.TempDir(), "spool")
	api.SetUpHuma()
	handler := routes.New(api.Deps{
		DB: db, Log: slog.New(slog.DiscardHandler), Version: "test",
	}, routes.Services{Imports: &imports.Service{DB: db, Dir: spool, MaxUpload: 4 << 20}})
	server := httptest.NewServer(handler)
	t.Cleanup(func() { server.Close(); handler.Close() })
	return &importServer{t, server, key, userstest.New(t, db, team.ID, users.NewUser{}), spool}
}

func (d *importServer) call(method, path string, body []byte, header ...string) (int, map[string]any) {
	d.t.Helper()
	r, err := http.NewRequestWithContext(d.t.Context(), method, d.server.URL+path, bytes.NewReader(body))
	if err != nil {
		d.t.Fatal(err)
	}
	r.Header.Set("x-service-api-key", d.key)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	answer, err := d.server.Client().Do(r)
	if err != nil {
		d.t.Fatal(err)
	}
	defer answer.Body.Close()
	raw, err := io.ReadAll(answer.Body)
	if err != nil {
		d.t.Fatal(err)
	}
	var doc map[string]any
	if err := json.Unmarshal(raw, &doc); err != nil {
		d.t.Fatalf("%d %s: %v", answer.StatusCode, raw, err)
	}
	return answer.StatusCode, doc
}

func TestUploadIsAccepted(t *testing.T) {
	var file bytes.Buffer
	if _, err := applehealthtest.Write(&file, applehealthtest.Options{Days: 1}); err != nil {
		t.Fatal(err)
	}
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		d := newImportServer(t, db)
		path := "/v2/user/" + d.user.ID.String() + "/imports"
		status, made := d.call("POST", path+"?kind=apple-health&history_only=true", file.Bytes(), "Content-Type", "application/xml")
		if status != http.StatusAccepted || made["status"] != "queued" || made["kind"] != "apple_health" || made["history_only"] != true || made["size"] != float64(file.Len()) {
			t.Fatalf("%d %v", status, made)
		}
		var zipped bytes.Buffer
		w := gzip.NewWriter(&zipped)
		if _, err := w.Write(file.Bytes()); err != nil || w.Close() != nil {
			t.Fatal(err)
		}
		status, again := d.call("POST", path+"/?history_only=1&filename=Sams.xml", zipped.Bytes(), "Content-Encoding", "gzip")
		if status != http.StatusAccepted || again["id"] != made["id"] {
			t.Errorf("%d %v: the same file while the first waits", status, again)
		}
		one := path + "/" + made["id"].(string)
		if status, got := d.call("GET", one, nil); status != 200 || got["sha256"] != made["sha256"] || got["report"] != nil {
			t.Errorf("%d %v", status, got)
		}
		if status, got := d.call("GET", path, nil); status != 200 || len(got["imports"].([]any)) != 1 {
			t.Errorf("%d %v", status, got)
		}
		if status, got := d.call("DELETE", one, nil); status != 200 || got["status"] != "canceled" || got["finished_at"] == nil {
			t.Errorf("%d %v", status, got)
		}
	})
}

// A file sent again under its Idempotency-Key has its first answer, also when
// its import is over; another file is refused.
func TestAnUploadUnderAKey(t *testing.T) {
	var file bytes.Buffer
	if _, err := applehealthtest.Write(&file, applehealthtest.Options{Days: 1}); err != nil {
		t.Fatal(err)
	}
	other := append([]byte("<!-- another -->\n"), file.Bytes()...)
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		d := newImportServer(t, db)
		path := "/v2/user/" + d.user.ID.String() + "/imports"
		status, made := d.call("POST", path, file.Bytes(), "Idempotency-Key", "export-1")
		if status != http.StatusAccepted {
			t.Fatalf("%d %v", status, made)
		}
		if status, got := d.call("DELETE", path+"/"+made["id"].(string), nil); status != 200 {
			t.Fatalf("%d %v", status, got)
		}
		for range 2 {
			if status, again := d.call("POST", path, file.Bytes(), "X-Idempotency-Key", "export-1"); status != http.StatusAccepted || !reflect.DeepEqual(again, made) {
				t.Errorf("%d %v, not %v", status, again, made)
			}
		}
		for name, c := range map[string]struct {
			path string
			body []byte
		}{
			"another file":   {path, other},
			"another wish":   {path + "?history_only=true", file.Bytes()},
			"another upload": {"/v2/user/" + d.user.ID.String() + "/uploads", []byte(`{"size":5}`)},
		} {
			if status, got := d.call("POST", c.path, c.body, "Idempotency-Key", "export-1"); status != http.StatusConflict {
				t.Errorf("%s: %d %v", name, status, got)
			}
		}
		if status, got := d.call("GET", path, nil); status != 200 || len(got["imports"].([]any)) != 1 {
			t.Errorf("%d %v", status, got)
		}
		left, err := os.ReadDir(d.spool)
		if err != nil || len(left) != 0 {
			t.Errorf("%d files are left, %v", len(left), err)
		}
		if status, got := d.call("POST", path, other, "Idempotency-Key", "export-2"); status != http.StatusAccepted || got["id"] == made["id"] {
			t.Errorf("another key: %d %v", status, got)
		}
	})
}

// An upload in parts is begun once under a key.
func TestAnUploadInPartsUnderAKey(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		d := newImportServer(t, db)
		path := "/v2/user/" + d.user.ID.String() + "/uploads"
		status, begun := d.call("POST", path, []byte(`{"size":5}`), "Idempotency-Key", "export-1")
		if status != http.StatusCreated {
			t.Fatalf("%d %v", status, begun)
		}
		if status, again := d.call("POST", path, []byte(`{"size":5}`), "Idempotency-Key", "export-1"); status != http.StatusCreated || !reflect.DeepEqual(again, begun) {
			t.Errorf("%d %v, not %v", status, again, begun)
		}
		if status, got := d.call("POST", path, []byte(`{"size":6}`), "Idempotency-Key", "export-1"); status != http.StatusConflict {
			t.Errorf("another size: %d %v", status, got)
		}
	})
}

// The document of the API states the form of the hash that an upload may have.
func TestHashOfAnUploadInParts(t *testing.T) {
	d := newImportServer(t, storetest.SQLite(t))
	path := "/v2/user/" + d.user.ID.String() + "/uploads"
	for hash, want := range map[string]int{
		"": 201, strings.Repeat("aF", 32): 201, strings.Repeat("a", 63): 422, strings.Repeat("a", 65): 422, strings.Repeat("g", 64): 422,
	} {
		status, got := d.call("POST", path, []byte(`{"size":5,"sha256":"`+hash+`"}`))
		if problem := fmt.Sprint(got["detail"]); status != want || want == 422 && !strings.Contains(problem, "sha256") {
			t.Errorf("%q: %d %s", hash, status, problem)
		}
	}
}

func TestUploadIsRefused(t *testing.T) {
	d := newImportServer(t, storetest.SQLite(t))
	path := "/v2/user/" + d.user.ID.String() + "/imports"
	unknown := "/v2/user/00000000-0000-4000-8000-000000000000/imports"
	cases := []struct {
		name, path, body string
		status           int
		says             string
	}{
		{"unknown kind", path + "?kind=fax", "x", 422, "kind"},
		{"no boolean", path + "?history_only=perhaps", "x", 422, "history_only"},
		{"no id", "/v2/user/anna/imports", "x", 422, "user_id"},
		{"unknown user", unknown, "x", 404, ""},
		{"empty", path, "", 422, "body"},
		{"another thing", path, "hello", 422, "Apple Health"},
		{"too large", path, strings.Repeat("x", 4<<20+1), 413, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			status, got := d.call("POST", c.path, []byte(c.body))
			text, _ := json.Marshal(got)
			if status != c.status || !strings.Contains(string(text), c.says) {
				t.Errorf("%d %s", status, text)
			}
		})
	}
	if status, got := d.call("GET", path, nil); status != 200 || len(got["imports"].([]any)) != 0 {
		t.Errorf("%d %v: a refused upload left something", status, got)
	}
}
