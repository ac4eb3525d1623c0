package hl7v2

import "hale/internal/labs/hl7"

// request is one test that a message speaks of: its OBR with what stands
// before and below it. Segments that a message lacks are empty ones.
type request struct {
	patient *person
	orc     hl7.Segment
	obr     hl7.Segment
	// notes are the NTE of ORC, OBR and SPM.
	notes     []string
	observed  []*observed
	specimens []hl7.Segment
}

// person is the PID of a patient's part of a message, with its NTE.
type person struct {
	pid   hl7.Segment
	notes []string
}

// observed is an OBX with its NTE.
type observed struct {
	obx   hl7.Segment
	notes []string
}

// requests finds the tests of a message. Labs differ in what they send and in
// which order, so this goes by what precedes what, not by the message
// structures of a version: an OBX belongs to the OBR before it, or, standing
// before any, to the one that follows; an NTE belongs to whatever it follows.
func requests(m *hl7.Message) []*request {
	g := grouper{patient: &person{}}
	for _, s := range m.Segments {
		switch s.Name() {
		case "PID":
			g.close()
			g.patient = &person{pid: s}
			g.notes = &g.patient.notes
		case "ORC":
			if g.next.orc.Name() != "" {
				g.close() // the one before has no OBR
			}
			g.current, g.next.orc = nil, s
			g.notes, g.pending = &g.next.notes, true
		case "OBR":
			if g.current != nil {
				// Another test below the same ORC.
				g.next.orc = g.current.orc
			}
			g.next.obr = s
			g.open()
		case "OBX":
			o := &observed{obx: s}
			at := g.at()
			at.observed = append(at.observed, o)
			g.notes = &o.notes
		case "SPM":
			at := g.at()
			at.specimens = append(at.specimens, s)
			g.notes = &at.notes
		case "NTE":
			if text := s.Text(3); text != "" && g.notes != nil {
				*g.notes = append(*g.notes, text)
			}
		}
	}
	g.close()
	return g.found
}

// grouper is where requests is in a message.
type grouper struct {
	found   []*request
	patient *person
	// current is the request of the last OBR. next gathers what stands before the
	// one that follows, and pending reports that there is something.
	current *request
	next    request
	pending bool
	notes   *[]string
}

// at is the request that a segment below OBR belongs to.
func (g *grouper) at() *request {
	if g.current != nil {
		return g.current
	}
	g.pending = true
	return &g.next
}

// open makes next the current request.
func (g *grouper) open() {
	opened := g.next
	opened.patient = g.patient
	g.found = append(g.found, &opened)
	g.current, g.next, g.pending = &opened, request{}, false
	g.notes = &opened.notes
}

// close ends the current request, and lets one stand that has no OBR.
func (g *grouper) close() {
	if g.pending {
		g.open()
	}
	g.current, g.notes = nil, nil
}
