package api

import (
	"context"
	"time"

	"hale/internal/platform/events"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/webhooks"
)

type replayIn struct {
	WebhookPath
	Body struct {
		MessageID string `json:"message_id" required:"false" doc:"msg_…, to send this one."`
		From      int64  `json:"from_seq" required:"false" minimum:"1" doc:"To send all from this number on that the endpoint wants."`
		To        int64  `json:"to_seq" required:"false" minimum:"1" doc:"Up to this number; the last one when left out."`
		DryRun    bool   `json:"dry_run" required:"false" doc:"Only count."`
	}
}

// replayBody says how much is sent once more.
type replayBody struct {
	Count  int64   `json:"count" doc:"Messages."`
	JobID  *string `json:"job_id" format:"uuid" doc:"The job that sends them; null for a single message and a dry run."`
	DryRun bool    `json:"dry_run"`
}

func (a *API) replay(ctx context.Context, c Caller, in *replayIn) (*out[replayBody], error) {
	id, err := in.id()
	if err != nil {
		return nil, err
	}
	if in.Body.MessageID != "" && in.Body.From+in.Body.To > 0 {
		return nil, fault.New(fault.Invalid, "Value error, either one message or a range").At("body", "message_id")
	}
	if in.Body.MessageID == "" {
		return a.startReplay(ctx, c, webhooks.Replay{Endpoint: id, From: in.Body.From, To: in.Body.To}, in.Body.DryRun)
	}
	message, err := events.Parse(in.Body.MessageID)
	if err != nil {
		return nil, err
	}
	body := replayBody{Count: 1, DryRun: in.Body.DryRun}
	if in.Body.DryRun {
		err := a.db.Read(ctx, func(tx *store.Tx) error { return webhooks.MayResend(ctx, tx, c.Team, id, message) })
		if err != nil {
			return nil, err
		}
		return answer(body), nil
	}
	return answering(ctx, a, func(tx *store.Tx) (replayBody, error) {
		return body, webhooks.Resend(ctx, tx, c.Team, id, message)
	})
}

type recoverIn struct {
	WebhookPath
	Body struct {
		Since  Time `json:"since" doc:"Of the events."`
		DryRun bool `json:"dry_run" required:"false" doc:"Only count."`
	}
}

func (a *API) recoverFailed(ctx context.Context, c Caller, in *recoverIn) (*out[replayBody], error) {
	id, err := in.id()
	if err != nil {
		return nil, err
	}
	return a.startReplay(ctx, c, webhooks.Recover(id, time.Time(in.Body.Since)), in.Body.DryRun)
}

// startReplay counts before the transaction that begins: on SQLite no write could
// go on while a large feed is counted in it.
func (a *API) startReplay(ctx context.Context, c Caller, r webhooks.Replay, dryRun bool) (*out[replayBody], error) {
	body := replayBody{DryRun: dryRun}
	err := a.db.Read(ctx, func(tx *store.Tx) (err error) {
		body.Count, err = r.Count(ctx, tx, c.Team)
		return err
	})
	if err != nil {
		return nil, err
	}
	if dryRun {
		return answer(body), nil
	}
	return answering(ctx, a, func(tx *store.Tx) (replayBody, error) {
		job, err := r.Start(ctx, tx, c.Team)
		text := job.String()
		body.JobID = &text
		return body, err
	})
}

type reconcileIn struct {
	WebhookPath
	From int64 `query:"from" minimum:"1" default:"1" doc:"First number."`
	To   int64 `query:"to" minimum:"1" doc:"Last number; at most 100,000 are looked at. Left out, the last there is."`
}

// reconcileBody is the account of a range of numbers.
type reconcileBody struct {
	From      int64            `json:"from"`
	To        int64            `json:"to" doc:"May be less than asked for: go on from the next number."`
	Counts    map[string]int64 `json:"counts" doc:"Events by state: pending, sent, failed, held, and apart for those that the endpoint was not to get."`
	Open      []DeliveryBody   `json:"open" doc:"What has not been answered with 2xx, at most 1000."`
	Truncated bool             `json:"truncated" doc:"There is more that is open than is listed."`
}

func (a *API) reconcile(ctx context.Context, c Caller, in *reconcileIn) (*out[reconcileBody], error) {
	id, err := in.id()
	if err != nil {
		return nil, err
	}
	switch {
	case in.To == 0:
		in.To = 1<<63 - 1
	case in.To < in.From:
		return nil, fault.New(fault.Invalid, "Value error, the range ends before it begins").At("query", "to")
	}
	var account webhooks.Account
	err = a.db.Read(ctx, func(tx *store.Tx) (err error) {
		account, err = webhooks.Reconcile(ctx, tx, c.Team, id, in.From, in.To)
		return err
	})
	if err != nil {
		return nil, err
	}
	body := reconcileBody{From: account.From, To: account.To, Counts: map[string]int64{"apart": account.Apart}, Open: []DeliveryBody{}, Truncated: account.More}
	for state, n := range account.Counts {
		body.Counts[string(state)] = n
	}
	for _, d := range account.Open {
		body.Open = append(body.Open, deliveryOf(d))
	}
	return answer(body), nil
}
