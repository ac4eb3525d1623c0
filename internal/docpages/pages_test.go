package docpages_test

import (
	"encoding/json"
	"html"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hale/internal/app/apptest"
	"hale/internal/platform/config"
	"hale/internal/platform/store/storetest"
)

// get returns a page without a key, as a browser requests it.
func get(t *testing.T, address string) (*http.Response, string) {
	t.Helper()
	return getAs(t, address, "text/html,application/xhtml+xml,*/*;q=0.8")
}

func getAs(t *testing.T, address, accept string) (*http.Response, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Accept", accept)
	answer, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer, string(body)
}

var (
	links      = regexp.MustCompile(`(?:href|src)="([^"]*)"`)
	ids        = regexp.MustCompile(` id="([^"]*)"`)
	scripts    = regexp.MustCompile(`<script[^>]*>`)
	inlineCode = regexp.MustCompile(`<style| style=| on[a-z]+="|javascript:`)
)

// Every link of every page leads to a page and a place on it. All pages have the strict
// policy, and no script or style within.
func TestLinksOfTheDocsPages(t *testing.T) {
	a := apptest.Start(t, storetest.NewSQLite(t))
	var doc struct {
		Paths map[string]map[string]struct{ OperationID string }
	}
	if _, text := get(t, a.URL()+"/openapi.json"); json.Unmarshal([]byte(text), &doc) != nil || len(doc.Paths) < 100 {
		t.Fatalf("the document has %d paths", len(doc.Paths))
	}
	type place struct{ from, anchor string }
	pages, anchors := map[string]map[string]bool{}, map[string][]place{}
	queue := []string{"/docs"}
	for len(queue) > 0 {
		path := queue[0]
		queue = queue[1:]
		if pages[path] != nil {
			continue
		}
		answer, text := get(t, a.URL()+path)
		if answer.StatusCode != http.StatusOK {
			t.Errorf("%s answers %d", path, answer.StatusCode)
		}
		pages[path] = map[string]bool{}
		if !strings.HasPrefix(answer.Header.Get("Content-Type"), "text/html") {
			continue
		}
		if path == "/" { // has a policy of its own
			continue
		}
		if policy := answer.Header.Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") {
			t.Errorf("%s has the policy %q", path, policy)
		}
		if found := inlineCode.FindString(text); found != "" {
			t.Errorf("%s contains %q", path, found)
		}
		for _, script := range scripts.FindAllString(text, -1) {
			if script != `<script src="/docs/static/try.js" defer>` {
				t.Errorf("%s has the script %s", path, script)
			}
		}
		if strings.HasPrefix(path, "/docs/operations/") && strings.Contains(text, "<td></td></tr>") {
			t.Errorf("%s has an error without a remedy", path)
		}
		for _, m := range ids.FindAllStringSubmatch(text, -1) {
			if pages[path][m[1]] {
				t.Errorf("%s has the id %s twice", path, m[1])
			}
			pages[path][m[1]] = true
		}
		for _, m := range links.FindAllStringSubmatch(text, -1) {
			target, anchor, _ := strings.Cut(html.UnescapeString(m[1]), "#")
			if strings.HasPrefix(target, "http") {
				continue
			}
			if target == "" {
				target = path
			}
			queue = append(queue, target)
			if anchor != "" {
				anchors[target] = append(anchors[target], place{path, anchor})
			}
		}
	}
	for target, places := range anchors {
		for _, p := range places {
			if !pages[target][p.anchor] {
				t.Errorf("%s links to %s#%s, which does not exist", p.from, target, p.anchor)
			}
		}
	}
	for path, methods := range doc.Paths {
		for method, o := range methods {
			if pages["/docs/operations/"+o.OperationID] == nil {
				t.Errorf("no link leads to %s %s", method, path)
			}
		}
	}
	if len(pages) < 240 {
		t.Errorf("only %d pages", len(pages))
	}
}

func TestDocsOfAnOperation(t *testing.T) {
	a := apptest.Start(t, storetest.NewSQLite(t))
	_, page := get(t, a.URL()+"/docs/operations/createUser")
	for _, want := range []string{
		"<h1>Create a user</h1>", "/v2/user", "client_user_id", "<summary>curl</summary>", "<summary>Python</summary>", "$HALE_API_KEY",
		"<code>invalid_request</code>", "correct the field that loc names", "Idempotency-Key", "/docs/guides/users", "<code>user.created</code>", "&#34;client_user_id&#34;: &#34;anna&#34;", "Answer 200",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page of createUser lacks %q", want)
		}
	}
	if _, order := get(t, a.URL()+"/docs/operations/createOrder"); !strings.Contains(order, "<details><summary><code class=\"name\">patient_address</code>") || strings.Contains(order, "0x") {
		t.Error("nested fields of createOrder cannot be opened, or a default is an address in memory")
	}
	_, list := get(t, a.URL()+"/docs")
	if strings.Index(list, "Users and demographics") > strings.Index(list, "Query wearable data") {
		t.Error("the tasks are in another order")
	}
	for _, group := range strings.Split(list, "<section id=")[1:] {
		if n := strings.Count(group, "<li id="); n == 0 || n > 32 {
			t.Errorf("a task with %d operations: %.60s", n, group)
		}
	}
}

