package apitest

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"testing"
)

// checkRefusal says where a refusal does not have the shape that all have: a
// detail that is a sentence, an object that says of what type it is, or, of bad
// input, a list of problems.
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
