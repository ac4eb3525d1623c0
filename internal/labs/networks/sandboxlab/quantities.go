package sandboxlab

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/orders"
)

// measurements are the quantities of one report. They agree with each other and
// follow from the order's id.
type measurements struct {
	subject
	seed   orders.ID
	assays map[string]catalogue.Assay // of the report, by code
	codes  []string                   // the keys of assays, in the order of the report
	values quantities
	// excuses explain results that cannot be calculated.
	excuses map[string]string
	// related are the relations whose inputs are in the report. The result of
	// a hidden one is not in it, and only limits the inputs.
	related []relation
}

// maxAttempts bounds the search for values that agree.
const maxAttempts = 2000

// measure invents the quantities of a healthy person.
func measure(seed orders.ID, p subject, rows []row) *measurements {
	m := &measurements{subject: p, seed: seed, assays: map[string]catalogue.Assay{}}
	for _, r := range rows {
		if _, known := m.assays[r.code()]; !known && r.assay.Scale == catalogue.Quantity {
			m.codes = append(m.codes, r.code())
			m.assays[r.code()] = r.assay
		}
	}
	for _, r := range relations {
		if r.inputs(m.has) != nil && r.usesUnits(m.assays) {
			m.related = append(m.related, r)
		}
	}
	streams := map[string]*rand.Rand{}
	for _, code := range append(slices.Clone(m.codes), bloodStreams...) {
		streams[code] = m.stream(code)
	}
	var best quantities
	for fewest, n := math.MaxInt, 0; n < maxAttempts && fewest > 0; n++ {
		m.draw(streams)
		m.calculate()
		if v := m.violations(); v < fewest {
			fewest, best = v, m.values
		}
	}
	m.values = best
	m.calculate()
	return m
}

func (m *measurements) has(code string) bool {
	_, ok := m.assays[code]
	return ok
}

// stream returns a sequence that follows from the order and a purpose.
func (m *measurements) stream(purpose string) *rand.Rand {
	return rand.New(rand.NewPCG(hashNumber(m.seed.UUID(), purpose), 1)) //nolint:gosec // invented values
}

// position draws a place within a range, as a fraction of it, not too close to its ends.
func position(r *rand.Rand) float64 { return 0.2 + 0.6*r.Float64() }

func (m *measurements) draw(streams map[string]*rand.Rand) {
	m.values = quantities{}
	for _, code := range m.codes {
		if !m.calculated(code) {
			low, high := finiteRange(m.usualRange(code))
			m.set(code, low+(high-low)*position(streams[code]))
		}
	}
	m.drawRedCells(streams)
}

// The purposes of the streams for red cells.
const volumeStream, densityStream = "cell volume", "cell density"

var bloodCodes = []string{redCells, hematocrit, hemoglobin}

var bloodStreams = []string{volumeStream, densityStream, redCells}

// drawRedCells makes the count, volume and hemoglobin of red cells agree.
func (m *measurements) drawRedCells(streams map[string]*rand.Rand) {
	if !m.has(hemoglobin) && !m.has(hematocrit) || m.calculated(hemoglobin) {
		return
	}
	low, high := finiteRange(m.usualRange(redCells))
	count := low + (high-low)*position(streams[redCells])
	volume := 82 + 13*streams[volumeStream].Float64()      // fL
	density := 32.3 + 2.9*streams[densityStream].Float64() // g/dL
	for code, value := range map[string]float64{redCells: count, hematocrit: count * volume / 10, hemoglobin: count * volume * density / 1000} {
		if known, _ := catalogue.KnownAssay(code); m.has(code) && m.assays[code].Unit == known.Unit {
			m.set(code, value)
		}
	}
}

// set stores a value, rounded as printed.
func (m *measurements) set(code string, value float64) {
	scale := math.Pow10(m.assay(code).Decimals)
	m.values[code] = math.Round(value*scale) / scale
}

// assay returns the assay of the report or, for a hidden result, the built-in
// one.
func (m *measurements) assay(code string) catalogue.Assay {
	if a, ok := m.assays[code]; ok {
		return a
	}
	a, _ := catalogue.KnownAssay(code)
	return a
}

