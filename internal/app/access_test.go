package app_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hale/internal/app"
	"hale/internal/app/apptest"
	"hale/internal/platform/config"
	"hale/internal/platform/secrets"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/platform/teams"
)

func TestRequestsWithoutAValidKey(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		a := apptest.Start(t, d)
		for name, c := range map[string]struct {
			headers []string
			detail  string
		}{
			"missing":      {nil, "Missing x-service-api-key"},
			"wrong":        {[]string{"x-service-api-key", "sk_nobody_has_this_key"}, "invalid token"},
			"wrong bearer": {[]string{"Authorization", "Bearer sk_nobody_has_this_key"}, "invalid token"},
		} {
			t.Run(name, func(t *testing.T) {
				keyless := *a
				keyless.Key = ""
				res := keyless.Do("GET", "/v2/user/", "", c.headers...)
				defer res.Body.Close()
				var body struct{ Detail string }
				if err := json.NewDecoder(res.Body).Decode(&body); err != nil {
					t.Fatal(err)
				}
				if res.StatusCode != 401 || body.Detail != c.detail || res.Header.Get("X-Request-Id") == "" {
					t.Errorf("%d %q", res.StatusCode, body.Detail)
				}
			})
		}
		if status, _ := a.Call("GET", "/v2/nothing", ""); status != 404 {
			t.Errorf("an unknown path gave %d", status)
		}
		if status, _ := a.Call("DELETE", "/v2/providers", ""); status != 405 {
			t.Errorf("a wrong method gave %d", status)
		}
	})
}

func TestKeysComeInTheHeadersThatAreConfigured(t *testing.T) {
	a := apptest.Start(t, storetest.NewSQLite(t), func(c *config.Config) { c.APIKeyHeaders = []string{"x-clinic-key", "x-old-key"} })
	a.Key = ""
	for _, headers := range [][]string{{"x-clinic-key", apptest.Key}, {"X-Old-Key", apptest.Key}, {"Authorization", "Bearer " + apptest.Key}} {
		if status, body := a.Call("GET", "/v2/providers/", "", headers...); status != 200 {
			t.Errorf("%s: %d %s", headers[0], status, body)
		}
	}
	if status, body := a.Call("GET", "/v2/providers/", "", "x-service-api-key", apptest.Key); status != 401 || !strings.Contains(string(body), "x-clinic-key") {
		t.Errorf("a header that is not configured: %d %s", status, body)
	}
}

func TestARevokedKeyEndsAndARotatedOneOverlaps(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		a := apptest.Start(t, d)
		b := a.NewTeam("clinic")
		ctx := store.AsSystem(t.Context())
		if err := a.DB.Write(ctx, func(tx *store.Tx) error {
			_, key, err := teams.Resolve(ctx, tx, b.Key)
			if err != nil {
				return err
			}
			return teams.EndKey(ctx, tx, key.Team, key.ID, tx.Now())
		}); err != nil {
			t.Fatal(err)
		}
		if status, body := b.Call("GET", "/v2/providers", ""); status != 401 || !strings.Contains(string(body), "invalid token") {
			t.Errorf("a revoked key: %d %s", status, body)
		}
		if status, _ := a.Call("GET", "/v2/providers", ""); status != 200 {
			t.Errorf("another team's key: %d", status)
		}
	})
}

