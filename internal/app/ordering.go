package app

import (
	"context"

	"hale/internal/inbox"
	"hale/internal/jobs"
	"hale/internal/messages"
	"hale/internal/networks"
	"hale/internal/orders"
	"hale/internal/store"
)

// ordering is what hands orders to labs and takes what they report.
type ordering struct {
	placer *orders.Placer
	inbox  *inbox.Service
}

// ordering makes both, and the loops of the networks that report by themselves.
func (a *App) ordering() ordering {
	o := ordering{
		placer: &orders.Placer{DB: a.DB, Networks: map[string]networks.Network{}, Log: a.Log},
		inbox:  &inbox.Service{DB: a.DB, Log: a.Log},
	}
	for _, n := range a.Networks {
		o.placer.Networks[n.Slug()] = n
		if receiver, ok := n.(networks.Receiver); ok {
			a.workers.add("lab network "+n.Slug(), func(ctx context.Context) error { return receiver.Run(ctx, o.inbox) })
		}
	}
	return o
}

func (o ordering) jobs() []jobs.Handler { return append(o.placer.Jobs(), o.inbox.Job()) }

func init() {
	orders.Listen(orders.Listener{Name: "patient messages", Changed: tellPatient})
}

// tellPatient lets the patient know how the order is getting on. Of an order
// that was imported nobody is told that it was made.
//
// Reference 1.13, 1.19.
func tellPatient(ctx context.Context, tx *store.Tx, c orders.Change) error {
	o := c.Order
	if c.New() && o.SampleID != "" && !o.Registrable {
		return nil
	}
	return messages.OrderMoved(ctx, tx, messages.OrderEvent{
		Team: o.Team, User: o.User, Order: o.ID.UUID(), Method: string(o.Method), Status: string(o.Status),
		SMSEnabled: o.SMSEnabled, Contact: contactOf(o),
	})
}

// contactOf is who is told: the patient, or who a kit goes to while nobody has
// registered it.
func contactOf(o *orders.Order) messages.Contact {
	switch {
	case o.Body.Patient != nil:
		p := o.Body.Patient
		return messages.Contact{FirstName: p.FirstName, Phone: p.PhoneNumber, Email: p.Email}
	case o.Body.Shipping != nil:
		return messages.Contact{Phone: o.Body.Shipping.PhoneNumber}
	}
	return messages.Contact{}
}
