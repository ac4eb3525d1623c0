package orders

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"time"

	"hale/internal/civil"
	"hale/internal/fault"
	"hale/internal/labs"
	"hale/internal/store"
	"hale/internal/teams"
	"hale/internal/users"
)

// SortKey says what a list is sorted by.
type SortKey string

// The sort keys.
const (
	ByCreation    SortKey = "created_at"
	ByPatientName SortKey = "patient_name" // last name, first name
	ByLastStatus  SortKey = "last_status"  // the event string, as text
)

// SortKeys lists them all.
var SortKeys = []SortKey{ByCreation, ByPatientName, ByLastStatus}

// Activation is whether an order's day has come.
type Activation string

// The activations.
const (
	CurrentOrders   Activation = "current"
	ScheduledOrders Activation = "scheduled"
)

// Activations lists them all.
var Activations = []Activation{CurrentOrders, ScheduledOrders}

// Span is a time with both ends in it; nil leaves an end open.
type Span struct{ From, To *time.Time }

// Filter narrows a list; empty fields do not.
//
// Spec: Lab lookups, GET /v3/orders.
type Filter struct {
	Search         string // order id, user id, patient, birth date, recipient
	PatientName    string
	Recipient      string
	Created        Span
	Updated        Span
	Statuses       []Status
	Methods        []Method
	Critical       *bool
	Interpretation Interpretation
	Activations    []Activation
	User           *users.ID
	IDs            []ID
	Transaction    *TransactionID

	Key       SortKey // ByCreation when empty
	Ascending bool
	Page      int // from 1
	Size      int
}

// List returns one page of a team's orders and how many there are in all.
func List(ctx context.Context, tx *store.Tx, team teams.ID, f Filter) (page []Order, total int, err error) {
	if f.User != nil {
		err := users.Exists(ctx, tx, team, *f.User)
		if fault.Is(err, fault.NotFound) {
			err = fault.New(fault.NotFound, "User does not exist on this team")
		}
		if err != nil {
			return nil, 0, err
		}
	}
	found, total, err := Select(ctx, tx, team, f)
	if err != nil {
		return nil, 0, err
	}
	page, err = byIDs(ctx, tx, team, found)
	return page, total, err
}

