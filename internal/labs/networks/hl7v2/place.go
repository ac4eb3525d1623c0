package hl7v2

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"hale/internal/labs/hl7"
	"hale/internal/labs/hl7/mllp"
	"hale/internal/labs/identity"
	"hale/internal/labs/networks"
	"hale/internal/labs/networks/files"
)

// Place sends the order to its lab and waits for the answer. An order always
// has the same bytes, so a lab that has it already sees a repetition. An order
// that goes out as a file has no answer, or the answer follows as a file.
func (n *Network) Place(ctx context.Context, order networks.Order) (networks.Receipt, error) {
	lab, send, err := n.connection(order)
	if err != nil {
		return networks.Receipt{}, err
	}
	control := controlID("NW", order)
	message := orderMessage(lab, order, control)
	if send.files != nil {
		if err := sendFile(ctx, send.files, message, fileName(order, "1-NW", control)); err != nil || lab.Files.Answers {
			return networks.Receipt{Pending: true}, err
		}
		return networks.Receipt{SampleID: sampleNumber(order)}, nil
	}
	answer, err := exchange(ctx, send.client, message, control)
	if err != nil {
		return networks.Receipt{}, err
	}
	return answer.receipt(order)
}

// Cancel sends the order again with the order control CA.
func (n *Network) Cancel(ctx context.Context, order networks.Order) error {
	lab, send, err := n.connection(order)
	if err != nil {
		return err
	}
	control := controlID("CA", order)
	message := cancelMessage(lab, order, control, n.now())
	if send.files != nil {
		return sendFile(ctx, send.files, message, fileName(order, "2-CA", control))
	}
	answer, err := exchange(ctx, send.client, message, control)
	if err != nil {
		return err
	}
	return answer.checkCancellation()
}

// sender sends the orders of a lab: one of the two.
type sender struct {
	client *mllp.Client
	files  *files.Exchange
}

// connection returns the lab's connection. It keeps sandbox orders from real
// labs, and real orders from test systems, even if the caller makes a mistake.
func (n *Network) connection(order networks.Order) (Lab, sender, error) {
	key, known := n.connectionKey(order.Lab, order.Sandbox)
	_, other := n.connectionKey(order.Lab, !order.Sandbox)
	switch {
	case len(order.Tests) == 0:
		return Lab{}, sender{}, &networks.Refusal{Reason: "the order names no test"}
	case !known && other && order.Sandbox:
		return Lab{}, sender{}, &networks.Refusal{Reason: "sandbox orders do not go to a real lab"}
	case !known && other:
		return Lab{}, sender{}, &networks.Refusal{Reason: "the lab's connection is for tests only, and the order is real"}
	case !known:
		return Lab{}, sender{}, fmt.Errorf("hl7v2: no connection is set up for the lab %s", order.Lab)
	}
	send := n.senderOf(key)
	if send == (sender{}) {
		return Lab{}, sender{}, fmt.Errorf("hl7v2: no address or folder is set up for the lab %s", order.Lab)
	}
	return n.settings.Labs[key], send, nil
}

// senderOf returns the way of a connection's orders; zero when the lab only
// sends results.
func (n *Network) senderOf(key string) sender {
	if client := n.clients[key]; client != nil {
		return sender{client: client}
	}
	return sender{files: n.files[key]}
}

// connectionKey finds the connection of a lab: that of its test system, or that
// of its production system.
func (n *Network) connectionKey(slug string, sandbox bool) (string, bool) {
	for key, lab := range n.settings.Labs {
		if lab.slug(key) == slug && lab.Sandbox == sandbox {
			return key, true
		}
	}
	return "", false
}

// Takes reports whether real orders for a lab can be sent.
func (n *Network) Takes(lab string) bool {
	key, known := n.connectionKey(lab, false)
	return known && n.senderOf(key) != (sender{})
}

// TestSystems returns the network of the labs' test systems. It accepts the orders
// of sandbox teams, and has the connections of n.
func (n *Network) TestSystems() networks.TestNetwork { return testNetwork{n} }

type testNetwork struct{ *Network }

// Run does nothing: the listener of the network receives the messages of test
// systems too.
func (testNetwork) Run(ctx context.Context, _ networks.Inbox) error {
	<-ctx.Done()
	return nil
}

// Slug names the network of test systems.
func (testNetwork) Slug() string { return TestSlug }

