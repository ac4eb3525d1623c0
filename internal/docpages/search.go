package docpages

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
)

// Hit is a section of a guide, or an operation, that a search found.
type Hit struct {
	Kind    string `json:"kind"` // guide or operation
	Name    string `json:"name"` // of the guide or operation
	Title   string `json:"title"`
	Address string `json:"address"`
	Snippet []Part `json:"-"`
	Text    string `json:"text"`
}

// Part is a piece of a text; Found marks a word of the search.
type Part struct {
	Text  string
	Found bool
}

// entry is a text that a search may find.
type entry struct {
	hit         Hit
	names       []string // searches that mean exactly this entry
	title, body []string // words
	text        string
	events      []string // patterns of the event types that the operation may cause
}

// Index finds words in guides and operations. It has a few hundred entries, so a search
// reads all of them.
type Index struct{ entries []entry }

// newIndex returns an index of all guides, and of the operations of r unless it is nil.
func newIndex(r *reference) *Index {
	x := &Index{}
	for _, g := range Guides() {
		x.addGuide(g)
	}
	if r == nil {
		return x
	}
	for _, g := range r.Groups {
		for _, o := range g.Operations {
			text := o.Title + ". " + o.Text
			hit := Hit{Kind: "operation", Name: o.ID, Title: o.Title + " (" + o.Method + " " + o.Path + ")", Address: o.Address()}
			words := []string{text}
			for _, f := range slices.Concat(o.Parameters, o.Body) {
				words = append(words, f.Name, f.Text)
			}
			for _, a := range o.Answers {
				for _, f := range a.Fields {
					words = append(words, f.Name, f.Text)
				}
			}
			x.entries = append(x.entries, entry{
				hit: hit, text: strings.TrimSuffix(text, ". "),
				names: []string{joinWords(o.ID), joinWords(o.Path), joinWords(o.Method + o.Path), joinWords(o.Title)},
				title: wordsOf(o.Title + " " + o.Method + " " + o.Path + " " + o.ID + " " + spacedName(o.ID) + " " + g.Title),
				body:  wordsOf(strings.Join(words, " ")), events: o.Events,
			})
		}
	}
	return x
}

// GuideIndex returns an index of the guides alone.
func GuideIndex() *Index { return newIndex(nil) }

// addGuide adds an entry for each section.
func (x *Index) addGuide(g *Guide) {
	section := entry{hit: Hit{Kind: "guide", Name: g.Name, Title: g.Title, Address: g.Path()}, names: []string{joinWords(g.Name), joinWords(g.Title)}, title: wordsOf(g.Title + " " + g.Name + " " + g.Summary)}
	var text []string
	flush := func() {
		section.text = strings.Join(text, " ")
		section.body = wordsOf(section.text)
		x.entries = append(x.entries, section)
		text = nil
	}
	for n := g.tree.FirstChild(); n != nil; n = n.NextSibling() {
		h, ok := n.(*ast.Heading)
		if !ok {
			text = append(text, plainText(n, g.source))
			continue
		}
		if h.Level == 1 {
			continue
		}
		flush()
		title := plainText(h, g.source)
		id, _ := h.AttributeString("id")
		name, _ := id.([]byte)
		section = entry{hit: Hit{Kind: "guide", Name: g.Name, Title: g.Title + ": " + title, Address: g.Path() + "#" + string(name)}, title: wordsOf(title + " " + g.Title)}
	}
	flush()
}

// mostHits is the number of results that a search returns.
const mostHits = 40

// Search returns the best entries that contain every word of the query, in any form.
// Without such an entry it returns those with most of the words. The name of an event type
// finds the guide about events, then the operations that cause the event.
func (x *Index) Search(query string) []Hit {
	wanted, whole := wordsOf(query), joinWords(query)
	for i, w := range wanted {
		wanted[i] = stem(w)
	}
	slices.Sort(wanted)
	wanted = slices.Compact(wanted)
	if len(wanted) == 0 {
		return nil
	}
	wanted = wanted[:min(len(wanted), 12)]
	type scored struct {
		at, words int
		score     float64
	}
	var found []scored
	most := 1
	event := strings.ToLower(strings.TrimSpace(query))
	isEvent := slices.ContainsFunc(x.entries, func(e entry) bool { return e.causes(event) })
	for i, e := range x.entries {
		s := scored{at: i}
		for _, w := range wanted {
			if points := e.points(w); points > 0 {
				s.words++
				s.score += points
			}
		}
		if slices.Contains(e.names, whole) {
			s.score += 100
		}
		switch {
		case e.causes(event):
			s.score, s.words = s.score+200, len(wanted)
		case isEvent && e.hit.Address == eventsGuide:
			s.score, s.words = s.score+300, len(wanted)
		}
		if s.words > 0 {
			found, most = append(found, s), max(most, s.words)
		}
	}
	found = slices.DeleteFunc(found, func(s scored) bool { return s.words < most })
	slices.SortStableFunc(found, func(a, b scored) int { return cmp.Compare(b.score, a.score) })
	var hits []Hit
	for _, s := range found[:min(len(found), mostHits)] {
		hit := x.entries[s.at].hit
		hit.Snippet = snippet(x.entries[s.at].text, wanted)
		for _, p := range hit.Snippet {
			hit.Text += p.Text
		}
		hits = append(hits, hit)
	}
	return hits
}

