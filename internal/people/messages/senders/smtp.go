// Package senders sends messages: e-mail through an SMTP server, SMS through a
// gateway that accepts signed JSON.
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

// SMTP sends e-mails through a server. Create it with NewSMTP.
type SMTP struct {
	host    string
	from    string
	options []mail.Option
}

// stepTimeout bounds each step of the conversation.
const stepTimeout = 10 * time.Second

// NewSMTP returns an SMTP for a server's address and the sender of e-mails. The
// address is smtp://user:password@host:587, which is encrypted by STARTTLS, or
// smtps://user:password@host:465. smtp://host:25?tls=off is not encrypted and
// allows no password; it is for a server on the same machine. If trust is nil, the
// system's certificates apply.
func NewSMTP(address, from string, trust *tls.Config) (*SMTP, error) {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" {
		return nil, errors.New("senders: the address of the SMTP server is not a URL")
	}
	port, options := 587, []mail.Option{mail.WithTLSPolicy(mail.TLSMandatory)}
	password, hasPassword := u.User.Password()
	switch {
	case u.Scheme == "smtps":
		port, options = 465, []mail.Option{mail.WithSSL()}
	case u.Scheme != "smtp":
		return nil, errors.New("senders: the address of the SMTP server must begin with smtp:// or smtps://")
	case u.Query().Get("tls") == "off":
		if hasPassword {
			return nil, errors.New("senders: a password needs an encrypted connection")
		}
		port, options = 25, []mail.Option{mail.WithTLSPolicy(mail.NoTLS)}
	}
	if text := u.Port(); text != "" {
		if port, err = strconv.Atoi(text); err != nil {
			return nil, errors.New("senders: the port of the SMTP server is not a number")
		}
	}
	options = append(options, mail.WithPort(port))
	s := &SMTP{host: u.Hostname(), from: from}
	if trust == nil {
		trust = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	trust = trust.Clone()
	trust.ServerName = s.host
	options = append(options, mail.WithTLSConfig(trust), mail.WithTimeout(stepTimeout))
	if hasPassword {
		options = append(options, mail.WithSMTPAuth(mail.SMTPAuthAutoDiscover), mail.WithUsername(u.User.Username()), mail.WithPassword(password))
	}
	s.options = options
	if _, err := mail.NewClient(s.host, s.options...); err != nil {
		return nil, fmt.Errorf("senders: invalid smtp-url: %w", err)
	}
	if err := mail.NewMsg().From(from); err != nil {
		return nil, errors.New("senders: the sender of e-mails is not an address")
	}
	return s, nil
}

// Send opens one connection for one e-mail. The Message-ID contains the message's
// id, so that a receiver recognizes a duplicate.
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
	out.SetGenHeader("Auto-Submitted", "auto-generated") // RFC 3834: no automatic replies
	out.SetBodyString(mail.TypeTextPlain, m.Text)
	mailer, err := mail.NewClient(s.host, s.options...)
	if err != nil {
		return &messages.Problem{Word: "bad_server", Final: true}
	}
	conn, err := connect(ctx, mailer)
	if err != nil {
		return problemOf(err)
	}
	err = mailer.SendWithSMTPClient(conn, out) // not interrupted: the outcome would be unknown
	_ = mailer.CloseWithSMTPClient(conn)
	_ = conn.Close()       // a failed QUIT leaves it open
	if out.IsDelivered() { // even if a later command failed
		return nil
	}
	return problemOf(err)
}

// connect signs in to the server. The library ignores ctx after it has connected
// and stops at its own timeout, so connect does not wait for it once ctx ends.
func connect(ctx context.Context, mailer *mail.Client) (*smtp.Client, error) {
	type outcome struct {
		conn *smtp.Client
		err  error
	}
	outcomes := make(chan outcome, 1)
	go func() {
		conn, err := mailer.DialToSMTPClientWithContext(ctx)
		outcomes <- outcome{conn, err}
	}()
	select {
	case o := <-outcomes:
		return o.conn, o.err
	case <-ctx.Done():
		go func() {
			if o := <-outcomes; o.conn != nil {
				_ = o.conn.Close()
			}
		}()
		return nil, &messages.Problem{Word: "timeout"}
	}
}

// problemOf turns an error, whose text may contain personal data, into a Problem.
func problemOf(err error) error {
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
