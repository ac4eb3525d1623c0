// Package senders carries messages out of the service: e-mail through an SMTP
// server, SMS through a gateway that takes signed JSON.
package senders

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"github.com/wneessen/go-mail"
	"github.com/wneessen/go-mail/smtp"

	"hale/internal/people/messages"
)

// SMTP hands e-mails to a server. Make it with NewSMTP.
type SMTP struct {
	host    string
	from    string
	options []mail.Option
}

// step bounds each step of the exchange.
const step = 10 * time.Second

// NewSMTP reads the server's address and the sender's. The address is
// smtp://user:password@host:587, which is encrypted by STARTTLS, or
// smtps://user:password@host:465. smtp://host:25?tls=off is not encrypted and
// allows no password; it is for a server on the same machine. trust is nil for
// the system's certificates.
func NewSMTP(address, from string, trust *tls.Config) (*SMTP, error) {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" {
		return nil, errors.New("senders: the address of the SMTP server cannot be read")
	}
	port, options := 587, []mail.Option{mail.WithTLSPolicy(mail.TLSMandatory)}
	password, hasPassword := u.User.Password()
	switch {
	case u.Scheme == "smtps":
		port, options = 465, []mail.Option{mail.WithSSL()}
	case u.Scheme != "smtp":
		return nil, errors.New("senders: the address of the SMTP server begins with smtp:// or smtps://")
	case u.Query().Get("tls") == "off":
		if hasPassword {
			return nil, errors.New("senders: a password is not sent without encryption")
		}
		port, options = 25, []mail.Option{mail.WithTLSPolicy(mail.NoTLS)}
	}
	if text := u.Port(); text != "" {
		if port, err = strconv.Atoi(text); err != nil {
			return nil, errors.New("senders: the port of the SMTP server is no number")
		}
	}
	options = append(options, mail.WithPort(port))
	s := &SMTP{host: u.Hostname(), from: from}
	if trust == nil {
		trust = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	trust = trust.Clone()
	trust.ServerName = s.host
	options = append(options, mail.WithTLSConfig(trust), mail.WithTimeout(step))
	if hasPassword {
		options = append(options, mail.WithSMTPAuth(mail.SMTPAuthAutoDiscover), mail.WithUsername(u.User.Username()), mail.WithPassword(password))
	}
	s.options = options
	if _, err := mail.NewClient(s.host, s.options...); err != nil {
		return nil, fmt.Errorf("senders: the SMTP server: %w", err)
	}
	if err := mail.NewMsg().From(from); err != nil {
		return nil, errors.New("senders: the sender of e-mails is no address")
	}
	return s, nil
}

// Send makes one connection for one e-mail. Its Message-ID is the message's
// own, so that a receiver can tell a repetition.
func (s *SMTP) Send(ctx context.Context, m messages.Outgoing) error {
	out := mail.NewMsg(mail.WithNoDefaultUserAgent())
	if err := out.From(s.from); err != nil {
		return &messages.Problem{Word: "bad_sender", Final: true}
	}
	if err := out.To(m.Recipient); err != nil {
		return &messages.Problem{Word: "bad_recipient", Final: true}
	}
	out.SetMessageIDWithValue(m.ID.String() + "@" + s.host)
	out.SetDate()
	out.Subject(m.Subject)
	out.SetGenHeader("Auto-Submitted", "auto-generated") // RFC 3834: nobody's holiday answers this
	out.SetBodyString(mail.TypeTextPlain, m.Text)
	mailer, err := mail.NewClient(s.host, s.options...)
	if err != nil {
		return &messages.Problem{Word: "bad_server", Final: true}
	}
	conn, err := connect(ctx, mailer)
	if err != nil {
		return sorted(err)
	}
	err = mailer.SendWithSMTPClient(conn, out) // not broken off: nobody would know whether the server has it
	_ = mailer.CloseWithSMTPClient(conn)
	_ = conn.Close()       // which a QUIT that fails leaves open
	if out.IsDelivered() { // whatever the server says to what follows
		return nil
	}
	return sorted(err)
}

// connect signs in at the server. The library looks at ctx only until there is
// a connection and ends by its own limit, so it is left to itself when ctx ends.
func connect(ctx context.Context, mailer *mail.Client) (*smtp.Client, error) {
	type outcome struct {
		conn *smtp.Client
		err  error
	}
	made := make(chan outcome, 1)
	go func() {
		conn, err := mailer.DialToSMTPClientWithContext(ctx)
		made <- outcome{conn, err}
	}()
	select {
	case o := <-made:
		return o.conn, o.err
	case <-ctx.Done():
		go func() {
			if o := <-made; o.conn != nil {
				_ = o.conn.Close()
			}
		}()
		return nil, &messages.Problem{Word: "timeout"}
	}
}

// sorted makes a Problem of an error whose text may name a person.
func sorted(err error) error {
	var problem *messages.Problem
	var refused *mail.SendError
	var slow interface{ Timeout() bool }
	switch {
	case errors.As(err, &problem):
		return problem
	case errors.As(err, &refused) && refused.ErrorCode() >= 500:
		return &messages.Problem{Word: "refused", Final: true}
	case errors.As(err, &refused) && refused.ErrorCode() >= 400:
		return &messages.Problem{Word: "deferred"}
	case errors.As(err, &slow) && slow.Timeout():
		return &messages.Problem{Word: "timeout"}
	}
	return &messages.Problem{Word: "unreachable"}
}
