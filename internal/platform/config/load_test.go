package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// environ returns a LookupEnv for a list of names and values.
func environ(pairs ...string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		for _, pair := range pairs {
			if key, value, _ := strings.Cut(pair, "="); key == name {
				return value, true
			}
		}
		return "", false
	}
}

func write(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestPrecedence(t *testing.T) {
	const yaml = "\nlisten: 10.0.0.3:3\n"
	cases := []struct {
		name         string
		flags        map[string][]string
		env          []string
		file         string
		want, origin string
	}{
		{"default", nil, nil, "", "127.0.0.1:8080", "default"},
		{"file over default", nil, nil, yaml, "10.0.0.3:3", "file hale.yaml:2"},
		{"env over file", nil, []string{"HALE_LISTEN=10.0.0.2:2"}, yaml, "10.0.0.2:2", "env HALE_LISTEN"},
		{"empty env counts as absent", nil, []string{"HALE_LISTEN="}, yaml, "10.0.0.3:3", "file hale.yaml:2"},
		{
			"flag over all",
			map[string][]string{"listen": {"10.0.0.1:1"}},
			[]string{"HALE_LISTEN=10.0.0.2:2"},
			yaml, "10.0.0.1:1", "flag --listen",
		},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			in := Input{Flags: tc.flags, LookupEnv: environ(tc.env...)}
			if tc.file != "" {
				in.File = write(t, "hale.yaml", tc.file)
			}
			c, err := Load(in)
			if err != nil {
				t.Fatal(err)
			}
			if got := c.Origin("listen").String(); c.Listen != tc.want || got != tc.origin {
				t.Errorf("listen = %s (%s), want %s (%s)", c.Listen, got, tc.want, tc.origin)
			}
		})
	}
}

func TestEverySettingReadsFromEverySource(t *testing.T) {
	sample := func(s Setting) string {
		switch s.field(new(Config)).(type) {
		case *time.Duration:
			return "45s"
		case *Bytes:
			return "7MiB"
		case *bool:
			return "true"
		case *int, *float64:
			return "7"
		}
		if len(s.Values) > 0 {
			return s.Values[len(s.Values)-1]
		}
		switch s.Key {
		case "listen", "metrics-listen":
			return "127.0.0.1:7"
		case "base-url", "acme-directory", "otlp-endpoint", "sms-gateway-url":
			return "https://health.example"
		case "database":
			return "postgres://db.example/hale"
		case "smtp-url":
			return "smtps://mail.example"
		case "acme-domains":
			return "api.health.example"
		case "mail-from", "acme-email", "operators-email":
			return "lab@health.example"
		case "cors-origins":
			return "https://app.example"
		case "trusted-proxies":
			return "10.0.0.0/8"
		case "root-key":
			return "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
		}
		return "x-sample"
	}
	for _, s := range settings {
		t.Run(s.Key, func(t *testing.T) {
			text := sample(s)
			other := map[string]string{
				"tls-cert": "HALE_TLS_KEY=x", "tls-key": "HALE_TLS_CERT=x",
				"smtp-url": "HALE_MAIL_FROM=lab@health.example", "sms-gateway-url": "HALE_SMS_GATEWAY_SECRET=x",
			}[s.Key] // needed beside it
			inputs := map[Source]Input{
				Flag:        {Flags: map[string][]string{s.Key: {text}}, LookupEnv: environ(other)},
				Environment: {LookupEnv: environ(s.Env+"="+text, other)},
				File:        {File: write(t, "c.yaml", s.Key+": "+text+"\n"), LookupEnv: environ(other)},
			}
			if s.Secret {
				path := write(t, "secret", text+"\n")
				inputs[Flag] = Input{Flags: map[string][]string{s.FileKey(): {path}}, LookupEnv: environ(other)}
			}
			for source, in := range inputs {
				c, err := Load(in)
				if err != nil {
					t.Fatalf("%s: %v", source, err)
				}
				if got := format(s.field(c)); got != text || c.Origin(s.Key).Source != source {
					t.Errorf("%s: got %q from %s, want %q", source, got, c.Origin(s.Key), text)
				}
			}
		})
	}
}

