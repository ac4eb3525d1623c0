package apitest

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"hale/internal/platform/store/storetest"
)

// The document leaves out some bounds of the contract: of an order's texts,
// because they hold once spaces around a text are gone, and where it cannot
// say them. They do hold.
func TestBoundsThatTheDocumentDoesNotSay(t *testing.T) {
	s := start(t, storetest.NewSQLite(t))
	f := s.fixture(t)
	queries := "POST /v1/org/" + f.ids["team_id"] + "/team/" + f.ids["team_id"] + "/sandbox/validate_continuous_query"
	query := func(slug, title string) string {
		return strings.NewReplacer(`"beats-%d"`, fmt.Sprintf("%q", slug), `"Beats"`, fmt.Sprintf("%q", title)).Replace(someQuery)
	}
	order := func(operation, old, new string) string {
		text := wholeBodies[operation]
		for name, value := range f.ids {
			text = strings.ReplaceAll(text, `"$`+name+`"`, `"`+value+`"`)
		}
		if !strings.Contains(text, old) {
			t.Fatalf("%s: no %s", operation, old)
		}
		return strings.ReplaceAll(text, old, new)
	}
	const create, kit, imported = "POST /v3/order", "POST /v3/order/testkit", "POST /v3/order/import"
	const first, last, zip, city = `"first_name":"Given"`, `"last_name":"Family"`, `"zip":"85004"`, `"city":"Phoenix"`
	notes := func(n int) string { return fmt.Sprintf(`"access_notes":%q,`+city, strings.Repeat("x", n)) }
	for _, test := range []struct {
		name, line, body, at string // at is where the problem is; none for a body that is taken
	}{
		{"a plain order", create, order(create, first, first), ""},
		{"spaces around a name", create, order(create, first, `"first_name":"  Given  "`), ""},
		{"no first name", create, order(create, first, `"first_name":"  "`), "first_name"},
		{"no last name", create, order(create, last, `"last_name":""`), "last_name"},
		{"a first name of 50", create, order(create, first, `"first_name":"`+strings.Repeat("x", 50)+` "`), ""},
		{"a first name of 51", create, order(create, first, `"first_name":"`+strings.Repeat("x", 51)+`"`), "first_name"},
		{"a last name of 51", create, order(create, last, `"last_name":"`+strings.Repeat("x", 51)+`"`), "last_name"},
		{"a long ZIP", create, order(create, zip, `"zip":" 85004-1234 "`), ""},
		{"a short ZIP", create, order(create, zip, `"zip":"8500"`), "zip"},
		{"a kit's ZIP", kit, order(kit, zip, `"zip":"8500"`), "zip"},
		{"notes of 1000", create, order(create, city, notes(1000)), ""},
		{"notes of 1001", create, order(create, city, notes(1001)), "access_notes"},
		{"an import's notes of 1001", imported, order(imported, city, notes(1001)), "access_notes"},
		{"a plain query", queries, query("beats", "Beats (1) & more_-."), ""},
		{"a title of 50", queries, query("beats", strings.Repeat("x", 50)), ""},
		{"a title of 51", queries, query("beats", strings.Repeat("x", 51)), "title"},
		{"a title with another sign", queries, query("beats", "beats?"), "title"},
		{"a slug of 129", queries, query(strings.Repeat("x", 129), "Beats"), "slug"},
		{"two hyphens in a slug", queries, query("b--b", "Beats"), "slug"},
		{"a hyphen first", queries, query("-b", "Beats"), "slug"},
		{"a hyphen last", queries, query("b-", "Beats"), "slug"},
		{"a capital in a slug", queries, query("Beats", "Beats"), "slug"},
	} {
		method, path, _ := strings.Cut(test.line, " ")
		r := request{method: method, path: path, body: []byte(test.body), headers: map[string]string{"content-type": "application/json"}}
		got := s.send(t, r, s.Key)
		switch {
		case test.at == "" && got.status != http.StatusOK:
			t.Errorf("%s: %d %.300s", test.name, got.status, got.body)
		case test.at != "" && (got.status != http.StatusUnprocessableEntity || !strings.Contains(string(got.body), fmt.Sprintf("%q],", test.at))):
			t.Errorf("%s: %d %.300s, not at %s", test.name, got.status, got.body, test.at)
		}
	}
}
