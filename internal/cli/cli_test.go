package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"hale/internal/cli/client"
	"hale/internal/platform/config"
	"hale/internal/platform/fault"
)

// terminal is a command line inside of a test.
type terminal struct {
	*shell
	out, err bytes.Buffer
}

// newTerminal makes one whose environment holds the pairs NAME=value.
func newTerminal(environ ...string) *terminal {
	t := &terminal{}
	t.shell = &shell{
		in: strings.NewReader(""), out: &t.out, err: &t.err, environ: environ,
		now: func() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) },
		lookupEnv: func(name string) (string, bool) {
			for _, pair := range environ {
				if key, value, _ := strings.Cut(pair, "="); key == name {
					return value, true
				}
			}
			return "", false
		},
	}
	return t
}

// The hint about a full disk is to make room. Trying again would not help.
func TestTheHintOfAFullDisk(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Request-Id", "1")
		w.WriteHeader(http.StatusServiceUnavailable)
		fmt.Fprint(w, `{"code":"unavailable","detail":"The server's disk is full and nothing was stored: try again when there is room"}`)
	}))
	defer server.Close()
	term := newTerminal("HALE_API_KEY=sk_test", "HALE_URL="+server.URL)
	if code := term.run(t.Context(), []string{"users", "list"}); code != exitUnavailable {
		t.Errorf("exit code %d", code)
	}
	if got := term.err.String(); !strings.Contains(got, "hint: make room on the disk of the server") || strings.Contains(got, "in a moment") {
		t.Errorf("said %q", got)
	}
}

// walkCommands walks all commands that people see.
func walkCommands(c *cobra.Command, fn func(*cobra.Command)) {
	for _, child := range c.Commands() {
		if child.Name() != "help" && child.Name() != "completion" && !child.Hidden {
			fn(child)
			walkCommands(child, fn)
		}
	}
}

func TestEveryCommandExplainsItself(t *testing.T) {
	walkCommands(newTerminal().root(), func(c *cobra.Command) {
		if c.Short == "" || c.Short != plainWords(c.Short) {
			t.Errorf("%s: says what it is for in lower case without a full stop: %q", c.CommandPath(), c.Short)
		}
		if !strings.Contains(c.Example, "hale") {
			t.Errorf("%s: has no example", c.CommandPath())
		}
		if c.Args == nil {
			t.Errorf("%s: does not check its arguments", c.CommandPath())
		}
	})
}

// The examples are command lines that parse: known commands, known flags, the
// right number of arguments.
func TestExamplesParse(t *testing.T) {
	root := newTerminal().root()
	walkCommands(root, func(c *cobra.Command) {
		for line := range strings.Lines(c.Example) {
			for _, args := range commandLines(line) {
				found, rest, err := newTerminal().root().Find(args)
				if err == nil {
					err = found.ParseFlags(rest)
				}
				if err == nil && found.Args != nil {
					err = found.ValidateArgs(found.Flags().Args())
				}
				if err != nil {
					t.Errorf("%s: example %q: %v", c.CommandPath(), strings.TrimSpace(line), err)
				}
			}
		}
	})
}

// commandLines cuts the calls of hale out of a line of shell.
func commandLines(line string) (all [][]string) {
	line, _, _ = strings.Cut(line, "   #")
	for _, part := range strings.FieldsFunc(line, func(r rune) bool { return r == '|' || r == '(' || r == ')' || r == '&' }) {
		part = strings.TrimSpace(part)
		if rest, ok := strings.CutPrefix(part, "hale "); ok {
			all = append(all, withoutRedirections(shellWords(rest)))
		}
	}
	return all
}

// withoutRedirections takes away `< FILE` and `> FILE`, which the shell keeps
// for itself.
func withoutRedirections(words []string) []string {
	at := slices.IndexFunc(words, func(word string) bool { return word == "<" || word == ">" })
	if at < 0 || at+1 >= len(words) {
		return words
	}
	return withoutRedirections(slices.Concat(words[:at], words[at+2:]))
}

