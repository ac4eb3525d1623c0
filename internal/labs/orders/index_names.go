package orders

import (
	"cmp"
	"slices"
	"strings"
	"sync"
)

// lines returns the lines of the patient and the recipient. Most orders are sent
// to the patient, so both are the same line.
func (n *searchNames) lines() (patient, recipient nameLine) {
	if n.first != "" || n.last != "" {
		patient = nameLine{n.first + " " + n.last + " " + n.first, int32(1 + len(n.first))}
	}
	if n.recipient == n.first+" "+n.last {
		return patient, patient
	}
	return patient, nameLine{n.recipient, 0}
}

// nameLine is a folded name. A patient's line repeats the first name in its tail,
// such as "ada byron ada". So a search finds the two names in both orders.
type nameLine struct {
	text string
	tail int32 // length of the repetition and the space before it
}

func (l nameLine) compare(other nameLine) int {
	return cmp.Or(cmp.Compare(l.lastName(), other.lastName()), cmp.Compare(l.firstName(), other.firstName()))
}

func (l nameLine) lastName() string  { return l.text[l.tail : len(l.text)-int(l.tail)] }
func (l nameLine) firstName() string { return l.text[:max(0, l.tail-1)] }

// nameTable has each name once. Line 0 is empty. A name that no order has any
// more is removed.
type nameTable struct {
	lines  []nameLine
	bytes  []byteSet // of each line
	orders []int32   // uses of each line, by patients and recipients
	places map[nameLine]int32

	// The order of lines by last and first name. ranks updates it.
	mu     sync.Mutex
	sorted []int32
	rank   []int32 // by line
}

// replace changes the line of an order.
func (n *nameTable) replace(at *int32, l nameLine) {
	line := int32(0)
	if l.text != "" {
		line = n.line(l)
		n.orders[line]++
	}
	if old := *at; old != 0 {
		if n.orders[old]--; n.orders[old] == 0 {
			delete(n.places, n.lines[old])
			n.lines[old], n.bytes[old] = nameLine{}, 0
		}
	}
	*at = line
}

func (n *nameTable) line(l nameLine) int32 {
	line, found := n.places[l]
	if !found {
		line = int32(len(n.lines))
		n.lines, n.bytes, n.orders = append(n.lines, l), append(n.bytes, bytesOf(l.text)), append(n.orders, 0)
		n.places[l] = line
	}
	return line
}

// byteSet has a bit for each byte of a text. Bytes that differ by a multiple of 64 share one.
type byteSet uint64

func bytesOf(text string) (set byteSet) {
	for i := range len(text) {
		set |= 1 << (text[i] % 64)
	}
	return set
}

// find reports which lines have a part: as patients, and as recipients, whose
// tail does not count.
func (n *nameTable) find(part string) (patients, recipients []bool) {
	patients, recipients = make([]bool, len(n.lines)), make([]bool, len(n.lines))
	if part = Fold(part); part == "" {
		return patients, recipients
	}
	wanted := bytesOf(part)
	for i, has := range n.bytes {
		if wanted&^has != 0 { // most lines, without a look at the text
			continue
		}
		if l := n.lines[i]; strings.Contains(l.text, part) {
			patients[i], recipients[i] = true, strings.Contains(l.text[:len(l.text)-int(l.tail)], part)
		}
	}
	return patients, recipients
}

// ranks returns the rank of each line by last name, then first name. Line 0 is
// first. It sorts new lines only.
func (n *nameTable) ranks() []int32 {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.rank) == len(n.lines) {
		return n.rank
	}
	compare := func(a, b int32) int { return n.lines[a].compare(n.lines[b]) }
	var added []int32
	for line := max(1, len(n.rank)); line < len(n.lines); line++ {
		added = append(added, int32(line))
	}
	slices.SortFunc(added, compare)
	merged := make([]int32, 0, len(n.lines))
	for _, line := range n.sorted {
		if n.orders[line] == 0 {
			continue
		}
		for len(added) > 0 && compare(added[0], line) < 0 {
			merged, added = append(merged, added[0]), added[1:]
		}
		merged = append(merged, line)
	}
	n.sorted, n.rank = append(merged, added...), make([]int32, len(n.lines))
	for i, line := range n.sorted {
		n.rank[line] = int32(i + 1)
	}
	return n.rank
}

// patientRows has the rows of each patient's line, so that a list by a name need
// not pass over all orders. It covers the first rows; the newest follow.
type patientRows struct {
	starts []int32 // by line: its first place in rows; one more at the end
	rows   []int32 // by line, then row
}

// patientTail is the number of rows that need not be covered.
const patientTail = 4096

// forget drops the rows if row is one of them.
func (p *patientRows) forget(row int) {
	if row < len(p.rows) {
		*p = patientRows{}
	}
}

// update covers all rows when too many are not covered.
func (p *patientRows) update(t *teamIndex) {
	if len(t.patients)-len(p.rows) < patientTail+len(p.rows)/32 {
		return
	}
	p.starts, p.rows = make([]int32, len(t.names.lines)+1), make([]int32, len(t.patients))
	for _, line := range t.patients {
		p.starts[line+1]++
	}
	for i := range t.names.lines {
		p.starts[i+1] += p.starts[i]
	}
	next := slices.Clone(p.starts)
	for row, line := range t.patients {
		p.rows[next[line]] = int32(row)
		next[line]++
	}
}

// choosePatients chooses rows like chooseIn, by the line of the patient's name. If few
// rows match, it uses the list of rows by patient and does not pass over all rows.
func (t *teamIndex) choosePatients(into, rows []int32, wanted []bool) []int32 {
	p := &t.byPatient
	var found []int32
	for line := range max(0, len(p.starts)-1) {
		if wanted[line] {
			found = append(found, p.rows[p.starts[line]:p.starts[line+1]]...)
		}
		if len(found) > len(rows)/32 { // one pass is faster than sorting
			return chooseIn(into, rows, t.patients, wanted)
		}
	}
	slices.Sort(found)
	covered, _ := slices.BinarySearch(rows, int32(len(p.rows)))
	newest := rows[covered:]
	chosen := into[:0]
	for rows = rows[:covered]; len(found) > 0; found = found[1:] {
		place, isCandidate := slices.BinarySearch(rows, found[0])
		if rows = rows[place:]; isCandidate {
			chosen = append(chosen, found[0])
		}
	}
	return append(chosen, chooseIn(into[len(chosen):], newest, t.patients, wanted)...)
}
