package sandboxlab

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/networks"
	"hale/internal/labs/orders"
)

// report holds the values of a report by LOINC code.
type report struct {
	who    subject
	rows   map[string]row
	values map[string]float64
}

func reportOf(who subject, rows []row) report {
	r := report{who, map[string]row{}, map[string]float64{}}
	for _, one := range rows {
		r.rows[one.expected.LOINC] = one
		if v, err := strconv.ParseFloat(one.value, 64); err == nil && !one.missing && one.kind == "numeric" {
			r.values[one.expected.LOINC] = v
		}
	}
	return r
}

// agree checks a calculated result, which is rounded to its decimals.
func (r report) agree(t interface{ Errorf(string, ...any) }, code string, inputs []string, calculate func(in []float64) float64) {
	got, reported := r.values[code]
	if !reported {
		return
	}
	var in []float64
	for _, one := range inputs {
		v, ok := r.values[one]
		if !ok {
			return
		}
		in = append(in, v)
	}
	want := calculate(in)
	if tolerance := 0.501 * math.Pow10(-r.rows[code].assay.Decimals); math.IsNaN(want) || math.Abs(got-want) > tolerance {
		t.Errorf("%s (%s) is %v, and follows from %v as %v (%s, %d)", r.rows[code].expected.Name, code, got, in, want, r.who.sex, r.who.age)
	}
}

// check checks the relations that a reader of a report knows.
func (r report) check(t interface{ Errorf(string, ...any) }) {
	list := func(codes ...string) []string { return codes }
	r.agree(t, "98979-8", list("2160-0"), func(in []float64) float64 { return ckdEPI(in[0], r.who) })
	r.agree(t, "3097-3", list("3094-0", "2160-0"), func(in []float64) float64 { return in[0] / in[1] })
	r.agree(t, "33037-3", list("2951-2", "2075-0", "2028-9"), func(in []float64) float64 { return in[0] - in[1] - in[2] })
	r.agree(t, "10834-0", list("2885-2", "1751-7"), func(in []float64) float64 { return in[0] - in[1] })
	r.agree(t, "1759-0", list("1751-7", "10834-0"), func(in []float64) float64 { return in[0] / in[1] })
	r.agree(t, "1971-1", list("1975-2", "1968-7"), func(in []float64) float64 { return in[0] - in[1] })
	r.agree(t, "13458-5", list("2571-8"), func(in []float64) float64 { return in[0] / 5 })
	r.agree(t, "13457-7", list("2093-3", "2085-9", "2571-8"), func(in []float64) float64 { return in[0] - in[1] - in[2]/5 })
	r.agree(t, "43396-1", list("2093-3", "2085-9"), func(in []float64) float64 { return in[0] - in[1] })
	r.agree(t, "9830-1", list("2093-3", "2085-9"), func(in []float64) float64 { return in[0] / in[1] })
	r.agree(t, "27353-2", list("4548-4"), func(in []float64) float64 { return 28.7*in[0] - 46.7 })
	r.agree(t, "787-2", list("4544-3", "789-8"), func(in []float64) float64 { return 10 * in[0] / in[1] })
	r.agree(t, "785-6", list("718-7", "789-8"), func(in []float64) float64 { return 10 * in[0] / in[1] })
	r.agree(t, "786-4", list("718-7", "4544-3"), func(in []float64) float64 { return 100 * in[0] / in[1] })
	for absolute, percent := range map[string]string{"751-8": "770-8", "731-0": "736-9", "742-7": "5905-5", "711-2": "713-8", "704-7": "706-2", "53115-2": "71695-1"} {
		r.agree(t, absolute, list("6690-2", percent), func(in []float64) float64 { return in[0] * in[1] / 100 })
	}
	r.agree(t, "32215-6", list("3026-2", "3050-2"), func(in []float64) float64 { return in[0] * in[1] / 100 })
	r.agree(t, "2501-5", list("2500-7", "2498-4"), func(in []float64) float64 { return in[0] - in[1] })
	r.agree(t, "2502-3", list("2498-4", "2500-7"), func(in []float64) float64 { return 100 * in[0] / in[1] })
	r.agree(t, "15432-8", list("2991-8", "2986-8"), func(in []float64) float64 { return 100 * in[0] / (10 * in[1]) })
	r.agree(t, "12841-3", list("10886-0", "2857-1"), func(in []float64) float64 { return 100 * in[0] / in[1] })
	r.agree(t, "14959-1", list("14957-5", "2161-8"), func(in []float64) float64 { return 100 * in[0] / in[1] })
	r.agree(t, "6301-6", list("5902-2"), func(in []float64) float64 { return in[0] / 10.5 })
	r.agree(t, "1558-6", list("2345-7"), func(in []float64) float64 { return in[0] })

	parts, whole := 0.0, true
	for _, code := range list("770-8", "736-9", "5905-5", "713-8", "706-2") {
		v, ok := r.values[code]
		parts, whole = parts+v, whole && ok
	}
	if whole && parts+r.values["71695-1"] != 100 {
		t.Errorf("the differential adds up to %v %%", parts+r.values["71695-1"])
	}
	for _, pair := range []struct {
		part, whole string
		factor      float64 // from the part's unit to the whole's
	}{
		{"1968-7", "1975-2", 1},
		{"10886-0", "2857-1", 1},
		{"2991-8", "2986-8", 0.1},
		{"2990-0", "2986-8", 1},
		{"3024-7", "3026-2", 0.001},
		{"3051-0", "3053-6", 0.1},
		{"2498-4", "2500-7", 1},
		{"2085-9", "2093-3", 1},
		{"1751-7", "2885-2", 1},
	} {
		part, ok := r.values[pair.part]
		all, okay := r.values[pair.whole]
		if ok && okay && part*pair.factor > all {
			t.Errorf("%s is %v, more than %s of %v", r.rows[pair.part].expected.Name, part, r.rows[pair.whole].expected.Name, all)
		}
	}
	for code, v := range r.values {
		if v < 0 || math.IsNaN(v) || math.IsInf(v, 0) {
			t.Errorf("%s is %v", r.rows[code].expected.Name, v)
		}
	}
}

