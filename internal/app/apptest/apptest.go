// Package apptest starts the whole service for a test, in the same way as `hale
// serve`. Each service has a port of its own and a fresh database.
//
//	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
//		a := apptest.Start(t, d)
//		status, body := a.Call("POST", "/v2/user/", `{"client_user_id": "ann-1"}`)
package apptest

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"hale/internal/api/codetest"
	"hale/internal/app"
	"hale/internal/labs/reports"
	"hale/internal/labs/reports/extract"
	"hale/internal/platform/config"
	"hale/internal/platform/ops"
	"hale/internal/platform/secrets"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/platform/teams"
)

// Key is the API key of the first team.
const Key = "sk_test_key_of_the_first_team_0123456789"

// Service is a running service and a caller of its API.
type Service struct {
	*app.App
	Key string // sent with every call
	Log *Buffer
	t   testing.TB

	stop func()
}

// Start starts a node on the database; it stops when the test ends. change
// may alter the configuration first.
func Start(t testing.TB, d storetest.Database, change ...func(*config.Config)) *Service {
	t.Helper()
	return StartAt(t, d, nil, change...)
}

// StartAt starts a service like Start, with a clock.
func StartAt(t testing.TB, d storetest.Database, now func() time.Time, change ...func(*config.Config)) *Service {
	t.Helper()
	return StartWith(t, d, func(o *app.Options) {
		o.Now = now
		for _, fn := range change {
			fn(o.Config)
		}
	})
}

// StartWith starts a service like Start. change may modify the options first.
func StartWith(t testing.TB, d storetest.Database, change func(*app.Options)) *Service {
	t.Helper()
	log := &Buffer{}
	o := app.Options{Config: Config(t, d), Log: ops.NewLogger(log, "text", "info"), Version: "test", ReportReader: Reports{}}
	change(&o)
	a, err := app.New(t.Context(), o)
	if err != nil {
		t.Fatalf("apptest: %v", err)
	}
	if err := a.Start(t.Context()); err != nil {
		t.Fatalf("apptest: %v", err)
	}
	s := &Service{App: a, Key: Key, Log: log, t: t}
	s.stop = sync.OnceFunc(func() {
		if err := a.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Errorf("apptest: stopping: %v", err)
		}
	})
	t.Cleanup(s.stop)
	return s
}

// For returns a copy of the service that reports failures to t, for a subtest.
func (s *Service) For(t testing.TB) *Service {
	sub := *s
	sub.t = t
	return &sub
}

// End stops the node before its test ends.
func (s *Service) End() { s.stop() }

// StartStoppable starts a node like Start. stop stops it before the test ends.
func StartStoppable(t testing.TB, d storetest.Database) (s *Service, stop func()) {
	t.Helper()
	s = Start(t, d)
	return s, s.stop
}

// Config returns the configuration of Start: defaults, a free port, webhooks to
// loopback.
func Config(t testing.TB, d storetest.Database) *config.Config {
	t.Helper()
	cfg, err := config.Load(config.Input{LookupEnv: func(string) (string, bool) { return "", false }})
	if err != nil {
		t.Fatalf("apptest: %v", err)
	}
	cfg.Listen, cfg.MetricsListen, cfg.Data = "127.0.0.1:0", "", d.Dir
	cfg.Database = secrets.Text(d.URL)
	cfg.BootstrapAPIKey = Key
	cfg.SQLiteSynchronous = "NORMAL"
	cfg.WebhookAllowPrivate = true
	cfg.ShutdownDrain = time.Minute
	return cfg
}

