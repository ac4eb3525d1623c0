package orders

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"hale/internal/platform/civil"
	"hale/internal/platform/store"
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
		lines[0], lines[1], lines[2] = Fold(p.LastName), Fold(p.FirstName), p.BirthDate.String()
	}
	for _, a := range []*Address{o.Body.Shipping, o.Body.Address} {
		if a != nil && lines[3] == "" {
			lines[3] = Fold(a.Receiver)
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

// Fold is a name as it is compared: lower case, without accents and commas,
// words parted by single spaces.
func Fold(name string) string {
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
	texts      texts   // ada byron ada: found by either name, or both in either order
	patients   []int32 // lines of texts
	recipients []int32 // lines of texts, of which the tail does not count
	births     []int32 // yyyymmdd; 0 for none
	byName     []int32 // positions by last name, first name and creation
	added      []int32 // positions that byName lacks
	moved      []int32 // positions that it has in the wrong place
}

func (n *nameMemory) grow(more int) {
	n.births, n.added = slices.Grow(n.births, more), slices.Grow(n.added, more)
	n.patients, n.recipients = slices.Grow(n.patients, more), slices.Grow(n.recipients, more)
}

// put remembers the names of an order, which may be a new one.
func (n *nameMemory) put(at int32, of names, isNew bool) {
	if isNew {
		n.births, n.patients, n.recipients = append(n.births, 0), append(n.patients, 0), append(n.recipients, 0)
	}
	n.births[at] = of.birth
	text, tail := "", 0
	if of.last != "" || of.first != "" {
		text, tail = of.first+" "+of.last+" "+of.first, 1+len(of.first)
	}
	changed := n.replace(&n.patients[at], text, tail)
	if of.recipient != of.first+" "+of.last {
		text, tail = of.recipient, 0
	}
	n.replace(&n.recipients[at], text, tail)
	switch {
	case isNew:
		n.added = append(n.added, at)
	case changed:
		n.moved = append(n.moved, at)
	}
}

func (n *nameMemory) replace(line *int32, text string, tail int) (changed bool) {
	next := n.texts.hold(text, tail)
	n.texts.drop(*line)
	changed = next != *line
	*line = next
	return changed
}

// of gives the last and first name in a line.
func (n *nameMemory) of(line int32) (last, first []byte) {
	if line == 0 {
		return nil, nil
	}
	text, tail := n.texts.of(line), int(n.texts.tails[line-1])
	return text[tail : len(text)-tail], text[:tail-1]
}

func (n *nameMemory) compare(a, b int32) int {
	if a == b {
		return 0
	}
	lastA, firstA := n.of(a)
	lastB, firstB := n.of(b)
	if c := bytes.Compare(lastA, lastB); c != 0 {
		return c
	}
	return bytes.Compare(firstA, firstB)
}

// arrange brings the positions by name into order. Those that are not live
// need no place.
func (n *nameMemory) arrange(live bitmap, byTime []int32, compare func(a, b int32) int) {
	switch {
	case len(n.added)*8 > len(n.byName):
		n.byName = n.sorted(byTime)
	default:
		if len(n.moved) > 0 {
			n.takeOut(live)
		}
		n.byName = placeInto(n.byName, n.added, compare)
	}
	n.added, n.moved = nil, nil
}

// takeOut removes the positions that moved, and adds those that are live to
// what is to be placed.
func (n *nameMemory) takeOut(live bitmap) {
	wrong := make(bitmap, len(live))
	for _, at := range n.moved {
		wrong.set(at)
	}
	n.byName = slices.DeleteFunc(n.byName, wrong.has)
	for _, at := range n.added { // new, and changed since
		wrong.clear(at)
	}
	for at := range wrong.all() {
		if live.has(at) {
			n.added = append(n.added, at)
		}
	}
}

// sorted is all positions by name: the lines are sorted, and each takes its
// positions as they come by time.
func (n *nameMemory) sorted(byTime []int32) []int32 {
	ends := make([]int32, len(n.texts.starts)+1) // of each line's positions
	for _, line := range n.patients {
		ends[line]++
	}
	lines := make([]int32, 0, len(ends))
	for line, count := range ends {
		if count > 0 {
			lines = append(lines, int32(line))
		}
	}
	slices.SortFunc(lines, n.compare)
	end := int32(0)
	for _, line := range lines {
		end += ends[line]
		ends[line] = end
	}
	all := make([]int32, len(byTime))
	for _, at := range slices.Backward(byTime) {
		line := n.patients[at]
		ends[line]--
		all[ends[line]] = at
	}
	return all
}