// ckdEPI returns the estimated filtration rate by the equation of 2021, as published. scr
// is the creatinine in mg/dL.
func ckdEPI(scr float64, who subject) float64 {
	if who.sex == "female" {
		if scr <= 0.7 {
			return 143.704 * math.Pow(scr/0.7, -0.241) * math.Pow(0.9938, float64(who.age))
		}
		return 143.704 * math.Pow(scr/0.7, -1.2) * math.Pow(0.9938, float64(who.age))
	}
	if scr <= 0.9 {
		return 142 * math.Pow(scr/0.9, -0.302) * math.Pow(0.9938, float64(who.age))
	}
	return 142 * math.Pow(scr/0.9, -1.2) * math.Pow(0.9938, float64(who.age))
}

// rowsOf returns the empty rows of a report on markers.
func rowsOf(markers ...*catalogue.Marker) (all []row) {
	for i, m := range markers {
		for _, r := range m.Results {
			all = append(all, row{test: i, expected: networks.ExpectedResult{ProviderID: r.ProviderID, Name: r.Name, Slug: r.Slug, LOINC: r.LOINC}, assay: r.Assay})
		}
	}
	return all
}

func drawSubject(t *rapid.T) subject {
	return subject{rapid.SampledFrom([]string{"female", "male", "other", "unknown"}).Draw(t, "sex"), rapid.IntRange(0, 110).Draw(t, "age")}
}

// The test uses every marker of the built-in catalogue and any patient. Every
// known relation holds, and healthy values are within their ranges. All values
// have the type of the catalogue.
func TestRelationsOfTheCatalogue(t *testing.T) {
	markers := catalogue.BuiltIn().Markers(catalogue.MarkerFilter{})
	if len(markers) < 500 {
		t.Fatalf("%d markers", len(markers))
	}
	seen := map[string]bool{}
	markers = slices.DeleteFunc(markers, func(m *catalogue.Marker) bool { // labs offer the same panels
		key := ""
		for _, r := range m.Results {
			key += r.LOINC + " "
		}
		again := seen[key]
		seen[key] = true
		return again
	})
	rapid.Check(t, func(t *rapid.T) {
		who, seed := drawSubject(t), drawSeed(t)
		for _, m := range markers {
			rows := invent(seed, who, rowsOf(m), Outcome{})
			checkHealthy(t, m.Name, reportOf(who, rows))
		}
	})
}

func drawSeed(t *rapid.T) (id orders.ID) {
	copy(id[:], rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "seed"))
	return id
}

