package senders_test

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/mail"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"hale/internal/people/messages"
	"hale/internal/people/messages/senders"
	"hale/internal/platform/ids"
)

// mailServer is a small SMTP server (RFC 5321): EHLO, STARTTLS, AUTH PLAIN, MAIL,
// RCPT, DATA.
type mailServer struct {
	t        *testing.T
	listener net.Listener
	tls      *tls.Config   // STARTTLS is offered when set
	refuse   string        // answer to RCPT, instead of 250
	silent   bool          // never greets
	hangsUp  string        // the verb, after an e-mail, at which it closes the connection
	takes    time.Duration // time until it accepts an e-mail

	mu   sync.Mutex
	got  []envelope
	auth string
}

type envelope struct{ from, to, data string }

func newMailServer(t *testing.T, change func(s *mailServer)) *mailServer {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &mailServer{t: t, listener: listener}
	if change != nil {
		change(s)
	}
	var wait sync.WaitGroup
	wait.Go(func() {
		for {
			conn, err := s.listener.Accept()
			if err != nil {
				return
			}
			wait.Go(func() { s.serve(conn) })
		}
	})
	t.Cleanup(func() { s.listener.Close(); wait.Wait() })
	return s
}

func (s *mailServer) serve(conn net.Conn) {
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(60 * time.Second))
	if s.silent {
		_ = conn.SetDeadline(time.Now().Add(30 * time.Second))
		_, _ = io.Copy(io.Discard, conn) // until the client gives up
		return
	}
	in := bufio.NewReader(conn)
	say := func(line string) { fmt.Fprintf(conn, "%s\r\n", line) }
	var e envelope
	encrypted := false
	say("220 test ESMTP")
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		line = strings.TrimSpace(line)
		verb, rest, _ := strings.Cut(line, " ")
		if e.data != "" && verb == s.hangsUp {
			return
		}
		switch strings.ToUpper(verb) {
		case "EHLO":
			say("250-test")
			if s.tls != nil && !encrypted {
				say("250-STARTTLS")
			}
			say("250 AUTH PLAIN")
		case "STARTTLS":
			say("220 ready")
			secure := tls.Server(conn, s.tls)
			conn, in, encrypted = secure, bufio.NewReader(secure), true
		case "AUTH":
			s.mu.Lock()
			s.auth = strings.TrimPrefix(rest, "PLAIN ")
			s.mu.Unlock()
			say("235 welcome")
		case "MAIL":
			e = envelope{from: rest}
			say("250 ok")
		case "RCPT":
			if s.refuse != "" {
				say(s.refuse)
				continue
			}
			e.to = rest
			say("250 ok")
		case "DATA":
			say("354 send the text")
			for {
				line, err := in.ReadString('\n')
				if err != nil {
					return
				}
				if line == ".\r\n" {
					break
				}
				e.data += strings.TrimPrefix(line, ".")
			}
			s.mu.Lock()
			s.got = append(s.got, e)
			s.mu.Unlock()
			time.Sleep(s.takes)
			say("250 accepted")
		case "QUIT":
			say("221 bye")
			return
		default:
			say("250 ok")
		}
	}
}

func (s *mailServer) received() []envelope {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]envelope(nil), s.got...)
}

var letter = messages.Outgoing{
	ID: ids.FromUUID[messages.Message](uuid.MustParse("019f0000-0000-7000-8000-000000000001")), Team: "Example Clinic",
	Recipient: "ada@example.org", Subject: "Your lab order is ready", Text: "Dear Ada,\n\n.a line that begins with a dot\nÜber alles",
}