func TestSecretFiles(t *testing.T) {
	path := write(t, "key", "sk_from_a_file\r\n")
	c, err := Load(Input{LookupEnv: environ("HALE_BOOTSTRAP_API_KEY_FILE=" + path)})
	if err != nil {
		t.Fatal(err)
	}
	if got := c.BootstrapAPIKey.Reveal(); got != "sk_from_a_file" {
		t.Errorf("key = %q: the line end belongs to the file, not to the key", got)
	}
	if got := c.Origin("bootstrap-api-key").String(); got != "env HALE_BOOTSTRAP_API_KEY_FILE" {
		t.Errorf("origin = %s", got)
	}

	cases := []struct{ name, env, want string }{
		{"both given", "HALE_BOOTSTRAP_API_KEY=sk_value", "given twice"},
		{"absent file", "HALE_BOOTSTRAP_API_KEY_FILE=" + path + "-absent", "no such file"},
		{"empty file", "HALE_BOOTSTRAP_API_KEY_FILE=" + write(t, "empty", "\n"), "the file is empty"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			_, err := Load(Input{LookupEnv: environ(tc.env, "HALE_BOOTSTRAP_API_KEY_FILE="+path)})
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error = %v, want one that says %q", err, tc.want)
			}
			if err != nil && strings.Contains(err.Error(), "sk_value") {
				t.Errorf("the error repeats the secret: %v", err)
			}
		})
	}
}

func TestErrorsNameSettingAndOrigin(t *testing.T) {
	cases := []struct{ name, env, file, want string }{
		{"address without port", "HALE_LISTEN=localhost", "", "listen (env HALE_LISTEN): must be host:port"},
		{"port too high", "HALE_LISTEN=:70000", "", "the port must be a number"},
		{"closed list", "HALE_ENVIRONMENT=live", "", "environment (env HALE_ENVIRONMENT): must be sandbox or production"},
		{"no number", "HALE_RATE_LIMIT=many", "", "rate-limit (env HALE_RATE_LIMIT): must be a number"},
		{"negative", "HALE_RATE_BURST=-1", "", "must be a whole number from 0"},
		{"no span", "HALE_EVENT_RETENTION=forever", "", "must be a time span"},
		{"no size", "HALE_BODY_LIMIT=big", "", "must be a size"},
		{"no sender of e-mails", "HALE_SMTP_URL=smtp://127.0.0.1:25", "", "mail-from (default): is needed with smtp-url"},
		{"no secret of the gateway", "HALE_SMS_GATEWAY_URL=http://127.0.0.1:1", "", "sms-gateway-secret (default): is needed with sms-gateway-url"},
		{"not a URL", "HALE_DATABASE=hunter2", "", "must be a URL that begins with postgres://"},
		{"a path", "HALE_BASE_URL=https://x.example/hale", "", "base-url (env HALE_BASE_URL): must be an address alone"},
		{"a query", "HALE_BASE_URL=https://x.example?", "", "must be an address alone"},
		{"a name and password", "HALE_BASE_URL=https://a:b@x.example", "", "must be an address alone"},
		{"header name", "HALE_API_KEY_HEADERS=x key", "", "must be a header name"},
		{"authorization", "HALE_API_KEY_HEADERS=Authorization", "", "bearer keys are read from there anyway"},
		{"short root key", "HALE_ROOT_KEY=aGVsbG8=", "", "must be 32 bytes in base64"},
		{"no time at all", "HALE_EVENT_RETENTION=0", "", "must be longer than 0"},
		{"less than none", "HALE_LEDGER_RETENTION=-1h", "", "must be longer than 0"},
		{"no room at all", "HALE_BODY_LIMIT=0", "", "must be larger than 0"},
		{"unknown key", "", "lisen: x", "line 1: lisen: unknown setting"},
		{"underscore", "", "base_url: https://x.example", "did you mean base-url?"},
		{"twice", "", "data: a\ndata: b", "line 2: data: is given twice"},
		{"nested", "", "data: {a: b}", "must be a plain value"},
		{"no mapping", "", "- listen", "must be a list of `key: value` lines"},
		{"not YAML", "", "a: [", "did not find expected"},
		{"two documents", "", "data: a\n---\nenvironment: production\n", "line 2: the file must contain one document"},
		{"a broken second one", "", "data: a\n---\na: [", "did not find expected"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			in := Input{LookupEnv: environ(tc.env)}
			if tc.file != "" {
				in.File = write(t, "hale.yaml", tc.file)
			}
			c, err := Load(in)
			if err == nil {
				t.Fatalf("no error, got %+v", c.Values())
			}
			if !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error = %v, want one that says %q", err, tc.want)
			}
			if strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the error repeats what may be a password: %v", err)
			}
		})
	}
}

func TestAllErrorsAtOnce(t *testing.T) {
	_, err := Load(Input{LookupEnv: environ("HALE_LOG_LEVEL=loud", "HALE_LOG_FORMAT=xml")})
	if err == nil || strings.Count(err.Error(), "\n") != 1 {
		t.Errorf("error = %v, want two lines", err)
	}
}

