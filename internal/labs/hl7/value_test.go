package hl7_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hale/internal/labs/hl7"
)

func TestEscapesAreResolved(t *testing.T) {
	for in, want := range map[string]string{
		`a \T\ b \F\ c \S\ d \R\ e \E\ f`:    `a & b | c ^ d ~ e \ f`,
		`one\.br\two\X0D\three\X0D0A\four`:   "one\ntwo\nthree\nfour",
		`\.sp2\a\.sp\b\.ce\c\.sk3\d\.in+2\e`: "\n\na\nb\nc   de",
		`\H\bold\N\ plain`:                   "bold plain",
		`a\X00\b\X410042\`:                   "abAB",
		`5 \XC2B5\g and \XB5\g`:              "5 µg and µg",
		`\Cxyz\ \C2842\kanji\M1B2942\`:       `\Cxyz\ kanji`,
		`C:\temp\new\`:                       `C:\temp\new\`,
		`\\ \F`:                              `\\ \F`,
		`\X4\ \XZZ\ \.zz\ \.sp999\`:          `\X4\ \XZZ\ \.zz\ \.sp999\`,
		`\Q\T\`:                              `\Q&`,
		`no escapes`:                         `no escapes`,
	} {
		if got := hl7.Standard.Unescape(in); got != want {
			t.Errorf("%q became %q, not %q", in, got, want)
		}
	}
}

func TestQuoteAndUnescape(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		quoted := hl7.Standard.Quote(text)
		if i := strings.IndexAny(quoted, "|^~&\r\n"); i >= 0 {
			t.Fatalf("%q would cut a message at %d", quoted, i)
		}
		want := strings.NewReplacer("\r\n", "\n", "\r", "\n", "\x00", "").Replace(text)
		if got := hl7.Standard.Unescape(quoted); got != want {
			t.Fatalf("%q became %q by way of %q", text, got, quoted)
		}
	})
}

func TestQuoteWithoutAnEscapeCharacter(t *testing.T) {
	d := hl7.Delimiters{Field: '|', Component: '^', Repetition: '~'}
	if got := d.Quote("a|b^c&d\ne"); got != "a b c&d e" {
		t.Errorf("got %q", got)
	}
}

func TestCharsets(t *testing.T) {
	head := func(charset string) string { return header + "||||||" + charset + "\rNTE|1||" }
	for name, c := range map[string]struct{ message, text, charset string }{
		"nothing said, UTF-8":        {head("") + "5 µg", "5 µg", "UNICODE UTF-8"},
		"nothing said, Latin-1":      {head("") + "5 \xb5g", "5 µg", "8859/1"},
		"UTF-8 said, Latin-1 sent":   {head("UNICODE UTF-8") + "5 \xb5g", "5 µg", "8859/1"},
		"ASCII said, UTF-8 sent":     {head("ASCII") + "5 µg", "5 µg", "UNICODE UTF-8"},
		"ASCII said and sent":        {head("ASCII") + "5 ug", "5 ug", "ASCII"},
		"Latin-1":                    {head("8859/1") + "5 \xb5g", "5 µg", "8859/1"},
		"Latin-2":                    {head("8859/2") + "\xb1", "ą", "8859/2"},
		"Latin-9 in another way":     {head("ISO-8859-15") + "\xa4", "€", "8859/15"},
		"Windows":                    {head("windows-1252") + "\x80", "€", "WINDOWS-1252"},
		"several, the first counts":  {head("8859/5~UNICODE UTF-8") + "\xb0", "А", "8859/5"},
		"Latin-1 holds for no UTF-8": {head("8859/1") + "µ", "Âµ", "8859/1"},
	} {
		m := parse(t, c.message)
		if got := m.First("NTE").Text(3); got != c.text || m.Charset.String() != c.charset {
			t.Errorf("%s: %q in %s", name, got, m.Charset)
		}
		if out, err := m.Emit(); err != nil || string(out) != c.message+"\r" {
			t.Errorf("%s: came out as %q, %v", name, out, err)
		}
	}
	if _, known := hl7.CharsetNamed("ISO IR87"); known {
		t.Error("a character set that is not supported is known")
	}
}

func TestEmitWithUnsupportedCharacter(t *testing.T) {
	for _, charset := range []hl7.Charset{hl7.ASCII, hl7.Latin1} {
		m := hl7.New(charset, hl7.Fields{3: hl7.Text("HALE")})
		m.Add("PID", hl7.Fields{5: hl7.Text("Šimůnek", "Ada")})
		_, err := m.Emit()
		var missing *hl7.CharsetError
		if !errors.As(err, &missing) || missing.Name != "PID" || missing.Field != 5 || missing.Segment != 2 {
			t.Errorf("%s: %v", charset, err)
		} else if strings.Contains(err.Error(), "unek") {
			t.Errorf("%s: the error repeats the name", charset)
		}
	}
}

func TestTimes(t *testing.T) {
	chicago := time.FixedZone("", -6*3600)
	for in, c := range map[string]struct {
		want   string
		zoned  bool
		digits int
	}{
		"2026":                     {"2026-01-01T00:00:00-06:00", false, 4},
		"202603":                   {"2026-03-01T00:00:00-06:00", false, 6},
		"20260302":                 {"2026-03-02T00:00:00-06:00", false, 8},
		"2026030208":               {"2026-03-02T08:00:00-06:00", false, 10},
		"202603020815":             {"2026-03-02T08:15:00-06:00", false, 12},
		"20260302081530":           {"2026-03-02T08:15:30-06:00", false, 14},
		"20260302081530.25":        {"2026-03-02T08:15:30.25-06:00", false, 14},
		"202603020815+0530":        {"2026-03-02T08:15:00+05:30", true, 12},
		"20260302081530.1234-0500": {"2026-03-02T08:15:30.1234-05:00", true, 14},
		"20240229":                 {"2024-02-29T00:00:00-06:00", false, 8},
	} {
		got, err := hl7.ParseTime(in, chicago)
		if err != nil || got.Format(time.RFC3339Nano) != c.want || got.Zoned != c.zoned || got.Digits != c.digits {
			t.Errorf("%s: %s %v %d, %v", in, got.Format(time.RFC3339Nano), got.Zoned, got.Digits, err)
		}
	}
	for _, in := range []string{
		"", "202", "20261", "20261301", "20260230", "20250229", "2026030224", "202603020860", "20260302081560",
		"2026030208153", "20260302081530.", "20260302.5", "20260302081530.1234567890", "20260302+05", "20260302+2500", "20260302-0560",
		"yesterday", "-0500", "2026-03-02", "20260302081530Z",
	} {
		if got, err := hl7.ParseTime(in, time.UTC); err == nil {
			t.Errorf("%q was read as %s", in, got)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		zone := time.FixedZone("", 900*rapid.IntRange(-56, 56).Draw(t, "quarters"))
		want := time.Unix(rapid.Int64Range(0, 4e9).Draw(t, "unix"), 0).In(zone)
		got, err := hl7.ParseTime(hl7.FormatTime(want), time.UTC)
		if err != nil || !got.Equal(want) || !got.Zoned {
			t.Fatalf("%s became %s, %v", want, got, err)
		}
	})
}
