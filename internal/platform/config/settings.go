package config

import (
	"errors"
	"net"
	"net/mail"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"hale/internal/platform/secrets"
)

// DefaultTeam is the default of the setting team.
const DefaultTeam = "Your care team"

// Setting describes one setting: its names, its default, its field.
type Setting struct {
	// Key is the name in the file. The flag has the same name, after two dashes.
	Key string
	// Env is the environment variable. EnvAlso is a variable that other software uses
	// for the same purpose; it applies if Env is unset.
	Env, EnvAlso string
	// Default is the value if no source sets one. InProduction, if set, replaces it in
	// production.
	Default, InProduction string
	// Usage is one line for help texts and the documentation.
	Usage string
	// Values lists the allowed values, if they are limited.
	Values []string
	// Secret values are masked. They can also come from a file, which KEY-file or
	// ENV_FILE names.
	Secret bool
	// ZeroOK allows a duration or a size of 0, where 0 has a documented meaning.
	ZeroOK bool
	// NoFlag means that there is no flag for the value, because every user of the
	// machine can read command lines. The -file flag remains.
	NoFlag bool

	field func(*Config) any
	check func(*Config) error
}

// FileKey returns the key for the path of a secret's file.
func (s Setting) FileKey() string { return s.Key + "-file" }

// FileEnv returns the environment variable for the path of a secret's file.
func (s Setting) FileEnv() string { return s.Env + "_FILE" }

// IsList reports whether the setting accepts several values.
func (s Setting) IsList() bool { _, ok := s.field(new(Config)).(*[]string); return ok }

// IsSwitch reports whether the setting is on or off.
func (s Setting) IsSwitch() bool { _, ok := s.field(new(Config)).(*bool); return ok }

// Settings returns all settings, in the order of the documentation.
func Settings() []Setting { return append([]Setting(nil), settings...) }

