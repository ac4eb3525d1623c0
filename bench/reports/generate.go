package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"
)

// report is one report before it is laid out.
type report struct {
	truth
	random   *rand.Rand
	sections []section
	birth    time.Time
	drawn    time.Time
	reported time.Time
	male     bool
}

type section struct {
	panel
	rows []row
}

// row is one printed result.
type row struct {
	analyte analyte
	name    string
	value   string
	unit    string
	rng     string // the range as printed
	flag    string // H, L, A or empty
	truth   *truthRow
	earlier string // an older value, or empty
}

var (
	firstNames = []string{"Mara", "Jonas", "Priya", "Owen", "Lucia", "Tomas", "Ingrid", "Felix", "Amara", "Dmitri", "Noor", "Callum", "Sofia", "Hugo", "Leila", "Marcus"}
	lastNames  = []string{"Quillfeather", "Brackenridge", "Osterhaus", "Vantongeren", "Applewhite", "Szymborski", "Oyelaran", "Thistlewood", "Carrasquillo", "Finnegan", "Lindqvist", "Okonjo", "Marchetti", "Ravensdale"}
	labNames   = []string{"Northwind Diagnostics Laboratory", "Cedar Valley Regional Laboratory", "Meridian Clinical Laboratories", "St. Brannoc Hospital Pathology", "Blue Heron Medical Laboratory", "Sunrise Path Labs", "Kestrel Pathology Services"}
)

func newReport(id, family string, seed uint64, panels []panel) *report {
	r := &report{random: rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15))}
	r.ID, r.Family = id, family
	r.male = r.random.IntN(2) == 0
	m := &r.Metadata
	m.FirstName, m.LastName, m.Lab = pick(r, firstNames), pick(r, lastNames), pick(r, labNames)
	m.Gender = "female"
	if r.male {
		m.Gender = "male"
	}
	r.birth = time.Date(1940+r.random.IntN(60), time.Month(1+r.random.IntN(12)), 1+r.random.IntN(28), 0, 0, 0, 0, time.UTC)
	r.drawn = time.Date(2023+r.random.IntN(3), time.Month(1+r.random.IntN(12)), 1+r.random.IntN(28), 7+r.random.IntN(9), r.random.IntN(60), 0, 0, time.UTC)
	r.reported = r.drawn.AddDate(0, 0, 1+r.random.IntN(4))
	m.BirthDate, m.Collected, m.Reported = r.birth.Format(time.DateOnly), r.drawn.Format(time.DateOnly), r.reported.Format(time.DateOnly)
	m.Specimen = fmt.Sprintf("%c%c%07d", 'A'+rune(r.random.IntN(26)), 'A'+rune(r.random.IntN(26)), r.random.IntN(10_000_000))
	for _, p := range panels {
		r.sections = append(r.sections, r.section(p))
	}
	return r
}

func pick[T any](r *report, list []T) T { return list[r.random.IntN(len(list))] }

// section picks about 85 % of a panel's rows and gives them values.
func (r *report) section(p panel) section {
	s := section{panel: p}
	style := r.random.IntN(100)
	for _, a := range p.rows {
		if r.random.IntN(100) < 15 {
			continue
		}
		row := r.row(a, style)
		row.truth.Panel = p.name
		s.rows = append(s.rows, row)
	}
	return s
}

