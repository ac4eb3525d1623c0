package orders

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"math"
	"reflect"
	"slices"
	"sort"
	"strings"

	"hale/internal/labs/catalogue"
	"hale/internal/platform/civil"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// keys returns the orders that the filter names by id, user or transaction, from
// the database. narrowed is false when it names none.
func (f *Filter) keys(ctx context.Context, tx *store.Tx, team teams.ID) (found []key, narrowed bool, err error) {
	read := func(query string, args ...any) error {
		rows, err := tx.Query(ctx, query, args...)
		if err != nil {
			return fmt.Errorf("orders: reading the keys of orders: %w", err)
		}
		defer rows.Close()
		for rows.Next() {
			var k key
			if err := rows.Scan(&k.id, &k.created); err != nil {
				return fmt.Errorf("orders: reading the keys of orders: %w", err)
			}
			if f.IDs == nil || slices.Contains(f.IDs, k.id) {
				found = append(found, k)
			}
		}
		return rows.Err()
	}
	const selected = `SELECT id, created_at FROM orders WHERE `
	switch {
	case len(f.Transactions) > 0:
		for _, transaction := range f.Transactions {
			args := []any{team, transaction}
			query := selected + `team_id = $1 AND transaction_id = $2` + store.AmongValues(&args, "user_id", f.Users)
			if err = read(query, args...); err != nil {
				break
			}
		}
	case len(f.Users) > 0:
		for _, user := range f.Users {
			if err = read(selected+`team_id = $1 AND user_id = $2`, team, user); err != nil {
				break
			}
		}
	case f.IDs != nil:
		named := make([]Order, len(f.IDs))
		for i, id := range f.IDs {
			named[i] = Order{Team: team, ID: id}
		}
		err = forIDLists(named, func(team any, list []any, in string) error {
			return read(selected+byIDOnly+` = $1 AND id IN `+in, append([]any{team}, list...)...)
		})
	default:
		return nil, false, nil
	}
	return found, true, err
}

// find returns the rows of keys, without duplicates. Erased orders have none.
func (t *teamIndex) find(keys []key) []int32 {
	var rows []int32
	for _, k := range keys {
		if row, found := t.locate(len(t.ids), k); found {
			rows = append(rows, int32(row))
		}
	}
	slices.Sort(rows)
	return slices.Compact(rows)
}

// match returns the candidates that pass the filter, in the order of creation.
// Candidates are sorted. numbered are the rows that the search names by a number.
// The result is in into, which has room for all rows, or is a part of candidates.
func (t *teamIndex) match(into []int32, f Filter, candidates, numbered []int32, today civil.Date) []int32 {
	from, to := f.Created.micros()
	candidates = candidates[sort.Search(len(candidates), func(i int) bool { return t.created[candidates[i]] >= from }):]
	candidates = candidates[:sort.Search(len(candidates), func(i int) bool { return t.created[candidates[i]] > to })]
	if len(f.Statuses) > 0 || len(f.Methods) > 0 {
		candidates = chooseIn(into, candidates, t.kinds, f.kinds())
	}
	if f.Critical != nil || len(f.Interpretations) > 0 {
		candidates = chooseIn(into, candidates, t.results, f.results())
	}
	if len(f.Activations) == 1 {
		if day := dayNumber(today); f.Activations[0] == ScheduledOrders {
			candidates = chooseBetween(into, candidates, t.activates, day+1, math.MaxInt32)
		} else {
			candidates = chooseBetween(into, candidates, t.activates, 0, day)
		}
	}
	if f.Updated.From != nil || f.Updated.To != nil {
		from, to := f.Updated.micros()
		candidates = chooseBetween(into, candidates, t.updated, from, to)
	}
	if !f.BirthDate.IsZero() {
		day := dayNumber(f.BirthDate)
		candidates = chooseBetween(into, candidates, t.births, day, day)
	}
	if f.PatientName != "" {
		patients, _ := t.names.find(f.PatientName)
		candidates = t.choosePatients(into, candidates, patients)
	}
	if f.Recipient != "" {
		_, recipients := t.names.find(f.Recipient)
		candidates = chooseIn(into, candidates, t.recipients, recipients)
	}
	if f.Search != "" {
		candidates = t.search(into, candidates, numbered, strings.TrimSpace(f.Search))
	}
	return candidates
}