func TestDocsSearch(t *testing.T) {
	a := apptest.Start(t, storetest.NewSQLite(t))
	search := func(query string) string {
		t.Helper()
		answer, text := get(t, a.URL()+"/docs/search?q="+url.QueryEscape(query))
		if answer.StatusCode != http.StatusOK {
			t.Fatalf("%q: %d", query, answer.StatusCode)
		}
		return text
	}
	for query, want := range map[string]string{
		"create user": "/docs/operations/createUser", "POST /v2/user": "/docs/operations/createUser", "listWebhooks": "/docs/operations/listWebhooks",
		"signing secret": "/docs/operations/getWebhookSecret", "verify signature": "/docs/guides/webhooks#verify-the-signature", "collection_method": "/docs/operations/createOrder",
	} {
		if !strings.Contains(search(query), `href="`+want+`"`) {
			t.Errorf("%q does not find %s", query, want)
		}
	}
	for _, odd := range []string{`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, "user <b>", strings.Repeat("ü", 5000)} {
		if text := search(odd); strings.Contains(text, "<script>") || strings.Contains(text, "<img") || strings.Contains(text, "<b>") {
			t.Errorf("%.40q is not escaped", odd)
		}
	}
	for _, event := range []string{"labtest.order.updated", "daily.data.sleep.created"} {
		text := search(event)
		first := regexp.MustCompile(`<li><a href="([^"]*)"`).FindAllStringSubmatch(text, 2)
		if len(first) < 2 || first[0][1] != "/docs/guides/events" || !strings.HasPrefix(first[1][1], "/docs/operations/") {
			t.Errorf("a search for %s begins with %v", event, first)
		}
	}
	if text := search("webhoks"); !strings.Contains(text, `Did you mean <a href="/docs/search?q=webhooks">`) {
		t.Errorf("a search for webhoks suggests nothing: %s", text)
	}
	if text := search("qqqzzz"); !strings.Contains(text, "Nothing contains") {
		t.Error("an empty result has no sentence")
	}
}

func TestDocsMissingPages(t *testing.T) {
	a := apptest.Start(t, storetest.NewSQLite(t))
	answer, text := get(t, a.URL()+"/docs/guides/webhoks")
	if answer.StatusCode != http.StatusNotFound || !strings.Contains(text, `<a href="/docs/guides/webhooks">webhooks</a>`) {
		t.Errorf("%d %s", answer.StatusCode, text)
	}
	if answer, _ := get(t, a.URL()+"/docs/guides/webhooks.md"); answer.StatusCode != http.StatusMovedPermanently || answer.Header.Get("Location") != "/docs/guides/webhooks" {
		t.Errorf("%d %s", answer.StatusCode, answer.Header.Get("Location"))
	}
	for _, path := range []string{
		"/docs/operations/none", "/docs/static/none.js", "/docs/examples/none.py", "/docs/examples/..%2fevents.md", "/docs/static/..%2fpages.go", "/docs/guides/..%2f..%2fgo.mod", "/docs/guides/sample-blocks",
		"/docs/nonsense", "/docs/nonsense/", "/docs/a/b/c", "/docs/guides/events/more", "/docs/operations/createUser/more", "/docs/search/more", "/docs/static", "/docs/<script>alert(1)<%2Fscript>",
	} {
		answer, text := get(t, a.URL()+path)
		if answer.StatusCode != http.StatusNotFound || !strings.Contains(text, `role="search"`) || !strings.Contains(text, `href="/docs/guides/start"`) || !strings.Contains(text, `href="/"`) || strings.Contains(text, "<script>") {
			t.Errorf("%s answers a browser with %d %s", path, answer.StatusCode, text)
		}
		if policy := answer.Header.Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") {
			t.Errorf("%s has the policy %q", path, policy)
		}
		answer, text = getAs(t, a.URL()+path, "*/*")
		var refusal struct{ Code, Detail string }
		if err := json.Unmarshal([]byte(text), &refusal); err != nil || answer.StatusCode != http.StatusNotFound || refusal.Code != "not_found" || refusal.Detail == "" {
			t.Errorf("%s answers a program with %d %s", path, answer.StatusCode, text)
		}
		if vary := answer.Header.Values("Vary"); !slices.Contains(vary, "Accept") {
			t.Errorf("%s varies by %q", path, vary)
		}
	}
}

