package hl7

import (
	"strings"
	"time"
)

// Header holds the fields of MSH.
type Header struct {
	SendingApplication, SendingFacility     Value
	ReceivingApplication, ReceivingFacility Value
	// Time is zero when MSH-7 is empty or cannot be read.
	Time Time
	// Type and Trigger are MSH-9, such as ORU and R01.
	Type, Trigger string
	ControlID     string
	// Processing is P (production), T (training) or D (debugging).
	Processing string
	Version    string
	// AcceptAck and ApplicationAck say when the sender wants an
	// acknowledgement that its message was stored, and one of its outcome: AL,
	// NE, ER, SU. Both are empty in the original mode, where one answer serves
	// both.
	AcceptAck, ApplicationAck string
}

// Header reads MSH.
func (m *Message) Header() Header {
	s := m.First("MSH")
	at, _ := ParseTime(s.Get(7), time.UTC)
	return Header{
		SendingApplication: s.Field(3).First(), SendingFacility: s.Field(4).First(),
		ReceivingApplication: s.Field(5).First(), ReceivingFacility: s.Field(6).First(),
		Time: at,
		Type: s.Get(9), Trigger: s.Get(9, 2),
		ControlID: s.Get(10), Processing: s.Get(11), Version: s.Get(12),
		AcceptAck: strings.ToUpper(s.Get(15)), ApplicationAck: strings.ToUpper(s.Get(16)),
	}
}

// AckCode is MSA-1, HL7 table 0008: the outcome of a message.
type AckCode string

// The codes of the original mode, and of the first answer in enhanced mode.
const (
	Accepted       AckCode = "AA"
	Errored        AckCode = "AE"
	Rejected       AckCode = "AR"
	CommitAccepted AckCode = "CA"
	CommitErrored  AckCode = "CE"
	CommitRejected AckCode = "CR"
)

// ErrorSegment is an ERR segment: a code of HL7 table 0357, the place of the
// problem, and a sentence that names no person.
type ErrorSegment struct {
	Code, Text string
	// Segment, Sequence and Field name the place; zero values are left out.
	Segment         string
	Sequence, Field int
}

// Codes of HL7 table 0357 in use.
const (
	SegmentSequence        = "100"
	RequiredFieldMissing   = "101"
	UnsupportedMessageType = "200"
	UnknownKey             = "204"
	DuplicateKey           = "205"
	InternalError          = "207"
)

// Acknowledge builds the answer to a message, in the sender's version. id is
// the answer's own MSH-10.
func (m *Message) Acknowledge(code AckCode, id string, at time.Time, trouble *ErrorSegment) *Message {
	msh := m.First("MSH")
	a := &Message{Delimiters: m.Delimiters, Charset: m.Charset}
	version := msh.Raw(12)
	if version == "" {
		version = "2.5.1"
	}
	kind := "ACK"
	if trigger := msh.Raw(9); strings.IndexByte(trigger, m.Delimiters.Component) > 0 {
		kind += string(m.Delimiters.Component) + piece(trigger, m.Delimiters.Component, 2)
		if version >= "2.3.1" {
			kind += string(m.Delimiters.Component) + "ACK"
		}
	}
	a.appendRaw("MSH", string(m.Delimiters.Field), m.Delimiters.encoding(), msh.Raw(5), msh.Raw(6), msh.Raw(3), msh.Raw(4),
		FormatTime(at), "", kind, m.Delimiters.Quote(id), msh.Raw(11), version, "", "", "", "", "", msh.Raw(18))
	a.appendRaw("MSA", string(code), msh.Raw(10))
	if trouble != nil {
		a.addError(*trouble, version)
	}
	return a
}

// addError writes ERR, which became another segment in version 2.5.
func (m *Message) addError(t ErrorSegment, version string) {
	d := m.Delimiters
	join := func(separator byte, parts ...string) string {
		if separator == 0 {
			return parts[0]
		}
		return strings.TrimRight(strings.Join(parts, string(separator)), string(separator))
	}
	place := []string{t.Segment, "", ""}
	if t.Sequence > 0 {
		place[1] = itoa(t.Sequence)
	}
	if t.Field > 0 {
		place[2] = itoa(t.Field)
	}
	text := d.Quote(t.Text)
	if version < "2.5" {
		m.appendRaw("ERR", join(d.Component, append(place, join(d.Subcomponent, t.Code, text))...))
		return
	}
	m.appendRaw("ERR", "", join(d.Component, place...), join(d.Component, t.Code, text, "HL70357"), "E", "", "", "", text)
}

// appendRaw appends a segment of fields that are escaped already.
func (m *Message) appendRaw(fields ...string) {
	for len(fields) > 1 && fields[len(fields)-1] == "" {
		fields = fields[:len(fields)-1]
	}
	m.Segments = append(m.Segments, Segment{fields, m.Delimiters})
}
