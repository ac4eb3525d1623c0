package apitest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"hale/internal/app"
	"hale/internal/app/apptest"
	"hale/internal/platform/blocks"
	"hale/internal/platform/ops"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
)

// canaries are marks for data that must appear only in answers to its own team. Logs
// and metrics must not contain them, and files only in sealed form.
var canaries = map[string]string{
	"first name":          "Canaryfirst",
	"last name":           "Canarylast",
	"e-mail":              "canary7@example.com",
	"telephone":           "4155557007",
	"birth date":          "1931-07-09",
	"fallback birth date": "1932-08-11",
	"street":              "7007 Canary Street",
	"city":                "Canaryville",
	"member id":           "CANARYMEMBER",
	"measurement":         "187.25",
	"wrong key":           "sk_canarywrongkey0123456789",
	"broken body":         "canarybroken",
}

// unsealedMark is stored unsealed, because it is the team's own id and not personal. If the
// search does not find it, the search is broken.
const unsealedMark = "findable-reference"

const (
	canaryPerson = `"first_name":"Canaryfirst","last_name":"Canarylast","email":"canary7@example.com","phone_number":"+14155557007",
		"gender":"female","dob":"1931-07-09","address":{"first_line":"7007 Canary Street","second_line":null,"city":"Canaryville",
		"state":"AZ","zip":"85004","country":"US"}`
	canaryPush = `{"stage":"daily","provider":"apple_health_kit","data":[{"timestamp":"2026-03-01T12:00:00Z","value":187.25,"unit":"bpm"}]}`
)

func TestHealthDataStaysPrivate(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		log := &apptest.Buffer{}
		s, stop := startWithDebugLog(t, d, log)
		secrets := s.useEverything(t)
		s.misuse(t)
		metrics := s.metrics(t)
		stop()
		for name, mark := range canaries {
			secrets[name] = mark
		}
		for name, mark := range secrets {
			for place, text := range map[string]string{"the log": log.String(), "the metrics": metrics} {
				if at := strings.Index(text, mark); at >= 0 {
					t.Errorf("%s is in %s: …%.200s…", name, place, text[max(0, at-150):])
				}
			}
		}
		if !strings.Contains(log.String(), "/v2/user/{user_id}/info") {
			t.Error("the log does not mention the requests, so nothing was looked for")
		}
		if d.Engine == store.SQLite {
			searchFiles(t, d.Dir, secrets)
		}
	})
}

