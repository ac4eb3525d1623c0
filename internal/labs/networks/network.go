package networks

import (
	"context"
	"errors"
)

// Network accepts orders. It may also be a Booker, and a Receiver.
type Network interface {
	// Slug names the network: sandboxlab, hl7v2, hl7v2test.
	Slug() string
	// Place sends the order and returns the lab's receipt. It is called again
	// after a crash or a timeout, so it must be idempotent by Order.ID. A
	// *Refusal means that the lab will never accept this order; any other error
	// is retried.
	Place(ctx context.Context, order Order) (Receipt, error)
	// Cancel cancels an order. Cancelling an unknown or cancelled order is not
	// an error.
	Cancel(ctx context.Context, order Order) error
}

// Receiver is a network that reports on its own: a listener, a poller, a
// simulator's clock. Run returns when ctx ends.
type Receiver interface {
	Run(ctx context.Context, in Inbox) error
}

// TestNetwork is the network of the test systems of real labs. The orders of a
// sandbox team for such a lab go there, and not to the simulated laboratory.
type TestNetwork interface {
	Network
	// Tests reports whether a lab has a test system.
	Tests(lab string) bool
}

// Shipper is a network that sends out kits before they are registered.
type Shipper interface {
	// Ship sends the kit of an order to order.ShipTo. The order has a sample
	// id, printed on the kit, and no patient. It is idempotent by Order.ID, as
	// Place.
	Ship(ctx context.Context, order Order) error
}

// Recaller is a Shipper that can be asked not to ship a kit.
type Recaller interface {
	// Recall asks not to ship the kit of a cancelled order. A kit that is
	// unknown, or on its way, is not an error.
	Recall(ctx context.Context, order Order) error
}

// Receipt is a lab's answer to an order that it took.
type Receipt struct {
	// SampleID is the requisition or control number, printed on the labels.
	SampleID string
	// Pending means that the order was sent, and that the lab's answer follows
	// through the Inbox. The answer is a Report. Its status is
	// requisition_created, with the sample id, or cancelled. The order stays
	// ordered until then.
	Pending bool
	// Notice means that the lab needs the patient's signature, before the
	// sample is taken, that an insurance may not pay.
	Notice bool
	// Answer is the lab's message if it says more than accepted, such as refused
	// tests; otherwise nil. The receipt sets the status, so reports of the message
	// have none.
	Answer *Message
}

// Refusal is a lab's final refusal.
type Refusal struct {
	// Reason is the lab's sentence. It may name the patient, so it is stored
	// sealed with the order and never logged.
	Reason string
}

func (r *Refusal) Error() string { return "networks: the lab refused the order" }

// ErrUnsupported is returned for operations that a network does not offer.
var ErrUnsupported = errors.New("networks: this network cannot do that")

// Inbox stores the messages of a network. A message is durable when Put
// returns nil; only then may the network acknowledge it.
type Inbox interface {
	Put(ctx context.Context, m Message) error
}

// Message is one message from a network, with its reports.
type Message struct {
	// Network is the slug of the network that it came through.
	Network string
	// Key names the message (sending application, facility and control id for
	// HL7). It never changes. A second message with the same key and content
	// is the same message and is stored once.
	Key string
	// Raw is the message as it arrived; it is stored sealed.
	Raw     []byte
	Reports []Report
}
