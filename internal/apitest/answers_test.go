package apitest

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"hale/internal/platform/store/storetest"
)

// For every request, the answer is one that the document declares, and never a 5xx.
// rapid shrinks a failure to one curl command. Reads share a fixture; every other
// operation has its own team.
func TestEveryAnswerIsInTheDocument(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		s := start(t, d)
		read := s.fixture(t)
		for _, o := range s.doc.operations {
			t.Run(o.String(), func(t *testing.T) {
				t.Parallel()
				own, f := s, read
				if o.Method != http.MethodGet {
					own, f = s.newTeamWithFixture(t)
				}
				g := generator{document: s.doc, known: f.valuesFor(o)}
				rapid.Check(t, func(rt *rapid.T) {
					r := g.request(rt, o)
					own.judge(rt, o, r, own.send(rt, r, own.Key))
				})
			})
		}
	})
}

// judge fails if an answer violates the document or the general rules.
func (s *service) judge(t fataler, o operation, r request, got answer) {
	t.Helper()
	if got.status >= http.StatusInternalServerError {
		t.Fatalf("%v\nwas answered %d: %.500s", r, got.status, got.body)
	}
	if got.header.Get("x-request-id") == "" {
		t.Fatalf("%v\nwas answered without x-request-id", r)
	}
	if err := s.doc.check(o, got.status, got.header.Get("content-type"), got.body); err != nil {
		t.Fatalf("%v\n%v\nanswer: %.500s", r, err, got.body)
	}
	if got.status >= http.StatusBadRequest {
		if err := checkRefusal(got.status, got.body); err != nil {
			t.Fatalf("%v\nwas refused with %d: %v: %.500s", r, got.status, err, got.body)
		}
	}
}

// Every operation that requires a key answers 401 without a key or with an unknown one.
// The rest of the request makes no difference.
func TestEveryOperationRequiresAKey(t *testing.T) {
	s := start(t, storetest.NewSQLite(t))
	known := s.fixture(t).values()
	for _, o := range s.doc.operations {
		if o.Public {
			continue
		}
		for _, key := range []string{"", "sk_nobody_has_this_key"} {
			r := s.minimalRequest(t, o, known)
			got := s.send(t, r, key)
			if got.status != http.StatusUnauthorized {
				t.Errorf("%v with key %q was answered %d", r, key, got.status)
			}
			s.judge(t, o, r, got)
		}
	}
}

// checkRefusal returns an error if an error answer does not have the common shape. Its
// detail must be a text, an object with a type, or, for bad input, a list of problems.
//
// Reference 5.1, and the contract's ValidationError.
func checkRefusal(status int, body []byte) error {
	value, err := decode(body)
	if err != nil {
		return err
	}
	object, _ := value.(map[string]any)
	switch detail := object["detail"].(type) {
	case string:
		if detail == "" {
			return errors.New("detail is empty")
		}
		return nil
	case map[string]any:
		for _, name := range []string{"error_type", "error_message"} {
			if text, _ := detail[name].(string); text == "" {
				return fmt.Errorf("detail has no %s", name)
			}
		}
		return nil
	case []any:
		return checkProblems(status, detail)
	}
	return errors.New("there is no detail")
}

var (
	problemCode = regexp.MustCompile(`^[a-z][a-z_0-9]*$`)
	problemAt   = []any{"body", "query", "path", "header"}
)

func checkProblems(status int, problems []any) error {
	if status != http.StatusUnprocessableEntity || len(problems) == 0 {
		return fmt.Errorf("a list of %d problems", len(problems))
	}
	for _, p := range problems {
		problem, _ := p.(map[string]any)
		code, _ := problem["type"].(string)
		loc, _ := problem["loc"].([]any)
		message, _ := problem["msg"].(string)
		switch {
		case !problemCode.MatchString(code):
			return fmt.Errorf("type %q is no code", code)
		case message == "":
			return fmt.Errorf("%s has no msg", code)
		case len(loc) == 0 || !slices.Contains(problemAt, loc[0]):
			return fmt.Errorf("%s is at %v", code, loc)
		}
		if i := slices.IndexFunc(loc, func(part any) bool { return !isA(part, "string") && !isA(part, "integer") }); i >= 0 {
			return fmt.Errorf("%s is at %v", code, loc)
		}
	}
	return nil
}

func TestRefusalsHaveOneShape(t *testing.T) {
	for body, good := range map[string]bool{
		`{"detail":"Not found"}`: true,
		`{"detail":{"error_type":"INVALID_REQUEST","error_message":"Taken","user_id":"1"}}`: true,
		`{"detail":[{"type":"missing","loc":["body","a",0,"b"],"msg":"Field required"}]}`:   true,
		`{}`:                     false,
		`[]`:                     false,
		`{"detail":""}`:          false,
		`{"detail":null}`:        false,
		`{"detail":[]}`:          false,
		`{"detail":{"error":1}}`: false,
		`{"detail":[{"type":"Not a code","loc":["body"],"msg":"Field required"}]}`:             false,
		`{"detail":[{"type":"missing","loc":["nowhere"],"msg":"Field required"}]}`:             false,
		`{"detail":[{"type":"missing","loc":["body",{}],"msg":"Field required"}]}`:             false,
		`{"detail":[{"type":"missing","loc":["body"],"msg":""}]}`:                              false,
		`{"detail":[{"type":"missing","loc":["body"]}]}`:                                       false,
		`{"detail":[{"type":"missing","loc":[],"msg":"Field required"}]}`:                      false,
		`{"detail":[{"type":"missing","loc":["query","a"],"msg":"Field required","input":1}]}`: true,
	} {
		if err := checkRefusal(http.StatusUnprocessableEntity, []byte(body)); (err == nil) != good {
			t.Errorf("%s: %v", body, err)
		}
	}
	if checkRefusal(http.StatusConflict, []byte(`{"detail":[{"type":"missing","loc":["body"],"msg":"Field required"}]}`)) == nil {
		t.Error("a list of problems is no conflict")
	}
}