// startWithDebugLog starts a service with the most verbose log.
func startWithDebugLog(t *testing.T, d storetest.Database, log *apptest.Buffer) (s *service, stop func()) {
	t.Helper()
	cfg := apptest.Config(t, d)
	cfg.MetricsListen = "127.0.0.1:0"
	a, err := app.New(t.Context(), app.Options{Config: cfg, Log: ops.NewLogger(log, "json", "debug"), Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	running := true
	stop = func() {
		if !running {
			return
		}
		running = false
		if err := a.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(stop)
	return &service{Service: &apptest.Service{App: a, Key: apptest.Key, Log: log}}, stop
}

// useEverything sends typical requests with a mark in every field. It returns the secrets that
// the service created.
func (s *service) useEverything(t *testing.T) map[string]string {
	t.Helper()
	user := s.requestField(t, "POST", "/v2/user", `{"client_user_id":"`+unsealedMark+`","fallback_birth_date":"1932-08-11"}`, "user_id")
	base := "/v2/user/" + user
	s.requestOK(t, "PATCH", base+"/info", `{`+canaryPerson+`}`)
	s.requestOK(t, "POST", base+"/insurance", `{"payor_code":"MEDFED","member_id":"CANARYMEMBER","relationship":"Self","insured":{`+canaryPerson+`}}`)
	s.requestOK(t, "GET", base+"/info/latest", "")
	s.requestOK(t, "GET", base+"/insurance/latest", "")
	s.requestOK(t, "GET", "/v2/team/users/search?query_id=Canarylast", "")
	s.requestOK(t, "POST", "/v2/timeseries/"+user+"/heartrate", canaryPush)
	s.requestOK(t, "GET", "/v2/timeseries/"+user+"/heartrate/grouped?start_date=2026-01-01", "")
	packed := s.pushMany(t, user)
	link := s.requestField(t, "POST", base+"/create_portal_url", `{"context":"communications"}`, "url")
	_, token, _ := strings.Cut(strings.TrimPrefix(link, "http://"), "/")
	token = token[strings.LastIndexByte(token, '/')+1:]
	if len(token) < 8 {
		t.Fatalf("a portal link without a token: %s", link)
	}
	path := strings.TrimPrefix(link, s.URL())
	form := map[string]string{"content-type": "application/x-www-form-urlencoded"}
	s.send(t, request{method: "GET", path: path}, "")
	s.send(t, request{method: "POST", path: path, body: []byte("method=email"), headers: form}, "")
	s.send(t, request{method: "POST", path: path + "/code", body: []byte("code=canarybroken"), headers: form}, "")
	id := s.requestField(t, "POST", base+"/imports", canaryExport, "id")
	if status := s.waitForEnd(t, base+"/imports/"+id); status != "succeeded" {
		t.Fatalf("the import %s", status)
	}
	return map[string]string{"API key": apptest.Key, "portal token": token, "a block of samples": packed}
}

// pushMany pushes enough samples for a recognizable part of their encoded block, which
// contains no value as text. It returns this part.
func (s *service) pushMany(t *testing.T, user string) (mark string) {
	t.Helper()
	var values []float64
	var data []string
	for i := range 40 {
		values = append(values, 50+float64(i*37%101)+0.25)
		data = append(data, fmt.Sprintf(`{"timestamp":"2026-02-20T12:%02d:00Z","value":%v,"unit":"bpm","source_type":"watch"}`, i, values[i]))
	}
	s.requestOK(t, "POST", "/v2/timeseries/"+user+"/heartrate", `{"stage":"daily","provider":"apple_health_kit","data":[`+strings.Join(data, ",")+`]}`)
	column := blocks.AppendFloats(nil, values)[1:] // after its scale
	whole := blocks.Columns{Time: make([]int64, len(values)), Value: values}
	for i := range whole.Time {
		whole.Time[i] = int64(i) * 60_000_000
	}
	block, err := blocks.Append(nil, &whole)
	if err != nil || len(column) < 30 || !bytes.Contains(block, column) {
		t.Fatalf("%d bytes of values are not in a block of %d: %v", len(column), len(block), err)
	}
	return string(column)
}

const canaryExport = `<?xml version="1.0"?><HealthData locale="en_US"><ExportDate value="2026-03-01 12:00:00 +0000"/>
	<Me HKCharacteristicTypeIdentifierDateOfBirth="1931-07-09"/>
	<Record type="HKQuantityTypeIdentifierHeartRate" sourceName="Canaryfirst’s Watch" unit="count/min" value="187.25"
		creationDate="2026-02-01 12:00:00 +0000" startDate="2026-02-01 12:00:00 +0000" endDate="2026-02-01 12:00:00 +0000"/></HealthData>`

// misuse sends typical mistakes of clients: marks in bodies that do not parse, in
// fields of the wrong type, in queries, paths and headers.
func (s *service) misuse(t *testing.T) {
	t.Helper()
	user := s.requestField(t, "POST", "/v2/user", `{"client_user_id":"misused"}`, "user_id")
	for _, r := range []request{
		{method: "PATCH", path: "/v2/user/" + user + "/info", body: []byte(`{"first_name":"Canaryfirst","dob":"canarybroken"`)},
		{method: "PATCH", path: "/v2/user/" + user + "/info", body: []byte(`{"first_name":["Canaryfirst"],"email":"canarybroken","address":"7007 Canary Street"}`)},
		{method: "PATCH", path: "/v2/user/" + user + "/info", body: []byte(strings.ReplaceAll(`{`+canaryPerson+`}`, "1931-07-09", "1931-07-09x"))},
		{method: "POST", path: "/v2/user/" + user + "/insurance", body: []byte(`{"member_id":"CANARYMEMBER","payor_code":"canarybroken"}`)},
		{method: "POST", path: "/v2/timeseries/" + user + "/heartrate", body: []byte(`{"stage":"daily","data":[{"value":"187.25"}]}`)},
		{method: "POST", path: "/v2/user/" + user + "/imports", body: []byte(`<HealthData><Record canarybroken`)},
		{method: "GET", path: "/v2/team/users/search?query_id=Canarylast&unheard_of=canarybroken"},
		{method: "GET", path: "/v2/user/resolve/canarybroken"},
		{method: "GET", path: "/v2/user/canarybroken"},
		{method: "GET", path: "/portal/canarybroken"},
		{method: "GET", path: "/canarybroken?dob=1931-07-09"},
		{method: "DELETE", path: "/v2/providers?canarybroken"},
	} {
		r.headers = map[string]string{"content-type": "application/json"}
		got := s.send(t, r, s.Key)
		if got.status/100 == 5 {
			t.Errorf("%v was answered %d", r, got.status)
		}
		if got.status == http.StatusAccepted { // an import that fails later
			for _, id := range identifier.FindAllString(string(got.body), 1) {
				s.waitForEnd(t, r.path+"/"+id)
			}
		}
		s.send(t, r, canaries["wrong key"])
		r.headers["authorization"] = "Bearer " + canaries["wrong key"]
		s.send(t, r, "")
	}
}

var identifier = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

func (s *service) metrics(t *testing.T) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.MetricsURL()+"/metrics", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	res, err := transport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil || len(text) == 0 {
		t.Fatalf("reading the metrics: %d bytes, %v", len(text), err)
	}
	return string(text)
}

// searchFiles looks for the marks in all files that the service wrote.
func searchFiles(t *testing.T, dir string, marks map[string]string) {
	t.Helper()
	found := false
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		found = found || strings.Contains(string(content), unsealedMark)
		for name, mark := range marks {
			if strings.Contains(string(content), mark) {
				t.Errorf("%s lies open in %s", name, filepath.Base(path))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if !found {
		t.Error("the search does not even find what is stored in the clear")
	}
}
