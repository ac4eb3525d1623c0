package continuous_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"hale/internal/platform/store/storetest"
)

// calls are the curl commands of docs/aggregation.md: paths, and bodies where
// there are any.
var calls = regexp.MustCompile(`curl -s -H "x-service-api-key: \$HALE_API_KEY" "\$HALE_URL([^"]*)"(?: -d '([^']*)')?`)

// The commands of the page work, in its order.
func TestPageWorks(t *testing.T) {
	page, err := os.ReadFile("../../../../docs/aggregation.md")
	if err != nil {
		t.Fatal(err)
	}
	found := calls.FindAllStringSubmatch(string(page), -1)
	if len(found) != 4 || len(found) != strings.Count(string(page), "curl ") {
		t.Fatalf("%d commands understood", len(found))
	}
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		s := begin(t, d)
		s.push("2026-03-01T10", 100)
		team := strings.Split(s.org, "/")[3]
		var answers []string
		for _, c := range found {
			path := strings.NewReplacer("$USER_ID", s.user, "$TEAM_ID", team).Replace(c[1])
			method := "GET"
			if c[2] != "" {
				method = "POST"
			}
			status, body := s.Call(method, path, c[2])
			if status != http.StatusOK || !json.Valid(body) {
				t.Errorf("%s: %d %s", c[0], status, body)
			}
			answers = append(answers, strings.TrimSpace(string(body)))
		}
		if answers[0] != `{"results":[{"table":{"group_key.0":["2026-03-01T00:00:00"],"sum.value":[100]}}]}` {
			t.Errorf("the first answer %s", answers[0])
		}
	})
}

const twoQueries = `{"timeframe":{"type":"relative","anchor":"2026-03-01","past":{"unit":"month"}},"queries":[
	{"select":[{"index":"timeseries"},{"timeseries":"steps","field":"duration"},{"timeseries":"steps","field":"value"},{"source":"source_app_id"}]},
	{"select":[{"func":"count","arg":{"sleep":"id"}}]}]}`

// The test sends batches over HTTP, and checks both forms of the answers and the
// refusals.
func TestQueriesOnTheWire(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		s := begin(t, d)
		s.push("2026-03-01T10", 100)
		path := "/aggregate/v1/user/" + s.user + "/query"
		for _, accept := range []string{"", "*/*", "application/json", "text/html, application/json;q=0.9"} {
			status, body := s.Call("POST", path, twoQueries, "Accept", accept)
			want := `{"results":[{"table":{"timestamp":["2026-03-01T11:00:00"],"duration":[3540],"value":[100],"source_app_id":[null]}},{"table":{"count.id":[0]}}]}`
			if status != http.StatusOK || strings.TrimSpace(string(body)) != want {
				t.Errorf("Accept %q: %d %s", accept, status, body)
			}
		}
		res := s.Do("POST", path, twoQueries, "Accept", "application/vnd.vital.tar+gzip+parquet")
		body, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if got := res.Header.Get("Content-Type"); got != "application/vnd.vital.tar+gzip+parquet" {
			t.Errorf("content type %s", got)
		}
		unpack(t, body)

		for body, want := range map[string]string{
			strings.Replace(twoQueries, `"duration"`, `"stages"`, 1): `"loc":["body","queries",0,"select",1,"field"]`,
			strings.Replace(twoQueries, `"month"`, `"eon"`, 1):       `"loc":["body","timeframe","past","unit"]`,
			``: `"loc":["body"]`,
		} {
			if status, text := s.Call("POST", path, body); status != http.StatusUnprocessableEntity || !strings.Contains(string(text), want) {
				t.Errorf("%s: %d %s", body, status, text)
			}
		}
		if status, text := s.Call("POST", path, twoQueries, "Accept", "text/csv"); status != http.StatusUnprocessableEntity || !strings.Contains(string(text), `["header","accept"]`) {
			t.Errorf("text/csv: %d %s", status, text)
		}
		other := s.NewTeam("Others")
		if status, _ := other.Call("POST", path, twoQueries); status != http.StatusNotFound {
			t.Errorf("another team's user: %d", status)
		}
	})
}

func unpack(t *testing.T, body []byte) {
	t.Helper()
	zipped, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	archive := tar.NewReader(zipped)
	if _, err := archive.Next(); err != nil {
		t.Fatal(err)
	}
	file, err := io.ReadAll(archive)
	if err != nil {
		t.Fatal(err)
	}
	type row struct {
		Value *float64 `parquet:"value,optional"`
		App   *string  `parquet:"source_app_id,optional"`
	}
	rows, err := parquet.Read[row](bytes.NewReader(file), int64(len(file)))
	if err != nil || len(rows) != 1 || *rows[0].Value != 100 || rows[0].App != nil {
		t.Errorf("%+v, %v", rows, err)
	}
}