func checkHealthy(t interface{ Errorf(string, ...any) }, name string, r report) {
	r.check(t)
	for _, one := range r.rows {
		if one.flag != "" {
			t.Errorf("%s: %s of a healthy person is %s (%s): %s, %d", name, one.expected.Name, one.value, one.flag, r.who.sex, r.who.age)
		}
		if one.kind == "comment" && one.expected.LOINC != "98979-8" || one.kind == "range" {
			t.Errorf("%s: %s is a %s", name, one.expected.Name, one.kind)
		}
	}
}

// In orders of several markers, with any outcome, every relation is valid in each report.
// A correction changes one value and the values that follow from it.
func TestRelationsOfOrders(t *testing.T) {
	all := catalogue.BuiltIn().Markers(catalogue.MarkerFilter{})
	byLab := map[catalogue.LabID][]*catalogue.Marker{}
	for _, m := range all {
		byLab[m.Lab] = append(byLab[m.Lab], m)
	}
	var labs []catalogue.LabID
	for _, l := range catalogue.BuiltIn().Labs() {
		if len(byLab[l.ID]) > 0 {
			labs = append(labs, l.ID)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		who, seed := drawSubject(t), drawSeed(t)
		markers := rapid.SliceOfN(rapid.SampledFrom(byLab[rapid.SampledFrom(labs).Draw(t, "lab")]), 1, 8).Draw(t, "markers")
		out := Outcome{
			Interpretation: rapid.SampledFrom([]orders.Interpretation{"", orders.Normal, orders.Abnormal, orders.Critical, orders.Unknown}).Draw(t, "outcome"),
			Missing:        rapid.Bool().Draw(t, "missing"),
		}
		name := fmt.Sprint(len(markers), " markers of ", markers[0].Name)
		final := reportOf(who, invent(seed, who, rowsOf(markers...), out))
		final.check(t)
		if out.Interpretation == "" || out.Interpretation == orders.Normal {
			checkHealthy(t, name, final)
		}
		checkOutcome(t, name, out.Interpretation, final)
		partial := out
		partial.Partial = true
		first := reportOf(who, invent(seed, who, rowsOf(markers...), partial))
		first.check(t)
		for code, v := range first.values {
			if later, ok := final.values[code]; ok && later != v {
				t.Errorf("%s: %s is %v, and %v in the final report", name, code, v, later)
			}
		}
		out.Corrected = true
		corrected := reportOf(who, invent(seed, who, rowsOf(markers...), out))
		corrected.check(t)
		checkCorrection(t, name, final, corrected)
	})
}

// checkOutcome checks that a report is as bad as requested, and not worse.
func checkOutcome(t interface{ Errorf(string, ...any) }, name string, as orders.Interpretation, r report) {
	flagged, critical, odd := 0, 0, false
	for _, one := range r.rows {
		if one.flag != "" {
			flagged++
		}
		if slices.Contains([]string{"HH", "LL", "AA"}, one.flag) {
			critical++
		}
		odd = odd || !one.missing
	}
	if !odd {
		return // the only result is missing
	}
	switch {
	case as == orders.Abnormal && (flagged == 0 || critical > 0), as == orders.Critical && critical == 0, as == orders.Unknown && flagged != 1:
		t.Errorf("%s: requested %s, and %d results are flagged, %d as critical: %s, %d", name, as, flagged, critical, r.who.sex, r.who.age)
	}
}

// checkCorrection checks that one measured value changed.
func checkCorrection(t interface{ Errorf(string, ...any) }, name string, before, after report) {
	calculated := map[string]bool{}
	for _, r := range relations {
		if r.inputs(func(code string) bool { _, ok := after.rows[code]; return ok }) != nil {
			calculated[r.code] = true
		}
	}
	measured, others, changed := 0, 0, 0
	for code, v := range after.values {
		if !calculated[code] {
			others++
		}
		if was, ok := before.values[code]; ok && was != v {
			changed++
			if !calculated[code] {
				measured++
			}
			if after.rows[code].note == "" {
				t.Errorf("%s: %s was corrected without a note", name, code)
			}
		}
	}
	if others > 1 && measured != 1 {
		t.Errorf("%s: a correction changes %d of %d measured values, and %d in all", name, measured, others, changed)
	}
}
