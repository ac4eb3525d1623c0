package sandboxlab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/documents"
	"hale/internal/labs/hl7"
	"hale/internal/labs/networks"
	"hale/internal/labs/networks/hl7v2"
	"hale/internal/labs/orders"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// stepContext holds the data of a step.
type stepContext struct {
	PlannedStep
	order     orders.Order
	whole     networks.Order
	catalogue *catalogue.Catalogue
	subject   *documents.Subject // the order's data for a report
}

// perform runs a step. Its message has the key of the step, so that a
// repetition changes nothing. It returns errHeld for an order that waits.
func (l *Lab) perform(ctx context.Context, team teams.ID, p PlannedStep) error {
	s := stepContext{PlannedStep: p}
	var held bool
	err := l.DB.Read(ctx, func(tx *store.Tx) (err error) {
		if s.order, err = orders.Get(ctx, tx, team, p.Order); err != nil {
			return err
		}
		if held, err = orders.IsHeld(ctx, tx, &s.order); err != nil || held {
			return err
		}
		if s.catalogue, err = catalogue.Load(ctx, tx, team); err != nil {
			return err
		}
		if p.Step.Act == Report {
			if s.subject, err = documents.NewSubject(ctx, tx, &s.order); err != nil {
				return err
			}
			s.whole = s.subject.Full
			return nil
		}
		s.whole, err = orders.ForNetwork(ctx, tx, &s.order)
		return err
	})
	if fault.Is(err, fault.NotFound) { // erased
		return nil
	}
	if err != nil {
		return err
	}
	if held {
		return l.hold(ctx, team, p.Order)
	}
	if p.Step.Act == Draw {
		return l.draw(ctx, team, p.Order)
	}
	for _, number := range p.keys() {
		if err := l.send(ctx, s, number); err != nil {
			return fmt.Errorf("sandboxlab: %s of %s: %w", p.Step.Act, p.Order, err)
		}
	}
	return nil
}

// keys returns the numbers of a step's messages, in the order of sending.
func (p *PlannedStep) keys() []string {
	keys := []string{p.ID.String()}
	if p.Step.Twice {
		keys = append(keys, p.ID.String(), p.ID.String()+"-again")
	}
	return keys
}

// specimenTimes returns the times of the collection and the receipt of the specimen. All
// reports of an order have the same times.
func (s stepContext) specimenTimes() (collected, received time.Time) {
	collected, received = s.Step.Collected, s.Step.Received
	if s.order.CollectedAt != nil && !s.order.CollectedAt.After(s.Due) {
		collected = *s.order.CollectedAt
	}
	if collected.IsZero() { // planned by an earlier version
		collected = s.Due.Add(-day)
	}
	if received.Before(collected) {
		received = collected.Add(min(courierTime, s.Due.Sub(collected)/2))
	}
	return collected, received
}

func (l *Lab) send(ctx context.Context, s stepContext, number string) error {
	switch s.Step.Act {
	case Accept:
		return l.transmit(ctx, s, number, s.acceptance(number))
	case Reject:
		return l.transmit(ctx, s, number, s.rejection(number))
	case Report:
		m, err := s.report(number)
		if err != nil {
			return err
		}
		return l.transmit(ctx, s, number, m)
	default:
		r := s.carrierReport()
		raw, err := json.Marshal(r)
		if err != nil {
			return err
		}
		return l.Inbox.Put(ctx, networks.Message{Network: l.Slug(), Key: number, Raw: raw, Reports: []networks.Report{r}})
	}
}

// drawWait is the time that a draw waits for its requisition, which may still
// be in the Inbox. After it the draw is postponed, and the next orders go
// first.
const drawWait = 2 * time.Second

// errNoRequisition means that the order's requisition must come first.
var errNoRequisition = errors.New("sandboxlab: the order has no requisition yet")

// draw completes the draw of an on-site order, unless it is completed already
// or the order has ended.
func (l *Lab) draw(ctx context.Context, team teams.ID, id orders.ID) error {
	patience := time.NewTimer(drawWait)
	defer patience.Stop()
	for {
		var o orders.Order
		err := l.DB.Write(ctx, func(tx *store.Tx) (err error) {
			if o, err = orders.Get(ctx, tx, team, id); err == nil && o.Status.HasRequisition() {
				_, _, err = orders.CompleteDraw(ctx, tx, team, id)
			}
			return err
		})
		if fault.Is(err, fault.Refused) || fault.Is(err, fault.NotFound) {
			return nil
		}
		if err != nil || o.Status.HasRequisition() || o.Status.Terminal() {
			return err
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-patience.C:
			return errNoRequisition
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// carrierReport returns the report of a carrier or a phlebotomist.
func (s stepContext) carrierReport() networks.Report {
	r := networks.Report{Placer: s.Order.String(), Lab: s.whole.Lab, At: s.Due}
	if s.Step.Act == Visit {
		r.Visit = &networks.Visit{BookingID: s.Step.Booking, Status: s.Step.Visit, Start: s.Step.Start, End: s.Step.End}
		return r
	}
	r.Status = string(s.Step.Status)
	if s.whole.Method == string(catalogue.TestKit) {
		r.Shipment = shipment(s.Order.UUID(), s.Step.Status)
	}
	return r
}

// shipment returns the leg of a scan; nil when it adds nothing.
func shipment(order uuid.UUID, status orders.Status) *networks.Shipment {
	inbound := false
	switch status {
	case orders.TransitCustomer:
	case orders.TransitLab:
		inbound = true
	default:
		return nil
	}
	number := fmt.Sprintf("SBX%012d", hashNumber(order, fmt.Sprint("leg ", inbound))%1_000_000_000_000)
	return &networks.Shipment{
		Inbound: inbound, Courier: "sandbox", TrackingNumber: number,
		TrackingURL: "https://carrier.example/track/" + number,
	}
}

// transmit passes the bytes of a message to the reader for real labs'
// messages, and checks its acknowledgement as a lab does.
func (l *Lab) transmit(ctx context.Context, s stepContext, number string, m *hl7.Message) error {
	raw, err := m.Emit()
	if err != nil {
		return err
	}
	reader, err := hl7v2.New(hl7v2.Settings{Labs: map[string]hl7v2.Lab{s.whole.Lab: {
		Application: ourApplication, LabApplication: labApplication, LabFacility: s.whole.Lab, Sandbox: true,
	}}}, func() time.Time { return s.Due }, l.Log)
	if err != nil {
		return err
	}
	ack, err := hl7.Parse(reader.Accept(ctx, keyedInbox{l.Inbox, l.Slug(), number}, raw))
	if err != nil {
		return err
	}
	if code := ack.First("MSA").Get(1); code != string(hl7.Accepted) {
		return fmt.Errorf("the message was answered %s", strings.TrimSpace(code))
	}
	return nil
}

// keyedInbox is the Inbox with this network and a step's key.
type keyedInbox struct {
	networks.Inbox
	slug, key string
}

func (r keyedInbox) Put(ctx context.Context, m networks.Message) error {
	m.Network, m.Key = r.slug, r.key
	return r.Inbox.Put(ctx, m)
}