func TestBodiesAreDecompressedAndLimited(t *testing.T) {
	a := apptest.Start(t, storetest.NewSQLite(t))
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	_, _ = io.WriteString(w, `{"client_user_id": "zipped"}`)
	_ = w.Close()
	if status, body := a.Call("POST", "/v2/user", zipped.String(), "Content-Encoding", "gzip"); status != 200 {
		t.Errorf("gzip: %d %s", status, body)
	}
	if status, body := a.Call("POST", "/v2/user", "no gzip", "Content-Encoding", "gzip"); status != 400 {
		t.Errorf("broken gzip: %d %s", status, body)
	}
	if status, body := a.Call("POST", "/v2/user", "{}", "Content-Encoding", "br"); status != 415 {
		t.Errorf("unknown encoding: %d %s", status, body)
	}
	if status, body := a.Call("POST", "/v2/user", `{"client_user_id": "`+strings.Repeat("x", 2<<20)+`"}`); status != 413 {
		t.Errorf("large body: %d %s", status, body)
	}
	if status, body := a.Call("POST", "/v2/user", `{"client_user_id": "a\u0000b"}`); status != 422 {
		t.Errorf("NUL: %d %s", status, body)
	}
	if status, body := a.Call("POST", "/v2/user", `{"client_user_id": `); status != 422 || !strings.Contains(string(body), "json_invalid") {
		t.Errorf("cut JSON: %d %s", status, body)
	}
	if status, body := a.Call("POST", "/v2/user", ``); status != 422 || !strings.Contains(string(body), "missing") {
		t.Errorf("no body: %d %s", status, body)
	}
	if status, body := a.Call("GET", "/v2/user/resolve/a%00b", ""); status != 422 {
		t.Errorf("NUL in the path: %d %s", status, body)
	}
}

