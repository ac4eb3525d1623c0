package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"hale/internal/cli/client"
)

// rawCall holds the request of `hale api`.
type rawCall struct {
	data    string
	query   []string
	headers []string
	show    bool // headers of the answer
}

func (s *shell) apiCommand() *cobra.Command {
	var r rawCall
	c := s.calls(&cobra.Command{
		Use: "api [METHOD] PATH", Short: "call any operation of the API",
		Long: `Call any operation of the API and print its answer. The command also prints an
error answer, and sets the exit code by its status. Without METHOD it uses POST if
there is a body (-d), otherwise GET.`,
		Example: examples(
			"hale api /v2/user -q limit=5",
			`hale api POST /v2/user -d '{"client_user_id":"anna"}' -H 'Idempotency-Key: 1'`,
			"hale api PATCH /v2/user/0198… -d @change.json -i",
			"hale api GET /v2/providers | jq length",
		),
		Args: wantArgs("[METHOD]", "PATH"),
		RunE: func(c *cobra.Command, args []string) error { return s.rawCall(c, r, args) },
	})
	flags := c.Flags()
	flags.StringVarP(&r.data, "data", "d", "", "request body; @FILE reads a file, - or @- reads standard input")
	flags.StringArrayVarP(&r.query, "query", "q", nil, "query parameter NAME=VALUE; repeatable")
	flags.StringArrayVarP(&r.headers, "header", "H", nil, "request header 'Name: value'; repeatable")
	flags.BoolVarP(&r.show, "include", "i", false, "print the status and headers of the answer to stderr")
	return c
}

func (s *shell) rawCall(c *cobra.Command, r rawCall, args []string) error {
	request, err := r.request(s.in, args)
	if err != nil {
		return err
	}
	server, err := s.client()
	if err != nil {
		return err
	}
	answer, err := server.Send(c.Context(), request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if r.show {
		s.say("%s %s", answer.Proto, answer.Status)
		for _, name := range slices.Sorted(maps.Keys(answer.Header)) {
			s.say("%s: %s", strings.ToLower(name), strings.Join(answer.Header[name], ", "))
		}
	}
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	s.printBody(body)
	return s.plainRefusal(client.Refusal(answer, body))
}

// plainRefusal returns the error of an answer that is already printed. It uses the words
// of the API, because the request was raw too.
func (s *shell) plainRefusal(err error) error {
	var refused *client.Error
	if !errors.As(err, &refused) {
		return err
	}
	text, hint := refused.Error(), ""
	switch {
	case refused.Status == http.StatusMethodNotAllowed:
		text, hint = "the API has no such METHOD for this path", s.serverURL()+"/docs lists all operations"
	case isUnknownPath(refused):
		text, hint = "the API has no such path", s.serverURL()+"/docs lists all paths"
	default:
		return sayingf(err, "%s", text)
	}
	return withHint(sayingf(err, "%s", text), "%s", hint)
}

// method matches a valid HTTP method.
var method = regexp.MustCompile(`^[A-Za-z]+$`)

func (r rawCall) request(in io.Reader, args []string) (client.Request, error) {
	request := client.Request{Method: http.MethodGet, Path: args[len(args)-1], Header: http.Header{}}
	if len(args) == 2 {
		if !method.MatchString(args[0]) {
			return request, badUsagef("METHOD must be a word such as GET or POST")
		}
		request.Method = strings.ToUpper(args[0])
	} else if r.data != "" {
		request.Method = http.MethodPost
	}
	path, rawQuery, _ := strings.Cut(request.Path, "?")
	query, err := url.ParseQuery(rawQuery)
	if err != nil || !strings.HasPrefix(path, "/") {
		return request, badUsagef("PATH must begin with a slash, such as /v2/user")
	}
	request.Path, request.Query = path, query
	for _, pair := range r.query {
		name, value, ok := strings.Cut(pair, "=")
		if !ok {
			return request, badUsagef("-q must be NAME=VALUE")
		}
		query.Add(name, value)
	}
	for _, line := range r.headers {
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			return request, badUsagef("-H must be 'Name: value'")
		}
		request.Header.Add(strings.TrimSpace(name), strings.TrimSpace(value))
	}
	if r.data == "" {
		return request, nil
	}
	body, err := readData(r.data, in)
	if err != nil {
		return request, err
	}
	request.Raw, request.Length = bytes.NewReader(body), int64(len(body))
	if request.Header.Get("Content-Type") == "" {
		request.Header.Set("Content-Type", "application/json")
	}
	return request, nil
}

// readData returns the body that the flag -d stands for: the text itself, the content of
// a file (@FILE), or the standard input (-).
func readData(data string, in io.Reader) ([]byte, error) {
	switch {
	case data == "-" || data == "@-":
		return io.ReadAll(in)
	case strings.HasPrefix(data, "@"):
		text, err := os.ReadFile(data[1:])
		return text, fileTrouble(data[1:], err)
	}
	return []byte(data), nil
}

// printBody indents JSON for people and leaves other text unchanged.
func (s *shell) printBody(body []byte) {
	var out bytes.Buffer
	var err error
	if s.format == formatLines {
		err = json.Compact(&out, body)
	} else {
		err = json.Indent(&out, body, "", "  ")
	}
	if err != nil {
		out.Reset()
		out.Write(body)
	}
	text := bytes.TrimRight(out.Bytes(), "\n")
	if len(text) > 0 {
		fmt.Fprintf(s.out, "%s\n", text)
	}
}