// eventsGuide is the address of the guide about events.
const eventsGuide = "/docs/guides/events"

// causes reports whether the operation of the entry may cause an event.
func (e *entry) causes(event string) bool {
	return slices.ContainsFunc(e.events, func(pattern string) bool {
		ok, err := path.Match(pattern, event)
		return ok && err == nil
	})
}

// Suggest returns a query whose unknown words are replaced by the nearest words of the
// entries. It returns nothing if there is no such word.
func (x *Index) Suggest(query string) string {
	words := wordsOf(query)
	words = words[:min(len(words), 12)]
	changed := false
	for i, w := range words {
		if near := x.nearestWord(w); near != "" {
			words[i], changed = near, changed || near != w
		}
	}
	if !changed {
		return ""
	}
	return strings.Join(words, " ")
}

// nearestWord returns the word of the entries that a reader may have meant. Of several, it
// prefers a word of a title.
func (x *Index) nearestWord(word string) (nearest string) {
	most := max(len(word)/3, 1)
	if len(word) < 3 || len(word) > longestWord {
		return ""
	}
	best := 2*most + 2
	try := func(candidate string, rank int) {
		if len(candidate) < 3 || max(len(candidate)-len(word), len(word)-len(candidate)) > most {
			return
		}
		if distance := editDistance(word, candidate); distance <= most && 2*distance+rank < best {
			nearest, best = candidate, 2*distance+rank
		}
	}
	for _, e := range x.entries {
		for _, w := range e.title {
			try(w, 0)
		}
		for _, w := range e.body {
			try(w, 1)
		}
	}
	return nearest
}

// longestWord is the length of the longest word of a query that is corrected.
const longestWord = 40

// points rates how well an entry fits a word: titles before texts, whole words before
// beginnings, short texts before long ones.
func (e *entry) points(word string) float64 {
	points := 0.0
	for _, w := range e.title {
		if strings.HasPrefix(w, word) {
			points = max(points, 6)
			if len(w)-len(word) <= 2 {
				points = 10
			}
		}
	}
	count := 0.0
	for _, w := range e.body {
		if strings.HasPrefix(w, word) {
			count++
		}
	}
	if count > 0 {
		points += 1 + 3*count/(count+2) + 20*count/float64(len(e.body)+20)
	}
	return points
}

// wordsOf splits a text into its words in lower case. Names with underscores count as
// their parts.
func wordsOf(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// joinWords returns the words of a text in one form, to compare it.
func joinWords(text string) string { return strings.Join(wordsOf(text), " ") }

// stem shortens a word to the part that its forms share.
func stem(word string) string {
	for _, end := range []string{"ing", "ed", "s"} {
		if rest, ok := strings.CutSuffix(word, end); ok && len(rest) >= 4 && !strings.HasSuffix(rest, "s") {
			return rest
		}
	}
	return word
}

// spacedName separates the words of a name such as createUser.
func spacedName(name string) string {
	var b strings.Builder
	for _, r := range name {
		if unicode.IsUpper(r) {
			b.WriteByte(' ')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// snippetLength is the length of a snippet in bytes, approximately.
const snippetLength = 220

// snippet returns the part of a text with the first word of the query, with all words
// marked.
func snippet(text string, wanted []string) []Part {
	spans := wordSpans(text, wanted)
	start := 0
	if len(spans) > 0 && spans[0][0] > 60 {
		start = spans[0][0] - 60
		if space := strings.IndexByte(text[start:], ' '); space >= 0 && start+space < spans[0][0] {
			start += space + 1
		}
		for !utf8.RuneStart(text[start]) {
			start++
		}
	}
	end := min(start+snippetLength, len(text))
	for end < len(text) && text[end] != ' ' {
		end++
	}
	var parts []Part
	add := func(s string, found bool) {
		if s != "" {
			parts = append(parts, Part{s, found})
		}
	}
	if start > 0 {
		add("… ", false)
	}
	at := start
	for _, span := range spans {
		if span[0] < at || span[1] > end {
			continue
		}
		add(text[at:span[0]], false)
		add(text[span[0]:span[1]], true)
		at = span[1]
	}
	add(text[at:end], false)
	if end < len(text) {
		add(" …", false)
	}
	return parts
}

// wordSpans returns the positions of the words of a text that begin with a word of the
// query.
func wordSpans(text string, wanted []string) (spans [][2]int) {
	start := -1
	for i, r := range text + " " {
		inside := unicode.IsLetter(r) || unicode.IsDigit(r)
		switch {
		case inside && start < 0:
			start = i
		case !inside && start >= 0:
			word := strings.ToLower(text[start:i])
			if slices.ContainsFunc(wanted, func(w string) bool { return strings.HasPrefix(word, w) }) {
				spans = append(spans, [2]int{start, i})
			}
			start = -1
		}
	}
	return spans
}
