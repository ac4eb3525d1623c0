package docpages

import (
	"encoding/json"
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

// A form with a file has its other fields in every language, and quotes in bodies stay
// intact.
func TestSnippetsOfARequest(t *testing.T) {
	form := &operation{Method: "POST", Path: "/jobs", BodyType: formType, Body: []field{
		{Name: "file", Type: "list of binaries", Required: true}, {Name: "user_id", Type: "uuid", Required: true}, {Name: "note", Type: "string"},
	}}
	for _, s := range form.Snippets() {
		if !strings.Contains(s.Text, "user_id") || !strings.Contains(s.Text, "FILE") || strings.Contains(s.Text, "note") {
			t.Errorf("%s: %s", s.Language, s.Text)
		}
	}
	quoted := &operation{Method: "POST", Path: "/v2/user", BodyType: "application/json", Example: &exchange{
		Path: "/v2/user?at=$1", Body: json.RawMessage("{\"name\":\"O'Neil ` ''' \\\" \\\\\"}"),
	}}
	texts := map[string]string{}
	for _, s := range quoted.Snippets() {
		texts[s.Language] = s.Text
	}
	if !strings.Contains(texts["curl"], `?at=\$1"`) || !strings.Contains(texts["curl"], `O'\''Neil`) {
		t.Error(texts["curl"])
	}
	if strings.Count(texts["Python"], "'''") != 2 {
		t.Error(texts["Python"])
	}
	for _, o := range []*operation{form, quoted} {
		source := "package p\nfunc f() error {\n" + o.Snippets()[3].Text + "\n}\n"
		if _, err := parser.ParseFile(token.NewFileSet(), "", source, 0); err != nil {
			t.Errorf("%v: %s", err, source)
		}
	}
	open := &operation{Method: "POST", Path: "/a/{id}", BodyType: "application/json", Body: []field{
		{Name: "name", Type: "string", Required: true}, {Name: "count", Type: "integer", Required: true}, {Name: "more", Type: "string"},
	}}
	if text := open.Snippets()[0].Text; !strings.Contains(text, `"count": 1`) || strings.Contains(text, "more") {
		t.Error(text)
	}
}
