package cli

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// partsServer receives an upload in parts. It lets the line break after each of
// the given numbers of bytes, and once says 503.
type partsServer struct {
	t      *testing.T
	breaks []int64
	got    bytes.Buffer
	sum    string
	size   int64
	down   bool
}

func (p *partsServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.Method + " " + r.URL.Path {
	case "GET /v2/user/resolve/anna":
		_, _ = io.WriteString(w, `{"user_id":"u-1"}`)
	case "POST /v2/user/u-1/uploads":
		var order struct {
			Size   int64
			SHA256 string
		}
		_ = json.NewDecoder(r.Body).Decode(&order)
		p.size, p.sum = order.Size, order.SHA256
		w.WriteHeader(http.StatusCreated)
		p.writeState(w)
	case "GET /v2/user/u-1/uploads/up-1":
		if p.down = !p.down; p.down {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		p.writeState(w)
	case "PATCH /v2/user/u-1/uploads/up-1":
		if at := r.Header.Get("Upload-Offset"); at != strconv.Itoa(p.got.Len()) {
			p.t.Errorf("a part at %s, and the upload is at %d", at, p.got.Len())
		}
		if len(p.breaks) > 0 {
			_, _ = io.CopyN(&p.got, r.Body, p.breaks[0])
			p.breaks = p.breaks[1:]
			panic(http.ErrAbortHandler) // the line breaks
		}
		_, _ = io.Copy(&p.got, r.Body)
		p.writeState(w)
	case "GET /v2/user/u-1/imports/i-1":
		_, _ = io.WriteString(w, `{"id":"i-1","status":"succeeded","report":{"types":{"Odd":{"read":9,"mapped":2}},"first_skipped":{"Odd":{"record":3,"reason":"bad_date"}}}}`)
	default:
		p.t.Errorf("unexpected: %s %s", r.Method, r.URL.Path)
	}
}

func (p *partsServer) writeState(w io.Writer) {
	made := "null"
	if int64(p.got.Len()) == p.size {
		made = `{"id":"i-1","status":"queued"}`
	}
	fmt.Fprintf(w, `{"id":"up-1","offset":%d,"size":%d,"import":%s}`, p.got.Len(), p.size, made)
}

func TestLargeFilesAreUploadedInPartsOverABrokenConnection(t *testing.T) {
	data := bytes.Repeat([]byte("0123456789abcdef"), wholeAtOnce/16+1000)
	path := filepath.Join(t.TempDir(), "export.zip")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	p := &partsServer{t: t, breaks: []int64{1 << 20, 0, 5 << 20}}
	server := httptest.NewServer(p)
	defer server.Close()
	term := newTerminal("HALE_URL=" + server.URL)
	if code := term.run(t.Context(), []string{"import", path, "--user", "anna"}); code != 0 {
		t.Fatalf("exit code %d: %s", code, &term.err)
	}
	sum := sha256.Sum256(data)
	if !bytes.Equal(p.got.Bytes(), data) || p.sum != hex.EncodeToString(sum[:]) {
		t.Errorf("%d bytes arrived of %d", p.got.Len(), len(data))
	}
	if all := term.out.String() + term.err.String(); !strings.Contains(all, "skipped: 7 of Odd (bad date, first at record 3 of this type)") {
		t.Errorf("the skipped records are missing:\n%s", all)
	}
}

func TestRenormaliseReportsChanges(t *testing.T) {
	var asked string
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v2/team/renormalise", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		asked = string(body)
		w.WriteHeader(http.StatusAccepted)
		_, _ = io.WriteString(w, `{"id":"r-1","status":"queued"}`)
	})
	mux.HandleFunc("GET /v2/team/renormalise/r-1", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"id":"r-1","status":"succeeded","dry_run":true,"users_done":4,"users_total":4,"report":{"users":2,"payloads":9,
			"unreadable":{"fit":1},"resources":{"sleep":{"created":1,"updated":2,"first_updated":{"provider":"oura","fields":["deep","rem"]}}}}}`)
	})
	server := httptest.NewServer(mux)
	defer server.Close()
	term := newTerminal("HALE_URL=" + server.URL)
	if code := term.run(t.Context(), []string{"renormalise", "--dry-run"}); code != 0 {
		t.Fatalf("exit code %d: %s", code, &term.err)
	}
	if strings.TrimSpace(asked) != `{"dry_run":true}` {
		t.Errorf("asked %s", asked)
	}
	all := term.out.String() + term.err.String()
	for _, want := range []string{"sleep would change: 2 updated, 1 created; first of oura: deep, rem", "1 payloads of the kind fit could not be read"} {
		if !strings.Contains(all, want) {
			t.Errorf("lacks %q:\n%s", want, all)
		}
	}
}
