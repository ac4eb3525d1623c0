package results

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/hl7"
	"hale/internal/labs/networks"
	"hale/internal/labs/orders"
	"hale/internal/labs/results/refrange"
	"hale/internal/platform/civil"
)

func TestParseValue(t *testing.T) {
	for _, c := range []struct {
		text string
		said Type
		want string
	}{
		{"5.4", "", "numeric 5.4 5.4"},
		{" 5 ", "", "numeric 5 5"},
		{"-1.5", "", "numeric -1.5 -1.5"},
		{".69", "", "numeric .69 0.69"},
		{"+3", "", "numeric 3 3"},
		{"1,234", "", "numeric 1234 1234"},
		{"1e3", Numeric, "numeric 1e3 1000"},
		{"5,4", "", "comment 5,4 -1"},
		{"0,123", "", "comment 0,123 -1"},
		{"<5,4", "", "comment <5,4 -1"},
		{"<1,000", "", "range <1000 -1"},
		{"<5", "", "range <5 -1"},
		{"≤ 5", "", "range <=5 -1"},
		{"> 2000", Numeric, "range >2000 -1"},
		{"10-20", "", "range 10-20 -1"},
		{"0 - 2", Range, "range 0-2 -1"},
		{"20-10", "", "comment 20-10 -1"},
		{"<", "", "comment < -1"},
		{"-", "", "comment - -1"},
		{"Negative", "", "comment Negative -1"},
		{"5", Comment, "comment 5 -1"},
		{"Not detected", Coded, "coded_value NOT_DETECTED -1"},
		{"NOT_DETECTED", Coded, "coded_value NOT_DETECTED -1"},
		{"1:80", Coded, "comment 1:80 -1"},
		{"—", Coded, "comment — -1"},
		{strings.Repeat("a ", 60), Coded, "comment " + strings.TrimSpace(strings.Repeat("a ", 60)) + " -1"},
		{"9e999", "", "comment 9e999 -1"},
	} {
		v := parseValue(c.text, c.said)
		number := -1.0
		if v.number != nil {
			number = *v.number
		}
		if got := fmt.Sprintf("%s %s %v", v.kind, v.text, number); got != c.want {
			t.Errorf("%q: %s, want %s", c.text, got, c.want)
		}
	}
}

// A parsed text always has the form that its type promises.
func TestParseValueForms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringMatching(`[<>=≤≥ ]{0,2}[0-9.,-]{0,8}( ?- ?[0-9.]{0,4})?`)).Draw(t, "text")
		v := parseValue(text, rapid.SampledFrom([]Type{"", Numeric, Range, Comment, Coded}).Draw(t, "said"))
		switch v.kind {
		case Numeric:
			if v.number == nil || v.span == nil || !decimalPattern.MatchString(v.text) {
				t.Fatalf("%q: %+v", text, v)
			}
		case Range:
			if v.number != nil || v.span == nil || !limitPattern.MatchString(v.text) && !intervalPattern.MatchString(v.text) {
				t.Fatalf("%q: %+v", text, v)
			}
		case Coded:
			if !constantPattern.MatchString(v.text) {
				t.Fatalf("%q: %+v", text, v)
			}
		case Comment:
			if v.text != strings.TrimSpace(text) {
				t.Fatalf("%q: %+v", text, v)
			}
		}
	})
}

func ptr[T any](v T) *T { return &v }

// hemoglobin has a range for each sex and critical limits.
var hemoglobin = catalogue.Assay{
	Scale: catalogue.Quantity, Unit: "g/dL", CriticalLow: ptr(7.0), CriticalHigh: ptr(20.0),
	Ranges: []catalogue.Range{{Sex: "female", MinAge: 18, Low: ptr(11.1), High: ptr(15.9)}, {Sex: "male", MinAge: 18, Low: ptr(13.0), High: ptr(17.7)}},
}

