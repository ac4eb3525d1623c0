package extract

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// cell is a run of words of one line without a wide gap.
type cell struct {
	words []Word
	x0    float64
	x1    float64
	y     float64 // the centre
	h     float64
	bold  bool
}

func newCell(words []Word) cell {
	c := cell{words: words, x0: math.Inf(1), x1: math.Inf(-1), bold: true}
	for _, w := range words {
		c.x0, c.x1 = min(c.x0, w.Box.X), max(c.x1, w.Box.X+w.Box.Width)
		c.h = max(c.h, w.Box.Height)
		c.bold = c.bold && w.Bold
		c.y += (w.Box.Y + w.Box.Height/2) / float64(len(words))
	}
	return c
}

func (c cell) text() string {
	parts := make([]string, len(c.words))
	for i, w := range c.words {
		parts[i] = w.Text
	}
	return strings.Join(parts, " ")
}

// line is all that is printed at one height of a page.
type line struct {
	cells []cell
	y     float64
	h     float64
	page  int // index of the page
	used  bool
}

func (l *line) text() string {
	parts := make([]string, len(l.cells))
	for i, c := range l.cells {
		parts[i] = c.text()
	}
	return strings.Join(parts, " ")
}

// layout is a page as lines.
type layout struct {
	lines []*line
	em    float64 // the usual size of letters
	pitch float64 // the usual distance of lines in a paragraph
}

func center(w Word) float64 { return w.Box.Y + w.Box.Height/2 }

// arrange puts a page's words into lines and cells.
func arrange(words []Word, source Source, page int) layout {
	words = slices.DeleteFunc(splitLeaders(words), func(w Word) bool {
		return strings.Trim(w.Text, " _=*.-") == "" && len(w.Text) > 3 || strings.TrimSpace(w.Text) == "" || !(w.Box.Width > 0) || !(w.Box.Height > 0) || !isFinite(w.Box)
	})
	if len(words) == 0 {
		return layout{em: 1, pitch: 1}
	}
	heights := make([]float64, len(words))
	for i, w := range words {
		heights[i] = w.Box.Height
	}
	slices.Sort(heights)
	em := heights[len(heights)/2] / 1.15
	if source == FromOCR {
		em = heights[len(heights)/2] / 0.75
	}
	if source == FromText {
		words = joinRaised(joinDecimals(words))
	}
	l := layout{em: em, pitch: em * 1.25}
	slices.SortStableFunc(words, func(a, b Word) int { return cmp.Compare(a.Box.X, b.Box.X) })
	type open struct {
		words []Word
		last  Word
	}
	var lines []*open
	for _, w := range words {
		var best *open
		distance := math.Inf(1)
		for _, o := range lines {
			d := math.Abs(center(w) - center(o.last))
			reach := 0.4 * min(max(w.Box.Height, 0.6*em), max(o.last.Box.Height, 0.6*em))
			if source == FromOCR {
				reach = 0.45 * em
			}
			if d < reach && d < distance && w.Box.X >= o.last.Box.X+o.last.Box.Width*0.5 {
				best, distance = o, d
			}
		}
		if best == nil {
			best = &open{}
			lines = append(lines, best)
		}
		best.words, best.last = append(best.words, w), w
	}
	for _, o := range lines {
		line := &line{page: page}
		start := 0
		for i := 1; i <= len(o.words); i++ {
			if i == len(o.words) || o.words[i].Box.X-(o.words[i-1].Box.X+o.words[i-1].Box.Width) > 0.75*em*sizeFactor(o.words[i], em, source) {
				line.cells = append(line.cells, newCell(o.words[start:i]))
				start = i
			}
		}
		for _, c := range line.cells {
			line.y += c.y / float64(len(line.cells))
			line.h = max(line.h, c.h)
		}
		l.lines = append(l.lines, line)
	}
	slices.SortStableFunc(l.lines, func(a, b *line) int { return cmp.Compare(a.y, b.y) })
	return l
}

// leader finds dots between a name and its value: "Glucose.........7.9".
var leader = regexp.MustCompile(`^(.*?)(\.{4,}|\.{3})([^.].*|)$`)

// splitLeaders removes dotted leaders from words. A name and a value that a leader joins
// become two words. It returns a new slice.
func splitLeaders(words []Word) []Word {
	out := make([]Word, 0, len(words))
	for _, w := range words {
		m := leader.FindStringSubmatch(w.Text)
		if m == nil || len(m[2]) == 3 && (m[1] == "" || !valueStart.MatchString(m[3])) || m[1] == "" && m[3] == "" {
			out = append(out, w)
			continue
		}
		const dot = 0.6 // the width of a dot in letters, between those of Arial and of Courier
		before, after := float64(len([]rune(m[1]))), float64(len([]rune(m[3])))
		whole := before + dot*float64(len(m[2])) + after
		for _, part := range []struct {
			text       string
			from, size float64
		}{{m[1], 0, before}, {m[3], whole - after, after}} {
			if part.text == "" {
				continue
			}
			piece := w
			piece.Text = part.text
			piece.Box.X, piece.Box.Width = w.Box.X+w.Box.Width*part.from/whole, w.Box.Width*part.size/whole
			if w.Original != nil { // it may be turned: the whole word
				original := *w.Original
				piece.Original = &original
			}
			out = append(out, piece)
		}
	}
	return out
}

