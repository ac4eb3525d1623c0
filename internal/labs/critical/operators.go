package critical

import (
	"context"
	"errors"
	"strings"

	"github.com/google/uuid"

	"hale/internal/people/messages"
	"hale/internal/platform/ids"
	"hale/internal/platform/jobs"
	"hale/internal/platform/store"
)

// operatorArgs names a result without a team.
type operatorArgs struct {
	Result uuid.UUID `json:"result"`
}

var operatorKind = jobs.NewKind[operatorArgs]("critical.operators").With(jobs.Limits{Concurrency: 4, Timeout: 2 * sendTimeout, Attempts: 20})

// NotifyOperators queues an e-mail to the operators about a critical result
// whose team is not known. Call it in the transaction that stores the result.
func NotifyOperators(ctx context.Context, tx *store.Tx, result uuid.UUID) error {
	_, err := operatorKind.Enqueue(ctx, tx, operatorArgs{result}, jobs.Options{Key: result.String()})
	return err
}

// sendToOperators makes one attempt. Without an address there is no e-mail; the
// metrics and hale doctor name the result.
func (s *Service) sendToOperators(ctx context.Context, run *jobs.Run, args operatorArgs) error {
	if s.Operators == "" {
		return nil
	}
	if s.Email == nil {
		return jobs.Permanent(errors.New("critical: an e-mail to the operators needs smtp-url"))
	}
	id := args.Result.String()
	text := strings.Join([]string{
		"A laboratory reported a critical result, and Hale does not know its team.", "",
		"Result: " + id,
		"Read it:  hale results inbox show " + id + " -o json",
		"Assign it: hale results inbox assign " + id + " --order ORDER",
	}, "\n") + "\n"
	sending, stop := context.WithTimeout(ctx, sendTimeout)
	defer stop()
	err := s.Email.Send(sending, messages.Outgoing{
		ID: ids.FromUUID[messages.Message](args.Result), Recipient: s.Operators, Subject: "Critical laboratory result without a team: " + id, Text: text,
	})
	var p *messages.Problem
	if errors.As(err, &p) && p.Final {
		return jobs.Permanent(err)
	}
	return err
}
