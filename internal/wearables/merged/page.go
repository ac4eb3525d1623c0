package merged

import (
	"context"
	"math"
	"slices"

	"hale/internal/platform/store"
	"hale/internal/wearables/storage"
)

// Page is one page of a merged line. Pieces name their sources by position.
type Page struct {
	Sources []Source
	Pieces  []Piece
	Aside   []Piece // what better sources covered, or is no part of the line; nil unless an explanation was asked for
	Next    *int64  // start of the first piece of the next page, UTC microseconds; nil at the end
}

// Range is a part of a merged line. What reaches over its edges counts for the
// share inside.
type Range struct {
	Span
	Through bool   // with what was measured at End, and intervals no longer than to End
	After   *int64 // Page.Next of the page before
	Most    int    // pieces in a page; 0 means wearables.PageSamples
	Explain bool   // tell what was set aside
}

// Read merges one page of a range. What a piece is does not depend on the
// range or the page in which it is asked for, so pages fit together.
func Read(ctx context.Context, tx *store.Tx, q Query, in Range) (Page, error) {
	r, err := q.open(ctx, tx, in.Explain)
	if err != nil {
		return Page{}, err
	}
	most := in.Most
	if most == 0 {
		most = storage.PageSamples
	}
	from := in.Start - longest // a piece may reach into the range
	if in.After != nil {
		from = *in.After
	}
	var p Page
	to := in.End
	if in.Through {
		to++
	}
	err = r.walk(ctx, tx, from, to, func(l line) bool {
		p.Pieces = in.clip(p.Pieces, l.kept, r.sums)
		p.Aside = in.clip(p.Aside, l.aside, r.sums)
		return len(p.Pieces) <= most && len(p.Aside) <= most
	})
	if err != nil {
		return Page{}, err
	}
	p.end(most)
	p.name(r)
	return p, nil
}

// clip appends the parts of pieces that lie in the range.
func (in *Range) clip(dst, pieces []Piece, sums bool) []Piece {
	dst = slices.Grow(dst, len(pieces))
	for _, p := range pieces {
		v := p.Span
		if p.Start < in.Start || sums && p.End > in.End {
			v = Span{max(p.Start, in.Start), min(p.End, in.End)}
			if !sums || v.length() <= 0 {
				continue
			}
			p.Value *= float64(v.length()) / float64(p.length())
		}
		p.Span = v
		dst = append(dst, p)
	}
	return dst
}

// end cuts the page where one of its lists is full, between two starts.
func (p *Page) end(most int) {
	next := int64(math.MaxInt64)
	for _, pieces := range [][]Piece{p.Pieces, p.Aside} {
		if len(pieces) > most {
			next = min(next, pieces[most-1].Start+1)
		}
	}
	if next == math.MaxInt64 {
		return
	}
	later := func(piece Piece) bool { return piece.Start >= next }
	p.Pieces, p.Aside = slices.DeleteFunc(p.Pieces, later), slices.DeleteFunc(p.Aside, later)
	p.Next = &next
}

// name lists the sources that the page speaks of, best first.
func (p *Page) name(r *reader) {
	used := map[int]bool{}
	for _, pieces := range [][]Piece{p.Pieces, p.Aside} {
		for _, piece := range pieces {
			used[piece.Source] = true
			if piece.By >= 0 {
				used[piece.By] = true
			}
		}
	}
	at := naming(used)
	for _, i := range at.order {
		p.Sources = append(p.Sources, r.source(i))
	}
	for _, pieces := range [][]Piece{p.Pieces, p.Aside} {
		for i := range pieces {
			pieces[i].Source = at.position[pieces[i].Source]
			if pieces[i].By >= 0 {
				pieces[i].By = at.position[pieces[i].By]
			}
		}
	}
}

// names are the sources that an answer lists, and where.
type names struct {
	order    []int
	position map[int]int
}

func naming(used map[int]bool) names {
	n := names{position: map[int]int{}}
	for i := range used {
		n.order = append(n.order, i)
	}
	slices.Sort(n.order)
	for at, i := range n.order {
		n.position[i] = at
	}
	return n
}
