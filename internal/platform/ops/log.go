package ops

import (
	"fmt"
	"io"
	"log/slog"
	"regexp"
	"runtime"
	"strings"
	"sync"

	"hale/internal/platform/secrets"
)

// NewLogger returns a logger that writes text or JSON lines from a level (debug, info,
// warn, error). It withholds values with names of personal data or secrets, and text
// that looks like a key. Of equal warnings and errors it writes 20 a minute.
func NewLogger(w io.Writer, format, level string) *slog.Logger {
	options := &slog.HandlerOptions{Level: levelOf(level), ReplaceAttr: new(redactor).withhold}
	var handler slog.Handler = slog.NewTextHandler(w, options)
	if format == "json" {
		handler = slog.NewJSONHandler(w, options)
	}
	return slog.New(sample(handler))
}

// Discard returns a logger that writes nothing.
func Discard() *slog.Logger { return slog.New(slog.DiscardHandler) }

func levelOf(word string) slog.Level {
	var level slog.Level
	if err := level.UnmarshalText([]byte(word)); err != nil {
		return slog.LevelInfo
	}
	return level
}

// privateNames are the names of attributes whose values must not be logged, in lower
// case and without separators. Names that end in one of privateEndings are private too:
// patient_first_name, webhook_secret.
var privateNames = map[string]bool{
	"authorization": true, "cookie": true, "signature": true, "credentials": true,
	"query": true, "rawquery": true, "url": true, "uri": true, "path": true,
	"body": true, "payload": true, "data": true, "input": true, "detail": true,
	"name": true, "clientuserid": true, "dob": true, "address": true, "zip": true,
	"gender": true, "race": true, "ethnicity": true, "result": true, "results": true,
	"value": true, "values": true, "memberid": true, "groupid": true, "args": true,
}

var privateEndings = []string{
	"token", "secret", "password", "passphrase", "apikey", "rootkey", "privatekey",
	"firstname", "lastname", "fullname", "email", "phone", "phonenumber", "birthdate",
	"dateofbirth", "birthday", "firstline", "secondline", "zipcode", "postcode", "ssn",
}

var marks = strings.NewReplacer("_", "", "-", "", ".", "", " ", "")

// redactor withholds private values of one logger.
type redactor struct {
	private sync.Map // attribute name to whether it is private; a program uses few names
}

func (r *redactor) isPrivate(name string) bool {
	if known, ok := r.private.Load(name); ok {
		return known.(bool)
	}
	private := isPrivate(name)
	r.private.Store(name, private)
	return private
}

func isPrivate(name string) bool {
	plain := strings.ToLower(marks.Replace(name))
	if privateNames[plain] {
		return true
	}
	for _, ending := range privateEndings {
		if strings.HasSuffix(plain, ending) {
			return true
		}
	}
	return false
}

// keyShaped matches API keys, webhook secrets, bearer tokens and passwords in URLs.
// They may be part of longer text, such as the error message of a library.
var keyShaped = regexp.MustCompile(`\b(?:sk|pk)_[A-Za-z0-9_-]{8,}|\bwhsec_[A-Za-z0-9+/=]{8,}|(?i:\bbearer )[A-Za-z0-9._~+/=-]{8,}|://[^\s/:@]+:[^\s/@]+@`)

func (r *redactor) withhold(groups []string, a slog.Attr) slog.Attr {
	if len(groups) == 0 {
		switch a.Key {
		case slog.TimeKey, slog.LevelKey, slog.SourceKey:
			return a
		case slog.MessageKey:
			a.Value = slog.StringValue(scrub(a.Value.String()))
			return a
		}
	}
	if r.isPrivate(a.Key) {
		return slog.String(a.Key, secrets.Withheld)
	}
	for _, group := range groups {
		if r.isPrivate(group) {
			return slog.String(a.Key, secrets.Withheld)
		}
	}
	if a.Key == panicKey {
		return slog.String(a.Key, describePanic(a.Value.Any()))
	}
	switch a.Value.Kind() {
	case slog.KindString:
		a.Value = slog.StringValue(scrub(a.Value.String()))
	case slog.KindAny:
		if err, ok := a.Value.Any().(error); ok {
			a.Value = slog.StringValue(scrub(err.Error()))
		}
	default: // numbers, times and similar values contain no key
	}
	return a
}

// panicKey is the attribute name of a recovered panic.
const panicKey = "panic"

// describePanic returns the text of the runtime's own errors, such as an index out of
// range. For other values it returns the type, because their text may contain private
// data.
func describePanic(p any) string {
	if err, ok := p.(runtime.Error); ok {
		return err.Error()
	}
	return fmt.Sprintf("%T %s", p, secrets.Withheld)
}

// keyHints are substrings of everything that keyShaped matches. Text without any of
// them skips the slower search.
var keyHints = []string{"k_", "whsec_", "://", "earer ", "EARER "}

func scrub(text string) string {
	for _, hint := range keyHints {
		if strings.Contains(text, hint) {
			return keyShaped.ReplaceAllString(text, secrets.Withheld)
		}
	}
	return text
}
