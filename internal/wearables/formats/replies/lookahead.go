package replies

import (
	"encoding/json"
	"io"
	"slices"

	"hale/internal/wearables/formats/sheet"
)

// Bounds of the remembered fields that follow a list.
const (
	mostLate    = 1 << 16 // pages
	longestLate = 256     // bytes of a field
)

// lateField has fields that follow a list of the same object in the file, by the
// number of the object. Both passes through the file count objects in the same way.
type lateField struct {
	names []string
	found map[int]map[string]json.RawMessage
	known bool // set in the second pass
	page  int
}

// open numbers an object whose first list begins, from 1. In the second pass it
// adds the fields that the first pass found after the object's lists.
func (l *lateField) open(d *Document) int {
	if l == nil {
		return 1
	}
	l.page++
	if l.known {
		for name, raw := range l.found[l.page] {
			if !d.Has(name) {
				d.fields[name] = raw
			}
		}
	}
	return l.page
}

// see remembers a field that follows a list.
func (l *lateField) see(page int, name string, raw json.RawMessage) {
	if l == nil || l.known || page == 0 || len(raw) > longestLate || !slices.Contains(l.names, name) {
		return
	}
	if l.found[page] == nil {
		if len(l.found) == mostLate {
			return
		}
		if l.found == nil {
			l.found = map[int]map[string]json.RawMessage{}
		}
		l.found[page] = map[string]json.RawMessage{}
	}
	l.found[page][name] = raw
}

// lookAhead scans a file for the fields behind lists, and returns to its start. Damage
// will show again.
func (m *Maker) lookAhead(file io.ReadSeeker) (*lateField, error) {
	if len(m.Late) == 0 {
		return nil, nil
	}
	l := &lateField{names: m.Late}
	in := sheet.NewBoundedTo(file, MaxRecord)
	w := &walker{lists: m.Lists, found: func(*Resource, *Document) error { return nil }, next: in.Next, late: l}
	_ = w.walk(in)
	l.known, l.page = true, 0
	_, err := file.Seek(0, io.SeekStart)
	return l, err
}