func TestProductionDefaults(t *testing.T) {
	for environment, want := range map[string]float64{Sandbox: 0, Production: 200} {
		c, err := Load(Input{LookupEnv: environ("HALE_ENVIRONMENT=" + environment)})
		if err != nil {
			t.Fatal(err)
		}
		if c.RateLimit != want || !c.IsDefault("rate-limit") {
			t.Errorf("%s: rate limit = %g, want %g by default", environment, c.RateLimit, want)
		}
	}
}

// Settings that document a meaning of 0 accept it.
func TestZeroes(t *testing.T) {
	for _, s := range settings {
		if !strings.Contains(s.Usage, "; 0 ") {
			continue
		}
		for _, text := range []string{"0", "0d"} {
			if _, span := s.field(new(Config)).(*time.Duration); !span && text == "0d" {
				continue
			}
			c, err := Load(Input{LookupEnv: environ(s.Env + "=" + text)})
			if err != nil {
				t.Errorf("%s: %v", s.Key, err)
			} else if got := format(s.field(c)); strings.Trim(got, "0s") != "" {
				t.Errorf("%s = %s, want 0", s.Key, got)
			}
		}
	}
}

func TestLists(t *testing.T) {
	want := "[x-service-api-key x-other]"
	inputs := map[string]Input{
		"flags": {Flags: map[string][]string{"api-key-header": {"x-service-api-key", "x-other"}}},
		"env":   {LookupEnv: environ("HALE_API_KEY_HEADERS=x-service-api-key, x-other")},
		"file":  {File: write(t, "c.yaml", "api-key-header: [x-service-api-key, x-other]")},
	}
	for name, in := range inputs {
		c, err := Load(in)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := "[" + strings.Join(c.APIKeyHeaders, " ") + "]"; got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

func TestNormalise(t *testing.T) {
	c, err := Load(Input{LookupEnv: environ("HALE_METRICS_LISTEN=off", "HALE_BASE_URL=https://h.example/",
		"OTEL_EXPORTER_OTLP_ENDPOINT=http://collector.example:4318")})
	if err != nil {
		t.Fatal(err)
	}
	if c.MetricsListen != "" || c.BaseURL != "https://h.example" {
		t.Errorf("metrics %q, base URL %q", c.MetricsListen, c.BaseURL)
	}
	if got := c.Origin("otlp-endpoint").String(); got != "env OTEL_EXPORTER_OTLP_ENDPOINT" {
		t.Errorf("the common name of the collector is not read: %s", got)
	}
}

// Origins are compared as browsers send them, so other spellings are errors.
func TestOriginsOfPages(t *testing.T) {
	for origin, ok := range map[string]bool{
		"https://app.example": true, "https://app.example:8443": true, "http://localhost:5173": true, "http://127.0.0.1:3000": true, "http://[::1]:3000": true,
		"*": false, "null": false, "https://*.example": false, "app.example": false, "https://app.example/": false, "https://app.example/x": false,
		"https://App.example": false, "https://app.example:443": false, "http://localhost:80": false, "http://app.example": false, "https://me@app.example": false,
		"ftp://app.example": false, "https://": false, "https://münchen.example": false, "https://xn--mnchen-3ya.example": true, "https://app.example?": false,
	} {
		if _, err := Load(Input{LookupEnv: environ("HALE_CORS_ORIGINS=" + origin)}); (err == nil) != ok {
			t.Errorf("%s: %v", origin, err)
		}
	}
}

func TestDeriveBaseURL(t *testing.T) {
	for listen, want := range map[string]string{
		"127.0.0.1:8080": "http://127.0.0.1:8080",
		":8080":          "http://127.0.0.1:8080",
		"0.0.0.0:80":     "http://127.0.0.1:80",
		"[::]:80":        "http://127.0.0.1:80",
		"[::1]:80":       "http://[::1]:80",
		"host.example:1": "http://host.example:1",
	} {
		if got := DeriveBaseURL(listen); got != want {
			t.Errorf("DeriveBaseURL(%s) = %s, want %s", listen, got, want)
		}
	}
}

func FuzzFile(f *testing.F) {
	f.Add("listen: 127.0.0.1:1\napi-key-header: [a, b]\n")
	f.Add("data: &x {a: *x}")
	f.Add("? [a]\n: b")
	f.Fuzz(func(t *testing.T, content string) {
		values, err := parseFile("f.yaml", []byte(content))
		if err != nil {
			return
		}
		known := fileKeys()
		for key, value := range values {
			if !known[key] || value.texts == nil || value.origin.Source != File {
				t.Fatalf("accepted %q: %+v", key, value)
			}
		}
	})
}
