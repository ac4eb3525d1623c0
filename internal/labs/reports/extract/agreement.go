package extract

import (
	"math"
	"slices"
	"strings"
)

// secondReading returns the document as the second reading saw it.
func secondReading(doc Document) (Document, bool) {
	second := Document{Pages: slices.Clone(doc.Pages)}
	any := false
	for i, p := range second.Pages {
		if p.Second != nil {
			second.Pages[i].Words, any = p.Second, true
		}
	}
	return second, any
}

// agree joins two readings of the same pages. Rows that both have with the same
// value are trusted. Rows that differ, or that only one has, need review.
func agree(a, b Result, doc Document) Result {
	out := Result{Metadata: agreeMetadata(a.Metadata, b.Metadata)}
	taken := make([]bool, len(b.Rows))
	second := map[int]bool{}
	for _, p := range doc.Pages {
		if p.Second != nil {
			second[p.Number] = true
		}
	}
	for _, row := range a.Rows {
		if !second[row.Page] {
			out.Rows = append(out.Rows, row)
			continue
		}
		best := -1
		for j, other := range b.Rows {
			if !taken[j] && other.Page == row.Page && sameRow(row, other) {
				if best < 0 || distance(row, other) < distance(row, b.Rows[best]) {
					best = j
				}
			}
		}
		if best < 0 {
			out.Rows = append(out.Rows, doubt(row, ReadOnce))
			continue
		}
		taken[best] = true
		out.Rows = append(out.Rows, joinRows(row, b.Rows[best]))
	}
	for j, row := range b.Rows {
		if !taken[j] && second[row.Page] {
			out.Rows = append(out.Rows, doubt(row, ReadOnce))
		}
	}
	slices.SortStableFunc(out.Rows, func(x, y Row) int {
		if x.Page != y.Page {
			return x.Page - y.Page
		}
		if math.Abs(x.place.Y-y.place.Y) < 0.004 {
			return int(math.Copysign(1, x.place.X-y.place.X))
		}
		return int(math.Copysign(1, x.place.Y-y.place.Y))
	})
	return out
}

func distance(a, b Row) float64 {
	return math.Abs(a.place.Y + a.place.Height/2 - b.place.Y - b.place.Height/2)
}

// sameRow reports whether two readings mean the same printed row.
func sameRow(a, b Row) bool {
	near := distance(a, b) < 0.012 && math.Abs(a.place.X-b.place.X) < 0.2
	if !near {
		return false
	}
	if normalName(a.Name) == normalName(b.Name) {
		return true
	}
	if len(a.Matches) > 0 && len(b.Matches) > 0 && a.Matches[0].Code == b.Matches[0].Code {
		return true
	}
	return distance(a, b) < 0.005
}

func doubt(row Row, reason Reason) Row {
	row.NeedsReview = true
	if !slices.Contains(row.Reasons, reason) {
		row.Reasons = append(slices.Clone(row.Reasons), reason)
	}
	return row
}

func sameText(a, b string) bool {
	fold := func(s string) string { return strings.ToLower(strings.ReplaceAll(plainSpaces(s), " ", "")) }
	return fold(a) == fold(b)
}

// joinRows joins two readings of a row. The better reading of each field wins.
func joinRows(a, b Row) Row {
	better, worse := a, b
	if weight(b) > weight(a) {
		better, worse = b, a
	}
	out := better
	out.Reasons = nil
	out.NeedsReview = false
	for _, reason := range better.Reasons {
		// Two readings that agree make up for a single unsure one.
		if reason == LowConfidence && sameText(a.Value, b.Value) && worse.Confidence >= 0.6 {
			continue
		}
		out = doubt(out, reason)
	}
	out.OtherValue = worse.Value
	if out.ValueBox == nil {
		out.ValueBox = worse.ValueBox
	}
	if !sameText(a.Value, b.Value) {
		out = doubt(out, ReadingsDisagree)
		out.Confidence = min(a.Confidence, b.Confidence) * 0.5
	}
	if normalName(a.Name) != normalName(b.Name) && (len(a.Matches) == 0 || len(b.Matches) == 0 || a.Matches[0].Code != b.Matches[0].Code) {
		out = doubt(out, ReadingsDisagree)
	}
	if out.UCUM == "" && worse.UCUM != "" {
		out.Unit, out.UCUM = worse.Unit, worse.UCUM
	}
	if a.UCUM != "" && b.UCUM != "" && a.UCUM != b.UCUM {
		out = doubt(out, ReadingsDisagree)
	}
	readable := func(r Range) bool { return r.Kind != RangeOther && r.Kind != RangeNone }
	if !readable(out.Range) && readable(worse.Range) {
		out.Range, out.Interpretation, out.AboveMax, out.BelowMin = worse.Range, worse.Interpretation, worse.AboveMax, worse.BelowMin
	}
	if readable(a.Range) && readable(b.Range) && !sameBounds(a.Range, b.Range) {
		out = doubt(out, ReadingsDisagree)
	}
	return out
}

