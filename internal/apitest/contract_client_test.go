package apitest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"hale/internal/app"
	"hale/internal/platform/store/storetest"
	"hale/internal/testdata"
)

// call is one request as a client library of the reference makes it, and what
// its answer is kept for. $names stand for what was kept before.
type call struct {
	line string // method, path and query
	body string
	keep string // name=place.in.0.answer, several with blanks between
	// until says which place of the answer must become which word; the call is
	// made again until then.
	until  string
	status int // 200 when it is 0
}

// library is a client of a running service, with the reference's own header.
type library struct {
	*service
	header string
	values map[string]string
}

// Everything that a team's program does with a client library of the reference
// works, in the library's own words: its header, paths with and without a slash
// at the end, lists as repeated words, instants in each library's form, null
// for what is not given. Each answer is what the contract promises (send looks
// at that), and each operation of the contract that changes something has
// succeeded here.
func TestCallsOfClientLibraries(t *testing.T) {
	data, management := readContract(t)
	header := contractKeyHeader(t)
	s := start(t, storetest.NewSQLite(t), func(o *app.Options) {
		o.Networks = nil // the sandbox's own lab moves orders
		o.Config.APIKeyHeaders = []string{"x-service-api-key", header}
	})
	l := &library{s, header, map[string]string{
		"somebody": somebody(), "demo_name": somebody(), "soon": time.Now().Add(time.Hour).UTC().Format("2006-01-02T15:04:05.000Z"),
		"tomorrow": time.Now().AddDate(0, 0, 2).Format(time.DateOnly), "later": time.Now().AddDate(0, 0, 9).Format(time.DateOnly),
		"address": orderAddress, "patient": orderPatient,
	}}
	for _, area := range libraryCalls {
		t.Run(area.name, func(t *testing.T) {
			for _, c := range area.calls {
				l.call(t, c)
			}
		})
	}
	for _, c := range []*contract{data, management} {
		for _, o := range c.operations {
			_, served := s.doc.serving(o)
			if served && o.Method != http.MethodGet && !s.promises.succeeded(o) {
				t.Errorf("%v: no call has succeeded", o)
			}
		}
	}
}

// contractKeyHeader is the header that the reference's libraries send keys in.
func contractKeyHeader(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(testdata.Shared(t, contractPath))
	if err != nil {
		t.Fatal(err)
	}
	var raw struct {
		Security struct{ APIKeyAuth struct{ Name string } }
	}
	if err := json.Unmarshal(text, &raw); err != nil {
		t.Fatal(err)
	}
	return raw.Security.APIKeyAuth.Name
}

func (l *library) call(t *testing.T, c call) {
	t.Helper()
	method, path, _ := strings.Cut(l.fill(c.line), " ")
	path, headers, _ := strings.Cut(path, " ")
	r := request{method: method, path: path, headers: map[string]string{l.header: l.Key, "accept": "*/*"}}
	if name, value, ok := strings.Cut(headers, "="); ok {
		r.headers[name] = value
	}
	if c.body != "" {
		r.headers["content-type"], r.body = "application/json", []byte(l.fill(c.body))
	}
	want := max(c.status, http.StatusOK)
	var got answer
	done := func() bool {
		got = l.send(t, r, "")
		if got.status != want {
			t.Fatalf("%v\nwas answered %d: %.700s", r, got.status, got.body)
		}
		if c.until == "" {
			return true
		}
		where, word, _ := strings.Cut(c.until, "=")
		return at(t, got.body, where) == word
	}
	await(t, r.String()+" until "+c.until, done)
	for _, one := range strings.Fields(c.keep) {
		name, where, _ := strings.Cut(one, "=")
		if l.values[name] = at(t, got.body, where); l.values[name] == "" {
			t.Fatalf("%v\nanswers nothing at %s: %.700s", r, where, got.body)
		}
	}
}

func (l *library) fill(text string) string {
	return os.Expand(text, func(name string) string {
		value, ok := l.values[name]
		if !ok {
			panic("nothing was kept as " + name)
		}
		return value
	})
}

// at is what stands at a place of an answer, such as data.0.id; "" for nothing.
func at(t *testing.T, body []byte, where string) string {
	t.Helper()
	value, err := decode(body)
	if err != nil {
		t.Fatal(err)
	}
	for name := range strings.SplitSeq(where, ".") {
		switch v := value.(type) {
		case map[string]any:
			value = v[name]
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i >= len(v) {
				return ""
			}
			value = v[i]
		default:
			return ""
		}
	}
	if value == nil {
		return ""
	}
	return fmt.Sprint(value)
}
