package hl7v2

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"fmt"
	"time"

	"hale/internal/labs/hl7"
	"hale/internal/labs/hl7/mllp"
	"hale/internal/labs/networks"
)

// Place sends the order to its lab and waits for the answer. The same order
// makes the same bytes, so a lab that has it already sees a repetition.
func (n *Network) Place(ctx context.Context, order networks.Order) (networks.Receipt, error) {
	lab, client, err := n.reach(order)
	if err != nil {
		return networks.Receipt{}, err
	}
	control := controlID("NW", order)
	message := orderMessage(lab, order, control)
	answer, err := n.exchange(ctx, client, message, control)
	if err != nil {
		return networks.Receipt{}, err
	}
	return answer.receipt(order)
}

// Cancel sends the order again with the order control CA.
func (n *Network) Cancel(ctx context.Context, order networks.Order) error {
	lab, client, err := n.reach(order)
	if err != nil {
		return err
	}
	control := controlID("CA", order)
	answer, err := n.exchange(ctx, client, cancelMessage(lab, order, control, n.now()), control)
	if err != nil {
		return err
	}
	return answer.cancelled()
}

// reach finds the lab's connection. A sandbox order and a real lab are kept
// apart here, whatever the caller did.
func (n *Network) reach(order networks.Order) (Lab, *mllp.Client, error) {
	lab, known := n.settings.Labs[order.Lab]
	client := n.clients[order.Lab]
	switch {
	case !known:
		return Lab{}, nil, fmt.Errorf("hl7v2: no connection is set up for the lab %s", order.Lab)
	case client == nil:
		return Lab{}, nil, fmt.Errorf("hl7v2: no address is set up for the lab %s", order.Lab)
	case order.Sandbox && !lab.Sandbox:
		return Lab{}, nil, &networks.Refusal{Reason: "sandbox orders do not go to a real lab"}
	case lab.Sandbox && !order.Sandbox:
		return Lab{}, nil, &networks.Refusal{Reason: "the lab's connection is one for tests, and the order is real"}
	case len(order.Tests) == 0:
		return Lab{}, nil, &networks.Refusal{Reason: "the order names no test"}
	}
	return lab, client, nil
}

// exchange sends a message and reads the answer to it.
func (n *Network) exchange(ctx context.Context, client *mllp.Client, message *hl7.Message, control string) (answer, error) {
	raw, err := message.Emit()
	var missing *hl7.CharsetError
	if errors.As(err, &missing) {
		return answer{}, &networks.Refusal{Reason: missing.Error()}
	}
	if err != nil {
		return answer{}, err
	}
	var reply answer
	_, err = client.Exchange(ctx, raw, func(frame []byte) bool {
		m, err := hl7.Parse(frame)
		if err != nil || m.First("MSA").Get(2) != control {
			return false // an answer to another message, or to one given up on
		}
		reply = answer{m, bytes.Clone(frame)} // the connection reads the next message into it
		return true
	})
	if err != nil {
		return answer{}, err
	}
	return reply, nil
}

// controlID is MSH-10 of an order's message: the same each time, and not over
// the 20 characters that version 2.2 gives it.
func controlID(control string, order networks.Order) string {
	sum := sha256.Sum256(append([]byte(control), order.ID[:]...))
	return base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:])[:20]
}

// sampleNumber is what the labels say: the kit's or the import's, otherwise a
// number made of the order's id, which stays the same.
func sampleNumber(order networks.Order) string {
	if order.SampleID != "" {
		return order.SampleID
	}
	sum := sha256.Sum256(append([]byte("sample"), order.ID[:]...))
	n := uint64(0)
	for _, b := range sum[:7] {
		n = n<<8 | uint64(b)
	}
	return fmt.Sprintf("%012d", n%1_000_000_000_000)
}

// stamp is a time for a message. Versions before 2.3 read no offset.
func stamp(lab Lab, t time.Time) string {
	if t.IsZero() {
		return ""
	}
	t = t.In(lab.zone())
	if lab.version() < "2.3" {
		return t.Format("20060102150405")
	}
	return hl7.FormatTime(t)
}
