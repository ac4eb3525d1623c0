package hl7v2

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"hale/internal/labs/hl7"
	"hale/internal/labs/networks"
	"hale/internal/labs/networks/files"
)

// fileName returns the name of an order's file: the same each time. Names sort
// by the time of the order, and a cancellation follows its order.
func fileName(order networks.Order, kind, control string) string {
	return order.PlacedAt.UTC().Format("20060102T150405.000000Z") + "-" + kind + "-" + control + ".hl7"
}

func sendFile(ctx context.Context, to *files.Exchange, message *hl7.Message, name string) error {
	raw, err := emitOrder(message)
	if err != nil {
		return err
	}
	return to.Send(ctx, name, raw)
}

// takeFile stores the messages of a file of a lab. A message that is rejected is
// the reason to set the file aside, with the other messages stored. An error
// means that the file must be read again.
func (n *Network) takeFile(ctx context.Context, in networks.Inbox, key string, raw []byte) (reason string, err error) {
	messages, err := hl7.Split(raw)
	if err != nil {
		return "the file cannot be read: " + err.Error(), nil
	}
	var reasons []string
	for i, message := range messages {
		if i == len(messages)-1 && isTruncated(message) {
			reasons = append(reasons, fmt.Sprintf("message %d of %d: its last segment has no end; the file may be incomplete", i+1, len(messages)))
			break
		}
		reason, err := n.takeMessage(ctx, in, key, message)
		if err != nil {
			return "", err
		}
		if reason != "" {
			reasons = append(reasons, fmt.Sprintf("message %d of %d: %s", i+1, len(messages), reason))
		}
	}
	return strings.Join(reasons, "\n"), nil
}

// isTruncated reports whether a message at the end of a file has no end of its
// last segment. Then the rest of a value may be missing, and 41 may have been
// 410. A message on a connection has a frame, so it is complete.
func isTruncated(message []byte) bool {
	message = bytes.TrimRight(message, "\x1a \t") // the end of a file on some systems
	return !bytes.HasSuffix(message, []byte("\r")) && !bytes.HasSuffix(message, []byte("\n"))
}

func (n *Network) takeMessage(ctx context.Context, in networks.Inbox, key string, raw []byte) (reason string, err error) {
	m, err := hl7.Parse(raw)
	if err != nil {
		return "the message cannot be read: " + err.Error(), nil
	}
	if m.Header().Type == "ACK" {
		return acknowledgementRefused(m), nil
	}
	_, trouble, err := n.store(ctx, in, origin{files: key}, m, raw)
	if err != nil || trouble == nil {
		return "", err
	}
	return trouble.Text, nil
}

// acknowledgementRefused returns the reason of an acknowledgement that does not
// accept a message of ours; empty for one that does.
func acknowledgementRefused(m *hl7.Message) string {
	if (answer{m: m}).checkAcknowledgement() == nil {
		return ""
	}
	msa := m.First("MSA")
	return fmt.Sprintf("the lab answered %s to the message %s", msa.Get(1), msa.Get(2))
}