func sameBounds(a, b Range) bool {
	same := func(x, y *float64) bool { return x == nil && y == nil || x != nil && y != nil && *x == *y }
	return same(a.Min, b.Min) && same(a.Max, b.Max) && sameText(a.Expected, b.Expected)
}

// weight ranks readings of one row: few doubts, then confidence.
func weight(r Row) float64 {
	w := r.Confidence
	for _, reason := range r.Reasons {
		if reason != LowConfidence {
			w -= 0.5
		}
	}
	if r.Status == AutoMatch {
		w += 0.3
	}
	if r.UCUM != "" {
		w += 0.2
	}
	if r.Range.Kind != RangeNone && r.Range.Kind != RangeOther {
		w += 0.2
	}
	return w
}

func agreeMetadata(a, b Metadata) Metadata {
	pick := func(x *string, y string) {
		if *x == "" {
			*x = y
		}
	}
	// A date that two readings see differently is not a fact.
	differ := func(x *string, y string) {
		if *x != "" && y != "" && *x != y {
			*x = ""
		} else {
			pick(x, y)
		}
	}
	pick(&a.FirstName, b.FirstName)
	pick(&a.LastName, b.LastName)
	pick(&a.BirthText, b.BirthText)
	pick(&a.Gender, b.Gender)
	pick(&a.Lab, b.Lab)
	pick(&a.CollectedText, b.CollectedText)
	pick(&a.ReportedText, b.ReportedText)
	pick(&a.Specimen, b.Specimen)
	if !a.SeveralPatients {
		a.Others = withoutMisread(b.Others, a)
		a.SeveralPatients = len(a.Others) > 0
	}
	differ(&a.BirthDate, b.BirthDate)
	differ(&a.CollectedDate, b.CollectedDate)
	differ(&a.ReportedDate, b.ReportedDate)
	return a
}

// Doubtful reports whether a closer look at the value of a row can help. It can help if
// the value is not readable, two readings differ, or the recogniser is unsure.
func (r *Row) Doubtful() bool {
	return r.ValueBox != nil && (slices.Contains(r.Reasons, ValueUnreadable) || slices.Contains(r.Reasons, LowConfidence) ||
		slices.Contains(r.Reasons, PrecisionDiffers) || slices.Contains(r.Reasons, ReadingsDisagree) || slices.Contains(r.Reasons, ReadOnce))
}

// Reconsider uses a third reading of a doubtful value. A number that two of three
// readings agree on replaces the value. So does any number in place of a text that cannot
// be read. A number that fits the range also replaces one that lost its point. The row
// still needs review: only the proposal gets better.
func (r *Row) Reconsider(reading string) {
	commas := commaPoint.MatchString(r.Value) || commaPoint.MatchString(r.OtherValue)
	third, ok := ParseValue(cleanNumber(reading, commas), commas)
	if !ok || third.Number == nil && third.Type != Ranged || third.Rest != "" {
		return
	}
	readable := r.Number != nil || r.Type != Comment
	switch {
	case sameText(third.Text, r.Value):
		return
	case readable && !sameText(third.Text, r.OtherValue) && !r.fitsBetter(third):
		return
	}
	r.Value, r.Type, r.Number, r.Comparator = third.Text, third.Type, third.Number, third.Comparator
	r.AboveMax, r.BelowMin = false, false
	if r.Number == nil {
		return
	}
	var computed string
	r.AboveMax, r.BelowMin, computed = compareBounds(*r.Number, r.Comparator, r.Range)
	if r.Flag == "" {
		r.Interpretation = computed
	}
	if !slices.Contains(r.Reasons, ReadingsDisagree) {
		r.Reasons = append(r.Reasons, ReadingsDisagree)
	}
	r.NeedsReview = true
}

// fitsBetter reports whether a reading has the decimals of the range and is near it, while
// the value of the row is implausible.
func (r *Row) fitsBetter(third Value) bool {
	if third.Number == nil || third.Comparator != "" || !slices.Contains(r.Reasons, Implausible) || !slices.Contains(r.Reasons, PrecisionDiffers) {
		return false
	}
	low, high := r.Range.Min, r.Range.Max
	return third.Decimals == rangeDecimals(r.Range.Text) && high != nil && *third.Number <= 4**high && (low == nil || *third.Number >= *low/4)
}