func (r *report) row(a analyte, style int) row {
	out := row{analyte: a, name: a.names[style%len(a.names)]}
	if len(a.units) > 0 {
		out.unit = a.units[style%len(a.units)]
	}
	t := &truthRow{Name: out.name, Unit: out.unit, LOINC: a.loinc}
	out.truth = t
	low, high := a.low, a.high
	abnormal := r.random.IntN(100) < 22
	switch a.kind {
	case "words":
		out.rng, t.Expected = a.expected, a.expected
		out.value = a.expected
		if abnormal {
			out.value = pick(r, a.others)
			if out.value != a.expected {
				out.flag = "A"
			}
		}
		t.Value, t.Flag = out.value, out.flag
		out.earlier = a.expected
		return out
	case "titre":
		out.rng, t.Expected = a.expected, a.expected
		out.value = pick(r, []string{"<1:40", "1:80", "1:160", "1:320"})
		if out.value != "<1:40" {
			out.flag = "A"
		}
		t.Value, t.Flag = out.value, out.flag
		return out
	case "count":
		out.rng = a.expected
		low, high := cutRange(a.expected)
		t.Min, t.Max = &low, &high
		out.value = pick(r, []string{"0-2", "None seen", "0-2", "3", "1"})
		if abnormal {
			out.value, out.flag = pick(r, []string{"10-20", "20", "6-10"}), "H"
		} else if out.value == "3" && high < 3 {
			out.value = "2"
		}
		t.Value, t.Flag = out.value, out.flag
		return out
	}
	if a.kind == "sexed" && !r.male {
		low, high = a.female[0], a.female[1]
	}
	number, flag := r.number(a, low, high, abnormal)
	out.value, out.flag = number, flag
	previous, _ := r.number(a, low, high, false)
	out.earlier = previous
	f := func(v float64) string { return strconv.FormatFloat(v, 'f', a.decimals, 64) }
	switch a.kind {
	case "<", "<=", "upto":
		t.Max = &high
		out.rng = map[string]string{"<": "<" + f(high), "<=": "<=" + f(high), "upto": f(high)}[a.kind]
		if a.kind == "upto" {
			t.Min = &low
			out.rng = f(low) + "-" + f(high)
		}
	case ">", ">=":
		t.Min = &low
		out.rng = a.kind + f(low)
	case "bands":
		if low != 0 {
			t.Min = &low
		}
		t.Max = &high
		switch {
		case t.Min == nil:
			out.rng = "<" + f(high)
		default:
			out.rng = f(low) + "-" + f(high)
		}
	default:
		t.Min, t.Max = &low, &high
		out.rng = f(low) + "-" + f(high)
	}
	t.Value, t.Flag = out.value, out.flag
	return out
}

// number makes a value inside or outside of the range, and its flag.
func (r *report) number(a analyte, low, high float64, abnormal bool) (string, string) {
	f := func(v float64) string { return strconv.FormatFloat(v, 'f', a.decimals, 64) }
	span := high - low
	if a.kind == ">" || a.kind == ">=" {
		span = low
		high = low * 2
	}
	step := math.Pow(10, -float64(a.decimals))
	inside := low + step*2 + r.random.Float64()*max(0, span-step*4)
	if low == 0 && high > 0 && a.kind != "" {
		inside = high * (0.3 + 0.6*r.random.Float64())
	}
	if !abnormal {
		return f(inside), ""
	}
	up := r.random.IntN(3) > 0
	switch a.kind {
	case "<", "<=":
		up = true
	case ">", ">=":
		up = false
	case "bands":
		up = low == 0 || up
	}
	if up {
		v := high + max(step*2, (high-low)*(0.05+0.6*r.random.Float64()))
		return f(v), "H"
	}
	v := low - max(step*2, min(low, span)*(0.05+0.4*r.random.Float64()))
	if v <= 0 || low == 0 {
		return f(inside), ""
	}
	return f(v), "L"
}

func cutRange(text string) (float64, float64) {
	a, b, _ := strings.Cut(text, "-")
	low, _ := strconv.ParseFloat(a, 64)
	high, _ := strconv.ParseFloat(b, 64)
	return low, high
}

func (r *report) age() int { return int(r.drawn.Sub(r.birth).Hours() / 24 / 365.25) }

func (r *report) sexLetter() string {
	if r.male {
		return "M"
	}
	return "F"
}

func (r *report) sexWord() string {
	if r.male {
		return "Male"
	}
	return "Female"
}

// finish collects the truth of all rows after the layout is done with them.
func (r *report) finish() truth {
	r.Rows = nil
	for _, s := range r.sections {
		for _, row := range s.rows {
			r.Rows = append(r.Rows, *row.truth)
		}
	}
	return r.truth
}
