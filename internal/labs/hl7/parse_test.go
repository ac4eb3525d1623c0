package hl7_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"hale/internal/labs/hl7"
	"hale/internal/testdata"
)

func parse(t *testing.T, text string) *hl7.Message {
	t.Helper()
	m, err := hl7.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

const header = `MSH|^~\&|LAB|NORTH|HALE|US|20260301081500-0500||ORU^R01^ORU_R01|C-1|P|2.5.1`

func TestLineEnds(t *testing.T) {
	lines := []string{header, "PID|1||77^^^LAB^PI||Quill^Ada", "OBX|1|NM|GLU^Glucose||91|mg/dL"}
	for name, end := range map[string]string{"CR": "\r", "LF": "\n", "CRLF": "\r\n", "blank lines": "\r\r\n\n"} {
		for _, last := range []string{"", end} {
			m := parse(t, strings.Join(lines, end)+last)
			if len(m.Segments) != 3 || m.Segments[1].Get(5, 2) != "Ada" || m.Segments[2].Get(6) != "mg/dL" {
				t.Errorf("%s: %d segments", name, len(m.Segments))
			}
			emitted, err := m.Emit()
			if err != nil || string(emitted) != strings.Join(lines, "\r")+"\r" {
				t.Errorf("%s: emitted %q, %v", name, emitted, err)
			}
		}
	}
}

func TestGet(t *testing.T) {
	m := parse(t, header+"\r"+`PID|1||77^^^LAB&2.16.1&ISO^PI~88^^^STATE||Quill & Daughters^ Ada ||""|F`+"\r")
	pid := m.First("PID")
	type place struct {
		n    int
		path []int
	}
	for _, c := range []struct {
		at   place
		want string
	}{
		{place{3, nil}, "77"},
		{place{3, []int{4}}, "LAB"},
		{place{3, []int{4, 2}}, "2.16.1"},
		{place{3, []int{4, 4}}, ""},
		{place{3, []int{9}}, ""},
		{place{5, []int{2}}, "Ada"},
		{place{7, nil}, ""},
		{place{8, nil}, "F"},
		{place{30, nil}, ""},
		{place{-1, nil}, ""},
	} {
		if got := pid.Get(c.at.n, c.at.path...); got != c.want {
			t.Errorf("PID-%d%v is %q, not %q", c.at.n, c.at.path, got, c.want)
		}
	}
	if ids := pid.Field(3).Repeats(); len(ids) != 2 || ids[1].Get(4) != "STATE" || ids[1].Raw() != "88^^^STATE" {
		t.Errorf("PID-3 has %d repetitions", len(ids))
	}
	if !pid.Field(7).First().Null() || pid.Field(8).First().Null() || pid.Len() != 8 {
		t.Error("the null of PID-7 is lost")
	}
	msh := m.First("MSH")
	if msh.Get(1) != "|" || msh.Raw(2) != `^~\&` || msh.Get(3) != "LAB" || msh.Get(12) != "2.5.1" {
		t.Errorf("MSH is off by one: 1=%q 2=%q 3=%q 12=%q", msh.Get(1), msh.Raw(2), msh.Get(3), msh.Get(12))
	}
	if absent := m.First("ZZZ"); absent.Name() != "" || absent.Get(3) != "" || absent.Text(1) != "" {
		t.Error("an absent segment is not empty")
	}
}

func TestEncodingCharacters(t *testing.T) {
	for name, c := range map[string]struct {
		msh  string
		want hl7.Delimiters
	}{
		"usual":         {`MSH|^~\&|A`, hl7.Standard},
		"two":           {`MSH|^~|A`, hl7.Delimiters{Field: '|', Component: '^', Repetition: '~'}},
		"three":         {`MSH|^~\|A`, hl7.Delimiters{Field: '|', Component: '^', Repetition: '~', Escape: '\\'}},
		"truncation":    {`MSH|^~\&#|A`, hl7.Delimiters{Field: '|', Component: '^', Repetition: '~', Escape: '\\', Subcomponent: '&', Truncation: '#'}},
		"other choices": {`MSH$%*?@$A`, hl7.Delimiters{Field: '$', Component: '%', Repetition: '*', Escape: '?', Subcomponent: '@'}},
	} {
		m := parse(t, c.msh)
		if m.Delimiters != c.want || m.First("MSH").Get(3) != "A" {
			t.Errorf("%s: %+v", name, m.Delimiters)
		}
	}
}

func TestErrorsHoldNoContent(t *testing.T) {
	for name, c := range map[string]struct {
		message string
		want    hl7.SyntaxError
	}{
		"nothing":           {"", hl7.SyntaxError{Segment: 1, Problem: "a message begins with MSH"}},
		"no header":         {"\r\nPID|1||Quill", hl7.SyntaxError{Segment: 1, Offset: 2, Problem: "a message begins with MSH"}},
		"no separator":      {"MSH", hl7.SyntaxError{Segment: 1, Field: 1, Offset: 3, Problem: "no field separator after MSH"}},
		"letter separates":  {"MSHA^~", hl7.SyntaxError{Segment: 1, Field: 1, Offset: 3, Problem: "no field separator after MSH"}},
		"no encoding":       {"MSH||Quill", hl7.SyntaxError{Segment: 1, Field: 2, Offset: 4, Problem: "needs 2 to 5 encoding characters"}},
		"too many":          {"MSH|^~\\&#!|Quill", hl7.SyntaxError{Segment: 1, Field: 2, Offset: 4, Problem: "needs 2 to 5 encoding characters"}},
		"twice the same":    {"MSH|^~^&|Quill", hl7.SyntaxError{Segment: 1, Field: 2, Offset: 6, Problem: "encoding characters must be different marks"}},
		"framing":           {header + "\rPID|1||Quill\x1c", hl7.SyntaxError{Segment: 2, Offset: len(header) + 13, Problem: "a framing or NUL byte inside the message"}},
		"NUL":               {header + "\rPID|1||Qui\x00ll", hl7.SyntaxError{Segment: 2, Offset: len(header) + 11, Problem: "a framing or NUL byte inside the message"}},
		"broken header":     {header + "\nQuill", hl7.SyntaxError{Segment: 2, Problem: "a header is followed by a line that is not a segment"}},
		"unknown character": {header + "||||||KLINGON\rPID|1||Quill", hl7.SyntaxError{Segment: 1, Field: 18, Problem: "a character set that is not supported"}},
	} {
		_, err := hl7.Parse([]byte(c.message))
		var got *hl7.SyntaxError
		if !errors.As(err, &got) || *got != c.want {
			t.Errorf("%s: %v", name, err)
		} else if strings.Contains(err.Error(), "Quill") {
			t.Errorf("%s: the error repeats the message: %v", name, err)
		}
	}
}

func TestBrokenLinesAreJoined(t *testing.T) {
	m := parse(t, header+"\rNTE|1||Sample was\nlate and\r\n  RBC\nwarm.|RE\nPID-like line\rOBX|1|NM|X\nZAB\nNTE\n")
	var names []string
	for _, s := range m.Segments {
		names = append(names, s.Name())
	}
	if diff := cmp.Diff([]string{"MSH", "NTE", "OBX", "ZAB", "NTE"}, names); diff != "" {
		t.Fatal(diff)
	}
	if got := m.First("NTE").Text(3); got != "Sample was\nlate and\n  RBC\nwarm." {
		t.Errorf("NTE-3 is %q", got)
	}
	if got := m.First("NTE").Text(4); got != "RE\nPID-like line" {
		t.Errorf("NTE-4 is %q", got)
	}
	m = parse(t, "MSH|^~|A\rNTE|1||Sample was\nlate")
	if got := m.First("NTE").Text(3); got != "Sample was late" {
		t.Errorf("without an escape character NTE-3 is %q", got)
	}
}

// A document of megabytes in short broken lines takes about as long as one in
// a single line.
func TestManyBrokenLines(t *testing.T) {
	const lines = 200_000
	text := header + "\rOBX|1|ED|PDF||" + strings.Repeat("QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWZnaGlqa2xtbm9wcXJzdHV2d3h5eg==\n", lines)
	value := parse(t, text).First("OBX").Text(5)
	if got := strings.Count(value, "\n") + 1; got != lines {
		t.Errorf("%d lines", got)
	}
}

func TestParsedMessagesAreEmittedUnchanged(t *testing.T) {
	text := rapid.StringMatching(`([A-Za-z0-9 .,"é\-]|\\[FSTRE]\\|\\\.br\\|\\X0A\\|\^|~|&|\\)*`)
	name := rapid.StringMatching(`[A-Z][A-Z0-9]{2}`)
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		b.WriteString(`MSH|^~\&|`)
		b.WriteString(strings.Join(rapid.SliceOfN(text, 0, 12).Draw(t, "MSH"), "|"))
		b.WriteByte('\r')
		for range rapid.IntRange(0, 8).Draw(t, "segments") {
			b.WriteString(name.Draw(t, "name"))
			for range rapid.IntRange(1, 12).Draw(t, "fields") {
				b.WriteString("|" + text.Draw(t, "field"))
			}
			b.WriteByte('\r')
		}
		raw := []byte(b.String())
		if latin := rapid.Bool().Draw(t, "latin1"); latin {
			raw = bytes.ReplaceAll(raw, []byte("é"), []byte{0xe9})
		}
		m, err := hl7.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		emitted, err := m.Emit()
		if err != nil || !bytes.Equal(emitted, raw) {
			t.Fatalf("%q became %q, %v", raw, emitted, err)
		}
	})
}

