package app_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hale/internal/app"
	"hale/internal/app/apptest"
	"hale/internal/platform/store/storetest"
)

const acmeDomain = "api.hale.invalid"

// The API gets its certificate from Pebble, the test authority of Let's Encrypt, which
// checks the domain over TLS. A second start serves the stored certificate.
func TestTheAPIGetsACertificateByACME(t *testing.T) {
	pebble, names := buildPebble(t)
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		api := freePort(t)
		authority := startPebble(t, pebble, names, api)
		change := func(o *app.Options) {
			o.Config.Listen, o.Config.MetricsListen = api, "127.0.0.1:0"
			o.Config.ACMEDomains, o.Config.ACMEDirectory, o.Config.ACMEAuthority = []string{acmeDomain}, authority.directory, authority.certificate
			if err := app.CheckExposure(o.Config); err != nil {
				t.Error(err)
			}
		}
		s := apptest.StartWith(t, d, change)
		if s.URL() != "https://"+acmeDomain {
			t.Errorf("the base URL is %s", s.URL())
		}
		roots := authority.roots(t)
		shake := func(name string, protocols ...string) (*x509.Certificate, error) {
			dialer := tls.Dialer{Config: &tls.Config{ServerName: name, InsecureSkipVerify: true, NextProtos: protocols}}
			c, err := dialer.DialContext(t.Context(), "tcp", api)
			if err != nil {
				return nil, err
			}
			defer c.Close()
			chain := c.(*tls.Conn).ConnectionState().PeerCertificates
			between := x509.NewCertPool()
			for _, certificate := range chain[1:] {
				between.AddCert(certificate)
			}
			_, err = chain[0].Verify(x509.VerifyOptions{DNSName: acmeDomain, Roots: roots, Intermediates: between})
			return chain[0], err
		}
		first, err := shake(acmeDomain, "h2")
		if err != nil {
			t.Fatalf("%v\n%s", err, s.Log.String())
		}
		if unnamed, err := shake(""); err != nil || !unnamed.Equal(first) {
			t.Errorf("a connection without a name: %v", err)
		}
		if _, err := shake("other.invalid"); err == nil {
			t.Error("another name has a certificate")
		}
		for until := time.Now().Add(90 * time.Second); !strings.Contains(s.Log.String(), "the API has a certificate"); time.Sleep(50 * time.Millisecond) {
			if time.Now().After(until) {
				t.Fatalf("no line about the certificate\n%s", s.Log.String())
			}
		}
		if expiry := scrape(t, s.MetricsURL(), "certificate_expires_seconds"); !strings.HasPrefix(expiry, "7.7") { // 90 days
			t.Errorf("the certificate expires in %s s", expiry)
		}
		s.End()
		authority.stop()
		s = apptest.StartWith(t, d, change)
		if again, err := shake(acmeDomain); err != nil || !again.Equal(first) {
			t.Errorf("after a start without the authority: %v\n%s", err, s.Log.String())
		}
	})
}

// pebble is a running authority.
type pebble struct {
	directory   string
	certificate string // file that the directory is trusted by
	management  string
	stop        func()
}

// buildPebble builds the authority and its server of names.
func buildPebble(t *testing.T) (authority, names string) {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"pebble", "pebble-challtestsrv"} {
		build := exec.CommandContext(t.Context(), "go", "build", "-modfile=../../tools/go.mod", "-o", dir, "github.com/letsencrypt/pebble/v2/cmd/"+name)
		if out, err := build.CombinedOutput(); err != nil {
			t.Skipf("cannot build %s: %v\n%s", name, err, out)
		}
	}
	return filepath.Join(dir, "pebble"), filepath.Join(dir, "pebble-challtestsrv")
}

func startPebble(t *testing.T, program, names, api string) *pebble {
	t.Helper()
	dir := t.TempDir()
	p := &pebble{certificate: filepath.Join(dir, "cert.pem"), management: freePort(t)}
	key := filepath.Join(dir, "key.pem")
	writeCertificate(t, p.certificate, key, 1)
	listen, resolver := freePort(t), freePort(t)
	p.directory = "https://" + listen + "/dir"
	_, port, err := net.SplitHostPort(api)
	if err != nil {
		t.Fatal(err)
	}
	settings := fmt.Sprintf(`{"pebble": {"listenAddress": %q, "managementListenAddress": %q, "certificate": %q, "privateKey": %q, "httpPort": 1, "tlsPort": %s}}`,
		listen, p.management, p.certificate, key, port)
	config := filepath.Join(dir, "pebble.json")
	if err := os.WriteFile(config, []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	stopNames := startProcess(t, exec.Command(names, "-defaultIPv4", "127.0.0.1", "-defaultIPv6", "", "-dnsserver", resolver,
		"-http01", "", "-https01", "", "-tlsalpn01", "", "-doh", "", "-management", freePort(t)))
	run := exec.Command(program, "-config", config, "-dnsserver", resolver)
	run.Env = append(os.Environ(), "PEBBLE_VA_NOSLEEP=1")
	stopPebble := startProcess(t, run)
	p.stop = func() { stopPebble(); stopNames() }
	p.roots(t)
	return p
}

// startProcess starts a program and returns a function that ends it.
func startProcess(t *testing.T, c *exec.Cmd) (stop func()) {
	t.Helper()
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := false
	stop = func() {
		if !ended {
			ended = true
			_ = c.Process.Kill()
			_ = c.Wait()
			if t.Failed() {
				t.Log(out.String())
			}
		}
	}
	t.Cleanup(stop)
	return stop
}

// roots waits for the authority and returns its root certificate.
func (p *pebble) roots(t *testing.T) *x509.CertPool {
	t.Helper()
	text, err := os.ReadFile(p.certificate)
	if err != nil {
		t.Fatal(err)
	}
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM(text)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted}}}
	defer client.CloseIdleConnections()
	for until := time.Now().Add(90 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		res, err := client.Get("https://" + p.management + "/roots/0")
		if err == nil {
			body, err := io.ReadAll(res.Body)
			_ = res.Body.Close()
			pool := x509.NewCertPool()
			if err == nil && pool.AppendCertsFromPEM(body) {
				return pool
			}
		}
		if time.Now().After(until) {
			t.Fatalf("the authority does not answer: %v", err)
		}
	}
}

// scrape returns the value of a metric.
func scrape(t *testing.T, base, name string) string {
	t.Helper()
	res, err := http.Get(base + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(body)) {
		if value, ok := strings.CutPrefix(line, name+" "); ok {
			return strings.TrimSpace(value)
		}
	}
	t.Fatalf("no metric %s", name)
	return ""
}
