package networks

import (
	"context"
	"errors"
)

// Network takes orders. It may also be a Booker, and a Receiver.
type Network interface {
	// Slug names the network: sandboxlab, hl7v2.
	Slug() string
	// Place hands the order over and returns the lab's receipt. It is called
	// again after a crash or a timeout, so it must be idempotent by Order.ID. A
	// *Refusal says that the lab will never take this order; any other error is
	// tried again.
	Place(ctx context.Context, order Order) (Receipt, error)
	// Cancel takes an order back. Cancelling what is unknown or cancelled
	// already is no error.
	Cancel(ctx context.Context, order Order) error
}

// Receiver is a network that reports by itself: a listener, a poller, a
// simulator's clock. Run returns when ctx ends.
type Receiver interface {
	Run(ctx context.Context, in Inbox) error
}

// Shipper is a network that sends out kits before anybody has registered them.
type Shipper interface {
	// Ship sends the kit of an order to order.ShipTo. The order has a sample id,
	// printed on the kit, and no patient. Idempotent by Order.ID, as Place.
	Ship(ctx context.Context, order Order) error
}

// Receipt is what a lab answers to an order that it took.
type Receipt struct {
	// SampleID is the requisition or control number, printed on the labels.
	SampleID string
	// Pending means that the order was handed over, and that the lab's word on
	// it follows through the Inbox: a Report with the status requisition_created
	// and the sample id, or with cancelled. The order stays ordered until then.
	Pending bool
	// Notice means that the lab wants the patient to sign, before the sample is
	// taken, that an insurance may not pay.
	Notice bool
	// Answer is the lab's answer where it says more of the order than that it is
	// taken, such as the tests that it refuses; nil otherwise. It is handled with
	// the receipt, so its reports name no status.
	Answer *Message
}

// Refusal is a lab's final no.
type Refusal struct {
	// Reason is the lab's sentence. It may name the patient, so it is stored
	// sealed with the order and never logged.
	Reason string
}

func (r *Refusal) Error() string { return "networks: the lab refused the order" }

// ErrUnsupported is returned for what a network cannot do.
var ErrUnsupported = errors.New("networks: this network cannot do that")

// Inbox stores what a network reports. It is durable when Put returns nil, and
// only then may the network be told that its message arrived.
type Inbox interface {
	Put(ctx context.Context, m Message) error
}

// Message is one arrival from a network, with all that it reports.
type Message struct {
	// Network is the slug of the network that it came through.
	Network string
	// Key names the message for ever (sending application, facility and control
	// id for HL7). A second message with the same key and content is the same
	// message and is stored once.
	Key string
	// Raw is the message as it came, kept sealed.
	Raw     []byte
	Reports []Report
}
