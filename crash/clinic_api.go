package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// This file holds the paths and shapes of the API that the clinic uses.

// The methods whose samples are drawn at an appointment.
const (
	atHome = "at_home_phlebotomy"
	walkIn = "walk_in_test"
)

// In visitedZip the sandbox's phlebotomists have slots to book. In askedZip they accept
// requests for a visit, and confirm a time later.
const (
	visitedZip = "85004"
	askedZip   = "54650"
)

// appointment is an appointment as the server has it.
type appointment struct {
	ID          string      `json:"id"`
	OrderID     string      `json:"order_id"`
	ProviderID  string      `json:"provider_id"`
	EventStatus string      `json:"event_status"`
	Start       *string     `json:"start_at"`
	Events      []happening `json:"events"`
}

func (a appointment) path() (all []string) {
	for _, e := range a.Events {
		all = append(all, e.Status)
	}
	return all
}

// agrees returns an error if the parts of an appointment contradict each other.
func (a appointment) agrees() error {
	if path := a.path(); len(path) == 0 || path[len(path)-1] != a.EventStatus {
		return fmt.Errorf("appointment %s is %s, its history %v", a.ID, a.EventStatus, path)
	}
	return nil
}

// state returns the state of an appointment.
func (a appointment) state() orderState {
	s := orderState{visit: a.ID, status: visitBooked}
	if a.EventStatus == visitCancelled || a.EventStatus == visitCompleted {
		s.status = a.EventStatus
	}
	if a.Start != nil {
		s.start = *a.Start
	}
	return s
}

func appointmentPath(order, method string) string {
	if method == atHome {
		return "/v3/order/" + order + "/phlebotomy/appointment"
	}
	return "/v3/order/" + order + "/psc/appointment"
}

// cancellation returns the body that cancels an appointment. The two kinds of
// appointments name its field differently.
func cancellation(method string) map[string]any {
	if method == atHome {
		return map[string]any{"cancellation_reason_id": "5330c863-6fea-4c0e-8a4d-5f1c1f1a0004"}
	}
	return map[string]any{"cancellationReasonId": "226a6520-6fea-4c0e-8a4d-5f1c1f1a0101"}
}

// slot is a free time.
type slot struct {
	Key   string `json:"booking_key"`
	Start string `json:"start"`
}

// availability contains the free times from a day on.
type availability struct {
	Slots []struct {
		Location *struct {
			Code string `json:"code"`
		} `json:"location"`
		Slots []slot `json:"slots"`
	} `json:"slots"`
}

// free returns the free times of 14 days. The result is empty if there are none.
func (c *clinic) free(ctx context.Context, method string, from time.Time) (a availability, err error) {
	path, body := "/v3/order/phlebotomy/appointment/availability?", any(visitedAddress(visitedZip))
	query := url.Values{"start_date": {from.Format(time.DateOnly)}}
	if method == walkIn {
		path, body = "/v3/order/psc/appointment/availability?", nil
		query.Set("lab", "quest")
		if c.site == "" {
			query.Set("zip_code", visitedZip)
		} else {
			query.Set("site_codes", c.site)
		}
	}
	err = c.call.ask(ctx, http.MethodPost, path+query.Encode(), body, &a)
	if _, none := isStatus(err, http.StatusNotFound); none {
		return availability{}, nil
	}
	return a, err
}

// pick chooses one of the next free times. All writers choose from the same few, so
// that they compete. It skips full ones.
func (c *clinic) pick(ctx context.Context, method string) (slot, error) {
	for {
		c.mu.Lock()
		ahead := c.ahead[method]
		c.mu.Unlock()
		found, err := c.free(ctx, method, time.Now().UTC().AddDate(0, 0, 1+ahead))
		if err != nil {
			return slot{}, err
		}
		var next []slot
		for _, day := range found.Slots {
			next = append(next, day.Slots...)
		}
		if len(next) > 0 {
			return next[rand.IntN(min(len(next), 2))], nil
		}
		c.mu.Lock()
		if c.ahead[method] == ahead {
			c.ahead[method] += 14
		}
		c.mu.Unlock()
	}
}

func visitedAddress(zip string) map[string]any {
	city, state := "Phoenix", "AZ"
	if zip == askedZip {
		city, state = "Onalaska", "WI"
	}
	return map[string]any{"first_line": "1 Main Street", "city": city, "state": state, "zip_code": zip}
}