func panel(sex string) *expectations {
	m := &catalogue.Marker{ID: 7, Name: "Panel", Slug: "panel", ProviderID: "T1", Results: []catalogue.Result{
		{Name: "Hemoglobin", Slug: "hemoglobin", ProviderID: "HGB", LOINC: "718-7", Required: true, Assay: hemoglobin},
		{Name: "Nitrite", Slug: "nitrite", ProviderID: "NIT", Assay: catalogue.Assay{Scale: catalogue.Ordinal, Normal: []string{"Negative"}, Abnormal: []string{"Positive"}}},
	}}
	other := &catalogue.Marker{ID: 8, Name: "Blood count", Slug: "blood-count", ProviderID: "T2", Results: m.Results[:1]}
	return &expectations{
		order:   &orders.Order{CreatedAt: day, Body: orders.Body{Patient: &orders.Patient{BirthDate: civil.MustParse("1984-12-10"), Gender: sex}}},
		ordered: []*catalogue.Marker{m, other}, all: []*catalogue.Marker{m, other}, lab: catalogue.Lab{Slug: "quest"},
	}
}

func TestInterpretation(t *testing.T) {
	side := func(b *bool) string {
		if b == nil {
			return "?"
		}
		return map[bool]string{true: "yes", false: "no"}[*b]
	}
	for _, c := range []struct {
		name, sex                           string
		code, value, unit, rng, flag, wants string
	}{
		{"the flag counts", "female", "HGB", "12", "g/dL", "11-15", "H", "abnormal above no below no report high_or_low_inside_range"},
		{"a critical flag as value", "female", "HGB", "CRITICAL LOW", "g/dL", "11-15", "", "critical above no below yes report"},
		{"a comparison in words", "female", "HGB", "less than 6", "g/dL", "11-15", "", "critical above no below yes report"},
		{"words that deny a critical value", "female", "HGB", "not critical", "g/dL", "11-15", "", "unknown above ? below ? report"},
		{"a critical flag", "female", "HGB", "12", "g/dL", "", "HH", "critical above no below no catalogue"},
		{"a flag in words", "female", "X", "12", "", "", "(High)", "abnormal above yes below no"},
		{"beyond the critical limit", "female", "HGB", "6.9", "g/dL", "11-15", "L", "critical above no below yes report"},
		{"at the critical limit", "female", "HGB", "7", "g/dL", "", "", "critical above no below yes catalogue"},
		{"critical in another unit", "female", "HGB", "65", "g/L", "", "N", "critical above ? below ? normal_beyond_critical_limit"},
		{"normal in another unit", "female", "HGB", "120", "g/L", "", "N", "normal above ? below ?"},
		{"critical in another unit is not known", "female", "HGB", "7", "mmol/L", "", "", "unknown above ? below ?"},
		{"no unit, flagged", "female", "HGB", "12", "", "", "N", "normal above ? below ?"},
		{"no unit, flagged, beyond the limit", "female", "HGB", "6", "", "", "N", "unknown above ? below ?"},
		{"no unit", "female", "HGB", "6", "", "", "", "unknown above ? below ?"},
		{"inside the lab's range in another unit", "female", "HGB", "120", "g/L", "111-159", "", "normal above no below no report"},
		{"critical inside one end of the lab's range in another unit", "female", "HGB", "65", "g/L", "<160", "N", "critical above no below no report normal_beyond_critical_limit"},
		{"no critical limits, another unit", "female", "X", "120", "g/L", "", "", "normal above ? below ?"},
		{"perhaps critical", "female", "HGB", "<8", "g/dL", "", "N", "unknown above no below yes catalogue"},
		{"normal, below the usual range", "female", "HGB", "11", "g/dL", "", "N", "normal above no below yes catalogue"},
		{"normal, below the lab's range", "female", "HGB", "11", "g/dL", "12-15", "N", "abnormal above no below yes report normal_outside_range"},
		{"normal, above the lab's range", "female", "X", "99", "", "1-5", "(normal)", "abnormal above yes below no report normal_outside_range"},
		{"normal, perhaps outside", "female", "X", ">4", "", "1-5", "N", "normal above ? below no report"},
		{"normal, beyond the critical limit", "female", "HGB", "6", "g/dL", "", "N", "critical above no below yes catalogue normal_beyond_critical_limit"},
		{"normal, beyond limit and range", "female", "HGB", "6", "g/dL", "11-15", "N", "critical above no below yes report normal_beyond_critical_limit"},
		{"normal, the contrary in words", "female", "X", "Detected", "", "Not Detected", "N", "abnormal above ? below ? normal_outside_range"},
		{"high inside the range", "female", "X", "3", "", "1-5", "H", "abnormal above no below no report high_or_low_inside_range"},
		{"high below the range", "female", "X", "0", "", "1-5", "H", "abnormal above no below yes report high_or_low_on_the_other_side"},
		{"critical inside the range", "female", "X", "3", "", "1-5", "LL", "critical above no below no report high_or_low_inside_range"},
		{"her range", "female", "HGB", "12.5", "g/dL", "", "", "normal above no below no catalogue"},
		{"his range", "male", "HGB", "12.5", "g/dL", "", "", "abnormal above no below yes catalogue"},
		{"a range without an owner", "other", "HGB", "12.5", "g/dL", "", "", "normal above ? below ?"},
		{"printed for each sex", "male", "HGB", "13.2", "g/dL", "M: 13.5-17.5 F: 12.0-15.5", "", "abnormal above no below yes report"},
		{"printed for others", "other", "HGB", "13.2", "g/dL", "M: 13.5-17.5 F: 12.0-15.5", "", "unknown above ? below ?"},
		{"less than can be measured", "female", "X", "<5", "", "0-10", "", "unknown above no below ? report"},
		{"a range that cannot be read", "female", "X", "5", "", "see chart 7", "", "unknown above ? below ?"},
		{"no range at all", "female", "X", "5", "", "", "", "normal above ? below ?"},
		{"no range established", "female", "X", "5", "", "Not Estab.", "", "normal above ? below ?"},
		{"as expected", "female", "X", "NEGATIVE", "", "Neg", "", "normal above ? below ?"},
		{"the contrary", "female", "X", "Detected", "", "Not Detected", "", "abnormal above ? below ?"},
		{"other words", "female", "X", "Trace", "", "Negative", "", "unknown above ? below ?"},
		{"either is expected", "female", "X", "Trace", "", "Negative/Trace", "", "normal above ? below ?"},
		{"an unknown flag", "female", "X", "3", "", "1-5", "QQ", "unknown above no below no report"},
		{"an unknown flag, outside", "female", "X", "7", "", "1-5", "QQ", "abnormal above yes below no report"},
		{"a panic flag", "female", "X", "3", "", "", "P HI", "critical above yes below no"},
		{"a resistant organism", "female", "X", "32", "ug/mL", "", "R", "abnormal above ? below ?"},
		{"an intermediate organism", "female", "X", "8", "ug/mL", "", "I", "abnormal above ? below ?"},
		{"a susceptible organism", "female", "X", "1", "ug/mL", "", "S", "normal above ? below ?"},
		{"susceptible by dose", "female", "X", "4", "ug/mL", "", "SDD", "abnormal above ? below ?"},
		{"a letter behind a number", "female", "X", "15 I U/mL", "", "", "", "unknown above ? below ?"},
		{"a unit that is also a flag", "female", "X", "7.35 pH", "", "7.3-7.4", "", "unknown above ? below ? report"},
		{"a temperature", "female", "X", "37 C", "", "", "", "unknown above ? below ?"},
		{"critical in words", "female", "X", "3", "", "", "Critical High", "critical above yes below no"},
		{"positive without a range", "female", "X", "REACTIVE", "", "", "", "unknown above ? below ?"},
		{"a culture", "female", "X", "E. coli >100,000 CFU/mL", "", "", "", "unknown above ? below ?"},
		{"a count of a culture", "female", "X", ">100,000 CFU/mL", "", "", "", "unknown above ? below ?"},
		{"not yet known", "female", "X", "PENDING", "", "", "", "unknown above ? below ?"},
		{"signs", "female", "X", ">>>", "", "", "", "unknown above ? below ?"},
		{"plainly normal", "female", "X", "Not Detected", "", "", "", "normal above ? below ?"},
		{"a critical flag as value, beside an interval", "female", "X", "CRITICAL HIGH", "", "3.5-5.1", "", "critical above yes below no report"},
		{"positive beside an upper end", "female", "X", "POSITIVE", "", "<5", "", "unknown above ? below ? report"},
		{"negative beside an upper end", "female", "X", "NEGATIVE", "", "<0.9", "", "normal above ? below ? report"},
		{"many instead of none", "female", "X", "Many", "", "None", "", "unknown above ? below ?"},
		{"none", "female", "X", "None", "", "None", "", "normal above ? below ?"},
		{"a high dilution", "female", "X", "1:640", "", "<1:80", "N", "abnormal above ? below ? normal_outside_range"},
		{"a low dilution", "female", "X", "<1:80", "", "<1:80", "", "normal above ? below ?"},
		{"a dilution without a range", "female", "X", "1:640", "", "", "", "unknown above ? below ?"},
		{"a decimal comma", "female", "HGB", "6,5", "g/dL", "11-15", "N", "critical above no below yes report normal_beyond_critical_limit"},
		{"an equals sign", "female", "X", "= 7.2", "", "3.5-5.1", "", "abnormal above yes below no report"},
		{"a unit in the value", "female", "HGB", "6.50 g/dL", "", "", "", "critical above no below yes catalogue"},
		{"another unit in the value", "female", "HGB", "65 g/L", "g/dL", "11-15", "", "critical above ? below ? report"},
		{"a flag in the value", "female", "X", "7.2 HH", "", "", "N", "critical above yes below no"},
		{"a flag and a unit in the value", "female", "X", "7.2 mmol/L H", "", "3.5-5.1", "", "abnormal above yes below no report"},
		{"a number and a line of words", "female", "HGB", "6.5\nverified by repeat", "g/dL", "11-15", "", "critical above no below yes report"},
		{"a number and words", "female", "HGB", "6.5 (repeated)", "g/dL", "", "N", "critical above no below yes catalogue normal_beyond_critical_limit"},
		{"a number in quotation marks", "female", "HGB", `"6.5"`, "g/dL", "11-15", "", "critical above no below yes report"},
		{"a number that is not exact", "female", "HGB", "approx 6.5", "g/dL", "11-15", "", "critical above no below yes report"},
		{"a number, a unit and words", "female", "HGB", "6.5 g/dL\nResult verified", "", "", "", "critical above no below yes catalogue"},
		{"a number, another unit and words", "female", "HGB", "65 g/L, repeated", "g/dL", "11-15", "", "critical above ? below ? report"},
		{"a decimal comma and words", "female", "HGB", "6,5 verified", "g/dL", "11-15", "", "critical above no below yes report"},
		{"repetitions of a number type", "female", "HGB", "6.5, Verified by repeat analysis", "g/dL", "11-15", "", "critical above no below yes report"},
		{"a limit and words", "female", "HGB", "<6 below detection", "g/dL", "11-15", "", "critical above no below yes report"},
		{"a critical flag and words", "female", "X", "7.2 *CRITICAL* called", "", "", "N", "critical above ? below ?"},
		{"a number outside and words", "female", "X", "7.2mmol/L; repeated", "", "3.5-5.1", "", "abnormal above yes below no report"},
		{"a number inside and words", "female", "HGB", "12 (repeated)", "g/dL", "11-15", "", "unknown above ? below ? report"},
		{"a dilution", "female", "HGB", "1:64", "g/dL", "11-15", "", "unknown above ? below ? report"},
		{"an interval and words", "female", "HGB", "1-2 per field", "g/dL", "11-15", "", "unknown above ? below ? report"},
		{"a spaced interval and words", "female", "HGB", "1 to 2 per field", "g/dL", "11-15", "", "unknown above ? below ? report"},
		{"a date", "female", "HGB", "2024-01-01", "g/dL", "11-15", "", "unknown above ? below ? report"},
		{"a grade", "female", "HGB", "3+", "g/dL", "11-15", "", "unknown above ? below ? report"},
		{"an ordinal number", "female", "HGB", "2nd sample", "g/dL", "11-15", "", "unknown above ? below ? report"},
		{"a fraction", "female", "HGB", "2/5 bottles", "g/dL", "11-15", "", "unknown above ? below ? report"},
		{"words about the sample before the number", "female", "HGB", "HEMOLYZED 6.5", "g/dL", "11-15", "", "critical above no below yes report"},
		{"words about the measurement before the number", "female", "HGB", "repeated: <6.5 g/dL", "", "11-15", "", "critical above no below yes report"},
		{"critical before the number", "female", "HGB", "CRITICAL LOW 6.5", "g/dL", "11-15", "", "critical above no below yes report"},
		{"words about the sample, inside", "female", "HGB", "Hemolyzed specimen 12", "g/dL", "11-15", "", "unknown above ? below ? report"},
		{"a number in other words", "female", "HGB", "Type 2", "g/dL", "11-15", "", "unknown above ? below ? report"},
		{"known words", "female", "NIT", "Positive", "", "", "", "abnormal above ? below ?"},
	} {
		e := panel(c.sex)
		sex, age := e.patient(nil)
		r := e.normalise(sampledResult{Result: networks.Result{ProviderID: c.code, Name: c.code, Value: c.value, Unit: c.unit, Range: c.rng, Flag: c.flag}}, sex, age)
		got := strings.TrimSpace(fmt.Sprintf("%s above %s below %s %s", r.Interpretation, side(r.Above), side(r.Below), strings.TrimSpace(fmt.Sprintf("%s %s", r.Range.From, r.Conflict))))
		if r.Flag != c.flag {
			t.Errorf("%s: the flag became %q", c.name, r.Flag)
		}
		if got != c.wants {
			t.Errorf("%s: %s, want %s", c.name, got, c.wants)
		}
	}
}

