// Package config reads and checks the settings of Hale. Config contains all of them.
//
// A value comes from the first of these sources that names it: a flag, an environment
// variable, the file given by --config, the default. Each value remembers its source,
// for `hale config show --origin`.
//
//	config.go    the settings as a Go struct, and their values for display
//	settings.go  names, defaults, help and checks
//	load.go      sources and their precedence, the YAML file
//	values.go    sizes, durations and other values as text
//
// Only this package and the cli read flags or the environment.
package config

import (
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"hale/internal/platform/secrets"
	"hale/internal/platform/teams"
)

// Environments of an installation are those of teams.
const (
	Sandbox    = string(teams.Sandbox)
	Production = string(teams.Production)
)

// Config contains all settings. Create it with Load, which also checks it. The zero
// value is not usable.
type Config struct {
	// Listen is the API's address, host:port. Port 0 picks a free one.
	Listen string
	// TLSCert and TLSKey are the files of the API's certificate and its key, in PEM. If
	// they are empty, the API is plain HTTP.
	TLSCert, TLSKey string
	// ACMEDomains are the domains for which the API gets certificates from the authority
	// at ACMEDirectory. ACMEEmail is the account's address. ACMEAuthority is a file with
	// the certificates that the directory is trusted by; the system's if it is empty.
	ACMEDomains                             []string
	ACMEDirectory, ACMEEmail, ACMEAuthority string
	// BehindProxy allows plain HTTP at an address that other machines reach, in
	// production: a proxy in front of the service has TLS.
	BehindProxy bool
	// HTTP2Cleartext accepts HTTP/2 without TLS, for proxies that use it.
	HTTP2Cleartext bool
	// Docs serves the OpenAPI document, the reference and the guides.
	Docs bool
	// BaseURL is the address of the API for callers, without a trailing slash. If it is
	// empty, URL derives it from Listen.
	BaseURL string
	// Environment is sandbox or production. It decides the environment of the first
	// team, the prefix of its key, and some defaults.
	Environment string
	// APIKeyHeaders are the request headers that may contain an API key. Error messages
	// name the first one. Authorization: Bearer is always accepted too.
	APIKeyHeaders []string
	// Team is the name of the first team, which patients read. It applies if there is
	// no team yet.
	Team string
	// BootstrapAPIKey becomes the key of the first team, if there is no team yet. If it
	// is empty, a key is generated and printed once.
	BootstrapAPIKey secrets.Text
	// BodyLimit is the maximum size of a request body, IngestLimit of one with samples,
	// and ImportLimit of an uploaded export.
	BodyLimit, IngestLimit, ImportLimit Bytes
	// ReportLimit is the maximum size of an uploaded lab report. ReportPages and
	// ReportPixels bound its pages and the pixels of each.
	ReportLimit               Bytes
	ReportPages, ReportPixels int
	// ReportWorkers is the number of reports that are read at once; 0 derives it from
	// the number of cores. ReportMemory and ReportTimeout bound each reading.
	ReportWorkers int
	ReportMemory  Bytes
	ReportTimeout time.Duration
	// Tesseract is the program that recognizes the text of scans.
	Tesseract string
	// RateLimit is the number of requests per second and key; 0 means no limit.
	// RateBurst is the number of requests that may arrive at once.
	RateLimit float64
	RateBurst int
	// CORSOrigins are the origins whose pages may call the API from a browser.
	CORSOrigins []string
	// WrongKeyLimit is the number of wrong API keys per minute and address; 0 means no
	// limit.
	WrongKeyLimit int
	// TrustedProxies are the addresses or networks of the proxies in front of the
	// service. X-Forwarded-For counts only if one of them sends it.
	TrustedProxies []string
	// HoldOutgoing marks the database, so that nothing is sent to other systems.
	HoldOutgoing bool
	// LameDuck is the time after a stop begins in which the node still accepts requests
	// and says that it is not ready.
	LameDuck time.Duration
	// ShutdownDrain is the maximum time that a shutdown waits for requests and webhook
	// posts to end.
	ShutdownDrain time.Duration

	// Data is the folder of the embedded database, the root key, and the uploads.
	Data string
	// Database is a postgres:// URL. Empty means embedded SQLite in Data. The URL may
	// contain a password, so it prints as withheld.
	Database secrets.Text
	// DatabaseConnections is the maximum size of the PostgreSQL pool. 0 derives it from
	// the number of cores.
	DatabaseConnections int
	// InsecureDatabase allows a PostgreSQL server on another machine without verified
	// TLS, in production.
	InsecureDatabase bool
	// SQLiteSynchronous is FULL (a commit survives a power failure) or NORMAL (a commit
	// survives only a crash of the process).
	SQLiteSynchronous string
	// SQLiteMmap reads the database through memory-mapped pages.
	SQLiteMmap bool
	// RootKey is the base64 text of 32 bytes that encrypt all other keys. Empty means
	// the key file in Data, which is created if it does not exist.
	RootKey secrets.Text
	// EventRetention is the time for which events can be read and replayed.
	EventRetention time.Duration
	// LedgerRetention is the time for which original payloads are stored. 0 stores them
	// as long as their users exist.
	LedgerRetention time.Duration
	// AuditRetention is the time for which the audit log is stored.
	AuditRetention time.Duration

	// WebhookAllowPrivate lets webhooks reach loopback and private networks.
	WebhookAllowPrivate bool

	// SMTPURL is the server for e-mails to patients, MailFrom their sender. If SMTPURL
	// is empty, no e-mails are sent.
	SMTPURL  secrets.Text
	MailFrom string
	// InsecureSMTP allows a mail server on another machine without TLS, in production.
	InsecureSMTP bool
	// OperatorsEmail gets an e-mail about each critical laboratory result whose team is
	// not known.
	OperatorsEmail string
	// SMSGatewayURL receives SMS to patients as POST requests, signed with
	// SMSGatewaySecret. If it is empty, no SMS are sent.
	SMSGatewayURL    string
	SMSGatewaySecret secrets.Text
	// InsecureSMS allows an SMS gateway on another machine without TLS, in production.
	InsecureSMS bool

	// Networks is the file that configures the connections to labs. If it is empty,
	// only the sandbox's labs are available.
	Networks string
	// InsecureHL7 allows a listener for laboratories outside loopback without TLS and
	// certificates of the labs. In production it also allows orders to other machines
	// without TLS.
	InsecureHL7 bool

	// MetricsListen is the address of /metrics, /livez, /readyz and Go's profiles, for
	// monitoring. Empty means that there is no such listener.
	MetricsListen string
	// MetricsPublic allows a MetricsListen that other machines reach, in production.
	MetricsPublic bool
	// OTLPEndpoint is the URL that receives traces. If it is empty, no traces are sent.
	OTLPEndpoint string
	// LogFormat is text or json; LogLevel is debug, info, warn or error.
	LogFormat, LogLevel string

	origins map[string]Origin
}

