package orders

import (
	"slices"

	"hale/internal/labs/catalogue"
)

// page returns the rows of one page, and whether more follow. Matches are in the
// order of creation.
func (t *teamIndex) page(matches []int32, f Filter) (page []int32, more bool, err error) {
	if f.After != nil {
		page, err = t.following(matches, &f, f.Size+1)
		more = len(page) > f.Size
		return page[:min(len(page), f.Size)], more, err
	}
	skip := (f.Page - 1) * f.Size
	size := min(f.Size, len(matches)-skip)
	if size <= 0 {
		return nil, false, nil
	}
	more = len(matches) > skip+size
	if !f.Ascending { // the pages of the ascending list, from its end
		skip = len(matches) - skip - size
	}
	switch f.Key {
	case ByCreation, "":
		page = matches[skip : skip+size]
	case ByPatientName:
		page = pageByRank(matches, t.patients, t.names.ranks(), skip, size)
	case ByLastStatus:
		page = pageByRank(matches, t.kinds, kindRanks[:], skip, size)
	case ByUpdate:
		page = pageByTime(matches, t.updated, skip, size)
	}
	if !f.Ascending {
		page = slices.Clone(page)
		slices.Reverse(page)
	}
	return page, more, nil
}

// pageByRank sorts matches by the rank of their value in a column, by counting,
// and returns size of them after the first skip.
func pageByRank[T uint8 | int32](matches []int32, column []T, ranks []int32, skip, size int) []int32 {
	next := make([]int, len(ranks)+1) // the place of the next row of each rank
	for _, row := range matches {
		next[ranks[column[row]]+1]++
	}
	for i := range ranks {
		next[i+1] += next[i]
	}
	page := make([]int32, size)
	for _, row := range matches {
		rank := ranks[column[row]]
		if place := next[rank] - skip; place >= 0 && place < size {
			page[place] = row
		}
		next[rank]++
	}
	return page
}

// kindRanks are the ranks of kinds, by event string.
var kindRanks = func() (ranks [256]int32) {
	var texts []string
	for _, s := range Statuses {
		for _, m := range catalogue.Methods {
			texts = append(texts, s.Full(m))
		}
	}
	slices.Sort(texts)
	for _, s := range Statuses {
		for _, m := range catalogue.Methods {
			ranks[kindOf(s, m)] = int32(slices.Index(texts, s.Full(m)))
		}
	}
	return ranks
}()

// maxBuckets is the number of parts into which pageByTime divides the rows.
const maxBuckets = 1 << 14

// pageByTime sorts rows by a column of times, and returns size of them after the
// first skip. It counts the rows of equal periods, and sorts those of the page only.
func pageByTime(rows []int32, column []int64, skip, size int) []int32 {
	low, high := column[rows[0]], column[rows[0]]
	for _, row := range rows {
		low, high = min(low, column[row]), max(high, column[row])
	}
	width := (high-low)/maxBuckets + 1
	var counts [maxBuckets]int
	for _, row := range rows {
		counts[(column[row]-low)/width]++
	}
	from, before := 0, 0 // the first bucket of the page, and the rows before it
	for before+counts[from] <= skip {
		before += counts[from]
		from++
	}
	to := from
	for n := before; n < skip+size; to++ {
		n += counts[to]
	}
	var some []rankedRow
	for _, row := range rows {
		if bucket := int((column[row] - low) / width); bucket >= from && bucket < to {
			some = append(some, rankedRow{column[row], row})
		}
	}
	slices.SortFunc(some, rankedRow.compare)
	page := make([]int32, size)
	for i := range page {
		page[i] = some[skip-before+i].row
	}
	return page
}