// The setting docs turns off every page, and the first page links to none.
func TestDocsCanBeTurnedOff(t *testing.T) {
	a := apptest.Start(t, storetest.NewSQLite(t), func(c *config.Config) { c.Docs = false })
	for _, path := range []string{"/docs", "/docs/nonsense", "/docs/guides", "/docs/guides/events", "/docs/operations/createUser", "/docs/search?q=user", "/docs/static/docs.css", "/docs/static/try.js", "/docs/examples/mirror.py", "/docs/examples/mirror.ts", "/openapi.json", "/openapi.yaml"} {
		if answer, _ := get(t, a.URL()+path); answer.StatusCode != http.StatusNotFound {
			t.Errorf("%s answers %d", path, answer.StatusCode)
		}
	}
	if _, text := get(t, a.URL()+"/"); strings.Contains(text, "docs") {
		t.Errorf("the first page links to docs that are off: %s", text)
	}
}

// An operation with several content types shows all of them, and the fields of JSON.
func TestDocsOfSeveralContentTypes(t *testing.T) {
	a := apptest.Start(t, storetest.NewSQLite(t))
	for id, wants := range map[string][]string{
		"recordFulfilment":  {"<code>application/json</code> or <code>application/octet-stream</code>", `<textarea id="try-body"`, "Content-Type: application/json"},
		"takePartnerReport": {"<code>application/json</code> or <code>application/octet-stream</code>", `<textarea id="try-body"`},
		"queryUser":         {"<code>application/json</code> or <code>application/vnd.vital.tar+gzip+parquet</code>", `id="answer-200"`, "results"},
		"createImport":      {"<code>application/octet-stream</code> or <code>application/xml</code> or <code>application/zip</code>", `<input id="try-file"`},
		"exportData":        {"<code>application/fhir+ndjson</code> or <code>application/vnd.apache.parquet</code> or <code>text/csv</code>"},
	} {
		_, page := get(t, a.URL()+"/docs/operations/"+id)
		for _, want := range wants {
			if !strings.Contains(html.UnescapeString(page), want) {
				t.Errorf("%s: %q is not on the page", id, want)
			}
		}
	}
}

// The requests of the page do what the page says: the curl command runs as it is written.
func TestDocsCurlRuns(t *testing.T) {
	for _, tool := range []string{"sh", "curl"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("the test needs %s", tool)
		}
	}
	a := apptest.Start(t, storetest.NewSQLite(t))
	for _, c := range [][2]string{{"createUser", `"client_user_id":"anna"`}, {"listUsers", `"client_user_id":"anna"`}, {"searchPayors", "payor_code"}} {
		operation, want := c[0], c[1]
		_, page := get(t, a.URL()+"/docs/operations/"+operation)
		_, rest, _ := strings.Cut(page, "<summary>curl</summary><pre tabindex=\"0\"><code>")
		command, _, _ := strings.Cut(rest, "</code>")
		shell := exec.CommandContext(t.Context(), "sh", "-euc", html.UnescapeString(command))
		shell.Env = append(os.Environ(), "HALE_URL="+a.URL(), "HALE_API_KEY="+a.Key)
		if answer, err := shell.Output(); err != nil || !strings.Contains(string(answer), want) {
			t.Errorf("%s: %v\n%s\n%s", operation, err, command, answer)
		}
	}
}

// The page of an operation begins its errors with the codes that it declares. It has no row
// of a status that it cannot have.
func TestErrorsOfOperations(t *testing.T) {
	a := apptest.Start(t, storetest.NewSQLite(t))
	var doc struct {
		Paths map[string]map[string]struct {
			OperationID string
			Codes       []string `json:"x-error-codes"`
			Responses   map[string]any
		}
	}
	if _, text := get(t, a.URL()+"/openapi.json"); json.Unmarshal([]byte(text), &doc) != nil {
		t.Fatal("the document cannot be read")
	}
	pages := map[string]string{}
	for _, item := range doc.Paths {
		for _, o := range item {
			_, page := get(t, a.URL()+"/docs/operations/"+o.OperationID)
			pages[o.OperationID] = page
			general := strings.Index(page, "<code>unauthenticated</code>")
			for _, code := range o.Codes {
				if at := strings.Index(page, "<code>"+code+"</code></td><td>"); at < 0 || at > general {
					t.Errorf("the page of %s does not begin its errors with %s", o.OperationID, code)
				}
			}
			for _, status := range []string{"409", "412", "413", "415", "422"} {
				if has := strings.Contains(page, "<tr><td>"+status); has != (o.Responses[status] != nil) {
					t.Errorf("the page of %s has status %s: %v", o.OperationID, status, has)
				}
			}
		}
	}
	for id, wanted := range map[string][]string{
		"createUser":      {"<td>400, 409</td><td><code>client_user_id_taken</code>", "<td>415</td>"},
		"createOrder":     {"<code>method_not_offered</code>", "<code>minor_not_allowed</code>", "<code>activate_by_past</code>", "<code>both_id_kinds</code>"},
		"getTeamSettings": {"<td>401</td>"},
	} {
		for _, w := range wanted {
			if !strings.Contains(pages[id], w) {
				t.Errorf("the page of %s lacks %s", id, w)
			}
		}
	}
	for _, status := range []string{"409", "412", "413", "415", "422"} {
		if strings.Contains(pages["getTeamSettings"], "<tr><td>"+status) {
			t.Errorf("the page of getTeamSettings has status %s", status)
		}
	}
}