// A note makes a value critical if it says so of this value.
func TestCriticalNotes(t *testing.T) {
	for note, want := range map[string]orders.Interpretation{
		"CRITICAL VALUE":        orders.Critical,
		"** Critical result **": orders.Critical,
		"Critical value called to Dr. Example at 10:32, read back.": orders.Critical,
		"Verified by repeat. Called critical result to RN":          orders.Critical,
		"PANIC VALUE PHONED TO WARD 3":                              orders.Critical,
		"Panic high":                                                orders.Critical,
		"Dr. Example was notified of critical potassium":            orders.Critical,
		"Critical values are below 7.0":                             orders.Normal,
		"Not a critical value":                                      orders.Normal,
		"Previous critical value called on 3/1":                     orders.Normal,
		"Critical values will be called to the ordering physician":  orders.Normal,
		"Non-critical; called on request":                           orders.Normal,
		"Called to Dr. Example":                                     orders.Normal,
		"Seen in critical care":                                     orders.Normal,
	} {
		e := panel("female")
		r := e.normalise(sampledResult{Result: networks.Result{ProviderID: "HGB", Value: "12", Unit: "g/dL", Range: "11-15", Flag: "N", Notes: []string{"Repeat in a week.\n" + note}}}, "female", 40)
		if r.Interpretation != want || (r.Conflict == CriticalInNote) != (want == orders.Critical) || r.ConflictNote() == "" && want == orders.Critical {
			t.Errorf("%s: %s %s", note, r.Interpretation, r.Conflict)
		}
	}
}