var settings = []Setting{
	{
		Key: "listen", Env: "HALE_LISTEN", Default: "127.0.0.1:8080",
		Usage: "address of the API, host:port; port 0 picks a free one",
		field: func(c *Config) any { return &c.Listen },
		check: func(c *Config) error { return checkAddress(c.Listen) },
	},
	{
		Key: "tls-cert", Env: "HALE_TLS_CERT",
		Usage: "file with the certificate of the API, PEM; read again when it changes; plain HTTP when empty",
		field: func(c *Config) any { return &c.TLSCert },
		check: func(c *Config) error { return checkPair(c) },
	},
	{
		Key: "tls-key", Env: "HALE_TLS_KEY",
		Usage: "file with the key of the certificate, PEM",
		field: func(c *Config) any { return &c.TLSKey },
	},
	{
		Key: "acme-domains", Env: "HALE_ACME_DOMAINS",
		Usage: "domains for which the API gets certificates by ACME, in place of tls-cert; port 443 must lead to listen",
		field: func(c *Config) any { return &c.ACMEDomains },
		check: checkDomains,
	},
	{
		Key: "acme-directory", Env: "HALE_ACME_DIRECTORY", Default: "https://acme-v02.api.letsencrypt.org/directory",
		Usage: "address of the ACME directory; acme-domains agrees to its terms",
		field: func(c *Config) any { return &c.ACMEDirectory },
		check: func(c *Config) error { return checkURL(c.ACMEDirectory, "https") },
	},
	{
		Key: "acme-email", Env: "HALE_ACME_EMAIL",
		Usage: "address to which the ACME authority may write",
		field: func(c *Config) any { return &c.ACMEEmail },
		check: func(c *Config) error { return checkMailFrom(c.ACMEEmail) },
	},
	{
		Key: "acme-authority", Env: "HALE_ACME_AUTHORITY",
		Usage: "file with the certificates that verify the ACME directory, PEM; the system's when empty",
		field: func(c *Config) any { return &c.ACMEAuthority },
	},
	{
		Key: "behind-proxy", Env: "HALE_BEHIND_PROXY", Default: "false",
		Usage: "in production, allow plain HTTP from other machines: a proxy has TLS; trusted-proxies implies it",
		field: func(c *Config) any { return &c.BehindProxy },
	},
	{
		Key: "http2-cleartext", Env: "HALE_HTTP2_CLEARTEXT", Default: "false",
		Usage: "accept HTTP/2 without TLS, for proxies that speak it",
		field: func(c *Config) any { return &c.HTTP2Cleartext },
	},
	{
		Key: "docs", Env: "HALE_DOCS", Default: "true",
		Usage: "serve the guides, the API reference and /openapi.json",
		field: func(c *Config) any { return &c.Docs },
	},
	{
		Key: "base-url", Env: "HALE_BASE_URL",
		Usage: "address of the API for callers; derived from listen when empty",
		field: func(c *Config) any { return &c.BaseURL },
		check: func(c *Config) error { return checkOrigin(c.BaseURL) },
	},
	{
		Key: "environment", Env: "HALE_ENVIRONMENT", Default: Sandbox,
		Usage:  "sandbox or production",
		Values: []string{Sandbox, Production},
		field:  func(c *Config) any { return &c.Environment },
	},
	{
		Key: "api-key-header", Env: "HALE_API_KEY_HEADERS", Default: "x-service-api-key",
		Usage: "request header that may contain the API key; repeatable",
		field: func(c *Config) any { return &c.APIKeyHeaders },
		check: func(c *Config) error { return checkHeaderNames(c.APIKeyHeaders) },
	},
	{
		Key: "team", Env: "HALE_TEAM", Default: DefaultTeam,
		Usage: "name of the first team, if there is no team yet; patients read it",
		field: func(c *Config) any { return &c.Team },
	},
	{
		Key: "bootstrap-api-key", Env: "HALE_BOOTSTRAP_API_KEY", Secret: true, NoFlag: true,
		Usage: "key of the first team, if there is no team yet; generated and printed once when empty",
		field: func(c *Config) any { return &c.BootstrapAPIKey },
	},
	{
		Key: "body-limit", Env: "HALE_BODY_LIMIT", Default: "1MiB",
		Usage: "largest request body",
		field: func(c *Config) any { return &c.BodyLimit },
	},
	{
		Key: "ingest-limit", Env: "HALE_INGEST_LIMIT", Default: "64MiB",
		Usage: "largest request body with samples",
		field: func(c *Config) any { return &c.IngestLimit },
	},
	{
		Key: "import-limit", Env: "HALE_IMPORT_LIMIT", Default: "16GiB",
		Usage: "largest uploaded export",
		field: func(c *Config) any { return &c.ImportLimit },
	},
	{
		Key: "report-limit", Env: "HALE_REPORT_LIMIT", Default: "10MB",
		Usage: "largest uploaded lab report, all files together",
		field: func(c *Config) any { return &c.ReportLimit },
	},
	{
		Key: "report-pages", Env: "HALE_REPORT_PAGES", Default: "30",
		Usage: "maximum number of pages of a lab report",
		field: func(c *Config) any { return &c.ReportPages },
		check: func(c *Config) error { return checkPositive(c.ReportPages) },
	},
	{
		Key: "report-pixels", Env: "HALE_REPORT_PIXELS", Default: "60000000",
		Usage: "maximum number of pixels of one page of a lab report",
		field: func(c *Config) any { return &c.ReportPixels },
		check: func(c *Config) error { return checkPositive(c.ReportPixels) },
	},
	{
		Key: "report-workers", Env: "HALE_REPORT_WORKERS", Default: "0",
		Usage: "lab reports that this node reads at once; 0 means half of the cores",
		field: func(c *Config) any { return &c.ReportWorkers },
	},
	{
		Key: "report-memory", Env: "HALE_REPORT_MEMORY", Default: "1536MiB",
		Usage: "maximum memory of a process that reads lab reports",
		field: func(c *Config) any { return &c.ReportMemory },
	},
	{
		Key: "report-timeout", Env: "HALE_REPORT_TIMEOUT", Default: "5m",
		Usage: "maximum time to read one lab report",
		field: func(c *Config) any { return &c.ReportTimeout },
	},
	{
		Key: "tesseract", Env: "HALE_TESSERACT", Default: "tesseract",
		Usage: "program that recognizes the text of scanned lab reports",
		field: func(c *Config) any { return &c.Tesseract },
		check: func(c *Config) error { return checkSet(c.Tesseract) },
	},
	{
		Key: "rate-limit", Env: "HALE_RATE_LIMIT", Default: "0", InProduction: "200",
		Usage: "requests per second and key; 0 means no limit",
		field: func(c *Config) any { return &c.RateLimit },
	},
	{
		Key: "rate-burst", Env: "HALE_RATE_BURST", Default: "400",
		Usage: "requests of one key that may arrive at once",
		field: func(c *Config) any { return &c.RateBurst },
		check: func(c *Config) error { return checkBurst(c) },
	},
	{
		Key: "wrong-key-limit", Env: "HALE_WRONG_KEY_LIMIT", Default: "0", InProduction: "30",
		Usage: "wrong API keys per minute and address; 0 means no limit",
		field: func(c *Config) any { return &c.WrongKeyLimit },
	},
	{
		Key: "cors-origins", Env: "HALE_CORS_ORIGINS",
		Usage: "origins whose pages may call the API from a browser, such as https://app.example; none when empty",
		field: func(c *Config) any { return &c.CORSOrigins },
		check: func(c *Config) error { return checkPageOrigins(c.CORSOrigins) },
	},
	{
		Key: "trusted-proxies", Env: "HALE_TRUSTED_PROXIES",
		Usage: "addresses or networks of the proxies in front of the service; only their X-Forwarded-For counts",
		field: func(c *Config) any { return &c.TrustedProxies },
		check: func(c *Config) error { _, err := ParseNetworks(c.TrustedProxies); return err },
	},
	{
		Key: "hold-outgoing", Env: "HALE_HOLD_OUTGOING", Default: "false",
		Usage: "send nothing to other systems until hale resume-outgoing, for rehearsals",
		field: func(c *Config) any { return &c.HoldOutgoing },
	},
	{
		Key: "lame-duck", Env: "HALE_LAME_DUCK", Default: "0s", InProduction: "5s", ZeroOK: true,
		Usage: "time that a shutdown waits after /readyz turned 503, so that load balancers send no more requests",
		field: func(c *Config) any { return &c.LameDuck },
	},
	{
		Key: "shutdown-drain", Env: "HALE_SHUTDOWN_DRAIN", Default: "25s",
		Usage: "maximum time that a shutdown waits for requests and webhook posts",
		field: func(c *Config) any { return &c.ShutdownDrain },
	},
	{
		Key: "data", Env: "HALE_DATA", Default: "./hale-data",
		Usage: "folder of the embedded database, the root key and the uploads",
		field: func(c *Config) any { return &c.Data },
		check: func(c *Config) error { return checkSet(c.Data) },
	},
	{
		Key: "database", Env: "HALE_DATABASE", Secret: true,
		Usage: "postgres:// URL; embedded SQLite in the data folder when empty",
		field: func(c *Config) any { return &c.Database },
		check: func(c *Config) error { return checkURL(c.Database.Reveal(), "postgres", "postgresql") },
	},
	{
		Key: "database-connections", Env: "HALE_DATABASE_CONNECTIONS", Default: "0",
		Usage: "maximum number of connections to PostgreSQL; 0 derives it from the number of cores",
		field: func(c *Config) any { return &c.DatabaseConnections },
	},
	{
		Key: "insecure-database", Env: "HALE_INSECURE_DATABASE", Default: "false",
		Usage: "in production, allow PostgreSQL on another machine without verified TLS",
		field: func(c *Config) any { return &c.InsecureDatabase },
	},
	{
		Key: "sqlite-synchronous", Env: "HALE_SQLITE_SYNCHRONOUS", Default: "FULL",
		Usage:  "commits survive a power failure (FULL) or only a crash of the process (NORMAL)",
		Values: []string{"FULL", "NORMAL"},
		field:  func(c *Config) any { return &c.SQLiteSynchronous },
	},
	{
		Key: "sqlite-mmap", Env: "HALE_SQLITE_MMAP", Default: "true",
		Usage: "read the database through memory-mapped pages",
		field: func(c *Config) any { return &c.SQLiteMmap },
	},
	{
		Key: "root-key", Env: "HALE_ROOT_KEY", Secret: true, NoFlag: true,
		Usage: "32 bytes in base64 that encrypt all other keys; a file in the data folder when empty",
		field: func(c *Config) any { return &c.RootKey },
		check: func(c *Config) error { return checkRootKey(c.RootKey.Reveal()) },
	},
	{
		Key: "event-retention", Env: "HALE_EVENT_RETENTION", Default: "30d",
		Usage: "time for which events can be read and replayed",
		field: func(c *Config) any { return &c.EventRetention },
	},
	{
		Key: "ledger-retention", Env: "HALE_LEDGER_RETENTION", Default: "90d",
		Usage:  "time for which original pushed bodies and uploaded files are stored; 0 means as long as their users exist",
		ZeroOK: true,
		field:  func(c *Config) any { return &c.LedgerRetention },
	},
	{
		Key: "audit-retention", Env: "HALE_AUDIT_RETENTION", Default: "2192d",
		Usage: "time for which the audit log is stored; HIPAA asks for six years",
		field: func(c *Config) any { return &c.AuditRetention },
	},
	{
		Key: "webhook-allow-private", Env: "HALE_WEBHOOK_ALLOW_PRIVATE", Default: "false",
		Usage: "allow webhooks to loopback and private networks",
		field: func(c *Config) any { return &c.WebhookAllowPrivate },
	},
	{
		Key: "smtp-url", Env: "HALE_SMTP_URL", Secret: true,
		Usage: "smtp:// or smtps:// server for e-mails to patients; none are sent when empty",
		field: func(c *Config) any { return &c.SMTPURL },
		check: func(c *Config) error { return checkURL(c.SMTPURL.Reveal(), "smtp", "smtps") },
	},
	{
		Key: "insecure-smtp", Env: "HALE_INSECURE_SMTP", Default: "false",
		Usage: "in production, allow a mail server on another machine without TLS",
		field: func(c *Config) any { return &c.InsecureSMTP },
	},
	{
		Key: "mail-from", Env: "HALE_MAIL_FROM",
		Usage: "sender of e-mails to patients; needed with smtp-url",
		field: func(c *Config) any { return &c.MailFrom },
		check: func(c *Config) error {
			if c.SMTPURL != "" && c.MailFrom == "" {
				return errors.New("is needed with smtp-url")
			}
			return checkMailFrom(c.MailFrom)
		},
	},
	{
		Key: "operators-email", Env: "HALE_OPERATORS_EMAIL",
		Usage: "address for critical laboratory results whose team is not known; needs smtp-url",
		field: func(c *Config) any { return &c.OperatorsEmail },
		check: func(c *Config) error { return checkMailFrom(c.OperatorsEmail) },
	},
	{
		Key: "sms-gateway-url", Env: "HALE_SMS_GATEWAY_URL",
		Usage: "URL that receives SMS to patients by POST; none are sent when empty",
		field: func(c *Config) any { return &c.SMSGatewayURL },
		check: func(c *Config) error { return checkURL(c.SMSGatewayURL, "http", "https") },
	},
	{
		Key: "sms-gateway-secret", Env: "HALE_SMS_GATEWAY_SECRET", Secret: true, NoFlag: true,
		Usage: "whsec_ secret that signs the posts to the SMS gateway; needed with sms-gateway-url",
		field: func(c *Config) any { return &c.SMSGatewaySecret },
		check: func(c *Config) error {
			if c.SMSGatewayURL != "" && c.SMSGatewaySecret == "" {
				return errors.New("is needed with sms-gateway-url")
			}
			return nil
		},
	},
	{
		Key: "insecure-sms", Env: "HALE_INSECURE_SMS", Default: "false",
		Usage: "in production, allow an SMS gateway on another machine without TLS",
		field: func(c *Config) any { return &c.InsecureSMS },
	},
	{
		Key: "networks", Env: "HALE_NETWORKS",
		Usage: "file that configures the connections to labs, YAML or JSON; see docs/hl7.md",
		field: func(c *Config) any { return &c.Networks },
	},
	{
		Key: "insecure-hl7", Env: "HALE_INSECURE_HL7", Default: "false",
		Usage: "allow labs to send results from other machines without TLS and certificates; in production, also orders to other machines",
		field: func(c *Config) any { return &c.InsecureHL7 },
	},
	{
		Key: "metrics-listen", Env: "HALE_METRICS_LISTEN", Default: "127.0.0.1:9464",
		Usage: "address of /metrics, /livez, /readyz and /debug/pprof/ for monitoring; off disables it",
		field: func(c *Config) any { return &c.MetricsListen },
		check: func(c *Config) error { return checkOptionalAddress(c.MetricsListen) },
	},
	{
		Key: "metrics-public", Env: "HALE_METRICS_PUBLIC", Default: "false",
		Usage: "in production, allow metrics and profiles at an address that other machines reach",
		field: func(c *Config) any { return &c.MetricsPublic },
	},
	{
		Key: "otlp-endpoint", Env: "HALE_OTLP_ENDPOINT", EnvAlso: "OTEL_EXPORTER_OTLP_ENDPOINT",
		Usage: "URL of an OpenTelemetry collector (OTLP over HTTP); no traces when empty",
		field: func(c *Config) any { return &c.OTLPEndpoint },
		check: func(c *Config) error { return checkURL(c.OTLPEndpoint, "http", "https") },
	},
	{
		Key: "log-format", Env: "HALE_LOG_FORMAT", Default: "text",
		Usage:  "text or json",
		Values: []string{"text", "json"},
		field:  func(c *Config) any { return &c.LogFormat },
	},
	{
		Key: "log-level", Env: "HALE_LOG_LEVEL", Default: "info",
		Usage:  "debug, info, warn or error",
		Values: []string{"debug", "info", "warn", "error"},
		field:  func(c *Config) any { return &c.LogLevel },
	},
}