// onlyKinds reports whether the list is a numbered page of the newest orders, and has no
// filters except statuses and methods.
func (f *Filter) onlyKinds() bool {
	rest := *f
	rest.Statuses, rest.Methods, rest.Page, rest.Size = nil, nil, 0, 0
	if rest.Key == ByCreation {
		rest.Key = ""
	}
	return (len(f.Statuses) > 0 || len(f.Methods) > 0) && reflect.ValueOf(rest).IsZero()
}

// newestOfKinds returns the page of a list with only kinds, the total, and the number of
// rows that it passed. The total comes from counts, so the pass ends with the page.
func (t *teamIndex) newestOfKinds(f Filter) (page []int32, total, passed int) {
	wanted := f.kinds()
	for kind, count := range t.perKind {
		if wanted[kind] {
			total += count
		}
	}
	skip := (f.Page - 1) * f.Size
	size := min(f.Size, total-skip)
	for row := len(t.kinds) - 1; row >= 0 && len(page) < size; row-- {
		passed++
		if !wanted[t.kinds[row]] {
			continue
		}
		if skip--; skip < 0 {
			page = append(page, int32(row))
		}
	}
	return page, total, passed
}

// chooseIn writes the rows that have a wanted value in a column into a slice, and returns
// them. The slice must be at least as long as rows, and may be rows itself. chooseIn
// writes every row and advances for the wanted ones, because a branch that the processor
// cannot predict takes twice the time.
func chooseIn[T uint8 | int32](into, rows []int32, column []T, wanted []bool) []int32 {
	count := 0
	for _, row := range rows {
		into[count] = row
		if wanted[column[row]] {
			count++
		}
	}
	return into[:count]
}

// chooseBetween chooses rows like chooseIn, by values between two bounds, both included.
func chooseBetween[T int32 | int64](into, rows []int32, column []T, from, to T) []int32 {
	count := 0
	for _, row := range rows {
		into[count] = row
		if v := column[row]; v >= from && v <= to {
			count++
		}
	}
	return into[:count]
}

// search returns the rows that search_input finds. The input may be:
//
//   - a number;
//   - a prefix of the order's or the user's id;
//   - a birth date;
//   - a part of the patient's or the recipient's name.
func (t *teamIndex) search(into, rows, numbered []int32, input string) []int32 {
	prefix, isPrefix := idPrefix(input)
	birth := int32(-1)
	if day, err := civil.ParseDate(input); err == nil {
		birth = dayNumber(day)
	}
	patients, recipients := t.names.find(input)
	isName := slices.Contains(patients, true)
	if !isPrefix && !isName && birth < 0 && len(numbered) == 0 {
		return nil
	}
	named := func(row int32) bool {
		_, found := slices.BinarySearch(numbered, row)
		return found
	}
	chosen := into[:0]
	for _, row := range rows {
		if t.births[row] == birth || isName && (patients[t.patients[row]] || recipients[t.recipients[row]]) || len(numbered) > 0 && named(row) ||
			isPrefix && (bytes.HasPrefix(t.ids[row][:], prefix) || bytes.HasPrefix(t.users[row][:], prefix)) {
			chosen = append(chosen, row)
		}
	}
	return chosen
}

// micros returns the ends of the span.
func (s Span) micros() (from, to int64) {
	from, to = math.MinInt64, math.MaxInt64
	if s.From != nil {
		from = store.Micros(*s.From)
	}
	if s.To != nil {
		to = store.Micros(*s.To)
	}
	return from, to
}

// kinds returns the kinds that pass the filter.
func (f *Filter) kinds() []bool {
	want := make([]bool, 256)
	for _, s := range Statuses {
		for _, m := range catalogue.Methods {
			want[kindOf(s, m)] = (len(f.Statuses) == 0 || slices.Contains(f.Statuses, s)) && (len(f.Methods) == 0 || slices.Contains(f.Methods, m))
		}
	}
	return want
}

// results returns the results that pass the filter.
func (f *Filter) results() []bool {
	want := make([]bool, 256)
	for _, i := range append([]Interpretation{""}, Interpretations...) {
		for _, critical := range []bool{false, true} {
			want[resultOf(i, critical)] = (len(f.Interpretations) == 0 || slices.Contains(f.Interpretations, i)) && (f.Critical == nil || *f.Critical == critical)
		}
	}
	return want
}

// idPrefix parses the beginning of an id: whole bytes, at least four.
func idPrefix(text string) ([]byte, bool) {
	digits := strings.ReplaceAll(text, "-", "")
	if len(digits) < 8 || len(digits) > 32 {
		return nil, false
	}
	prefix, err := hex.DecodeString(digits[:len(digits)&^1])
	return prefix, err == nil
}