func TestMailArrives(t *testing.T) {
	s := newMailServer(t, nil)
	sender, err := senders.NewSMTP("smtp://"+s.listener.Addr().String()+"?tls=off", "Example Lab <lab@example.org>", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := sender.Send(t.Context(), letter); err != nil {
		t.Fatal(err)
	}
	got := s.received()
	if len(got) != 1 || !strings.Contains(got[0].from, "<lab@example.org>") || !strings.Contains(got[0].to, "<ada@example.org>") {
		t.Fatalf("%+v", got)
	}
	m, err := mail.ReadMessage(strings.NewReader(got[0].data))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"Subject": "Your lab order is ready", "Message-Id": "<019f0000-0000-7000-8000-000000000001@127.0.0.1>",
		"From": `"Example Lab" <lab@example.org>`, "To": "<ada@example.org>", "Auto-Submitted": "auto-generated",
	} {
		if got := m.Header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if at, err := m.Header.Date(); err != nil || time.Since(at).Abs() > time.Hour {
		t.Errorf("dated %v, %v", at, err)
	}
	body, err := io.ReadAll(m.Body)
	if text := string(body); err != nil || !strings.Contains(text, ".a line that begins with a dot") || !strings.Contains(text, "=C3=9Cber alles") {
		t.Errorf("%q, %v", text, err)
	}
}

// With a password the connection is encrypted first, by STARTTLS or from the
// start.
func TestMailWithPassword(t *testing.T) {
	certificate, trust := selfSigned(t)
	for scheme, change := range map[string]func(s *mailServer){
		"smtp":  func(s *mailServer) { s.tls = certificate },
		"smtps": func(s *mailServer) { s.listener = tls.NewListener(s.listener, certificate) },
	} {
		t.Run(scheme, func(t *testing.T) {
			s := newMailServer(t, change)
			sender, err := senders.NewSMTP(scheme+"://lab:secret@"+s.listener.Addr().String(), "lab@example.org", trust)
			if err != nil {
				t.Fatal(err)
			}
			if err := sender.Send(t.Context(), letter); err != nil {
				t.Fatal(err)
			}
			plain, err := base64.StdEncoding.DecodeString(s.auth)
			if len(s.received()) != 1 || err != nil || string(plain) != "\x00lab\x00secret" {
				t.Errorf("%d e-mails, signed in with %q, %v", len(s.received()), plain, err)
			}
		})
	}
}

// An e-mail that the server accepted is sent, however the conversation ends. An
// error would send it again.
func TestAcceptedMailIsSent(t *testing.T) {
	for name, change := range map[string]func(s *mailServer){
		"closes at once":    func(s *mailServer) { s.hangsUp = "RSET" },
		"closes at QUIT":    func(s *mailServer) { s.hangsUp = "QUIT" },
		"the process stops": func(s *mailServer) { s.takes = 300 * time.Millisecond },
	} {
		t.Run(name, func(t *testing.T) {
			s := newMailServer(t, change)
			sender, err := senders.NewSMTP("smtp://"+s.listener.Addr().String()+"?tls=off", "lab@example.org", nil)
			if err != nil {
				t.Fatal(err)
			}
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			if s.takes > 0 {
				go func() {
					for len(s.received()) == 0 {
						time.Sleep(time.Millisecond)
					}
					stop()
				}()
			}
			if err := sender.Send(ctx, letter); err != nil || len(s.received()) != 1 {
				t.Errorf("%v, with %d at the server", err, len(s.received()))
			}
		})
	}
}

func TestMailProblems(t *testing.T) {
	gone := newMailServer(t, nil)
	gone.listener.Close()
	for name, c := range map[string]struct {
		server *mailServer
		query  string
		want   messages.Problem
	}{
		"an unknown recipient":        {newMailServer(t, func(s *mailServer) { s.refuse = "550 5.1.1 unknown: ada@example.org" }), "?tls=off", messages.Problem{Word: "refused", Final: true}},
		"a full mailbox":              {newMailServer(t, func(s *mailServer) { s.refuse = "452 4.2.2 ada@example.org is full" }), "?tls=off", messages.Problem{Word: "deferred"}},
		"no server":                   {gone, "?tls=off", messages.Problem{Word: "unreachable"}},
		"a server without encryption": {newMailServer(t, nil), "", messages.Problem{Word: "unreachable"}},
		"a silent server":             {newMailServer(t, func(s *mailServer) { s.silent = true }), "?tls=off", messages.Problem{Word: "timeout"}},
	} {
		t.Run(name, func(t *testing.T) {
			sender, err := senders.NewSMTP("smtp://"+c.server.listener.Addr().String()+c.query, "lab@example.org", nil)
			if err != nil {
				t.Fatal(err)
			}
			limit := 30 * time.Second
			if c.server.silent {
				limit = 2 * time.Second
			}
			ctx, stop := context.WithTimeout(t.Context(), limit)
			defer stop()
			began := time.Now()
			err = sender.Send(ctx, letter)
			if took := time.Since(began); took > 20*time.Second {
				t.Errorf("took %v", took)
			}
			var problem *messages.Problem
			if !errors.As(err, &problem) || *problem != c.want {
				t.Errorf("%v, want %+v", err, c.want)
			}
			if err != nil && strings.Contains(err.Error(), "ada") {
				t.Errorf("the error names a person: %v", err)
			}
		})
	}
	sender, err := senders.NewSMTP("smtp://127.0.0.1:1?tls=off", "lab@example.org", nil)
	if err != nil {
		t.Fatal(err)
	}
	bad := letter
	bad.Recipient = "no address\r\nBcc: everybody@example.org"
	var problem *messages.Problem
	if err := sender.Send(t.Context(), bad); !errors.As(err, &problem) || problem.Word != "bad_recipient" || !problem.Final {
		t.Errorf("a recipient that is not an address: %v", err)
	}
}

func TestAddressesOfServers(t *testing.T) {
	for address, ok := range map[string]bool{
		"smtp://mail.example.org": true, "smtps://lab:secret@mail.example.org": true, "smtp://lab:secret@mail.example.org:2525": true,
		"smtp://lab:secret@localhost?tls=off": false, "http://mail.example.org": false, "smtp://": false, "": false, "smtp://h:x": false,
	} {
		_, err := senders.NewSMTP(address, "lab@example.org", nil)
		if (err == nil) != ok {
			t.Errorf("%s: %v", address, err)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("the error repeats a password: %v", err)
		}
	}
	if _, err := senders.NewSMTP("smtp://mail.example.org", "not an address", nil); err == nil {
		t.Error("a sender that is not an address was accepted")
	}
}

// selfSigned returns a certificate for 127.0.0.1 and a configuration that trusts it.
func selfSigned(t *testing.T) (server, trust *tls.Config) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, &template, &template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(parsed)
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}, MinVersion: tls.VersionTLS12},
		&tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
}
