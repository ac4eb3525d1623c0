package app_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"hale/internal/app"
	"hale/internal/app/apptest"
	"hale/internal/platform/config"
	"hale/internal/platform/store/storetest"
)

// In production each way without protection needs a setting. Development needs none.
func TestProductionRefusesUnprotectedTransports(t *testing.T) {
	for name, test := range map[string]struct {
		flags   []string
		refused string // the setting that allows it, or empty
	}{
		"defaults":            {nil, ""},
		"all addresses":       {[]string{"--listen", ":8080"}, "behind-proxy"},
		"IPv6":                {[]string{"--listen", "[::]:8080"}, "behind-proxy"},
		"this machine, IPv6":  {[]string{"--listen", "[::1]:8080"}, ""},
		"a proxy":             {[]string{"--listen", ":8080", "--behind-proxy"}, ""},
		"a trusted proxy":     {[]string{"--listen", ":8080", "--trusted-proxies", "10.0.0.1"}, ""},
		"metrics":             {[]string{"--metrics-listen", "0.0.0.0:9464"}, "metrics-public"},
		"metrics, allowed":    {[]string{"--metrics-listen", "0.0.0.0:9464", "--metrics-public"}, ""},
		"no metrics":          {[]string{"--metrics-listen", "off"}, ""},
		"mail":                {[]string{"--mail-from", "hale@hale.invalid", "SMTP", "smtp://mail.invalid:25?tls=off"}, "insecure-smtp"},
		"mail, allowed":       {[]string{"--mail-from", "hale@hale.invalid", "--insecure-smtp", "SMTP", "smtp://mail.invalid:25?tls=off"}, ""},
		"mail with TLS":       {[]string{"--mail-from", "hale@hale.invalid", "SMTP", "smtp://mail.invalid"}, ""},
		"mail here":           {[]string{"--mail-from", "hale@hale.invalid", "SMTP", "smtp://127.0.0.1:25?tls=off"}, ""},
		"SMS":                 {[]string{"--sms-gateway-url", "http://sms.invalid/send"}, "insecure-sms"},
		"SMS, allowed":        {[]string{"--sms-gateway-url", "http://sms.invalid/send", "--insecure-sms"}, ""},
		"SMS with TLS":        {[]string{"--sms-gateway-url", "https://sms.invalid/send"}, ""},
		"SMS on this machine": {[]string{"--sms-gateway-url", "http://127.0.0.1:1/send"}, ""},
		"database":            {[]string{"--database", "postgres://hale@db.invalid/hale"}, "insecure-database"},
		"database, any TLS":   {[]string{"--database", "postgres://hale@db.invalid/hale?sslmode=require"}, "insecure-database"},
		"database, verified":  {[]string{"--database", "postgres://hale@db.invalid/hale?sslmode=verify-full"}, ""},
		"database, allowed":   {[]string{"--database", "postgres://hale@db.invalid/hale", "--insecure-database"}, ""},
		"database, a socket":  {[]string{"--database", "postgres:///hale?host=/run/postgresql"}, ""},
		"database, here":      {[]string{"--database", "postgres://hale@127.0.0.1/hale?sslmode=disable"}, ""},
	} {
		for _, environment := range []string{config.Sandbox, config.Production} {
			flags, server := test.flags, ""
			if at := slices.Index(flags, "SMTP"); at >= 0 { // a secret setting has no flag
				flags, server = flags[:at:at], flags[at+1]
			}
			cfg, err := config.Load(config.Input{
				Flags: flagsOf(append(flags, "--environment", environment)),
				LookupEnv: func(name string) (string, bool) {
					value, known := map[string]string{"HALE_SMTP_URL": server, "HALE_SMS_GATEWAY_SECRET": "whsec_AAAA"}[name]
					return value, known && value != ""
				},
			})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			err = app.CheckExposure(cfg)
			want := test.refused
			if environment == config.Sandbox {
				want = ""
			}
			if (err != nil) != (want != "") || err != nil && !strings.HasSuffix(err.Error(), "without the setting "+want) {
				t.Errorf("%s in %s: %v", name, environment, err)
			}
		}
	}
}

// The API serves a certificate from files, with HSTS, and reads them again after a
// renewal.
func TestTheAPIServesTLSAndReadsARenewedCertificate(t *testing.T) {
	d := storetest.NewSQLite(t)
	folder := t.TempDir()
	cert, key := filepath.Join(folder, "cert.pem"), filepath.Join(folder, "key.pem")
	writeCertificate(t, cert, key, 1)
	s := apptest.StartWith(t, d, func(o *app.Options) { o.Config.TLSCert, o.Config.TLSKey = cert, key })
	if !strings.HasPrefix(s.URL(), "https://127.0.0.1:") {
		t.Fatal(s.URL())
	}
	serial := func() int64 {
		t.Helper()
		client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
		defer client.CloseIdleConnections()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL()+"/v2/user", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-Service-Api-Key", s.Key)
		res, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		if res.StatusCode != http.StatusOK || res.Header.Get("Strict-Transport-Security") == "" {
			t.Errorf("%d %v", res.StatusCode, res.Header)
		}
		return res.TLS.PeerCertificates[0].SerialNumber.Int64()
	}
	if n := serial(); n != 1 {
		t.Errorf("certificate %d", n)
	}
	if err := os.WriteFile(cert, []byte("half a file"), 0o600); err != nil {
		t.Fatal(err)
	}
	time.Sleep(1100 * time.Millisecond)
	if n := serial(); n != 1 {
		t.Errorf("certificate %d while the files are damaged", n)
	}
	writeCertificateUntil(t, cert, key, 3, time.Now().Add(-time.Hour))
	time.Sleep(1100 * time.Millisecond)
	if n := serial(); n != 1 {
		t.Errorf("certificate %d while the files have an expired one", n)
	}
	if end, err := app.CertificateEnd(&config.Config{TLSCert: cert, TLSKey: key}); err != nil || !end.Before(time.Now()) {
		t.Errorf("the expired certificate ends %v, %v", end, err)
	}
	writeCertificate(t, cert, key, 2)
	for until := time.Now().Add(90 * time.Second); serial() != 2; time.Sleep(200 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatal("the renewed certificate is not served")
		}
	}
	cfg := apptest.Config(t, d)
	cfg.TLSCert, cfg.TLSKey = cert, filepath.Join(folder, "missing.pem")
	if _, err := app.New(context.WithoutCancel(t.Context()), app.Options{Config: cfg}); err == nil || !strings.Contains(err.Error(), "tls-cert") {
		t.Errorf("a start without the key: %v", err)
	}
}

func writeCertificate(t *testing.T, cert, key string, serial int64) {
	t.Helper()
	writeCertificateUntil(t, cert, key, serial, time.Now().Add(time.Hour))
}

func writeCertificateUntil(t *testing.T, cert, key string, serial int64, end time.Time) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(serial), NotAfter: end, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	for path, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "PRIVATE KEY", Bytes: secret}} {
		var text bytes.Buffer
		if err := pem.Encode(&text, block); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, text.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// flagsOf reads flags as the command line does. A flag without a value is a switch.
func flagsOf(args []string) map[string][]string {
	flags := map[string][]string{}
	for i := 0; i < len(args); i++ {
		name, value := strings.TrimPrefix(args[i], "--"), "true"
		if i+1 < len(args) && !strings.HasPrefix(args[i+1], "--") {
			i++
			value = args[i]
		}
		flags[name] = []string{value}
	}
	return flags
}
