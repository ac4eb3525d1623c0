package hl7v2

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"

	"hale/internal/labs/hl7"
	"hale/internal/labs/hl7/mllp"
	"hale/internal/labs/networks"
)

// origin is the source of a message.
type origin struct {
	// peer is the other end of a connection.
	peer mllp.Peer
	// files is the key of the lab whose folder has the file; empty for a
	// connection.
	files string
	// trusted means that the caller vouches for the sender.
	trusted bool
}

// Accept stores one message, or a batch, of a sender that the caller vouches
// for. It returns the acknowledgements to send, nil when the sender wants none.
// A message is acknowledged with AA only after the Inbox stored it; when that
// fails the answer is AE, and the lab sends it again.
func (n *Network) Accept(ctx context.Context, in networks.Inbox, raw []byte) []byte {
	return n.accept(ctx, in, origin{trusted: true}, raw)
}

// accept stores messages like Accept. from is their origin. If a lab has a peer, accept
// accepts its messages only from that peer, from the lab's folder or from a trusted origin.
func (n *Network) accept(ctx context.Context, in networks.Inbox, from origin, raw []byte) []byte {
	messages, err := hl7.Split(raw)
	if err != nil {
		n.log.Warn("an HL7 message cannot be read", "error", err)
		return n.emit(n.rejectUnreadable(raw, hl7.SegmentSequence, "the message cannot be read: "+err.Error()))
	}
	var answers []byte
	for _, message := range messages {
		answers = append(answers, n.acceptOne(ctx, in, from, message)...)
	}
	return answers
}

func (n *Network) acceptOne(ctx context.Context, in networks.Inbox, from origin, raw []byte) []byte {
	m, err := hl7.Parse(raw)
	if err != nil {
		n.log.Warn("an HL7 message cannot be read", "error", err)
		return n.emit(n.rejectUnreadable(raw, hl7.SegmentSequence, err.Error()))
	}
	header := m.Header()
	lab, trouble, err := n.store(ctx, in, from, m, raw)
	switch {
	case err != nil:
		n.log.Error("an HL7 message could not be stored", "lab", lab, "error", err)
		return n.acknowledge(m, header, hl7.Errored, &hl7.ErrorSegment{Code: hl7.InternalError, Text: "the message could not be stored; please send it again"})
	case trouble != nil:
		n.log.Warn("an HL7 message was rejected", "lab", lab, "code", trouble.Code)
		return n.acknowledge(m, header, hl7.Rejected, trouble)
	}
	return n.acknowledge(m, header, hl7.Accepted, nil)
}

// store stores a message, and returns the slug of its lab. trouble is the reason for a
// final rejection. If err is not nil, the message is not on disk.
func (n *Network) store(ctx context.Context, in networks.Inbox, from origin, m *hl7.Message, raw []byte) (slug string, trouble *hl7.ErrorSegment, err error) {
	header := m.Header()
	key, lab, known := n.findSender(header)
	slug, network := lab.slug(key), Slug
	if lab.Sandbox {
		network = TestSlug
	}
	switch {
	case known && !n.mayBe(key, from):
		trouble = &hl7.ErrorSegment{Code: hl7.UnknownKey, Text: "this connection is not that of the sending application and facility", Segment: "MSH", Sequence: 1, Field: 3}
	case !known && (!n.settings.AcceptUnknown || from.files != ""):
		trouble = &hl7.ErrorSegment{Code: hl7.UnknownKey, Text: "this sending application and facility are not configured here", Segment: "MSH", Sequence: 1, Field: 3}
	case !lab.Sandbox && !isProduction(header):
		// A message of a lab's test system must not reach a patient.
		trouble = &hl7.ErrorSegment{Code: "202", Text: "only production messages are accepted here", Segment: "MSH", Sequence: 1, Field: 11}
	case known && lab.Sandbox && isProduction(header):
		// A patient's result must not end among sandbox orders: no alarm follows there.
		trouble = &hl7.ErrorSegment{Code: "202", Text: "only messages of the test system are accepted here, with T or D in MSH-11", Segment: "MSH", Sequence: 1, Field: 11}
	case !isSupported(header):
		trouble = &hl7.ErrorSegment{Code: hl7.UnsupportedMessageType, Text: "this message type is not supported here", Segment: "MSH", Sequence: 1, Field: 9}
	}
	if trouble == nil && isCutOff(m, raw) {
		trouble = &hl7.ErrorSegment{Code: hl7.RequiredFieldMissing, Text: "the last OBX has neither a status nor a segment end: the message is incomplete", Segment: "OBX", Sequence: 1, Field: 11}
	}
	if trouble != nil {
		return slug, trouble, nil
	}
	reports := readReports(m, header, slug, lab)
	if slices.ContainsFunc(reports, isTooLong) {
		// A final code: a retry of the message would fail again.
		return slug, &hl7.ErrorSegment{Code: hl7.SegmentSequence, Text: "too many results or specimens of one order in one message"}, nil
	}
	for _, r := range reports {
		if r.Results != nil && len(r.Results.Refused) > 0 {
			n.log.Warn("a document in an HL7 message was refused", "lab", slug, "problems", r.Results.Refused)
		}
	}
	return slug, nil, in.Put(ctx, networks.Message{
		Network: network,
		Key:     messageKey(header, raw),
		Raw:     bytes.Clone(raw), // the connection reuses the buffer
		Reports: reports,
	})
}

