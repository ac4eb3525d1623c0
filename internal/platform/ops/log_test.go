package ops

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"hale/internal/platform/secrets"
)

func TestLogWithholds(t *testing.T) {
	const canary = "Zbigniew-Canary-1970"
	names := []string{
		"first_name", "firstName", "patient_last_name", "email", "phone_number", "dob", "birth_date",
		"date-of-birth", "address", "zip_code", "authorization", "x-service-api-key", "webhook_secret",
		"refresh_token", "query", "body", "result", "client_user_id", "member_id", "value",
	}
	for _, format := range []string{"text", "json"} {
		var out bytes.Buffer
		log := NewLogger(&out, format, "debug")
		for _, name := range names {
			out.Reset()
			log.Info("probe", name, canary)
			log.WithGroup("user").Info("probe", name, canary)
			log.Info("probe", slog.Group(name, slog.String("inner", canary)))
			if strings.Contains(out.String(), canary) {
				t.Errorf("%s: %s is in the log: %s", format, name, out.String())
			}
			if strings.Count(out.String(), "probe") != 3 {
				t.Errorf("%s: the line itself is gone: %s", format, out.String())
			}
		}
	}
}

func TestLogScrubsKeysInText(t *testing.T) {
	cases := []struct{ name, text, secret string }{
		{"sandbox key", "calling with sk_us_abcDEF123456 failed", "abcDEF123456"},
		{"production key", "pk_eu_abcDEF123456", "abcDEF123456"},
		{"webhook secret", "secret whsec_MfKQ9r8GKYqrTwjU=", "MfKQ9r8GKYqrTwjU"},
		{"bearer", "Authorization: Bearer eyJhbGciOi.x", "eyJhbGciOi"},
		{"database password", "dial postgres://hale:hunter2@db:5432", "hunter2"},
	}
	var out bytes.Buffer
	log := NewLogger(&out, "json", "info")
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			out.Reset()
			log.Error(tc.text, "error", errors.New(tc.text), "note", tc.text)
			if strings.Contains(out.String(), tc.secret) {
				t.Errorf("the log has the secret: %s", out.String())
			}
			if strings.Count(out.String(), secrets.Withheld) != 3 {
				t.Errorf("want it withheld three times: %s", out.String())
			}
		})
	}
}

func TestLogKeepsValuesForOperators(t *testing.T) {
	var out bytes.Buffer
	NewLogger(&out, "text", "info").Info("request", "route", "/v2/user/{user_id}", "status", 200,
		"team", "0195e5a2-0000-7000-8000-000000000000", "request_id", "abc", "kind", "users.erase")
	for _, want := range []string{"/v2/user/{user_id}", "status=200", "0195e5a2", "request_id=abc", "users.erase"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s is missing: %s", want, out.String())
		}
	}
}

func TestLogOfAPanicHasNoValue(t *testing.T) {
	var out bytes.Buffer
	log := NewLogger(&out, "text", "info")
	log.Error("panic", "panic", errors.New("canary"))
	log.Error("panic", "panic", "canary")
	func() {
		defer func() { log.Error("panic", "panic", recover()) }()
		_ = []int{}[out.Len()]
	}()
	if got := out.String(); strings.Contains(got, "canary") || !strings.Contains(got, "*errors.errorString") ||
		!strings.Contains(got, "index out of range") {
		t.Errorf("log = %s", got)
	}
}

func TestLogLevel(t *testing.T) {
	var out bytes.Buffer
	log := NewLogger(&out, "text", "warn")
	log.Info("quiet")
	log.Warn("loud")
	if got := out.String(); strings.Contains(got, "quiet") || !strings.Contains(got, "loud") {
		t.Errorf("log at warn = %s", got)
	}
}