// shellWords splits at spaces outside of quotes.
func shellWords(text string) (words []string) {
	var quote rune
	var word strings.Builder
	for _, r := range text + " " {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			quote = r
		case quote == 0 && r == ' ':
			if word.Len() > 0 {
				words = append(words, word.String())
			}
			word.Reset()
		default:
			word.WriteRune(r)
		}
	}
	return words
}

// document reads a page of the docs folder.
func document(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestDocumentsAreComplete(t *testing.T) {
	commands := document(t, "cli.md")
	walkCommands(newTerminal().root(), func(c *cobra.Command) {
		if c.Parent().Name() == "import" {
			return // one for each kind of export, which docs/importing.md lists
		}
		if !strings.Contains(commands, "`"+c.CommandPath()) {
			t.Errorf("docs/cli.md does not mention %s", c.CommandPath())
		}
	})
	settings := document(t, "operations.md")
	for _, s := range config.Settings() {
		row := fmt.Sprintf("| `%s` | `%s` | %s |", s.Key, s.Env, defaultOf(s))
		if !strings.Contains(settings, row) {
			t.Errorf("docs/operations.md lacks the row %s", row)
		}
	}
}

func defaultOf(s config.Setting) string {
	switch {
	case s.InProduction != "":
		return "`" + s.Default + "`, in production `" + s.InProduction + "`"
	case s.Default == "":
		return ""
	}
	return "`" + s.Default + "`"
}

func TestExitCodes(t *testing.T) {
	cases := []struct {
		err  error
		code int
	}{
		{fault.New(fault.Invalid, ""), 2},
		{badUsagef("x"), 2},
		{fault.New(fault.NotFound, ""), 3},
		{fault.New(fault.Unauthenticated, ""), 4},
		{fault.New(fault.Forbidden, ""), 4},
		{fault.New(fault.Conflict, ""), 5},
		{fault.New(fault.Changed, ""), 5},
		{client.Refusal(&http.Response{StatusCode: http.StatusPreconditionFailed}, nil), 5},
		{fault.New(fault.Unavailable, ""), 7},
		{fault.New(fault.TooMany, ""), 7},
		{fault.New(fault.Refused, ""), 1},
		{errors.New("anything"), 1},
		{withHint(fmt.Errorf("wrapped: %w", fault.New(fault.NotFound, "")), "do"), 3},
	}
	for _, tc := range cases {
		if got := exitCode(tc.err); got != tc.code {
			t.Errorf("exit code of %v = %d, want %d", tc.err, got, tc.code)
		}
	}
}

func TestErrorTextsAreLowerCase(t *testing.T) {
	for text, want := range map[string]string{
		"User not found.":    "user not found",
		"API key not found":  "API key not found",
		"a: b":               "a: b",
		"":                   "",
		" X ":                "x",
		"Österreich was här": "österreich was här",
	} {
		if got := plainWords(text); got != want {
			t.Errorf("plain(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestUnknownVariableIsReportedByTheDoctor(t *testing.T) {
	term := newTerminal("HALE_DATBASE=x", "HALE_DATA="+t.TempDir(), "HALE_LISTEN=127.0.0.1:0", "HALE_METRICS_LISTEN=off")
	if code := term.run(context.Background(), []string{"doctor"}); code != 0 {
		t.Errorf("exit code %d: %s", code, &term.err)
	}
	if !strings.Contains(term.out.String(), "unknown variables: HALE_DATBASE") {
		t.Errorf("said %s", &term.out)
	}
}

// Only root is believed to run under sudo.
func TestOperatorName(t *testing.T) {
	sudo := newTerminal("SUDO_USER=alice")
	own := newTerminal().operatorName("")
	if got := sudo.operatorName(""); got != own || got == "operator alice" {
		t.Errorf("an unprivileged user with SUDO_USER is %q, want %q", got, own)
	}
	sudo.isRoot = true
	if got := sudo.operatorName(""); got != "operator alice" {
		t.Errorf("root under sudo is %q", got)
	}
	if got := sudo.operatorName("Dr. Example"); got != "Dr. Example" {
		t.Errorf("a given name became %q", got)
	}
}