// A report without an order is interpreted like the results of an order: both
// use one table of flags.
func TestInterpretUnmatched(t *testing.T) {
	if got := InterpretUnmatched(nil, catalogue.Lab{}, &networks.ResultSet{}); got != orders.Unknown {
		t.Errorf("nothing is %s", got)
	}
	for _, f := range hl7.Flags {
		want := cmp.Or(orders.Interpretation(f.Interpretation), orders.Normal)
		if got := InterpretUnmatched(nil, catalogue.Lab{}, &networks.ResultSet{Results: []networks.Result{{Value: "5", Flag: " (" + strings.ToLower(f.Code) + ")"}}}); got != want {
			t.Errorf("%s is %s, want %s", f.Code, got, want)
		}
	}
	for _, c := range []struct {
		want orders.Interpretation
		all  []networks.Result
	}{
		{orders.Critical, []networks.Result{{Flag: "H"}, {Flag: "PANIC"}, {Flag: "N"}}},
		{orders.Abnormal, []networks.Result{{Flag: "NEG"}, {Flag: ">"}}},
		{orders.Abnormal, []networks.Result{{Value: "7", Range: "1-5"}}},
		{orders.Unknown, []networks.Result{{Value: "7", Range: "see chart 7"}, {Flag: "N"}}},
		{orders.Normal, []networks.Result{{Value: "3", Range: "1-5"}, {Value: "Negative"}}},
	} {
		if got := InterpretUnmatched(nil, catalogue.Lab{}, &networks.ResultSet{Results: c.all}); got != c.want {
			t.Errorf("%+v: %s, want %s", c.all, got, c.want)
		}
	}
}