// isCutOff reports whether a message ends inside an OBX: the segment has no end,
// and no status (OBX-11), which the standard requires. Its value may be a part
// of the real one.
func isCutOff(m *hl7.Message, raw []byte) bool {
	last := m.Segments[len(m.Segments)-1]
	return last.Name() == "OBX" && last.Get(11) == "" && !bytes.ContainsAny(raw[len(raw)-1:], "\r\n")
}

// maxResults bounds the values and missing results of one order in a message:
// below each test, OBX-1 counts to 9999.
const maxResults = 10_000

func isTooLong(r networks.Report) bool {
	return r.Results != nil && (len(r.Results.Results)+len(r.Results.Missing) > maxResults || len(r.Results.Specimens) > maxSpecimens)
}

// mayBe reports whether an origin may speak for a lab.
func (n *Network) mayBe(key string, from origin) bool {
	if from.files != "" {
		return from.files == key
	}
	peer := n.peers[key]
	return peer == nil || from.trusted || peer.matches(from.peer)
}

// findSender finds the connection by MSH-3, MSH-4 and, of a lab with two,
// MSH-11. When several match, the one whose settings have both names wins.
func (n *Network) findSender(header hl7.Header) (key string, lab Lab, known bool) {
	best := -1
	for _, candidate := range slices.Sorted(maps.Keys(n.settings.Labs)) {
		l := n.settings.Labs[candidate]
		fit := 0
		if l.LabApplication != "" {
			fit += 2
		}
		if l.LabFacility != "" {
			fit += 2
		}
		if l.Sandbox != isProduction(header) {
			fit++
		}
		if fit > best && l.answersTo(header) {
			key, lab, known, best = candidate, l, true, fit
		}
	}
	return key, lab, known
}

// isProduction reports whether a message is no message of a test system.
func isProduction(header hl7.Header) bool {
	return header.Processing == "P" || header.Processing == ""
}

// isSupported reports whether messages of this type are processed.
func isSupported(h hl7.Header) bool {
	switch h.Type {
	case "ORU", "ORM", "OML", "ORL", "ORR":
		return true
	}
	return false
}

// maxName bounds, in bytes, the numbers that name messages and samples: the
// standard allows at most 199 characters, and an index needs a limit.
const maxName = 250

// messageKey names a message; it never changes. Messages without a number, or
// with a number that is too long, are named by their digest.
func messageKey(h hl7.Header, raw []byte) string {
	id := h.ControlID
	sender := h.SendingApplication.Get() + "|" + h.SendingFacility.Get() + "|"
	if id != "" && len(sender+id) <= maxName {
		return sender + id
	}
	sum := sha256.Sum256(raw)
	id = "sha256:" + hex.EncodeToString(sum[:])
	if len(sender+id) > maxName {
		return id
	}
	return sender + id
}

// acknowledge answers in the mode that the sender asked for. In enhanced mode
// the answer is a commit acknowledgement. A sender that wants only an
// application acknowledgement gets that, because storing is all we do while it
// waits.
func (n *Network) acknowledge(m *hl7.Message, h hl7.Header, code hl7.AckCode, trouble *hl7.ErrorSegment) []byte {
	wanted := func(when string) bool {
		switch when {
		case "AL":
			return true
		case "SU":
			return code == hl7.Accepted
		case "ER":
			return code != hl7.Accepted
		}
		return false
	}
	switch {
	case h.AcceptAck == "" && h.ApplicationAck == "": // the original mode
	case wanted(h.AcceptAck):
		code = map[hl7.AckCode]hl7.AckCode{
			hl7.Accepted: hl7.CommitAccepted, hl7.Errored: hl7.CommitErrored, hl7.Rejected: hl7.CommitRejected,
		}[code]
	case !wanted(h.ApplicationAck):
		return nil
	}
	return n.emit(m.Acknowledge(code, n.answerID(), n.now().UTC(), trouble))
}

// rejectUnreadable answers bytes that are not a message, using the first
// twelve fields of their first line: names, number and version.
func (n *Network) rejectUnreadable(raw []byte, code, text string) *hl7.Message {
	line, _, _ := bytes.Cut(bytes.ReplaceAll(bytes.TrimSpace(raw), []byte("\n"), []byte("\r")), []byte("\r"))
	if len(line) > 3 {
		fields := bytes.SplitN(line, line[3:4], 13)
		line = bytes.Join(fields[:min(len(fields), 12)], line[3:4])
	}
	m, err := hl7.Parse(line)
	if err != nil {
		m = hl7.New(hl7.ASCII, hl7.Fields{})
	}
	return m.Acknowledge(hl7.Rejected, n.answerID(), n.now().UTC(), &hl7.ErrorSegment{Code: code, Text: text})
}

// tooLarge answers a message over the limit.
func (n *Network) tooLarge(beginning []byte) []byte {
	n.log.Warn("an HL7 message is larger than allowed")
	return n.emit(n.rejectUnreadable(beginning, hl7.SegmentSequence, "the message is larger than allowed"))
}

// answerID returns MSH-10 of an acknowledgement: the second and a number.
func (n *Network) answerID() string {
	return fmt.Sprintf("%s%06d", n.now().UTC().Format("20060102150405"), n.answerCount.Add(1)%1_000_000)
}

// emit writes an answer. The answer repeats names in the character set of the message. A
// character that this set cannot write is written in UTF-8. Without an answer the lab
// would repeat the message without end.
func (n *Network) emit(m *hl7.Message) []byte {
	raw, err := m.Emit()
	if err != nil {
		m.Charset = hl7.UTF8
		raw, err = m.Emit()
	}
	if err != nil {
		n.log.Error("an HL7 answer could not be written", "error", err)
		return nil
	}
	return raw
}