func TestHTTP2WithoutTLS(t *testing.T) {
	for _, asked := range []bool{false, true} {
		a := apptest.Start(t, storetest.NewSQLite(t), func(c *config.Config) { c.HTTP2Cleartext = asked })
		protocols := new(http.Protocols)
		protocols.SetUnencryptedHTTP2(true)
		client := &http.Client{Transport: &http.Transport{Protocols: protocols}}
		res, err := client.Get(a.URL() + "/livez")
		if !asked {
			if err == nil {
				t.Errorf("not asked for: %s %d", res.Proto, res.StatusCode)
				res.Body.Close()
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		if res.ProtoMajor != 2 || res.StatusCode != 200 {
			t.Errorf("%s %d", res.Proto, res.StatusCode)
		}
	}
}

func TestHeadersOfEveryAnswer(t *testing.T) {
	a := apptest.Start(t, storetest.NewSQLite(t), func(c *config.Config) { c.BaseURL, c.Docs = "https://health.example", false })
	for _, path := range []string{"/v2/user", "/v2/user/x", "/v3/lab_test", "/nowhere", "/openapi.json", "/docs"} {
		req := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody)
		req.Header.Set("X-Service-Api-Key", a.Key)
		res := httptest.NewRecorder()
		a.Handler().ServeHTTP(res, req)
		for name, want := range map[string]string{
			"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "Strict-Transport-Security": "max-age=31536000",
		} {
			if got := res.Header().Get(name); got != want {
				t.Errorf("%s: %s is %q, want %q", path, name, got, want)
			}
		}
		if strings.Contains(path, "docs") || strings.Contains(path, "openapi") {
			if res.Code != http.StatusNotFound {
				t.Errorf("%s answers %d although the docs are off", path, res.Code)
			}
		}
	}
}

func TestTheDocumentationLoadsNothingFromOtherSites(t *testing.T) {
	a := apptest.Start(t, storetest.NewSQLite(t))
	a.Key = ""
	var doc struct {
		OpenAPI string
		Paths   map[string]any
	}
	a.Get("/openapi.json", &doc)
	if !strings.HasPrefix(doc.OpenAPI, "3.1") || len(doc.Paths) < 10 {
		t.Errorf("OpenAPI %s with %d paths", doc.OpenAPI, len(doc.Paths))
	}
	if status, yaml := a.Call("GET", "/openapi.yaml", ""); status != 200 || !strings.Contains(string(yaml), "openapi: 3.1") {
		t.Errorf("yaml: %d", status)
	}
	status, page := a.Call("GET", "/docs", "")
	if status != 200 || !strings.Contains(string(page), "/v2/user/{user_id}") {
		t.Errorf("docs: %d", status)
	}
	for _, word := range []string{"<script", "src=\"http", "href=\"http", "@import", "url("} {
		if strings.Contains(string(page), word) {
			t.Errorf("the docs page has %q", word)
		}
	}
}

func TestOneProcessServesADataFolder(t *testing.T) {
	d := storetest.NewSQLite(t)
	apptest.Start(t, d)
	_, err := app.New(t.Context(), app.Options{Config: apptest.Config(t, d)})
	if err == nil || !strings.Contains(err.Error(), "another hale serve") {
		t.Errorf("a second process: %v", err)
	}
}

func TestStartOnAPortInUse(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	cfg := apptest.Config(t, storetest.NewSQLite(t))
	cfg.Listen = l.Addr().String()
	a, err := app.New(t.Context(), app.Options{Config: cfg})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Start(t.Context()); err == nil || !strings.Contains(err.Error(), cfg.Listen) {
		t.Errorf("a taken port: %v", err)
	}
	if err := a.Stop(context.Background()); err != nil {
		t.Error(err)
	}
}

// The key of the first team is shown once, so that it is created last.
func TestAFailedStartCreatesNoKey(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	d := storetest.NewSQLite(t)
	for name, spoil := range map[string]func(cfg *config.Config){
		"a taken port":             func(cfg *config.Config) { cfg.Listen = l.Addr().String() },
		"no such file of networks": func(cfg *config.Config) { cfg.Networks = filepath.Join(d.Dir, "absent.yaml") },
	} {
		cfg := apptest.Config(t, d)
		spoil(cfg)
		a, err := app.New(t.Context(), app.Options{Config: cfg})
		var setting *app.SettingError
		if errors.As(err, &setting) { // found before a root key is created
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := a.Start(t.Context()); err == nil || a.First != nil {
			t.Errorf("%s: %v, first team %v", name, err, a.First)
		}
		if err := a.Stop(context.Background()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if a := apptest.Start(t, d); a.First == nil {
		t.Error("the first start that succeeds shows no key")
	}
}

// Two nodes that begin together on a fresh database, each with a root key of its
// own: what one seals the other could not open.
func TestNodesHaveOneRootKey(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		if d.Engine == store.SQLite {
			t.Skip("SQLite has one node")
		}
		var nodes []*app.App
		for range 2 {
			cfg := apptest.Config(t, d)
			cfg.RootKey = secrets.Text(base64.StdEncoding.EncodeToString(secrets.Bytes(secrets.KeySize)))
			a, err := app.New(t.Context(), app.Options{Config: cfg})
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := a.Stop(context.Background()); err != nil {
					t.Error(err)
				}
			}()
			nodes = append(nodes, a)
		}
		if err := nodes[0].Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := nodes[1].Start(t.Context()); !errors.Is(err, app.ErrRootKey) {
			t.Errorf("a second root key: %v", err)
		}
	})
}

func TestStartWithAnotherRootKey(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		a, stop := apptest.StartStoppable(t, d)
		a.Expect(200, "POST", "/v2/user/", `{"client_user_id": "ann", "fallback_birth_date": "1980-01-01"}`, nil)
		stop()
		key := filepath.Join(d.Dir, "root.key")
		right, err := os.ReadFile(key)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(key); err != nil {
			t.Fatal(err)
		}
		if _, err := app.New(t.Context(), app.Options{Config: apptest.Config(t, d)}); !errors.Is(err, app.ErrNoRootKey) {
			t.Errorf("a missing root key: %v", err)
		}
		if _, err := os.Stat(key); err == nil {
			t.Error("a root key that opens nothing was left behind")
		}
		if err := os.WriteFile(key, right, 0o600); err != nil {
			t.Fatal(err)
		}
		again := apptest.Start(t, d)
		again.Expect(200, "GET", "/v2/user/resolve/ann", "", nil)
	})
}
