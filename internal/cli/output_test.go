package cli

import (
	"strings"
	"testing"
)

var things = view{
	list: "items", id: "id",
	columns: []column{{"id", "id"}, {"owner", "owner.name"}, {"tags", "tags.word"}, {"n", "n"}},
	none:    "nothing there",
}

const twoThings = `{"items":[
	{"id":"a","owner":{"name":"Ann"},"tags":[{"word":"x"},{"word":"y"}],"n":12345678901234567890},
	{"id":"b","owner":null,"tags":[],"n":0.1,"more":true}]}`

func TestFormats(t *testing.T) {
	cases := map[string]string{
		formatTable: "ID  OWNER  TAGS  N\na   Ann    x,y   12345678901234567890\nb   -      -     0.1\n",
		formatID:    "a\nb\n",
		formatLines: `{"id":"a","n":12345678901234567890,"owner":{"name":"Ann"},"tags":[{"word":"x"},{"word":"y"}]}` + "\n" +
			`{"id":"b","more":true,"n":0.1,"owner":null,"tags":[]}` + "\n",
	}
	for format, want := range cases {
		term := newTerminal()
		term.format = format
		if err := term.show(things, []byte(twoThings)); err != nil {
			t.Fatal(err)
		}
		if got := term.out.String(); got != want {
			t.Errorf("%s:\n%swant\n%s", format, got, want)
		}
	}
}

func TestPrintOfOneRecord(t *testing.T) {
	one := things
	one.list = ""
	for format, want := range map[string]string{
		formatTable: "id     a\nowner  -\ntags   -\nn      -\n",
		formatJSON:  "{\n  \"id\": \"a\"\n}\n",
		formatLines: "{\"id\":\"a\"}\n",
		formatID:    "a\n",
	} {
		term := newTerminal()
		term.format = format
		if err := term.show(one, []byte(`{"id":"a"}`)); err != nil {
			t.Fatal(err)
		}
		if got := term.out.String(); got != want {
			t.Errorf("%s:\n%swant\n%s", format, got, want)
		}
	}
}

func TestEmptyListPrintsANoteOnATerminalOnly(t *testing.T) {
	for format, want := range map[string]string{formatTable: "", formatJSON: "[]\n", formatLines: "", formatID: ""} {
		for _, body := range []string{`{"items":[]}`, `{"items":null}`} {
			term := newTerminal()
			term.format = format
			if err := term.show(things, []byte(body)); err != nil {
				t.Fatal(err)
			}
			message := strings.Contains(term.err.String(), "nothing there")
			if term.out.String() != want || message != (format == formatTable) {
				t.Errorf("%s of %s: %q, stderr %q", format, body, &term.out, &term.err)
			}
		}
	}
}

func TestControlCharactersAreEscaped(t *testing.T) {
	if got := cell("a\x1b[31m\nb\u009b"); strings.ContainsAny(got, "\x1b\n\u009b") {
		t.Errorf("cell = %q", got)
	}
}

func TestColour(t *testing.T) {
	for _, tc := range []struct {
		name   string
		colour bool
		env    string
		want   string
	}{
		{"on a terminal", true, "", "\x1b[32mok\x1b[0m"},
		{"elsewhere", false, "", "ok"},
		{"NO_COLOR", true, "NO_COLOR=1", "ok"},
		{"empty NO_COLOR", true, "NO_COLOR=", "\x1b[32mok\x1b[0m"},
	} {
		term := newTerminal(tc.env)
		term.colour = tc.colour
		if got := term.paint(verdictOK, "ok"); got != tc.want {
			t.Errorf("%s: %q", tc.name, got)
		}
	}
}
