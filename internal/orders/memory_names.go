package orders

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"hale/internal/civil"
	"hale/internal/store"
	"hale/internal/teams"
	"hale/internal/users"
)

// nameMemory is the part of a memory that has to be unsealed: it is filled when
// somebody first searches or sorts by name.
type nameMemory struct {
	moment     moment
	patients   texts // ada byron ada: found by either name, or both in either order
	recipients texts
	births     []int32        // yyyymmdd; 0 for none
	keys       []string       // last name, NUL, first name
	byName     []int32        // positions by key and creation
	unsorted   map[int32]bool // positions that byName lacks or has in the wrong place
}

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

// catchUpNames takes the names of orders that changed. The memory itself is up
// to date; the caller holds mu for writing.
func (m *memory) catchUpNames(ctx context.Context, tx *store.Tx, team teams.ID, to moment) error {
	n := &m.names
	after, afterID := int64(-1), ID{}
	for {
		rows, err := readNames(ctx, tx, team, n.moment, after, afterID)
		if err != nil {
			return err
		}
		for _, r := range rows {
			at, known := m.at[r.id]
			if !known {
				continue
			}
			plain, err := tx.Unseal(ctx, team.UUID(), r.user.UUID(), namesPlace+r.id.String(), r.sealed)
			if err != nil {
				return err
			}
			n.put(at, string(plain))
		}
		if len(rows) < readAtOnce {
			break
		}
		last := rows[len(rows)-1]
		after, afterID = last.change, last.id
	}
	n.moment = to
	return nil
}

type nameRow struct {
	change int64
	id     ID
	user   users.ID
	sealed []byte
}

func readNames(ctx context.Context, tx *store.Tx, team teams.ID, since moment, after int64, afterID ID) ([]nameRow, error) {
	rows, err := tx.Query(ctx, `SELECT change, id, user_id, names FROM orders
		WHERE team_id = $1 AND (change, id) > ($2, $3) AND `+since.since("change")+` ORDER BY change, id LIMIT $4`, team, after, afterID, readAtOnce)
	if err != nil {
		return nil, fmt.Errorf("orders: reading names: %w", err)
	}
	defer rows.Close()
	var all []nameRow
	for rows.Next() {
		var r nameRow
		if err := rows.Scan(&r.change, &r.id, &r.user, &r.sealed); err != nil {
			return nil, fmt.Errorf("orders: reading names: %w", err)
		}
		all = append(all, r)
	}
	return all, rows.Err()
}

// put remembers the names of an order, as sealNames writes them.
func (n *nameMemory) put(at int32, lines string) {
	parts := strings.SplitN(lines, "\n", 4)
	if len(parts) != 4 {
		return
	}
	n.grow(int(at) + 1)
	last, first := parts[0], parts[1]
	if key := last + "\x00" + first; n.keys[at] != key {
		n.keys[at], n.unsorted[at] = key, true
		n.patients.put(at, strings.TrimSpace(first+" "+last+" "+first))
	}
	n.recipients.put(at, parts[3])
	n.births[at] = 0
	if day, err := civil.ParseDate(parts[2]); err == nil {
		n.births[at] = dayNumber(day)
	}
}

// grow makes room for positions below count.
func (n *nameMemory) grow(count int) {
	if n.unsorted == nil {
		n.unsorted = map[int32]bool{}
	}
	for at := len(n.keys); at < count; at++ {
		n.births, n.keys = append(n.births, 0), append(n.keys, "")
		n.unsorted[int32(at)] = true
	}
}

// arrangeNames brings the positions by name into order: the few that changed
// are looked up and put between the others in one pass.
func (m *memory) arrangeNames() {
	n := &m.names
	n.grow(m.len())
	if len(n.unsorted) == 0 {
		return
	}
	added := make([]int32, 0, len(n.unsorted))
	for at := range n.unsorted {
		added = append(added, at)
	}
	slices.SortFunc(added, m.compareName)
	rest := slices.DeleteFunc(n.byName, func(at int32) bool { return n.unsorted[at] })
	merged := make([]int32, 0, m.len())
	for _, at := range added {
		place, _ := slices.BinarySearchFunc(rest, at, m.compareName)
		merged = append(append(merged, rest[:place]...), at)
		rest = rest[place:]
	}
	n.byName = append(merged, rest...)
	clear(n.unsorted)
}

func (m *memory) compareName(a, b int32) int {
	if c := strings.Compare(m.names.keys[a], m.names.keys[b]); c != 0 {
		return c
	}
	return m.compareTime(a, b)
}

// texts is one long text of lines, so that looking for a word in a million of
// them is one search of a few milliseconds.
type texts struct {
	blob   []byte
	starts []uint32 // of each line
	whose  []int32  // position whose line it is; -1 once replaced
	lines  map[int32]int32
}

// put sets the text of a position; an empty one is none.
func (t *texts) put(at int32, text string) {
	if t.lines == nil {
		t.lines = map[int32]int32{}
	}
	if line, ok := t.lines[at]; ok {
		if t.line(line) == text {
			return
		}
		t.whose[line] = -1
		delete(t.lines, at)
	}
	if text == "" {
		return
	}
	t.lines[at] = int32(len(t.starts))
	t.starts, t.whose = append(t.starts, uint32(len(t.blob))), append(t.whose, at)
	t.blob = append(append(t.blob, text...), '\n')
}

func (t *texts) line(n int32) string {
	end := len(t.blob)
	if int(n)+1 < len(t.starts) {
		end = int(t.starts[n+1])
	}
	return string(t.blob[t.starts[n] : end-1])
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
