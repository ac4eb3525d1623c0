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
	"net/url"
	"slices"
	"strings"
	"time"

	"hale/internal/platform/secrets"
)

// Environments of a team and of an installation.
const (
	Sandbox    = "sandbox"
	Production = "production"
)

// Config is the whole configuration. Load fills and checks it; its zero value
// is of no use.
type Config struct {
	// Listen is the API's address, host:port. Port 0 picks a free one.
	Listen string
	// BaseURL is how callers reach the API, without a trailing slash. Empty
	// means that it follows from the address; see DeriveBaseURL.
	BaseURL string
	// Environment is sandbox or production. It decides the kind of the first
	// team, the prefix of its key and some defaults.
	Environment string
	// APIKeyHeaders are the request headers that may carry an API key, first
	// the one that messages name. Authorization: Bearer works beside them.
	APIKeyHeaders []string
	// BootstrapAPIKey becomes the first team's key when there is no team yet;
	// empty means that one is made and printed once.
	BootstrapAPIKey secrets.Text
	// BodyLimit bounds a request body, IngestLimit one that carries samples
	// and ImportLimit an uploaded export.
	BodyLimit, IngestLimit, ImportLimit Bytes
	// RateLimit is requests per second and key, RateBurst how many may come at
	// once. A RateLimit of zero means no limit.
	RateLimit float64
	RateBurst int
	// ShutdownDrain is how long a stop waits for requests and webhook posts to end.
	ShutdownDrain time.Duration

	// Data is the folder of the embedded database, the root key, the uploads.
	Data string
	// Database is a postgres:// URL; empty means embedded SQLite in Data. It
	// may hold a password, so it prints as withheld.
	Database secrets.Text
	// DatabaseConnections bounds the PostgreSQL pool; zero picks by cores.
	DatabaseConnections int
	// SQLiteSynchronous is FULL (an answer survives a power cut) or NORMAL
	// (it survives a crash of the process only).
	SQLiteSynchronous string
	// SQLiteMmap lets reads come from mapped pages.
	SQLiteMmap bool
	// RootKey is 32 bytes in base64 that wrap every other key. Empty means the
	// file in Data, which is made when absent.
	RootKey secrets.Text
	// EventRetention is how long events stay readable and replayable.
	EventRetention time.Duration
	// LedgerRetention is how long payloads are kept as they came; 0 means as
	// long as their users.
	LedgerRetention time.Duration

	// WebhookAllowPrivate lets webhooks reach loopback and private networks.
	WebhookAllowPrivate bool

	// SMTPURL is the server that e-mails to patients are handed to, and MailFrom
	// their sender; empty means that none are sent.
	SMTPURL  secrets.Text
	MailFrom string
	// SMSGatewayURL is where SMS to patients are posted, signed with
	// SMSGatewaySecret; empty means that none are sent.
	SMSGatewayURL    string
	SMSGatewaySecret secrets.Text

	// Networks is the file that says how labs are reached; empty means that
	// there are only those of the sandbox.
	Networks string

	// MetricsListen is the address of /metrics, /livez, /readyz and Go's
	// profiles for machines; empty means no such listener.
	MetricsListen string
	// OTLPEndpoint is the URL that traces are sent to; empty means none are.
	OTLPEndpoint string
	// LogFormat is text or json; LogLevel is debug, info, warn or error.
	LogFormat, LogLevel string

	origins map[string]Origin
}

// Production reports whether this installation is a production one.
func (c *Config) Production() bool { return c.Environment == Production }

// Origin says where the value of a setting came from.
func (c *Config) Origin(key string) Origin { return c.origins[key] }

// IsDefault reports whether nobody chose the value of a setting. A listener at
// a default address may be given up; one at a chosen address may not.
func (c *Config) IsDefault(key string) bool { return c.origins[key].Source == Default }

// URL is how callers reach the API, as far as the settings tell.
func (c *Config) URL() string {
	if c.BaseURL != "" {
		return c.BaseURL
	}
	return DeriveBaseURL(c.Listen)
}

// DeriveBaseURL is the base URL for callers on this machine, of an address that
// is being listened on. An address of all interfaces becomes 127.0.0.1.
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

// Value is one setting as it stands, fit to be seen.
type Value struct {
	Key    string `json:"key"`
	Value  string `json:"value"`
	Origin string `json:"origin"`
	Env    string `json:"env"`
	Usage  string `json:"usage"`
}

// Masked stands for a secret that is set.
const Masked = "********"

// Values lists all settings with their values; secrets are masked.
func (c *Config) Values() []Value {
	list := make([]Value, 0, len(settings))
	for _, s := range settings {
		text := format(s.at(c))
		if s.Secret {
			text = mask(text)
		}
		list = append(list, Value{s.Key, text, c.origins[s.Key].String(), s.Env, s.Usage})
	}
	return list
}

// mask hides a secret. Of a database URL only the password is one: the rest is
// what somebody who looks for a mistake needs to see.
func mask(text string) string {
	if text == "" {
		return ""
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || !strings.HasPrefix(u.Scheme, "postgres") {
		return Masked
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

// UnknownVariables finds HALE_ variables in an environment (os.Environ) that
// nothing reads: most are misspelt.
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
