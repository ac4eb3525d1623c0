package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"hale/internal/harness/load"
	"hale/internal/harness/rawhttp"
	"hale/internal/labs/catalogue"
	"hale/internal/people/users"
	"hale/internal/platform/store"
)

const (
	busyOrders  = 200 // orders a second
	busyReports = 40  // of them, how many a second are brought to completion
)

// busy creates orders at a rate. Meanwhile the lab reports on the new orders, and callers
// read lists.
func (s *seeding) busy(ctx context.Context, b *bench) error {
	body, err := s.request(ctx)
	if err != nil {
		return err
	}
	before, err := s.messages(ctx)
	if err != nil {
		return err
	}
	created := make(chan string, 10_000)
	var made, listed load.Result
	group, within := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		made, err = createOrders(within, b, body, created)
		return err
	})
	group.Go(func() error { return completeOrders(within, b, created) })
	group.Go(func() (err error) {
		head := rawhttp.Head("GET", "/v3/orders", b.server.Address(), "x-service-api-key: "+b.key)
		listed, err = load.Run(within, load.Plan{Address: b.server.Address(), Conns: 1, For: b.period, Rate: 5}, func(w *load.Worker, _ int) error {
			_, err := expect(w.Do(head, nil))
			return err
		})
		return err
	})
	if err := group.Wait(); err != nil {
		return err
	}
	after, err := s.messages(ctx)
	if err != nil {
		return err
	}
	b.report.line("orders created while a lab reports", perSecond(made.PerSecond()),
		fmt.Sprintf("%s p50, %s p99 since due; %d messages of the lab", millis(made.Quantile(.5)), millis(made.Quantile(.99)), after-before), fmt.Sprintf("%d/s", busyOrders))
	b.report.line("orders, newest first meanwhile", millis(listed.Quantile(.99))+" p99", millis(listed.Quantile(.5))+" p50", "")
	return nil
}

// createOrders orders at the rate and passes the new orders' ids on.
func createOrders(ctx context.Context, b *bench, body []byte, created chan<- string) (load.Result, error) {
	head := rawhttp.Head("POST", "/v3/order", b.server.Address(), "x-service-api-key: "+b.key)
	return load.Run(ctx, load.Plan{Address: b.server.Address(), Conns: 16, For: b.period, Rate: busyOrders}, func(w *load.Worker, _ int) error {
		text, err := expect(w.Do(head, body))
		if err != nil {
			return err
		}
		var answer struct {
			Order struct {
				ID string `json:"id"`
			} `json:"order"`
		}
		if err := json.Unmarshal(text, &answer); err != nil {
			return err
		}
		select {
		case created <- answer.Order.ID:
		default: // the lab has enough orders
		}
		return nil
	})
}

// completeOrders lets the built-in lab complete some of the orders. The lab reports
// that the sample was drawn, and sends results as an HL7 message.
func completeOrders(ctx context.Context, b *bench, created <-chan string) error {
	_, err := load.Run(ctx, load.Plan{Address: b.server.Address(), Conns: 16, For: b.period, Rate: busyReports}, func(w *load.Worker, _ int) error {
		select {
		case id := <-created:
			_, err := expect(w.Do(rawhttp.Head("POST", "/v3/order/"+id+"/test", b.server.Address(), "x-service-api-key: "+b.key), nil))
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	})
	return err
}

// expect returns the body of an answer. It returns an error unless the status is 200.
func expect(answer rawhttp.Response, err error) ([]byte, error) {
	if err == nil && answer.Status != 200 {
		err = fmt.Errorf("the answer was %d: %.300s", answer.Status, answer.Body)
	}
	return answer.Body, err
}

// messages counts the messages that labs, carriers and phlebotomists have sent.
func (s *seeding) messages(ctx context.Context) (n int, err error) {
	err = s.db.Read(ctx, func(tx *store.Tx) error {
		return tx.QueryRow(ctx, `SELECT COUNT(*) FROM inbox_messages`).Scan(&n)
	})
	return n, err
}

// request builds the body of an order of the on-site test for a new user, with answers.
func (s *seeding) request(ctx context.Context) (body []byte, err error) {
	var user users.User
	err = s.db.Write(ctx, func(tx *store.Tx) (err error) {
		user, err = users.Create(ctx, tx, s.team, users.NewUser{ClientUserID: "busy-" + tx.NewUUID().String()})
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, t := range s.tests {
		if t.Method != catalogue.OnSite {
			continue
		}
		return json.Marshal(map[string]any{
			"user_id": user.ID, "lab_test_id": t.ID,
			"patient_details": map[string]any{
				"first_name": "Ada", "last_name": "Example", "dob": "1984-12-10", "gender": "female", "phone_number": "+14155550132", "email": "a@example.org",
			},
			"patient_address": map[string]any{"first_line": "1 Example Street", "city": "Phoenix", "state": "AZ", "zip": "85004", "country": "US"},
		})
	}
	return nil, errors.New("the team has no lab test for on-site collection")
}
