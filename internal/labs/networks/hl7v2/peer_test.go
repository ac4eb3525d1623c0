package hl7v2

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hale/internal/labs/hl7/mllp"
)

// authority signs certificates for a test.
type authority struct {
	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pool *x509.CertPool
	n    int64
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{dir: t.TempDir(), pool: x509.NewCertPool()}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	if a.cert, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	a.key = key
	a.pool.AddCert(a.cert)
	a.write(t, "authority.pem", "CERTIFICATE", der)
	return a
}

func (a *authority) write(t *testing.T, name, kind string, der []byte) string {
	t.Helper()
	file := filepath.Join(a.dir, name)
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// issue issues a certificate for a name, and writes its files.
func (a *authority) issue(t *testing.T, name string) (certificate, key string, pair tls.Certificate) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	a.n++
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1 + a.n), DNSNames: []string{name}, NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, private.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	certificate, key = a.write(t, name+".pem", "CERTIFICATE", der), a.write(t, name+".key", "EC PRIVATE KEY", secret)
	if pair, err = tls.LoadX509KeyPair(certificate, key); err != nil {
		t.Fatal(err)
	}
	return certificate, key, pair
}

// A laboratory with a certificate of the authority cannot send in the name of
// another one, and a sender without a certificate sends nothing.
func TestForgedResultOverTLS(t *testing.T) {
	a := newAuthority(t)
	certificate, key, _ := a.issue(t, "hale.test")
	_, _, north := a.issue(t, "north.test")
	_, _, south := a.issue(t, "south.test")
	lab, other := modernLab, modernLab
	lab.Peer = &Peer{Names: []string{"north.test"}}
	other.Peer, other.LabFacility = &Peer{Names: []string{"south.test"}}, "SOUTH"
	s := Settings{
		Listen: "127.0.0.1:0", TLS: &TLS{Certificate: certificate, Key: key, Authority: filepath.Join(a.dir, "authority.pem")},
		Labs: map[string]Lab{"northlab": lab, "southlab": other},
	}
	if err := s.Check(); err != nil {
		t.Fatal(err)
	}
	n, log := receiver(t, s)
	l, err := net.Listen("tcp", s.Listen)
	if err != nil {
		t.Fatal(err)
	}
	in := &inbox{}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- n.Serve(ctx, l, in) }()
	send := func(pairs ...tls.Certificate) string {
		t.Helper()
		client := mllp.Client{Address: l.Addr().String(), TLS: &tls.Config{RootCAs: a.pool, ServerName: "hale.test", Certificates: pairs}}
		defer client.Close()
		answer, err := client.Exchange(t.Context(), []byte(result), nil)
		if err != nil {
			return err.Error()
		}
		return string(answer)
	}
	if answer := send(south); !strings.Contains(answer, "MSA|AR|") || len(in.messages) != 0 {
		t.Errorf("the other laboratory was answered %s", answer)
	}
	if answer := send(); strings.Contains(answer, "MSA|") || len(in.messages) != 0 {
		t.Errorf("a sender without a certificate was answered %s", answer)
	}
	if answer := send(north); !strings.Contains(answer, "MSA|AA|") || len(in.messages) != 1 {
		t.Errorf("the laboratory was answered %s", answer)
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if bytes.Contains(log.Bytes(), []byte("Fern")) {
		t.Error("the log names the patient")
	}
}