// sizeFactor widens the gap between cells for letters larger than usual.
func sizeFactor(w Word, em float64, source Source) float64 {
	if source == FromOCR {
		return 1
	}
	return max(0.8, w.Box.Height/1.15/em)
}

func isFinite(b Box) bool {
	sum := b.X + b.Y + b.Width + b.Height
	return !math.IsNaN(sum) && !math.IsInf(sum, 0)
}

// decimalsPart is the second part of a number whose decimals have a font of their own.
var (
	decimalsPart = regexp.MustCompile(`^[.,]\d`)
	digitAtEnd   = regexp.MustCompile(`\d$`)
)

// joinDecimals joins "5" and ".9" if there is no blank between them. The decimals may be
// smaller, raised or lowered.
func joinDecimals(words []Word) []Word {
	out := make([]Word, 0, len(words))
	joined := make([]bool, len(words))
	for i := range words {
		if !decimalsPart.MatchString(words[i].Text) {
			continue
		}
		for j := range words {
			if i != j && !joined[j] && words[i].isDecimalsOf(words[j]) {
				words[j].append(words[i])
				joined[i] = true
				break
			}
		}
	}
	for i, w := range words {
		if !joined[i] {
			out = append(out, w)
		}
	}
	return out
}

// isDecimalsOf reports whether a word directly follows the digits of another one.
func (w Word) isDecimalsOf(base Word) bool {
	height := max(w.Box.Height, base.Box.Height)
	gap := w.Box.X - (base.Box.X + base.Box.Width)
	return digitAtEnd.MatchString(base.Text) && math.Abs(gap) < 0.12*height && math.Abs(center(w)-center(base)) < 0.6*height
}

// append adds a word to the end of another one, which keeps its height.
func (w *Word) append(end Word) {
	w.Text += end.Text
	w.Box.Width = end.Box.X + end.Box.Width - w.Box.X
	w.Confidence = min(w.Confidence, end.Confidence)
}

var footnote = regexp.MustCompile(`^[0-9A-Za-z*†‡§,]{1,4}$`)

// wholeNumber is a number that a further digit would change.
var wholeNumber = regexp.MustCompile(`^[<>]?=?[-+]?\d+(?:[.,]\d+)?$`)

// joinRaised joins raised digits to a power ("10" and "9" to "10^9") and removes
// other raised marks, which are footnotes.
func joinRaised(words []Word) []Word {
	out := make([]Word, 0, len(words))
	slices.SortStableFunc(words, func(a, b Word) int { return cmp.Compare(a.Box.X, b.Box.X) })
	removed := make([]bool, len(words))
	for i := range words {
		small := words[i]
		if removed[i] || !footnote.MatchString(small.Text) {
			continue
		}
		for j := range words {
			base := words[j]
			gap := small.Box.X - (base.Box.X + base.Box.Width)
			if i == j || removed[j] || small.Box.Height > 0.85*base.Box.Height || gap < -0.15*base.Box.Height || gap > 0.3*base.Box.Height {
				continue
			}
			raise := center(base) - center(small)
			least := 0.06 * base.Box.Height
			if small.Box.Height < 0.75*base.Box.Height && gap < 0.1*base.Box.Height {
				least = -0.25 * base.Box.Height // small and without a blank: some printers do not raise it
			}
			if raise < least || raise > 0.9*base.Box.Height {
				continue
			}
			removed[i] = true
			isDigit := strings.IndexFunc(small.Text, func(r rune) bool { return !unicode.IsDigit(r) }) < 0
			switch {
			case isDigit && strings.HasSuffix(base.Text, "10"):
				words[j].Text += "^" + small.Text
				words[j].Box.Width = small.Box.X + small.Box.Width - base.Box.X
				for k := range words { // "/L" follows
					gap := words[k].Box.X - (words[j].Box.X + words[j].Box.Width)
					if k != j && k != i && !removed[k] && strings.HasPrefix(words[k].Text, "/") && math.Abs(gap) < 0.25*base.Box.Height && math.Abs(center(words[k])-center(base)) < 0.3*base.Box.Height {
						words[j].Text += words[k].Text
						words[j].Box.Width = words[k].Box.X + words[k].Box.Width - words[j].Box.X
						removed[k] = true
						break
					}
				}
			case isDigit && (strings.HasSuffix(base.Text, "73m") || base.Text == "m" || strings.HasSuffix(base.Text, "/m")):
				words[j].Text += small.Text
				words[j].Box.Width = small.Box.X + small.Box.Width - base.Box.X
			case isDigit && raise < 0.06*base.Box.Height && wholeNumber.MatchString(base.Text): // or a digit of the number
				words[j].cut = true
			}
			break
		}
	}
	for i, w := range words {
		if !removed[i] {
			out = append(out, w)
		}
	}
	return out
}