// Notes without values and confirmations without values can be critical.
func TestInterpretUnmatchedWithoutValues(t *testing.T) {
	for _, c := range []struct {
		want orders.Interpretation
		set  networks.ResultSet
	}{
		{orders.Critical, networks.ResultSet{Comments: []string{"comment: CRITICAL K 7.9 called"}}},
		{orders.Critical, networks.ResultSet{Comments: []string{"Specimen fine.", "Glucose 22 mg/dL is critical"}}},
		{orders.Critical, networks.ResultSet{Comments: []string{"Panic value phoned to Dr. Example"}}},
		{orders.Critical, networks.ResultSet{Missing: []networks.MissingResult{{ProviderID: "K", Confirms: true, Flag: "HH"}}}},
		{orders.Critical, networks.ResultSet{Missing: []networks.MissingResult{{ProviderID: "K", Confirms: true, Flag: "LL"}}, Results: []networks.Result{{Flag: "N"}}}},
		{orders.Critical, networks.ResultSet{Missing: []networks.MissingResult{{ProviderID: "K", Note: "critical result called at 10:40"}}}},
		{orders.Critical, networks.ResultSet{Comments: []string{"Potassium 7.9 called to Dr. Example, read back"}}},
		{orders.Critical, networks.ResultSet{Comments: []string{"Called K 7.9 mmol/L to Dr. Example at 10:40"}}},
		{orders.Critical, networks.ResultSet{Comments: []string{"K=7.9, Dr. Example notified"}}},
		{orders.Critical, networks.ResultSet{Comments: []string{"Phoned to ward 3, read back 7.9"}}},
		{orders.Unknown, networks.ResultSet{Comments: []string{"Potassium 7.9 not called to Dr. Example"}}},
		{orders.Unknown, networks.ResultSet{Comments: []string{"Potassium will be called to Dr. Example when ready, 2 hours"}}},
		{orders.Unknown, networks.ResultSet{Comments: []string{"Potassium 4.1, to be called to Dr. Example"}}},
		{orders.Unknown, networks.ResultSet{Comments: []string{"No critical values. Potassium 4.1"}}},
		{orders.Unknown, networks.ResultSet{Comments: []string{"Potassium 4.1 called to Dr. Example on request"}}},
		{orders.Unknown, networks.ResultSet{Comments: []string{"Specimen 2 hemolyzed, called to ward 3 at 1040"}}},
		{orders.Unknown, networks.ResultSet{Comments: []string{"Called to Dr. Example at 10:40"}}},
		{orders.Unknown, networks.ResultSet{Comments: []string{"No critical value above 7.0"}}},
		{orders.Unknown, networks.ResultSet{Comments: []string{"Seen by the critical care team", "7 tests"}}},
		{orders.Unknown, networks.ResultSet{Missing: []networks.MissingResult{{ProviderID: "K", Confirms: true}}}},
	} {
		if got := InterpretUnmatched(nil, catalogue.Lab{}, &c.set); got != c.want {
			t.Errorf("%+v: %s, want %s", c.set, got, c.want)
		}
	}
}

