package cli

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"hale/internal/cli/client"
	"hale/internal/platform/fault"
)

// Exit codes, which scripts may rely on.
const (
	exitOK          = 0
	exitFailure     = 1
	exitUsage       = 2
	exitNotFound    = 3
	exitAuth        = 4
	exitConflict    = 5
	exitUnavailable = 7
)

var exitCodes = map[fault.Kind]int{
	fault.Invalid:         exitUsage,
	fault.NotFound:        exitNotFound,
	fault.Unauthenticated: exitAuth,
	fault.Forbidden:       exitAuth,
	fault.Conflict:        exitConflict,
	fault.Changed:         exitConflict,
	fault.TooMany:         exitUnavailable,
	fault.Unavailable:     exitUnavailable,
}

// errInterrupted is the error after Ctrl-C or a stop signal.
var errInterrupted = errors.New("interrupted")

// usageError is the error of an invalid command line. It has the exit code of invalid
// input.
type usageError struct{ error }

func (e *usageError) Unwrap() error { return e.error }

// Kind returns fault.Invalid.
func (e *usageError) Kind() fault.Kind { return fault.Invalid }

func badUsage(err error) error { return &usageError{err} }

func badUsagef(format string, args ...any) error { return badUsage(fmt.Errorf(format, args...)) }

// hintedError is an error with advice on how to solve it.
type hintedError struct {
	error
	hint string
}

func (e *hintedError) Unwrap() error { return e.error }

// withHint adds advice to an error. It returns nil for nil.
func withHint(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return &hintedError{err, fmt.Sprintf(format, args...)}
}

func exitCode(err error) int {
	if code, ok := exitCodes[fault.KindOf(err)]; ok {
		return code
	}
	return exitFailure
}

// complain prints `name: error` and, if there is one, a hint.
func (s *shell) complain(command *cobra.Command, err error) {
	name := strings.TrimPrefix(command.CommandPath(), command.Root().Name()+" ")
	for _, line := range strings.Split(textOf(command, err), "\n") {
		fmt.Fprintf(s.err, "%s: %s\n", name, plainWords(line))
	}
	if hint := s.hintFor(command, err); hint != "" {
		fmt.Fprintf(s.err, "hint: %s\n", hint)
	}
}

// plainWords puts a sentence into the style of the command line. It removes the full stop and
// makes the first letter lower case, unless the first word is written in capitals.
func plainWords(text string) string {
	text = strings.TrimSuffix(strings.TrimSpace(text), ".")
	first, size := utf8.DecodeRuneInString(text)
	second, _ := utf8.DecodeRuneInString(text[size:])
	if unicode.IsUpper(first) && !unicode.IsUpper(second) {
		return string(unicode.ToLower(first)) + text[size:]
	}
	return text
}

// isUnknownPath reports whether the API has no such path. Its sentence about an unknown
// object has other capitals.
func isUnknownPath(answer *client.Error) bool {
	return answer.Status == http.StatusNotFound && answer.Error() == http.StatusText(http.StatusNotFound)
}

// hasOtherPath reports whether the API knows no such path because the address of the server
// has a path.
func (s *shell) hasOtherPath(answer *client.Error) bool {
	if !isUnknownPath(answer) {
		return false
	}
	address, err := url.Parse(s.serverURL())
	return err == nil && strings.Trim(address.Path, "/") != ""
}

func (s *shell) hintFor(command *cobra.Command, err error) string {
	var answer *client.Error
	if errors.As(err, &answer) && answer.Status == http.StatusNotFound && answer.RequestID == "" { // every answer of the API has one
		return "the server at " + s.serverURL() + " is not the API of hale serve; is it the port of the metrics? set HALE_URL or --server"
	}
	if answer != nil && s.hasOtherPath(answer) {
		return "the path of " + s.serverURL() + " is not that of the API; set HALE_URL or --server to an address without a path"
	}
	var own *hintedError
	if errors.As(err, &own) {
		return own.hint
	}
	var usage *usageError
	if errors.As(err, &usage) {
		return command.CommandPath() + " --help shows how"
	}
	if hint := annotation(command, absentHint); hint != "" && fault.Is(err, fault.NotFound) {
		return hint
	}
	if strings.Contains(err.Error(), "/v2/webhooks/event_types") {
		return "hale events types lists them"
	}
	if answer == nil {
		return ""
	}
	switch answer.Kind() {
	case fault.Unauthenticated:
		return "set HALE_API_KEY to a live key; hale keys create creates one"
	case fault.Unavailable:
		if strings.Contains(answer.Error(), "HTTP response to HTTPS client") {
			return "the server speaks plain HTTP: set HALE_URL or --server to http://" + strings.TrimPrefix(s.serverURL(), "https://")
		}
		if strings.Contains(answer.Error(), "disk is full") {
			return "make room on the disk of the server; the server's log and hale doctor show more"
		}
		if answer.Status == 0 {
			return "is hale serve running at " + s.serverURL() + "? set HALE_URL or --server for another address"
		}
		return "try again in a moment; the server's log and hale doctor show the reason"
	case fault.Internal:
		if answer.RequestID != "" {
			return "the server's log has more under request_id " + answer.RequestID
		}
	default: // the sentence says it all
	}
	return ""
}
