package extract

import "slices"

// Doubtful reports whether a closer look at the value of a row can help. It can help if
// the value is not readable, two readings differ, or the recogniser is unsure.
func (r *Row) Doubtful() bool {
	return r.ValueBox != nil && (slices.Contains(r.Reasons, ValueUnreadable) || slices.Contains(r.Reasons, LowConfidence) ||
		slices.Contains(r.Reasons, PrecisionDiffers) || slices.Contains(r.Reasons, ReadingsDisagree) || slices.Contains(r.Reasons, ReadOnce))
}

// Reconsider takes a third reading of a doubtful value. A number that two of three
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