// A result gets its names, codes and markers from the catalogue, and keeps its
// own where the catalogue does not know it.
func TestIdentity(t *testing.T) {
	e := panel("female")
	known := e.normalise(sampledResult{Result: networks.Result{ProviderID: "HGB", Name: "HGB (Hgb)", Value: "12", Unit: "g/dl"}, sample: "S"}, "female", 41)
	if known.Name != "Hemoglobin" || known.Slug != "hemoglobin" || known.LOINC != "718-7" || known.LOINCSlug == "" || known.UCUM != "g/dL" ||
		len(known.Markers) != 2 || known.Markers[0].ID != 7 || known.Sample != "S" || known.Range.Kind != refrange.Interval {
		t.Errorf("%+v", known)
	}
	byCode := e.normalise(sampledResult{Result: networks.Result{Name: "something", LOINC: "718-7", Value: "12"}}, "female", 41)
	if byCode.Slug != "hemoglobin" || byCode.ProviderID != "HGB" {
		t.Errorf("%+v", byCode)
	}
	under := e.normalise(sampledResult{Result: networks.Result{ProviderID: "ZZ", TestProviderID: "T2", Name: "Left Shift!", LOINC: "718-8", Value: "12"}}, "female", 41)
	if len(under.Markers) != 1 || under.Markers[0].ID != 8 || under.Slug != "left-shift" || under.LOINC != "" {
		t.Errorf("%+v", under)
	}
	if unasked := e.normalise(sampledResult{Result: networks.Result{ProviderID: "ZZ", Value: "x", Notes: []string{" careful "}}}, "female", 41); unasked.Markers != nil ||
		strings.Join(unasked.Notes, "|") != "x|careful" {
		t.Errorf("%+v", unasked)
	}
}