// calculated reports whether a result of the report is calculated from others.
func (m *measurements) calculated(code string) bool {
	return slices.ContainsFunc(m.related, func(r relation) bool { return r.code == code })
}

// dependents counts the results of the report that a value takes part in.
func (m *measurements) dependents(code string) (n int) {
	for _, r := range m.related {
		if m.has(r.code) && slices.Contains(r.inputs(m.has), code) {
			n += 1 + m.dependents(r.code)
		}
	}
	return n
}

// calculate calculates the calculated results.
func (m *measurements) calculate() {
	m.excuses = map[string]string{}
	for _, r := range relations { // some need no input, such as the excuse of a child's filtration rate
		related := slices.ContainsFunc(m.related, func(o relation) bool { return o.code == r.code })
		if r.excuse != nil && m.has(r.code) {
			if excuse := r.excuse(m.values, m.subject); excuse != "" {
				m.excuses[r.code] = excuse
				delete(m.values, r.code)
				continue
			}
		}
		if related {
			m.set(r.code, r.calculate(m.values, m.subject))
		}
	}
}

// violations counts the calculated results that a healthy person does not have.
func (m *measurements) violations() (n int) {
	for _, r := range m.related {
		v, known := m.values[r.code]
		if !known {
			continue
		}
		if math.IsNaN(v) || v < r.least || !isWithin(m.usualRange(r.code), v) {
			n++
		}
	}
	for _, code := range bloodCodes {
		if v, known := m.values[code]; known && !isWithin(m.usualRange(code), v) {
			n++
		}
	}
	return n
}

// movesOthers reports whether an unusual value changes measured results too.
func (m *measurements) movesOthers(code string) bool {
	if code == triglycerides {
		return m.has(cholesterol)
	}
	return slices.Contains(bloodCodes, code) && slices.ContainsFunc(bloodCodes, func(other string) bool { return other != code && m.has(other) })
}

func isWithin(r catalogue.Range, v float64) bool {
	return (r.Low == nil || v >= *r.Low) && (r.High == nil || v <= *r.High)
}

// usualRange returns the range of healthy values. A person without a reference
// range, such as one of unknown sex, has the values that suit both sexes, or
// those of a similar person.
func (m *measurements) usualRange(code string) catalogue.Range {
	a := m.assay(code)
	if r, ok := a.RangeFor(m.sex, m.age); ok {
		return r
	}
	female, ok := a.RangeFor("female", m.age)
	male, okay := a.RangeFor("male", m.age)
	switch {
	case ok && okay:
		both := catalogue.Range{Low: higherOf(female.Low, male.Low), High: lowerOf(female.High, male.High)}
		if both.Low == nil || both.High == nil || *both.Low < *both.High {
			return both
		}
		return female
	case ok:
		return female
	case okay:
		return male
	case len(a.Ranges) > 0:
		i := slices.IndexFunc(a.Ranges, func(r catalogue.Range) bool { return r.Sex == "" || r.Sex == m.sex })
		return a.Ranges[max(i, 0)]
	}
	return catalogue.Range{}
}

func higherOf(a, b *float64) *float64 {
	if a == nil || b != nil && *b > *a {
		return b
	}
	return a
}

func lowerOf(a, b *float64) *float64 {
	if a == nil || b != nil && *b < *a {
		return b
	}
	return a
}

// finiteRange makes both ends of a range finite.
func finiteRange(r catalogue.Range) (low, high float64) {
	switch {
	case r.Low != nil && r.High != nil:
		return *r.Low, *r.High
	case r.High != nil:
		return 0, *r.High
	case r.Low != nil:
		return *r.Low, max(*r.Low*2, 1)
	}
	return 1, 10
}

// unusual gives a result a value beyond its range, or at its critical limit.
// The results calculated from it follow, and so do the other results that can
// only change with it. A value that would make another one impossible moves
// closer to its range.
func (m *measurements) unusual(code string, as orders.Interpretation) {
	before, value := m.values, m.unusualValue(code, as)
	r := m.usualRange(code)
	for range 10 {
		m.values = maps.Clone(before)
		m.change(code, value)
		if m.isPossible() {
			return
		}
		switch {
		case r.High != nil && value > *r.High:
			value = (value + *r.High) / 2
		case r.Low != nil:
			value = (value + *r.Low) / 2
		}
	}
}

