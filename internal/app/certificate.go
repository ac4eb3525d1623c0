package app

import (
	"crypto/tls"
	"errors"
	"log/slog"
	"os"
	"sync"
	"time"
)

// certificateTTL is the time after which the files of a certificate are looked at again.
const certificateTTL = time.Second

// certificateSource is the certificate of the API, from files or from an authority.
type certificateSource interface {
	get(hello *tls.ClientHelloInfo) (*tls.Certificate, error)
	// expires returns when the first certificate in use expires; zero before there is one.
	expires() time.Time
}

// useCertificate prepares the certificate of the API, if the settings name one.
func (a *App) useCertificate() error {
	cfg := a.Config
	switch {
	case cfg.UsesACME():
		c, err := newACMECertificate(cfg, a.DB, a.Log)
		if err != nil {
			return err
		}
		a.workers.add("certificates", c.Run)
		a.certificate = c
	case cfg.TLSCert != "":
		a.certificate = &certificate{cert: cfg.TLSCert, key: cfg.TLSKey, log: a.Log}
	default:
		return nil
	}
	a.Metrics.Gauge("certificate_expires_seconds", "Time until the certificate of the API expires; 0 if there is none yet.", func() float64 {
		if at := a.certificate.expires(); !at.IsZero() {
			return time.Until(at).Seconds()
		}
		return 0
	})
	return nil
}

// certificate is the certificate of the API from files. It reads its files again when they change,
// so that a renewal needs no restart.
type certificate struct {
	cert, key string
	log       *slog.Logger

	mu      sync.Mutex
	pair    *tls.Certificate
	looked  time.Time
	version [2]fileVersion
}

// fileVersion identifies the content of a file by its time of change and its size. If it
// differs from that of the last read, the file has changed.
type fileVersion struct {
	changed time.Time
	size    int64
}

// get returns the certificate for a connection. Files that cannot be read leave the one
// before in use.
func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pair != nil && time.Since(c.looked) < certificateTTL {
		return c.pair, nil
	}
	c.looked = time.Now()
	version, err := c.versions()
	if err == nil && c.pair != nil && version == c.version {
		return c.pair, nil
	}
	var pair tls.Certificate
	if err == nil {
		pair, err = tls.LoadX509KeyPair(c.cert, c.key)
	}
	expired := err == nil && !time.Now().Before(pair.Leaf.NotAfter)
	if expired && c.pair != nil && time.Now().Before(c.pair.Leaf.NotAfter) {
		err = errors.New("it has expired, and the present one has not")
	}
	if err != nil {
		c.log.Error("the certificate of the API cannot be used", "error", err)
		if c.pair == nil {
			return nil, err
		}
		return c.pair, nil
	}
	switch {
	case expired:
		c.log.Error("the certificate of the API has expired", "file", c.cert, "expired", pair.Leaf.NotAfter)
	case c.pair != nil:
		c.log.Info("the API has a new certificate", "expires", pair.Leaf.NotAfter)
	}
	c.pair, c.version = &pair, version
	return c.pair, nil
}

func (c *certificate) expires() time.Time {
	pair, err := c.get(nil)
	if err != nil {
		return time.Time{}
	}
	return pair.Leaf.NotAfter
}

func (c *certificate) versions() (v [2]fileVersion, err error) {
	for i, path := range []string{c.cert, c.key} {
		info, failed := os.Stat(path)
		if err = errors.Join(err, failed); failed == nil {
			v[i] = fileVersion{info.ModTime(), info.Size()}
		}
	}
	return v, err
}
