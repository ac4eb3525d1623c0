package app

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
	"golang.org/x/crypto/acme"
	"golang.org/x/crypto/acme/autocert"

	"hale/internal/platform/config"
	"hale/internal/platform/store"
)

// acmeRetry bounds the time between two tries to get a certificate. An authority limits
// the failures of an hour.
const acmeRetry = time.Hour

// acmeCertificate gets the certificates of the API from an authority that speaks ACME
// (RFC 8555), and renews them. The authority connects to the API itself to check the
// domain (TLS-ALPN, RFC 8737).
type acmeCertificate struct {
	manager *autocert.Manager
	domains []string
	log     *slog.Logger

	mu   sync.Mutex
	ends map[string]time.Time // when the certificate of a domain expires
}

func newACMECertificate(cfg *config.Config, db *store.DB, log *slog.Logger) (*acmeCertificate, error) {
	client := &acme.Client{DirectoryURL: cfg.ACMEDirectory, UserAgent: "hale"}
	if cfg.ACMEAuthority != "" {
		roots, err := readAuthorities(cfg.ACMEAuthority)
		if err != nil {
			return nil, &SettingError{fmt.Errorf("acme-authority: %w", err)}
		}
		transport := http.DefaultTransport.(*http.Transport).Clone()
		transport.TLSClientConfig = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
		client.HTTPClient = &http.Client{Transport: transport, Timeout: time.Minute}
	}
	return &acmeCertificate{
		manager: &autocert.Manager{
			Prompt: autocert.AcceptTOS, Email: cfg.ACMEEmail, Client: client,
			HostPolicy: autocert.HostWhitelist(cfg.ACMEDomains...), Cache: acmeCache{db},
		},
		domains: cfg.ACMEDomains, log: log, ends: map[string]time.Time{},
	}, nil
}

func readAuthorities(path string) (*x509.CertPool, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, errors.New("no certificate in " + path)
	}
	return pool, nil
}

// get returns the certificate for a connection. A client that names no domain, such as a
// health check by address, gets the certificate of the first one.
func (c *acmeCertificate) get(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	if hello.ServerName == "" {
		named := *hello
		named.ServerName = c.domains[0]
		hello = &named
	}
	certificate, err := c.manager.GetCertificate(hello)
	if err == nil && slices.Contains(c.domains, hello.ServerName) && !slices.Contains(hello.SupportedProtos, acme.ALPNProto) {
		c.mu.Lock()
		c.ends[hello.ServerName] = certificate.Leaf.NotAfter
		c.mu.Unlock()
	}
	return certificate, err
}

func (c *acmeCertificate) expires() (first time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, end := range c.ends {
		if first.IsZero() || end.Before(first) {
			first = end
		}
	}
	return first
}

// Run gets the certificates at the start, so that the first caller need not wait and a
// failure is in the log. Afterwards the manager renews them by itself.
func (c *acmeCertificate) Run(ctx context.Context) error {
	missing, wait := slices.Clone(c.domains), time.Minute
	for {
		missing = slices.DeleteFunc(missing, func(domain string) bool {
			certificate, err := c.get(&tls.ClientHelloInfo{
				ServerName: domain, CipherSuites: []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256},
				SignatureSchemes: []tls.SignatureScheme{tls.ECDSAWithP256AndSHA256}, SupportedCurves: []tls.CurveID{tls.CurveP256},
			})
			if err != nil {
				c.log.Error("the API has no certificate", "domain", domain, "error", err, "next_try", wait.String())
				return false
			}
			c.log.Info("the API has a certificate", "domain", domain, "expires", certificate.Leaf.NotAfter)
			return true
		})
		if len(missing) == 0 {
			<-ctx.Done()
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(wait):
			wait = min(2*wait, acmeRetry)
		}
	}
}

// acmeCache keeps account key, certificates and challenges in the database, sealed, so
// that every node has them.
type acmeCache struct{ db *store.DB }

const acmePlace = "acme_cache.value:"

// Get returns a value, or autocert.ErrCacheMiss.
func (c acmeCache) Get(ctx context.Context, name string) (value []byte, err error) {
	err = c.db.Read(store.AsSystem(ctx), func(tx *store.Tx) error {
		var sealed []byte
		if err := tx.QueryRow(ctx, `SELECT value FROM acme_cache WHERE name = $1`, name).Scan(&sealed); err != nil {
			return err
		}
		value, err = tx.Unseal(ctx, uuid.Nil, uuid.Nil, acmePlace+name, sealed)
		return err
	})
	if errors.Is(err, store.ErrNoRows) {
		return nil, autocert.ErrCacheMiss
	}
	return value, err
}

// Put stores a value.
func (c acmeCache) Put(ctx context.Context, name string, value []byte) error {
	return c.db.Write(store.AsSystem(ctx), func(tx *store.Tx) error {
		sealed, err := tx.Seal(ctx, uuid.Nil, uuid.Nil, acmePlace+name, value)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `INSERT INTO acme_cache (name, value, changed_at) VALUES ($1, $2, $3)
			ON CONFLICT (name) DO UPDATE SET value = excluded.value, changed_at = excluded.changed_at`, name, sealed, store.Micros(tx.Now()))
		return err
	})
}

// Delete removes a value, if it is there.
func (c acmeCache) Delete(ctx context.Context, name string) error {
	return c.db.Write(store.AsSystem(ctx), func(tx *store.Tx) error {
		_, err := tx.Exec(ctx, `DELETE FROM acme_cache WHERE name = $1`, name)
		return err
	})
}