// The checks describe the problem and never repeat the value, which may be a secret in
// the wrong setting.

func checkSet(s string) error {
	if s == "" {
		return errors.New("must not be empty")
	}
	return nil
}

func checkPositive(n int) error {
	if n < 1 {
		return errors.New("must be at least 1")
	}
	return nil
}

func checkAddress(addr string) error {
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		return errors.New("must be host:port, such as 127.0.0.1:8080 or :8080")
	}
	if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 {
		return errors.New("the port must be a number from 0 to 65535")
	}
	return nil
}

func checkOptionalAddress(addr string) error {
	if addr == "" {
		return nil
	}
	return checkAddress(addr)
}

func checkURL(text string, schemes ...string) error {
	if text == "" {
		return nil
	}
	u, err := url.Parse(text)
	if err != nil || !slices.Contains(schemes, u.Scheme) || (u.Host == "" && u.RawQuery == "") {
		return errors.New("must be a URL that begins with " + strings.Join(schemes, ":// or ") + "://")
	}
	return nil
}

// checkOrigin requires a URL without a path. Hale serves at the root: links consist of
// this address and a path, and pages link to each other by absolute paths.
func checkOrigin(text string) error {
	if err := checkURL(text, "http", "https"); text == "" || err != nil {
		return err
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.User != nil || strings.Trim(u.Path, "/") != "" || strings.ContainsAny(text, "?#") {
		return errors.New("must be an address alone, such as https://health.example: the service is at its root, under no path")
	}
	return nil
}

// checkPageOrigins requires origins in the form in which browsers send them.
func checkPageOrigins(origins []string) error {
	for _, origin := range origins {
		if origin == "" { // an empty list
			continue
		}
		u, err := url.Parse(origin)
		if err != nil || u.Host == "" || origin != u.Scheme+"://"+u.Host || origin != strings.ToLower(origin) || strings.Contains(origin, "*") {
			return errors.New("must be origins such as https://app.example, in lower case, without a path or an asterisk")
		}
		if strings.ContainsFunc(origin, func(r rune) bool { return r > '~' }) {
			return errors.New("must have names as browsers send them, such as https://xn--mnchen-3ya.example")
		}
		host := u.Hostname()
		local := host == "localhost" || net.ParseIP(host).IsLoopback()
		switch {
		case u.Scheme == "https" && u.Port() == "443", u.Scheme == "http" && u.Port() == "80":
			return errors.New("must not have the default port, because browsers omit it")
		case u.Scheme != "https" && (u.Scheme != "http" || !local):
			return errors.New("must begin with https://; only pages of this machine may use http://")
		}
	}
	return nil
}

// headerNameMarks are the characters, besides letters and digits, that RFC 9110 allows
// in a field name.
const headerNameMarks = "!#$%&'*+-.^_`|~"

func checkHeaderNames(names []string) error {
	if len(names) == 0 {
		return errors.New("needs at least one header name")
	}
	for _, name := range names {
		bad := strings.IndexFunc(name, func(r rune) bool {
			letter := r|0x20 >= 'a' && r|0x20 <= 'z'
			return r > 127 || !letter && (r < '0' || r > '9') && !strings.ContainsRune(headerNameMarks, r)
		})
		if name == "" || bad >= 0 {
			return errors.New("must be a header name, such as x-service-api-key")
		}
		if strings.EqualFold(name, "authorization") {
			return errors.New("must not be authorization: bearer keys are read from there anyway")
		}
	}
	return nil
}

func checkBurst(c *Config) error {
	if c.RateLimit > 0 && c.RateBurst < 1 {
		return errors.New("must be at least 1 when there is a rate limit")
	}
	return nil
}

func checkMailFrom(text string) error {
	if text == "" {
		return nil
	}
	if _, err := mail.ParseAddress(text); err != nil {
		return errors.New("must be an e-mail address, such as lab@example.org or Example Lab <lab@example.org>")
	}
	return nil
}

func checkPair(c *Config) error {
	if (c.TLSCert == "") != (c.TLSKey == "") {
		return errors.New("needs tls-key, and tls-key needs it")
	}
	if c.TLSCert != "" {
		return checkSecureBaseURL(c)
	}
	return nil
}

// checkSecureBaseURL refuses a base-url without TLS for an API with TLS. Its links would
// lead to plain HTTP, and its answers would have no HSTS header.
func checkSecureBaseURL(c *Config) error {
	if c.BaseURL != "" && !strings.HasPrefix(c.BaseURL, "https://") {
		return errors.New("needs a base-url that begins with https://")
	}
	return nil
}

// domainName is a name that an authority can certify: two or more labels, no asterisk.
var domainName = regexp.MustCompile(`^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)

func checkDomains(c *Config) error {
	if !c.UsesACME() {
		return nil
	}
	for _, domain := range c.ACMEDomains {
		if !domainName.MatchString(domain) || len(domain) > 253 || net.ParseIP(domain) != nil {
			return errors.New("must be domain names such as api.health.example, in lower case, without an asterisk; a name in other letters in its xn-- form")
		}
	}
	if c.TLSCert != "" {
		return errors.New("cannot be set together with tls-cert")
	}
	return checkSecureBaseURL(c)
}

func checkRootKey(text string) error {
	if text == "" {
		return nil
	}
	if _, err := secrets.ParseRoot(text); err != nil {
		return errors.New("must be 32 bytes in base64, as `openssl rand -base64 32` prints them; several keys, newest first, take a line each")
	}
	return nil
}
