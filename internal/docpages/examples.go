package docpages

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sync"

	"hale/docs"
)

// exchange is a request and its answer, as a test recorded them. Binary bodies are empty.
type exchange struct {
	Path       string          `json:"path"` // with the query
	Headers    [][2]string     `json:"headers,omitempty"`
	Body       json.RawMessage `json:"body,omitempty"`
	Status     int             `json:"status"`
	AnswerType string          `json:"answer_type,omitempty"`
	Answer     json.RawMessage `json:"answer,omitempty"`
	Events     []string        `json:"events,omitempty"` // types of the events that the request caused
}

// examples holds the exchanges of docs/examples.json by method and path.
var examples = sync.OnceValue(func() map[string]*exchange {
	all := map[string]*exchange{}
	text, err := docs.Files.ReadFile("examples.json")
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil {
		panic("docpages: docs/examples.json: " + err.Error()) // the file is part of the build
	}
	return all
})

func exampleOf(operation string) *exchange { return examples()[operation] }

// BodyText returns the body of the request, indented.
func (e *exchange) BodyText() string { return indentJSON(e.Body) }

// AnswerText returns the answer, indented.
func (e *exchange) AnswerText() string {
	switch {
	case len(e.Answer) > 0:
		return indentJSON(e.Answer)
	case e.AnswerType != "":
		return fmt.Sprintf("a body of type %s", e.AnswerType)
	}
	return "no body"
}

func indentJSON(text json.RawMessage) string {
	if len(text) == 0 {
		return ""
	}
	var b bytes.Buffer
	if err := json.Indent(&b, text, "", "  "); err != nil {
		return string(text)
	}
	return b.String()
}
