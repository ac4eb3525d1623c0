package matching

import (
	"context"
	"fmt"
	"strings"
	"time"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/orders"
	"hale/internal/platform/civil"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// Filter narrows the queue; empty fields do not.
//
// Reference 1.17, GET /v3/unmatched_result.
type Filter struct {
	Status   Status // what waits when empty
	Decision Decision
	LabSlug  string
	From, To *civil.Date // days of creation in UTC, both included
	Search   string      // part of the patient's name, or the birth date
	After    *Place
	Limit    int
	Oldest   bool // first, in place of the newest; not with Search
}

// Place is where a result stands in the list.
type Place struct {
	At int64 `json:"t"` // microseconds
	ID ID    `json:"i"`
}

// PlaceOf is the place of a result.
func PlaceOf(i *Item) Place { return Place{store.Micros(i.CreatedAt), i.ID} }

// List returns a page of a team's queue, newest first unless the filter says
// otherwise, and how many results there are in all.
func List(ctx context.Context, tx *store.Tx, team teams.ID, f Filter) (page []Item, total int, err error) {
	q, ok, err := f.where(ctx, tx, team)
	if err != nil || !ok {
		return nil, 0, err
	}
	if f.Search != "" {
		page, total, err = f.search(ctx, tx, q)
	} else {
		page, total, err = f.plain(ctx, tx, q)
	}
	if err != nil || len(page) == 0 {
		return nil, total, err
	}
	return page, total, addCandidates(ctx, tx, team, page)
}

// query is a growing condition with its arguments.
type query struct {
	text string
	args []any
}

func (q *query) and(condition string, args ...any) {
	for _, a := range args {
		q.args = append(q.args, a)
		condition = strings.Replace(condition, "?", fmt.Sprintf("$%d", len(q.args)), 1)
	}
	q.text += " AND " + condition
}

// where is the filter in SQL but for place and search. ok is false when
// nothing can fit.
func (f *Filter) where(ctx context.Context, tx *store.Tx, team teams.ID) (q query, ok bool, err error) {
	q = query{"team_id = $1", []any{team}}
	if f.Status != "" {
		q.and("status = ?", string(f.Status))
	} else {
		q.and("status IN (?, ?)", string(ByTeam), string(ByOps))
	}
	if f.Decision != "" {
		q.and("decision = ?", string(f.Decision))
	}
	if f.From != nil {
		q.and("created_at >= ?", store.Micros(f.From.In(time.UTC)))
	}
	if f.To != nil {
		q.and("created_at < ?", store.Micros(f.To.AddDays(1).In(time.UTC)))
	}
	if f.LabSlug == "" {
		return q, true, nil
	}
	offered, err := catalogue.For(ctx, tx, team)
	if err != nil {
		return q, false, err
	}
	lab, ok := offered.LabNamed(f.LabSlug)
	q.and("lab_id = ?", lab.ID)
	return q, ok, nil
}

// plain reads a page of what the database can filter by itself.
func (f *Filter) plain(ctx context.Context, tx *store.Tx, q query) (page []Item, total int, err error) {
	if err := tx.QueryRow(ctx, `SELECT COUNT(*) FROM unmatched_results WHERE `+q.text, q.args...).Scan(&total); err != nil {
		return nil, 0, fmt.Errorf("matching: counting: %w", err)
	}
	page, err = rowsAfter(ctx, tx, q, f.After, f.Limit, f.Oldest)
	return page, total, err
}

// rowsAfter reads what comes after a place, newest or oldest first.
func rowsAfter(ctx context.Context, tx *store.Tx, q query, after *Place, limit int, oldest bool) ([]Item, error) {
	behind, order := "<", "created_at DESC, id DESC"
	if oldest {
		behind, order = ">", "created_at, id"
	}
	if after != nil {
		q.args = append([]any(nil), q.args...)
		q.and("(created_at, id) "+behind+" (?, ?)", after.At, after.ID)
	}
	q.args = append(q.args, limit)
	rows, err := tx.Query(ctx, `SELECT `+columns+` FROM unmatched_results WHERE `+q.text+
		fmt.Sprintf(` ORDER BY %s LIMIT $%d`, order, len(q.args)), q.args...)
	if err != nil {
		return nil, fmt.Errorf("matching: listing: %w", err)
	}
	defer rows.Close()
	var sealed []sealedItem
	for rows.Next() {
		s, err := scan(rows)
		if err != nil {
			return nil, fmt.Errorf("matching: listing: %w", err)
		}
		sealed = append(sealed, s)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("matching: listing: %w", err)
	}
	all := make([]Item, len(sealed))
	for n, s := range sealed {
		if all[n], err = s.open(ctx, tx); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// searchAtOnce is how many rows a search opens at a time.
const searchAtOnce = 200

// search goes through the queue: names are sealed, and what waits for a
// decision is short enough to be opened one by one.
func (f *Filter) search(ctx context.Context, tx *store.Tx, q query) (page []Item, total int, err error) {
	wanted := sought(f.Search)
	for after := (*Place)(nil); ; {
		some, err := rowsAfter(ctx, tx, q, after, searchAtOnce, false)
		if err != nil {
			return nil, 0, err
		}
		for n := range some {
			i := &some[n]
			if i.Summary == nil || !wanted(i.Summary.Patient) {
				continue
			}
			total++
			if len(page) < f.Limit && (f.After == nil || PlaceOf(i).behind(*f.After)) {
				page = append(page, *i)
			}
		}
		if len(some) < searchAtOnce {
			return page, total, nil
		}
		last := PlaceOf(&some[len(some)-1])
		after = &last
	}
}

// behind reports whether a place comes after another in the list.
func (p Place) behind(other Place) bool {
	return p.At < other.At || p.At == other.At && p.ID.String() < other.ID.String()
}

// sought reports whether a person is the one that was typed: part of the first
// name, the last name or both in either order, or the birth date.
func sought(input string) func(Person) bool {
	if day, err := civil.ParseDate(strings.TrimSpace(input)); err == nil {
		return func(p Person) bool { return p.DOB == day }
	}
	part := orders.Fold(input)
	return func(p Person) bool {
		return part != "" && strings.Contains(orders.Fold(p.FirstName+" "+p.LastName+" "+p.FirstName), part)
	}
}