// Select is List without reading the orders.
func Select(ctx context.Context, tx *store.Tx, team teams.ID, f Filter) (page []ID, total int, err error) {
	m := memories.of(team, tx.Now())
	if err := m.prepare(ctx, tx, team); err != nil {
		return nil, 0, err
	}
	within, err := f.within(ctx, tx, team)
	if err != nil {
		return nil, 0, err
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	memories.resize(m, m.len())
	matching := m.match(f, within, Today(tx.Now()))
	total = matching.count()
	for _, at := range m.page(matching, f) {
		page = append(page, m.ids[at])
	}
	return page, total, nil
}

// within are the lists of ids that an order has to be in: those of the filter,
// and those of its transaction, which the database knows.
func (f *Filter) within(ctx context.Context, tx *store.Tx, team teams.ID) (lists [][]ID, err error) {
	if f.IDs != nil {
		lists = append(lists, f.IDs)
	}
	if f.Transaction != nil {
		of, err := idsOf(ctx, tx, `SELECT id FROM orders WHERE team_id = $1 AND transaction_id = $2`, team, *f.Transaction)
		if err != nil {
			return nil, err
		}
		lists = append(lists, of)
	}
	return lists, nil
}

// match is the set of positions that the filter leaves.
func (m *memory) match(f Filter, within [][]ID, today civil.Date) bitmap {
	b := slices.Clone(m.live)
	if f.User != nil {
		keep(b, m.users, func(id users.ID) bool { return id == *f.User })
	}
	for _, list := range within {
		some := newBitmap(m.len())
		for _, id := range list {
			if at, ok := m.places.find(m.ids, id); ok {
				some.set(at)
			}
		}
		b.and(some)
	}
	if len(f.Statuses) > 0 || len(f.Methods) > 0 {
		want := f.kinds()
		keep(b, m.kinds, func(k uint8) bool { return want[k] })
	}
	if f.Critical != nil {
		keep(b, m.critical, func(c bool) bool { return c == *f.Critical })
	}
	if f.Interpretation != "" {
		want := uint8(1 + slices.Index(Interpretations, f.Interpretation))
		keep(b, m.verdicts, func(v uint8) bool { return v == want })
	}
	if len(f.Activations) == 1 {
		until, scheduled := dayNumber(today), f.Activations[0] == ScheduledOrders
		keep(b, m.activates, func(day int32) bool { return (day > until) == scheduled })
	}
	f.Created.keep(b, m.created)
	f.Updated.keep(b, m.updated)
	for _, part := range []struct {
		text string
		in   *texts
	}{{f.PatientName, &m.names.patients}, {f.Recipient, &m.names.recipients}} {
		if part.text != "" {
			part.in.narrow(fold(part.text), b)
		}
	}
	if f.Search != "" {
		b.and(m.search(f.Search))
	}
	return b
}

// kinds are the pairs of status and method that the filter wants.
func (f *Filter) kinds() *[256]bool {
	var want [256]bool
	for _, s := range Statuses {
		for _, method := range labs.Methods {
			want[kindOf(s, method)] = (len(f.Statuses) == 0 || slices.Contains(f.Statuses, s)) &&
				(len(f.Methods) == 0 || slices.Contains(f.Methods, method))
		}
	}
	return &want
}

func (s Span) keep(b bitmap, column []int64) {
	if s.From != nil {
		from := store.Micros(*s.From)
		keep(b, column, func(at int64) bool { return at >= from })
	}
	if s.To != nil {
		to := store.Micros(*s.To)
		keep(b, column, func(at int64) bool { return at <= to })
	}
}

// search is the set of orders that the input names in any of its ways.
func (m *memory) search(input string) bitmap {
	found := newBitmap(m.len())
	input = strings.TrimSpace(input)
	if prefix, ok := idPrefix(input); ok {
		for at := range m.ids {
			if bytes.HasPrefix(m.ids[at][:], prefix) || bytes.HasPrefix(m.users[at][:], prefix) {
				found.set(int32(at))
			}
		}
	}
	if day, err := civil.ParseDate(input); err == nil {
		for at, birth := range m.names.births {
			if birth == dayNumber(day) {
				found.set(int32(at))
			}
		}
	}
	m.names.patients.find(fold(input), found)
	m.names.recipients.find(fold(input), found)
	return found
}

// idPrefix reads the beginning of an id, whole bytes of at least four.
func idPrefix(text string) ([]byte, bool) {
	digits := strings.ReplaceAll(strings.ToLower(text), "-", "")
	if len(digits) < 8 || len(digits) > 32 {
		return nil, false
	}
	prefix := make([]byte, len(digits)/2)
	for i := range prefix {
		high, low := strings.IndexByte(hex, digits[2*i]), strings.IndexByte(hex, digits[2*i+1])
		if high < 0 || low < 0 {
			return nil, false
		}
		prefix[i] = byte(high<<4 | low)
	}
	return prefix, true
}

const hex = "0123456789abcdef"

// page is the positions of the page, in order.
func (m *memory) page(matching bitmap, f Filter) []int32 {
	skip := (f.Page - 1) * f.Size
	switch f.Key {
	case ByCreation:
	case ByPatientName:
		return walk(matching, m.names.byName, f.Ascending, skip, f.Size)
	case ByLastStatus:
		return m.pageByStatus(matching, f.Ascending, skip, f.Size)
	}
	return walk(matching, m.byTime, f.Ascending, skip, f.Size)
}

// walk goes through positions in an order and takes size matching ones after
// passing over skip.
func walk(matching bitmap, order []int32, ascending bool, skip, size int) []int32 {
	var page []int32
	for i := range order {
		at := order[i]
		if !ascending {
			at = order[len(order)-1-i]
		}
		if !matching.has(at) {
			continue
		}
		if skip > 0 {
			skip--
			continue
		}
		if page = append(page, at); len(page) == size {
			break
		}
	}
	return page
}

// byEvent are the kinds in the order of their event strings.
var byEvent = func() []uint8 {
	var all []uint8
	name := map[uint8]string{}
	for _, s := range Statuses {
		for _, method := range labs.Methods {
			k := kindOf(s, method)
			all, name[k] = append(all, k), s.Full(method)
		}
	}
	slices.SortFunc(all, func(a, b uint8) int { return strings.Compare(name[a], name[b]) })
	return all
}()

// pageByStatus counts the orders of each kind, so that only the kinds on the
// page are walked through.
func (m *memory) pageByStatus(matching bitmap, ascending bool, skip, size int) []int32 {
	var counts [256]int
	keep(slices.Clone(matching), m.kinds, func(k uint8) bool { counts[k]++; return true })
	var page []int32
	for i := range byEvent {
		kind := byEvent[i]
		if !ascending {
			kind = byEvent[len(byEvent)-1-i]
		}
		if skip >= counts[kind] {
			skip -= counts[kind]
			continue
		}
		of := slices.Clone(matching)
		keep(of, m.kinds, func(k uint8) bool { return k == kind })
		page = append(page, walk(of, m.byTime, ascending, skip, size-len(page))...)
		if skip = 0; len(page) == size {
			break
		}
	}
	return page
}

// byIDOnly is the team of an order in a condition beside a list of ids: not the
// bare column, for which SQLite would go through an index of all the team's
// orders, as it takes a team to have ten.
const byIDOnly = `COALESCE(team_id, team_id)`

// byIDs reads orders in the order of their ids. One that was erased meanwhile
// is left out.
func byIDs(ctx context.Context, tx *store.Tx, team teams.ID, ids []ID) ([]Order, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	named := make([]Order, len(ids))
	for i, id := range ids {
		named[i] = Order{Team: team, ID: id}
	}
	read := map[ID]Order{}
	err := inLists(named, func(team any, list []any, in string) error {
		found, err := many(ctx, tx, `SELECT `+columns+` FROM orders WHERE `+byIDOnly+` = $1 AND id IN `+in, append([]any{team}, list...)...)
		for _, o := range found {
			read[o.ID] = o
		}
		return err
	})
	all := make([]Order, 0, len(ids))
	for _, id := range ids {
		if o, ok := read[id]; ok {
			all = append(all, o)
		}
	}
	return all, err
}