// NewTeam creates another team and returns a caller with its key.
func (s *Service) NewTeam(name string) *Service {
	s.t.Helper()
	ctx := store.AsSystem(s.t.Context())
	var key secrets.Text
	err := s.DB.Write(ctx, func(tx *store.Tx) error {
		team, err := teams.Create(ctx, tx, name, teams.Sandbox)
		if err != nil {
			return err
		}
		_, key, err = teams.CreateKey(ctx, tx, team, teams.NewKey{Label: "test", Rights: teams.FullRights})
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
	other := *s
	other.Key = key.Reveal()
	return &other
}

// NewUser creates a user with a client id, and returns its id.
func (s *Service) NewUser(clientUserID string) (id string) {
	s.t.Helper()
	body, err := json.Marshal(map[string]string{"client_user_id": clientUserID})
	if err != nil {
		s.t.Fatal(err)
	}
	var user struct {
		ID string `json:"user_id"`
	}
	s.Expect(http.StatusOK, "POST", "/v2/user/", string(body), &user)
	return user.ID
}

// Call sends a request with the key and returns the status and the body.
func (s *Service) Call(method, path, body string, headers ...string) (int, []byte) {
	s.t.Helper()
	res := s.Do(method, path, body, headers...)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err == nil {
		err = codetest.Check(s.Handler(), method, path, text)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return res.StatusCode, text
}

// Do sends a request like Call, for tests that need the headers of the answer. The caller
// must close the body. headers are alternating names and values.
func (s *Service) Do(method, path, body string, headers ...string) *http.Response {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.URL()+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	if s.Key != "" {
		req.Header.Set("x-service-api-key", s.Key)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	return res
}

// Get sends a GET request, requires the status 200 and decodes the answer into v.
func (s *Service) Get(path string, v any) {
	s.t.Helper()
	s.Expect(http.StatusOK, "GET", path, "", v)
}

// Expect sends a request, requires the status and decodes the answer into v,
// unless v is nil.
func (s *Service) Expect(status int, method, path, body string, v any) {
	s.t.Helper()
	got, text := s.Call(method, path, body)
	if got != status {
		s.t.Fatalf("%s %s: %d, not %d: %s", method, path, got, status, text)
	}
	if v == nil {
		return
	}
	if err := json.Unmarshal(text, v); err != nil {
		s.t.Fatalf("%s %s: %v: %s", method, path, err, text)
	}
}

// Reports reads any uploaded report as the same two results, in this process.
type Reports struct{}

// Read returns the results.
func (Reports) Read(context.Context, []reports.File) (extract.Result, error) {
	return ReportResult(), nil
}

// Image returns bytes in place of an image.
func (Reports) Image(context.Context, []reports.File, int) ([]byte, error) {
	return []byte("\xff\xd8\xff image"), nil
}

// ReportResult returns the results of Reports.
func ReportResult() extract.Result {
	glucose, low, high := 91.0, 70.0, 99.0
	return extract.Result{
		Metadata: extract.Metadata{
			FirstName: "Given", LastName: "Family", BirthText: "05/17/1984", BirthDate: "1984-05-17", Lab: "Example Laboratory", CollectedText: "03/04/2026", CollectedDate: "2026-03-04", Specimen: "A-1",
		},
		Pages: []extract.PageInfo{{Width: 612, Height: 792, Source: extract.FromText}},
		Rows: []extract.Row{
			{
				Name: "Glucose", Value: "91", Type: extract.Numeric, Number: &glucose, Unit: "mg/dL", UCUM: "mg/dL", Flag: "",
				Range: extract.Range{Text: "70-99", Kind: extract.RangeInterval, Min: &low, Max: &high}, Interpretation: "normal",
				SampleType: "serum_plasma_blood", Kind: "direct", Sensitivity: "unknown", Status: extract.AutoMatch,
				Matches: []extract.Match{{Code: "2345-7", Name: "Glucose [Mass/volume] in Serum or Plasma", Display: "Glucose", Confidence: 1}},
				Page:    1, Box: extract.Box{X: .1, Y: .2, Width: .7, Height: .02}, Confidence: 1,
			},
			{
				Name: "Unheard Factor", Value: "Not detected", Type: extract.Comment, Interpretation: "unknown", Status: extract.NoMatch,
				Page: 1, Box: extract.Box{X: .1, Y: .25, Width: .7, Height: .02}, Confidence: .6, NeedsReview: true, Reasons: []extract.Reason{extract.NameUncertain},
			},
		},
	}
}

// Buffer collects a log that many goroutines write and a test reads.
type Buffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

// Write appends to the log.
func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

// String returns the text that was written so far.
func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}
