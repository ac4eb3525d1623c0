package hl7v2

import (
	"cmp"
	"slices"
	"strings"

	"hale/internal/labs/hl7"
	"hale/internal/labs/networks"
)

// results gathers the result set of one order from its tests.
type results struct {
	set     networks.ResultSet
	entries []*entry
	last    *entry // the one that was read last, kept or not
	tests   []*test
	// What was read before, to find it again.
	byTest   map[[2]string]*test
	versions map[version]*standing
	said     map[said]int
}

// version is what versions of one observation have in common.
type version struct {
	test            *test
	code, name, sub string
}

// standing is where the entries of one observation are: so many of the highest
// status first, then those below it.
type standing struct {
	rank, highest int
	at            []int
}

// said finds the entry that has a value in a status.
type said struct {
	version
	rank  int
	value string
}

// test is an OBR: what was asked for, and how far the lab is with it.
type test struct {
	code, name, loinc string
	// status is OBR-25, HL7 table 0123.
	status  string
	notes   []string
	rejects []string // SPM-21
	// entries counts the observations that were read below it.
	entries int
}

// entry is an OBX on its way to a result.
type entry struct {
	networks.Result
	test *test
	// text is of type TX or FT, whose further lines are OBX of their own and
	// gather in more.
	text bool
	more []string
}

func (r *results) add(of *reader, q *request) {
	t := r.test(q)
	r.specimen(of, t, q)
	r.set.Comments = append(r.set.Comments, q.notes...)
	for _, o := range q.observed {
		if r.document(o.obx) {
			continue
		}
		e := observation(of.clock, t, o)
		if e.Value == "" && e.ProviderID == "" && e.Name == "" && !e.text {
			continue
		}
		if e.ProviderID == "" {
			e.Name = cmp.Or(e.Name, t.name) // text without a code is about the test
		}
		e.Laboratory = r.laboratory(of, o.obx)
		if e.At.Time.IsZero() {
			e.At = of.clock.moment(q.obr.Get(7))
		}
		t.entries++
		if !r.goesOn(e) {
			r.put(e)
			r.last = e
		}
	}
}

// test finds the OBR of a test that was spoken of before in the message, or
// begins one. A later status replaces an earlier one.
func (r *results) test(q *request) *test {
	code, name, loinc := coding(q.obr, 4)
	status := strings.ToUpper(q.obr.Get(25))
	key := [2]string{code, name}
	if t, known := r.byTest[key]; known && code+name != "" {
		if rank(status) >= rank(t.status) {
			t.status = status
		}
		t.notes = append(t.notes, q.notes...)
		return t
	}
	t := &test{code: code, name: name, loinc: loinc, status: status, notes: slices.Clone(q.notes)}
	r.tests = append(r.tests, t)
	if r.byTest == nil {
		r.byTest = map[[2]string]*test{}
	}
	r.byTest[key] = t
	return t
}

// goesOn reports whether an entry is the next line of the text before it, and
// adds it there.
func (r *results) goesOn(e *entry) bool {
	last := r.last
	if last == nil || !e.text || !last.text || last.test != e.test || last.ProviderID != e.ProviderID || last.Status != e.Status {
		return false
	}
	last.more = append(last.more, e.Value)
	last.Notes = append(last.Notes, e.Notes...)
	return true
}

// put adds an entry, or lets it replace an earlier version of the same
// observation: the same code and sub-id, with a status that is not lower. Two
// different values of the same status are two observations. It looks at no
// other entry, so that a message may have any number of them.
func (r *results) put(e *entry) {
	if e.ProviderID == "" {
		r.entries = append(r.entries, e)
		return
	}
	key := version{e.test, e.ProviderID, e.Name, e.SubID}
	value := said{key, rank(e.Status), e.Value}
	v := r.versions[key]
	switch {
	case v == nil:
		v = &standing{rank: value.rank}
		r.remember(key, v)
	case value.rank < v.rank:
		return
	case value.rank > v.rank:
		v.rank, v.highest = value.rank, 0
	}
	at, again := r.said[value]
	if !again {
		if v.highest == len(v.at) {
			v.at = append(v.at, len(r.entries))
			r.entries = append(r.entries, nil)
		}
		at = v.at[v.highest]
		v.highest++
		r.said[value] = at
	}
	r.entries[at] = e
}