// The multi-cancer test is critical in all its rows, or normal.
func TestCancerSignal(t *testing.T) {
	e := panel("female")
	say := func(code, value, kind string) Result {
		return e.normalise(sampledResult{Result: networks.Result{ProviderID: code, Value: value, Type: kind}}, "female", 41)
	}
	for _, c := range []struct{ code, value, kind, want string }{
		{"86038987", "DETECTED", "coded_value", "galleri-cancer-signal critical"},
		{"86038987", "Not detected", "coded_value", "galleri-cancer-signal normal"},
		{"86038987_1", "COLON_RECTUM", "coded_value", "galleri-cancer-signal-origin critical"},
		{"86038987_2", "LUNG", "coded_value", "galleri-cancer-signal-origin-subcategory critical"},
		{"86038987_3", "Call the physician", "comment", "galleri-comment-3 critical"},
	} {
		if r := say(c.code, c.value, c.kind); r.Slug+" "+string(r.Interpretation) != c.want {
			t.Errorf("%s %s: %s %s", c.code, c.value, r.Slug, r.Interpretation)
		}
	}
}

// The table of flags is in package hl7, which knows no orders.
func TestFlagsUseOurInterpretations(t *testing.T) {
	for _, f := range hl7.Flags {
		if word := orders.Interpretation(f.Interpretation); word != "" && !slices.Contains(orders.Interpretations, word) {
			t.Errorf("the flag %s is %q", f.Code, word)
		}
	}
}