// change sets a measured value, and the values that can only change with it.
func (m *measurements) change(code string, value float64) {
	before := m.values[code]
	m.set(code, value)
	switch {
	case slices.Contains(bloodCodes, code) && before > 0:
		for _, other := range bloodCodes {
			if v, known := m.values[other]; known && other != code {
				m.set(other, v*m.values[code]/before)
			}
		}
	case code == triglycerides && m.values[code] >= maxFriedewald && m.has(cholesterol): // triglycerides carry cholesterol
		m.set(cholesterol, m.values[cholesterol]+m.values[code]/8)
	}
	m.calculate()
}

// isPossible reports whether no value is negative and no part is more than its
// whole.
func (m *measurements) isPossible() bool {
	for code, v := range m.values {
		if v < 0 || v > 100 && slices.Contains([]string{freePSAPercent, freeTPercent, saturation, neutrophils}, code) {
			return false
		}
	}
	return true
}

func (m *measurements) unusualValue(code string, as orders.Interpretation) float64 {
	a, r, value := m.assay(code), m.usualRange(code), m.values[code]
	low, high := finiteRange(r)
	f := position(m.stream(code + " unusual"))
	step := math.Pow10(-a.Decimals)
	switch {
	case len(a.Ranges) == 0 && a.CriticalHigh == nil && a.CriticalLow == nil:
		return value
	case as == orders.Critical && a.CriticalHigh != nil:
		return *a.CriticalHigh + max(*a.CriticalHigh*f/10, step)
	case as == orders.Critical && a.CriticalLow != nil:
		return *a.CriticalLow - max(*a.CriticalLow*f/10, step)
	case as == orders.Critical && r.High != nil:
		return *r.High + 2*(high-low) + step
	case as == orders.Critical && r.Low != nil:
		return min(*r.Low*0.3, *r.Low-step)
	case r.High != nil:
		beyond := *r.High + max((high-low)*f/4, step)
		if a.CriticalHigh != nil && beyond >= *a.CriticalHigh {
			beyond = (*r.High + *a.CriticalHigh) / 2
		}
		return beyond
	case r.Low != nil:
		beyond := *r.Low - max((high-low)*f/4, step)
		if a.CriticalLow != nil && beyond <= *a.CriticalLow {
			beyond = (*r.Low + *a.CriticalLow) / 2
		}
		return max(beyond, 0)
	}
	return value
}

// correct changes one measured value and the values that are calculated from it. It
// changes the unusual value only if the report has no other, and never the missing one.
// It returns the code of the value, or "" if none can change.
func (m *measurements) correct(unusual, missing string) string {
	var candidates []string
	for _, code := range m.codes {
		if !m.calculated(code) && m.excuses[code] == "" && code != unusual && code != missing {
			candidates = append(candidates, code)
		}
	}
	if _, measured := m.values[unusual]; len(candidates) == 0 && measured && unusual != missing {
		candidates = []string{unusual}
	}
	from := int(hashNumber(m.seed.UUID(), "corrected") % uint64(max(len(candidates), 1)))
	candidates = append(candidates[from:len(candidates):len(candidates)], candidates[:from]...)
	slices.SortStableFunc(candidates, func(a, b string) int { return m.dependents(a) - m.dependents(b) })
	before, wrong := m.values, m.violations()
	for _, code := range candidates {
		low, high := finiteRange(m.usualRange(code))
		stream := m.stream(code + " corrected")
		for range 200 {
			m.values = maps.Clone(before)
			if code == unusual { // an unusual value stays unusual
				m.set(code, before[code]*(1+0.02*(1+2*stream.Float64())))
			} else {
				m.set(code, low+(high-low)*position(stream))
			}
			m.calculate()
			if m.values[code] != before[code] && m.violations() <= wrong && m.isPossible() {
				return code
			}
		}
	}
	m.values = before
	m.calculate()
	return ""
}
