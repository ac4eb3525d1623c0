package app

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"time"

	"hale/internal/platform/config"
	"hale/internal/platform/store"
)

// Exposure describes how a setting protects data on its way. In production, hale serve
// refuses an unprotected way unless a setting allows it.
type Exposure struct {
	Check  string // what is protected, for hale doctor
	Detail string
	Risk   bool   // the way is not protected
	Allow  string // the setting that allows the risk
	// Allowed means that the setting is on.
	Allowed bool
}

// Exposures returns one entry for each way.
func Exposures(cfg *config.Config) []Exposure {
	return []Exposure{exposureOfAPI(cfg), exposureOfMetrics(cfg), exposureOfMail(cfg), exposureOfSMS(cfg), exposureOfDatabase(cfg)}
}

func exposureOfAPI(cfg *config.Config) Exposure {
	e := Exposure{Check: "tls", Allow: "behind-proxy", Allowed: cfg.BehindProxy || len(cfg.ProxyNetworks()) > 0}
	switch {
	case cfg.TLSCert != "":
		e.Detail = "TLS with the certificate " + cfg.TLSCert
	case cfg.UsesACME():
		e.Detail = "TLS with certificates from " + cfg.ACMEDirectory
	case isLocal(cfg.Listen):
		e.Detail = "plain HTTP on this machine only"
	default:
		e.Detail, e.Risk = "plain HTTP at "+cfg.Listen+", reachable from other machines", true
	}
	return e
}

func exposureOfMetrics(cfg *config.Config) Exposure {
	e := Exposure{Check: "metrics access", Detail: "on this machine only", Allow: "metrics-public", Allowed: cfg.MetricsPublic}
	switch {
	case cfg.MetricsListen == "":
		e.Detail = "off"
	case !isLocal(cfg.MetricsListen):
		e.Detail, e.Risk = "metrics and profiles at "+cfg.MetricsListen+", reachable from other machines", true
	}
	return e
}

func exposureOfMail(cfg *config.Config) Exposure {
	e := Exposure{Check: "mail server", Detail: "none", Allow: "insecure-smtp", Allowed: cfg.InsecureSMTP}
	u, err := url.Parse(cfg.SMTPURL.Reveal())
	switch {
	case cfg.SMTPURL == "":
	case err == nil && u.Scheme == "smtp" && u.Query().Get("tls") == "off" && !isLocalHost(u.Hostname()):
		e.Detail, e.Risk = "SMTP without TLS to another machine", true
	default:
		e.Detail = "TLS, or on this machine"
	}
	return e
}

func exposureOfSMS(cfg *config.Config) Exposure {
	e := Exposure{Check: "sms gateway", Detail: "none", Allow: "insecure-sms", Allowed: cfg.InsecureSMS}
	u, err := url.Parse(cfg.SMSGatewayURL)
	switch {
	case cfg.SMSGatewayURL == "":
	case err == nil && u.Scheme == "http" && !isLocalHost(u.Hostname()):
		e.Detail, e.Risk = "plain HTTP to another machine", true
	default:
		e.Detail = "TLS, or on this machine"
	}
	return e
}

func exposureOfDatabase(cfg *config.Config) Exposure {
	e := Exposure{Check: "database access", Detail: "embedded", Allow: "insecure-database", Allowed: cfg.InsecureDatabase}
	switch u := cfg.Database.Reveal(); {
	case !store.IsPostgresURL(u):
	case store.IsProtectedPostgres(u):
		e.Detail = "verified TLS, or on this machine"
	default:
		e.Detail, e.Risk = "PostgreSQL on another machine without verified TLS (sslmode=verify-full)", true
	}
	return e
}

// CertificateEnd returns when the certificate of the setting tls-cert expires.
func CertificateEnd(cfg *config.Config) (time.Time, error) {
	pair, err := tls.LoadX509KeyPair(cfg.TLSCert, cfg.TLSKey)
	if err != nil {
		return time.Time{}, err
	}
	return pair.Leaf.NotAfter, nil
}

// CheckExposure returns a SettingError with a line for each way that production
// refuses. It also reads the files of
// certificates.
func CheckExposure(cfg *config.Config) error {
	var wrong []error
	if cfg.TLSCert != "" {
		if _, err := CertificateEnd(cfg); err != nil {
			wrong = append(wrong, &SettingError{fmt.Errorf("tls-cert and tls-key: %w", err)})
		}
	}
	if cfg.UsesACME() && cfg.ACMEAuthority != "" {
		if _, err := readAuthorities(cfg.ACMEAuthority); err != nil {
			wrong = append(wrong, &SettingError{fmt.Errorf("acme-authority: %w", err)})
		}
	}
	if !cfg.Production() {
		return errors.Join(wrong...)
	}
	for _, e := range Exposures(cfg) {
		if e.Risk && !e.Allowed {
			wrong = append(wrong, &SettingError{fmt.Errorf("%s: %s; production refuses this without the setting %s", e.Check, e.Detail, e.Allow)})
		}
	}
	return errors.Join(wrong...)
}

// isLocal reports whether only this machine reaches a listening address.
func isLocal(address string) bool {
	host, _, err := net.SplitHostPort(address)
	return err == nil && isLocalHost(host)
}

func isLocalHost(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}