// prepare enables the features that the clinic needs, and reads which tests it can order
// and where.
func (c *clinic) prepare(ctx context.Context) error {
	early := map[string]any{"booking_before_requisition_enabled": true}
	if err := c.call.ask(ctx, http.MethodPatch, "/v2/team/appointment_settings", early, nil); err != nil {
		return err
	}
	var tests struct {
		Data []struct {
			ID      string `json:"id"`
			Method  string `json:"method"`
			Markers []struct {
				ID  int64 `json:"id"`
				AOE *struct {
					Questions []struct {
						ID       int64 `json:"id"`
						Required bool  `json:"required"`
						Answers  []struct {
							Code string `json:"code"`
						} `json:"answers"`
					} `json:"questions"`
				} `json:"aoe"`
			} `json:"markers"`
		} `json:"data"`
	}
	if err := c.call.ask(ctx, http.MethodGet, "/v3/lab_test", nil, &tests); err != nil {
		return err
	}
	for _, test := range tests.Data {
		answers := []map[string]any{}
		for _, marker := range test.Markers {
			if marker.AOE == nil {
				continue
			}
			for _, q := range marker.AOE.Questions {
				answer := "1"
				if len(q.Answers) > 0 {
					answer = q.Answers[0].Code
				}
				if q.Required {
					answers = append(answers, map[string]any{"marker_id": marker.ID, "question_id": q.ID, "answer": answer})
				}
			}
		}
		c.products[test.Method] = product{test.ID, answers}
	}
	found, err := c.free(ctx, walkIn, time.Now().UTC().AddDate(0, 0, 1))
	if err != nil {
		return err
	}
	if len(found.Slots) == 0 || found.Slots[0].Location == nil {
		return fmt.Errorf("no service center near %s takes appointments", visitedZip)
	}
	c.site = found.Slots[0].Location.Code
	return nil
}

// product is a test that can be ordered, with the answers that its lab requires.
type product struct {
	id      string
	answers []map[string]any
}

// orderBody returns the body of an order of the test with a method.
func (c *clinic) orderBody(user, key, method string) map[string]any {
	p := c.products[method]
	return map[string]any{
		"user_id": user, "order_set": map[string]any{"lab_test_ids": []string{p.id}}, "collection_method": method, "aoe_answers": p.answers,
		"passthrough": key, "patient_address": patientAddress, "patient_details": patientDetails,
	}
}

// simulate makes the sandbox advance an order to a status.
func (c *clinic) simulate(ctx context.Context, order, status string) error {
	return c.call.ask(ctx, http.MethodPost, "/v3/order/"+order+"/test?final_status="+status, nil, nil)
}

// order reads an order back.
func (c *clinic) order(ctx context.Context, id string) (o storedOrder, err error) {
	err = c.call.ask(ctx, http.MethodGet, "/v3/order/"+id, nil, &o)
	return o, err
}

// appointmentOf reads the newest appointment of an order.
func (c *clinic) appointmentOf(ctx context.Context, order, method string) (a appointment, there bool, err error) {
	err = c.call.ask(ctx, http.MethodGet, appointmentPath(order, method), nil, &a)
	if _, none := isStatus(err, http.StatusNotFound); none {
		return appointment{}, false, nil
	}
	return a, err == nil, err
}

// atWork counts the queued and running jobs that send to the network or handle its
// messages.
func (c *clinic) atWork(ctx context.Context) (n int, err error) {
	for _, kind := range []string{"orders.place", "appointments.settle", "appointments.confirm", "sandbox.turn", "inbox.handle"} {
		for _, status := range []string{"queued", "running"} {
			var page struct {
				Jobs []struct{} `json:"jobs"`
			}
			if err := c.call.ask(ctx, http.MethodGet, "/v2/jobs?kind="+kind+"&status="+status, nil, &page); err != nil {
				return 0, err
			}
			n += len(page.Jobs)
		}
	}
	return n, nil
}

// lowStatus returns the last part of a status, such as "ordered" for
// "received.walk_in_test.ordered".
func lowStatus(status string) string { return status[strings.LastIndexByte(status, '.')+1:] }
