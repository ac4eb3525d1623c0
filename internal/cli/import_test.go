package cli

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"hale/internal/wearables/imports"
)

// importServer starts a server with one user, anna, and one import. The server answers
// with the states one after the other, and then repeats the last one. A state of 503
// means a restart.
func importServer(t *testing.T, uploaded func(r *http.Request), states ...string) *httptest.Server {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v2/user/resolve/anna", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"user_id":"u-1"}`)
	})
	mux.HandleFunc("POST /v2/user/u-1/imports", func(w http.ResponseWriter, r *http.Request) {
		uploaded(r)
		w.WriteHeader(http.StatusAccepted)
		_, _ = io.WriteString(w, `{"id":"i-1","status":"queued"}`)
	})
	var asked atomic.Int64
	mux.HandleFunc("GET /v2/user/u-1/imports/i-1", func(w http.ResponseWriter, _ *http.Request) {
		state := states[min(int(asked.Add(1)), len(states))-1]
		if state == "503" {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		_, _ = io.WriteString(w, state)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server
}

func export(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "export.zip")
	if err := os.WriteFile(path, []byte("PK the export"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const (
	runningImport = `{"id":"i-1","status":"running","progress":{"step":"reading","bytes_done":5,"bytes_total":10,"records":1500}}`
	importDone    = `{"id":"i-1","status":"succeeded","progress":{"step":"summarising","bytes_done":10,"bytes_total":10,"records":3000},
		"created":2900,"updated":20,"unchanged":80,"rejected":1,"skipped":7}`
)

func TestImportUploadsFollowsAndReports(t *testing.T) {
	server := importServer(t, func(r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if string(body) != "PK the export" || r.ContentLength != int64(len(body)) {
			t.Errorf("uploaded %q, announced as %d bytes", body, r.ContentLength)
		}
		if got := r.URL.RawQuery; got != "history_only=true&kind=apple-health" {
			t.Errorf("query %s", got)
		}
	}, runningImport, "503", importDone)
	term := newTerminal("HALE_URL=" + server.URL)
	code := term.run(t.Context(), []string{"import", "apple-health", export(t), "--user", "anna", "--history-only"})
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, &term.err)
	}
	for _, want := range []string{"status", "succeeded", "created", "2900", "updated", "20", "unchanged", "80", "skipped", "7"} {
		if !slices.Contains(strings.Fields(term.out.String()), want) {
			t.Errorf("the report lacks %s:\n%s", want, &term.out)
		}
	}
	for _, want := range []string{"upload: 13 B of 13 B (100%)", "import: 10 B of 10 B (100%)", "3,000 records"} {
		if !strings.Contains(term.err.String(), want) {
			t.Errorf("the progress lacks %q:\n%s", want, &term.err)
		}
	}
}

// The report lists data that was not stored with its reasons, and always says that a
// file was truncated.
func TestImportReportsMissingParts(t *testing.T) {
	server := importServer(t, func(*http.Request) {}, `{"id":"i-1","status":"succeeded","rejected":5,"skipped":2,"report":{"truncated":true,
		"types":{"device":{"read":5,"mapped":1,"copies":2,"skipped":2}},"first_skipped":{"device":{"record":3,"reason":"skipped"}},
		"rejections":{"profile: bad_document":1,"heartrate: implausible_value":4},
		"first_rejected":{"heartrate: implausible_value":{"at":"2021-04-24T20:31:37Z","source_type":"watch"},"profile: bad_document":{"at":"","source_type":""}}}}`)
	term := newTerminal("HALE_URL=" + server.URL)
	if code := term.run(t.Context(), []string{"import", export(t), "--user", "anna"}); code != 0 {
		t.Fatalf("exit code %d: %s", code, &term.err)
	}
	if got := strings.Join(strings.Fields(term.out.String()), " "); !strings.Contains(got, "truncated true") {
		t.Errorf("the report is\n%s", &term.out)
	}
	for _, want := range []string{
		"truncated: the file ends in the middle; the data before that was imported\n",
		"rejected: 4 of heartrate (implausible value, first at 2021-04-24T20:31:37Z of source type watch)\n" +
			"rejected: 1 of profile (bad document)\n",
		"skipped: 2 of device (no matching resource, first at record 3 of this type)\n",
	} {
		if !strings.Contains(term.err.String(), want) {
			t.Errorf("%q is not said:\n%s", want, &term.err)
		}
	}
	term = newTerminal("HALE_URL=" + server.URL)
	term.run(t.Context(), []string{"import", export(t), "--user", "anna", "-o", "json"})
	if got := term.err.String(); !strings.Contains(got, "truncated: ") || strings.Contains(got, "rejected: ") {
		t.Errorf("a program hears\n%s", got)
	}
}

func TestImportThatFails(t *testing.T) {
	server := importServer(t, func(*http.Request) {}, `{"id":"i-1","status":"failed","error":"the file ends in the middle"}`)
	term := newTerminal("HALE_URL=" + server.URL)
	if code := term.run(t.Context(), []string{"import", export(t), "--user", "anna"}); code != exitFailure {
		t.Errorf("exit code %d", code)
	}
	if !strings.Contains(term.err.String(), "import: the import failed: the file ends in the middle") {
		t.Errorf("said %s", &term.err)
	}
}

func TestCtrlC(t *testing.T) {
	cases := []struct {
		name string
		at   string // interrupted when this is asked for
		hint string
	}{
		{"during the upload", "POST", "hint: nothing was imported; run the same command to start again"},
		{"during the work", "GET", "hint: the import continues on the server: hale jobs wait i-1 waits for it"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			ctx, interrupt := context.WithCancel(t.Context())
			defer interrupt()
			inner := importServer(t, func(*http.Request) {}, runningImport)
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method == tc.at && strings.Contains(r.URL.Path, "/imports") {
					_, _ = io.Copy(io.Discard, r.Body) // a server notices that a caller left once the body is read
					interrupt()
					<-r.Context().Done()
					return
				}
				inner.Config.Handler.ServeHTTP(w, r)
			}))
			defer server.Close()
			term := newTerminal("HALE_URL=" + server.URL)
			if code := term.run(ctx, []string{"import", export(t), "--user", "anna"}); code != exitFailure {
				t.Errorf("exit code %d", code)
			}
			if got := term.err.String(); !strings.Contains(got, "import: interrupted\n") || !strings.Contains(got, tc.hint) {
				t.Errorf("said %s", got)
			}
		})
	}
}

func TestImportRefusesUnreadableFiles(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty.zip")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]struct {
		code int
		text string
	}{
		empty + ".absent": {exitNotFound, "no such file"},
		t.TempDir():       {exitUsage, "is a folder"},
		empty:             {exitUsage, "is empty"},
	} {
		term := newTerminal("HALE_URL=http://127.0.0.1:1")
		if code := term.run(t.Context(), []string{"import", path, "--user", "anna"}); code != want.code {
			t.Errorf("%s: exit code %d, want %d", want.text, code, want.code)
		}
		if !strings.Contains(term.err.String(), want.text) {
			t.Errorf("want %q: %s", want.text, &term.err)
		}
	}
}

func TestEveryKindHasItsCommand(t *testing.T) {
	for _, kind := range imports.Kinds() {
		name := strings.ReplaceAll(kind, "_", "-")
		term := newTerminal("HALE_URL=http://127.0.0.1:1")
		if code := term.run(t.Context(), []string{"import", name, "--help"}); code != 0 || !strings.Contains(term.out.String(), "hale import "+name+" FILE") {
			t.Errorf("hale import has no sub-command %s: %s", name, &term.out)
		}
	}
}