// Production reports whether this installation is a production one.
func (c *Config) Production() bool { return c.Environment == Production }

// PageOrigins returns the origins of CORSOrigins.
func (c *Config) PageOrigins() []string {
	return slices.DeleteFunc(slices.Clone(c.CORSOrigins), func(origin string) bool { return origin == "" })
}

// ProxyNetworks returns TrustedProxies as networks. Load has checked them.
func (c *Config) ProxyNetworks() []netip.Prefix {
	networks, err := ParseNetworks(c.TrustedProxies)
	if err != nil {
		panic("config: " + err.Error())
	}
	return networks
}

// Origin returns the source of a setting's value.
func (c *Config) Origin(key string) Origin { return c.origins[key] }

// IsDefault reports whether a setting has its default value because no source names it.
// Startup may continue without a listener at a default address, but not without one at
// a configured address.
func (c *Config) IsDefault(key string) bool { return c.origins[key].Source == Default }

// URL returns the address of the API for callers: BaseURL, or an address derived from
// Listen.
func (c *Config) URL() string {
	if c.BaseURL != "" {
		return c.BaseURL
	}
	if c.UsesACME() {
		return "https://" + c.ACMEDomains[0]
	}
	return c.ListenURL(c.Listen)
}

// UsesACME reports whether the API gets its certificates by ACME.
func (c *Config) UsesACME() bool { return len(c.ACMEDomains) > 0 && c.ACMEDomains[0] != "" }

// UsesTLS reports whether the API has a certificate.
func (c *Config) UsesTLS() bool { return c.TLSCert != "" || c.UsesACME() }

// ListenURL returns the base URL of a listening address of the API, with https if the API
// has a certificate. See DeriveBaseURL.
func (c *Config) ListenURL(listen string) string {
	derived := DeriveBaseURL(listen)
	if c.UsesTLS() {
		return "https" + strings.TrimPrefix(derived, "http")
	}
	return derived
}

// DeriveBaseURL returns the base URL of a listening address, for callers on this
// machine. It replaces an address of all interfaces by 127.0.0.1.
func DeriveBaseURL(listen string) string {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return "http://" + listen
	}
	if ip := net.ParseIP(host); host == "" || (ip != nil && ip.IsUnspecified()) {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, port)
}

// Value describes the value of one setting, for display.
type Value struct {
	Key    string `json:"key"`
	Value  string `json:"value"`
	Origin string `json:"origin"`
	Env    string `json:"env"`
	Usage  string `json:"usage"`
}

// MaskedValue replaces a secret that is set.
const MaskedValue = "********"

// Values lists all settings with their values; secrets are masked.
func (c *Config) Values() []Value {
	list := make([]Value, 0, len(settings))
	for _, s := range settings {
		text := format(s.field(c))
		if s.Secret {
			text = mask(text)
		}
		list = append(list, Value{s.Key, text, c.origins[s.Key].String(), s.Env, s.Usage})
	}
	return list
}

// mask hides a secret. In a database URL it hides only the password, because an
// operator who looks for a mistake needs the other parts.
func mask(text string) string {
	if text == "" {
		return ""
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || !strings.HasPrefix(u.Scheme, "postgres") {
		return MaskedValue
	}
	if _, has := u.User.Password(); has {
		u.User = url.UserPassword(u.User.Username(), "x")
	}
	query := u.Query()
	for key := range query {
		if strings.Contains(strings.ToLower(key), "pass") {
			query.Set(key, "x")
		}
	}
	u.RawQuery = query.Encode()
	return u.String()
}

// otherVariables are the HALE_ variables that belong to client commands and tests.
var otherVariables = []string{
	"HALE_URL", "HALE_API_KEY", "HALE_CONFIG",
	"HALE_SHARED_DATA", "HALE_TEST_POSTGRES", "HALE_POSTGRES_BIN", "HALE_BINARY",
}

// UnknownVariables returns the HALE_ variables of an environment (os.Environ) that no
// program of Hale reads. Most of them are misspelled.
func UnknownVariables(environ []string) []string {
	known := slices.Clone(otherVariables)
	for _, s := range settings {
		known = append(known, s.Env)
		if s.Secret {
			known = append(known, s.FileEnv())
		}
	}
	var unknown []string
	for _, pair := range environ {
		name, _, _ := strings.Cut(pair, "=")
		if strings.HasPrefix(name, "HALE_") && !slices.Contains(known, name) {
			unknown = append(unknown, name)
		}
	}
	slices.Sort(unknown)
	return unknown
}