// Tests reports whether a lab has a test system for orders.
func (n testNetwork) Tests(lab string) bool {
	key, known := n.connectionKey(lab, true)
	return known && n.senderOf(key) != (sender{})
}

// emitOrder writes a message. It refuses a character that the character set of
// the lab lacks.
func emitOrder(message *hl7.Message) ([]byte, error) {
	raw, err := message.Emit()
	var missing *hl7.CharsetError
	if errors.As(err, &missing) {
		return nil, &networks.Refusal{Reason: missing.Error()}
	}
	return raw, err
}

// exchange sends a message and reads its answer.
func exchange(ctx context.Context, client *mllp.Client, message *hl7.Message, control string) (answer, error) {
	raw, err := emitOrder(message)
	if err != nil {
		return answer{}, err
	}
	var reply answer
	_, err = client.Exchange(ctx, raw, func(frame []byte) bool {
		m, err := hl7.Parse(frame)
		if err != nil || m.First("MSA").Get(2) != control {
			return false // an answer to another message, perhaps an abandoned one
		}
		reply = answer{m, bytes.Clone(frame)} // the connection reuses the buffer
		return true
	})
	if err != nil {
		return answer{}, err
	}
	return reply, nil
}

// controlID returns MSH-10 of an order's message: the same each time, and at
// most 20 characters, the limit of version 2.2.
func controlID(control string, order networks.Order) string {
	sum := sha256.Sum256(append([]byte(control), order.ID[:]...))
	return base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:])[:20]
}

// sampleNumber returns the number on the labels: the kit's or the import's,
// otherwise a number that is derived from the order's id.
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

// formatStamp formats a time for a message. Versions before 2.3 know no
// offset.
func formatStamp(lab Lab, t time.Time) string {
	if t.IsZero() {
		return ""
	}
	t = t.In(lab.zone())
	if lab.version() < "2.3" {
		return t.Format("20060102150405")
	}
	return hl7.FormatTime(t)
}

// answer is a lab's answer to an order or a cancellation. It is a general ACK,
// or an ORL^O22 or ORR^O02 that repeats the order with its outcome.
type answer struct {
	m   *hl7.Message
	raw []byte
}

// refusals are the order controls of a test that the lab will not do.
var refusals = []string{"UA", "UN", "DE", "CR", "CA", "OC"}

// finalErrors are the codes of HL7 table 0357 that a retry cannot change: the
// lab does not accept the message or one of its values.
var finalErrors = []string{"100", "101", "102", "103", "104", "200", "201", "202", "203"}

// receipt reads the answer to an order.
func (a answer) receipt(order networks.Order) (networks.Receipt, error) {
	if a.hasError(hl7.DuplicateKey) { // from an earlier try
		return networks.Receipt{SampleID: sampleNumber(order)}, nil
	}
	if err := a.checkAcknowledgement(); err != nil {
		return networks.Receipt{}, err
	}
	receipt := networks.Receipt{SampleID: sampleNumber(order)}
	taken, refused := 0, 0
	for _, s := range a.m.Segments {
		if s.Name() != "ORC" {
			continue
		}
		if slices.Contains(refusals, strings.ToUpper(s.Get(1))) {
			refused++
			continue
		}
		taken++
		if notice := s.Get(20); notice == noticeNeeded || notice == noticeUnsigned {
			receipt.Notice = true
		}
		if filler := s.Get(3); filler != "" && order.SampleID == "" {
			receipt.SampleID = filler
		}
	}
	if refused > 0 && a.namesAnotherPerson(order) {
		return networks.Receipt{}, errors.New("hl7v2: the lab's answer refuses a test of another person")
	}
	// A lab that accepts some of the tests has accepted the order. Some labs name
	// only the tests that they refuse.
	if refused > 0 && taken == 0 && !a.refusesOnlySome(order) {
		return networks.Receipt{}, &networks.Refusal{Reason: a.reason()}
	}
	receipt.Answer = a.partialRefusal(order)
	return receipt, nil
}

// namesAnotherPerson reports whether the person of an answer contradicts the
// order's patient.
func (a answer) namesAnotherPerson(order networks.Order) bool {
	p, known := reportedPatient(a.m.First("PID")), order.Patient
	return identity.Compare(identity.Person(p), identity.Person{
		FirstName: known.FirstName, LastName: known.LastName, DOB: known.DOB, Gender: known.Gender,
	}).Contradicts()
}