func (r *results) remember(key version, v *standing) {
	if r.versions == nil {
		r.versions, r.said = map[version]*standing{}, map[said]int{}
	}
	r.versions[key] = v
}

// rank orders statuses by how final they are. It serves OBX-11 and OBR-25,
// whose letters mean the same where they count.
func rank(status string) int {
	switch status {
	case "P", "S", "A":
		return 1
	case "R":
		return 2
	case "F", "U", "X":
		return 3
	case "C", "D", "W":
		return 4
	}
	return 0
}

// finish turns entries into results and what is missing.
func (r *results) finish() {
	set := &r.set
	for _, t := range r.tests {
		switch t.status {
		case "O", "I", "S", "A", "P", "R":
			set.Partial = true
		case "C":
			set.Corrected = true
		case "X":
			if t.entries == 0 {
				set.Missing = append(set.Missing, t.missing(networks.Missing{
					ProviderID: t.code, Name: t.name, LOINC: t.loinc, Note: lines(t.notes...), Rest: true,
				}))
			}
		}
	}
	for _, e := range r.entries {
		if e.more != nil {
			e.Value = strings.Trim(e.Value+"\n"+strings.Join(e.more, "\n"), "\n")
		}
		switch e.Status {
		case "C":
			set.Corrected = true
		case "P", "R", "S", "I":
			set.Partial = true
		}
		switch {
		case e.withdrawn():
			set.Corrected = true
			set.Missing = append(set.Missing, e.missing("the laboratory withdrew this result"))
		case e.notPerformed():
			set.Missing = append(set.Missing, e.missing(e.Value))
		case e.Value != "":
			set.Results = append(set.Results, e.Result)
		case (e.Status == "F" || e.Status == "C") && e.ProviderID != "":
			set.Missing = append(set.Missing, e.missing(""))
		}
	}
	if len(set.Results) > 0 {
		r.withoutSpecimen()
	}
}

// withoutSpecimen adds the tests that are missing beside values because their
// specimen was rejected. Those that the lab only waits with may still come.
func (r *results) withoutSpecimen() {
	for _, t := range r.tests {
		if len(t.rejects) == 0 || t.entries > 0 || t.status == "X" {
			continue
		}
		waits := func(code string) bool { return rejections[code].status == blocked }
		r.set.Partial = r.set.Partial || !slices.ContainsFunc(t.rejects, func(code string) bool { return !waits(code) })
		r.set.Missing = append(r.set.Missing, t.missing(networks.Missing{
			ProviderID: t.code, Name: t.name, LOINC: t.loinc, Note: lines(t.notes...), Rest: true,
		}))
	}
}

// says reports whether there is anything in the set.
func (r *results) says() bool {
	return len(r.set.Results) > 0 || len(r.set.Missing) > 0 || r.set.PDF != nil
}

// coding reads a coded field that may hold a local code, a LOINC, or both: the
// first three components are one coding and the next three another.
func coding(s hl7.Segment, field int) (code, name, loinc string) {
	v := s.Field(field).First()
	code, name = v.Get(1), v.Get(2)
	switch {
	case isLOINC(v.Get(3)):
		loinc = code
		if other := v.Get(4); other != "" { // the lab's own stands second
			code, name = other, cmp.Or(v.Get(5), name)
		}
	case isLOINC(v.Get(6)):
		loinc = v.Get(4)
		code, name = cmp.Or(code, loinc), cmp.Or(name, v.Get(5))
	default:
		code, name = cmp.Or(code, v.Get(4)), cmp.Or(name, v.Get(5))
	}
	return code, cmp.Or(name, v.Get(9)), loinc
}

func isLOINC(system string) bool {
	return strings.EqualFold(system, "LN") || strings.EqualFold(system, "LOINC")
}
