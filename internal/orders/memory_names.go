package orders

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"hale/internal/civil"
	"hale/internal/store"
)

// names are what searches look at, folded.
type names struct {
	last, first, recipient string
	birth                  int32 // yyyymmdd; 0 for none
}

var noNames names

// sealNames seals what searches look at, apart from the rest of an order so
// that a million of them open quickly: the patient's last name, first name and
// birth date and the recipient's name, a line each, names folded.
func sealNames(ctx context.Context, tx *store.Tx, o *Order) ([]byte, error) {
	var lines [4]string
	if p := o.Body.Patient; p != nil {
		lines[0], lines[1], lines[2] = fold(p.LastName), fold(p.FirstName), p.BirthDate.String()
	}
	for _, a := range []*Address{o.Body.Shipping, o.Body.Address} {
		if a != nil && lines[3] == "" {
			lines[3] = fold(a.Receiver)
		}
	}
	return tx.Seal(ctx, o.Team.UUID(), o.User.UUID(), namesPlace+o.ID.String(), []byte(strings.Join(lines[:], "\n")))
}

// parseNames reads what sealNames wrote.
func parseNames(lines []byte) (names, error) {
	parts := strings.SplitN(string(lines), "\n", 4)
	if len(parts) != 4 {
		return names{}, errors.New("orders: names that are not four lines")
	}
	n := names{last: parts[0], first: parts[1], recipient: parts[3]}
	if day, err := civil.ParseDate(parts[2]); err == nil {
		n.birth = dayNumber(day)
	}
	return n, nil
}

// fold is a name as it is compared: lower case, without accents and commas,
// words parted by single spaces.
func fold(name string) string {
	plain := strings.Map(func(r rune) rune {
		switch {
		case unicode.Is(unicode.Mn, r):
			return -1
		case r == ',':
			return ' '
		}
		return unicode.ToLower(r)
	}, norm.NFD.String(name))
	return strings.Join(strings.Fields(plain), " ")
}

// nameMemory is the part of a memory that was unsealed.
type nameMemory struct {
	patients   texts    // ada byron ada: found by either name, or both in either order
	firsts     []uint16 // length of the first name in that
	recipients texts
	births     []int32 // yyyymmdd; 0 for none
	byName     []int32 // positions by last name, first name and creation
	added      []int32 // positions that byName lacks
	moved      []int32 // positions that it has in the wrong place
}

// put remembers the names of an order, which may be a new one.
func (n *nameMemory) put(at int32, of names, isNew bool) {
	if isNew {
		n.births, n.firsts = append(n.births, 0), append(n.firsts, 0)
	}
	n.births[at] = of.birth
	n.recipients.put(at, of.recipient)
	text := ""
	if of.last != "" || of.first != "" {
		text = of.first + " " + of.last + " " + of.first
	}
	changed := n.patients.put(at, text)
	n.firsts[at] = uint16(len(of.first))
	switch {
	case isNew:
		n.added = append(n.added, at)
	case changed:
		n.moved = append(n.moved, at)
	}
}

// of gives a position's last and first name.
func (n *nameMemory) of(at int32) (last, first []byte) {
	text, split := n.patients.of(at), int(n.firsts[at])
	if len(text) == 0 {
		return nil, nil
	}
	return text[split+1 : len(text)-split-1], text[:split]
}

func (n *nameMemory) compare(a, b int32) int {
	lastA, firstA := n.of(a)
	lastB, firstB := n.of(b)
	if c := bytes.Compare(lastA, lastB); c != 0 {
		return c
	}
	return bytes.Compare(firstA, firstB)
}

// arrange brings the positions by name into order. Those that are not live
// need no place.
func (n *nameMemory) arrange(live bitmap, compare func(a, b int32) int) {
	if len(n.moved) > 0 {
		wrong := make(bitmap, len(live))
		for _, at := range n.moved {
			wrong.set(at)
		}
		n.byName = slices.DeleteFunc(n.byName, wrong.has)
		for _, at := range n.added { // new, and changed since
			wrong.clear(at)
		}
		for _, at := range slices.Compact(slices.Sorted(slices.Values(n.moved))) {
			if wrong.has(at) && live.has(at) {
				n.added = append(n.added, at)
			}
		}
	}
	n.byName = placeInto(n.byName, n.added, compare)
	n.added, n.moved = nil, nil
}

// texts is one long text of lines, so that looking for a word in a million of
// them is one search of a few milliseconds.
type texts struct {
	blob   []byte
	starts []uint32 // of each line
	whose  []int32  // position whose line it is; -1 once replaced
	lines  []int32  // of each position: 1 + its line; 0 for none
}

// put sets the text of a position; an empty one is none. A text that is
// replaced is wiped.
func (t *texts) put(at int32, text string) (changed bool) {
	for int(at) >= len(t.lines) {
		t.lines = append(t.lines, 0)
	}
	old := t.of(at)
	if string(old) == text {
		return false
	}
	if len(old) > 0 {
		clear(old)
		t.whose[t.lines[at]-1], t.lines[at] = -1, 0
	}
	if text != "" {
		t.starts, t.whose = append(t.starts, uint32(len(t.blob))), append(t.whose, at)
		t.blob = append(append(t.blob, text...), '\n')
		t.lines[at] = int32(len(t.starts))
	}
	return true
}

// of is the text of a position.
func (t *texts) of(at int32) []byte {
	line := int(t.lines[at])
	if line == 0 {
		return nil
	}
	end := len(t.blob)
	if line < len(t.starts) {
		end = int(t.starts[line])
	}
	return t.blob[t.starts[line-1] : end-1]
}

// find adds the positions whose text has the part to found.
func (t *texts) find(part string, found bitmap) {
	needle := []byte(part)
	if len(needle) == 0 {
		return
	}
	line, from := 0, 0
	for {
		i := bytes.Index(t.blob[from:], needle)
		if i < 0 {
			return
		}
		hit := uint32(from + i)
		for line+1 < len(t.starts) && t.starts[line+1] <= hit { // matches come in the order of lines
			line++
		}
		if at := t.whose[line]; at >= 0 {
			found.set(at)
		}
		if line+1 == len(t.starts) {
			return
		}
		from = int(t.starts[line+1])
	}
}

// narrow leaves those positions whose text has the part. When few are left to
// look at, that is quicker one by one.
func (t *texts) narrow(part string, b bitmap) {
	if b.count()*8 < len(t.starts) {
		needle := []byte(part)
		for at := range b.all() {
			if len(needle) == 0 || !bytes.Contains(t.of(at), needle) {
				b.clear(at)
			}
		}
		return
	}
	some := make(bitmap, len(b))
	t.find(part, some)
	b.and(some)
}
