package messages

import (
	"context"
	"errors"
	"log/slog"

	"hale/internal/platform/secrets"
)

// Outgoing is a message on its way out.
type Outgoing struct {
	ID        ID     // the same whenever it is tried again
	Team      string // name, for people
	Recipient string
	Subject   string // of e-mails
	Text      string
}

// LogValue keeps a message out of logs.
func (Outgoing) LogValue() slog.Value { return slog.StringValue(secrets.Withheld) }

// Sender hands messages of one channel to whoever carries them. It may be
// asked for the same message more than once, when a process died between the
// sending and the noting. Its errors are Problems, or name no person.
type Sender interface {
	Send(ctx context.Context, m Outgoing) error
}

// Problem is why a message could not be handed over, in a word that is safe to
// keep and to show.
type Problem struct {
	Word string // such as refused, unreachable or timeout
	// Final tells that trying again will not help.
	Final bool
}

func (p *Problem) Error() string { return "messages: " + p.Word }

// wordOf sorts the error of a sender.
func wordOf(err error) (word string, final bool) {
	var p *Problem
	if errors.As(err, &p) {
		return p.Word, p.Final
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return "timeout", false
	}
	return "unreachable", false
}