// refusesOnlySome reports whether every refusal names tests of the order, and
// leaves at least one.
func (a answer) refusesOnlySome(order networks.Order) bool {
	left := map[string]bool{}
	for _, t := range order.Tests {
		left[t.ProviderID] = true
	}
	for _, q := range requests(a.m) {
		if !slices.Contains(refusals, strings.ToUpper(q.orc.Get(1))) {
			continue
		}
		code, _, _ := coding(q.obr, 4)
		if _, ordered := left[code]; !ordered {
			return false
		}
		left[code] = false
	}
	return slices.ContainsFunc(order.Tests, func(t networks.Test) bool { return left[t.ProviderID] })
}

// partialRefusal returns the tests that a lab refuses beside others, by the
// codes of OBR-4, and the reason. It is nil when the answer names none.
func (a answer) partialRefusal(order networks.Order) *networks.Message {
	var refused testStatus
	for _, q := range requests(a.m) {
		if slices.Contains(refusals, strings.ToUpper(q.orc.Get(1))) {
			refused.addTest(q)
		}
	}
	if len(refused.tests) == 0 {
		return nil
	}
	network := Slug
	if order.Sandbox {
		network = TestSlug
	}
	return &networks.Message{Network: network, Key: "answer:" + order.ID.String(), Raw: a.raw, Reports: []networks.Report{{
		Placer: order.ID.String(), Lab: order.Lab, At: a.m.Header().Time.UTC(), Refused: refused.tests, Reason: refused.reason(),
	}}}
}

// checkCancellation reads the answer to a cancellation.
func (a answer) checkCancellation() error {
	if a.hasError(hl7.UnknownKey) { // nothing to cancel
		return nil
	}
	if err := a.checkAcknowledgement(); err != nil {
		return err
	}
	for _, s := range a.m.Segments {
		if s.Name() == "ORC" && slices.Contains([]string{"UC", "UX", "UM"}, strings.ToUpper(s.Get(1))) {
			return &networks.Refusal{Reason: a.reason()}
		}
	}
	return nil
}

// checkAcknowledgement reads MSA-1. An error (AE, CE) is retried, unless its
// code says that a retry cannot help. A rejection (AR, CR) is final, unless
// its code says that the lab had an internal problem.
func (a answer) checkAcknowledgement() error {
	switch code := hl7.AckCode(strings.ToUpper(a.m.First("MSA").Get(1))); code {
	case hl7.Accepted, hl7.CommitAccepted:
		return nil
	case hl7.Errored, hl7.CommitErrored:
		if slices.ContainsFunc(finalErrors, a.hasError) {
			return &networks.Refusal{Reason: a.reason()}
		}
		return fmt.Errorf("hl7v2: the lab answered %s", code)
	case hl7.Rejected, hl7.CommitRejected:
		if a.hasError("206") || a.hasError(hl7.InternalError) {
			return fmt.Errorf("hl7v2: the lab answered %s because of an internal problem", code)
		}
		return &networks.Refusal{Reason: a.reason()}
	default:
		return fmt.Errorf("hl7v2: the lab's answer has no acknowledgement code")
	}
}

// hasError looks for an error code: ERR-3 since version 2.5, ERR-1.4 before,
// and MSA-6 before that.
func (a answer) hasError(code string) bool {
	if a.m.First("MSA").Get(6) == code {
		return true
	}
	for _, s := range a.m.Segments {
		if s.Name() == "ERR" && (s.Get(3) == code || s.Get(1, 4) == code) {
			return true
		}
	}
	return false
}

// reason returns the lab's sentence, from every field in which labs write one.
func (a answer) reason() string {
	var reasons []string
	add := func(text string) {
		if text != "" && !slices.Contains(reasons, text) {
			reasons = append(reasons, text)
		}
	}
	for _, s := range a.m.Segments {
		switch s.Name() {
		case "MSA":
			add(s.Text(3))
		case "ERR":
			add(cmp.Or(s.Text(8), s.Get(7), s.Get(3, 2), s.Get(1, 4, 2)))
		case "ORC":
			add(cmp.Or(s.Get(16, 2), s.Get(16)))
		case "NTE":
			add(s.Text(3))
		}
	}
	if reasons == nil {
		return "the lab gave no reason"
	}
	return strings.Join(reasons, "; ")
}