// The public samples are emitted unchanged, except for line ends.
func TestSamplesAreEmittedUnchanged(t *testing.T) {
	dir := testdata.Shared(t, "labs/hl7")
	names, err := filepath.Glob(filepath.Join(dir, "*.hl7"))
	if err != nil || len(names) != 13 {
		t.Fatalf("%d samples, %v", len(names), err)
	}
	for _, name := range names {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		m, err := hl7.Parse(raw)
		if err != nil {
			t.Errorf("%s: %v", filepath.Base(name), err)
			continue
		}
		emitted, err := m.Emit()
		if err != nil {
			t.Fatal(err)
		}
		want := strings.TrimPrefix(string(raw), "\ufeff")
		want = strings.ReplaceAll(strings.TrimRight(want, "\r\n")+"\n", "\n", "\r")
		if diff := cmp.Diff(want, string(emitted)); diff != "" {
			t.Errorf("%s:\n%s", filepath.Base(name), diff)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(header + "\rPID|1||77^^^LAB~88||Quill^Ada\rOBX|1|FT|X||a\\.br\\b\\X41\\\rmore\n"))
	f.Add([]byte("\xef\xbb\xbfMSH|^~\\&#|A||||||||||||||||8859/1\rNTE|1||caf\xe9"))
	f.Add([]byte("FHS|^~\\&|A\rBHS|^~\\&|A\rMSH|^~\\&|A\rBTS|1\rFTS|1"))
	f.Add([]byte("MSH|^~|\r\r\rZZ1\rNTE\n\\"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if messages, err := hl7.Split(data); err == nil && len(messages) == 0 {
			t.Fatal("no message and no error")
		}
		m, err := hl7.Parse(data)
		if err != nil {
			var syntax *hl7.SyntaxError
			if !errors.As(err, &syntax) {
				t.Fatalf("%T", err)
			}
			return
		}
		for _, s := range m.Segments {
			for n := range s.Len() + 2 {
				s.Text(n)
				for _, v := range s.Field(n).Repeats() {
					v.Get(2, 2)
				}
			}
		}
		m.Header()
		m.Acknowledge(hl7.Accepted, "1", hl7.Time{}.Time, &hl7.ErrorSegment{Code: "207"})
		once, err := m.Emit()
		if err != nil {
			return // a byte that its character set leaves undefined
		}
		again, err := hl7.Parse(once)
		if err != nil {
			t.Fatalf("%q was emitted and cannot be read: %v", once, err)
		}
		twice, err := again.Emit()
		if err != nil || !bytes.Equal(once, twice) {
			t.Fatalf("%q became %q, %v", once, twice, err)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	raw, err := os.ReadFile(testdata.Shared(b, "labs/hl7/ORU-R01-01.hl7"))
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := hl7.Parse(raw); err != nil {
			b.Fatal(err)
		}
	}
}
