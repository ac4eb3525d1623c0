// Package config is everything that can be set about a running Hale, in one
// documented struct.
//
// A value comes from the first of these that names it: a flag, an environment
// variable, the file given by --config, the default. Each value remembers
// where it came from, so that `hale config show --origin` can say so.
//
// Read config.go for what there is, settings.go for names and defaults,
// load.go for precedence. Nothing outside this package and the cli reads
// flags or the environment.
package config

import (
	"net"
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
