package results

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/networks"
	"hale/internal/labs/orders"
)

var day = time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)

// storedReport returns a report as it is read from the database.
func storedReport(t interface{ Fatal(...any) }, r Report) Report {
	doc, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var back Report
	if err := json.Unmarshal(doc, &back); err != nil {
		t.Fatal(err)
	}
	back.id, back.digest = r.id, sha256.Sum256(doc)
	return back
}

// threeOwed returns the expectations of an order whose lab requires the results a, b and
// c.
func threeOwed() *expectations {
	m := &catalogue.Marker{ID: 7, Name: "Panel", Slug: "panel", ProviderID: "T1"}
	for i, code := range []string{"a", "b", "c"} {
		m.Results = append(m.Results, catalogue.Result{ID: int64(i), Name: code, Slug: code, ProviderID: code, Required: true})
	}
	return &expectations{order: &orders.Order{SampleID: "S1", CreatedAt: day}, ordered: []*catalogue.Marker{m}, all: []*catalogue.Marker{m}}
}

// Any set of messages leaves the same results, in any order and with any of
// them twice.
func TestMergeIgnoresArrivalOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		reports := rapid.SliceOfN(rapid.Custom(aReport), 1, 6).Draw(t, "reports")
		first := merge(uniqueReports(t, reports), "S1")
		again := rapid.Permutation(append(reports, rapid.SliceOf(rapid.SampledFrom(reports)).Draw(t, "again")...)).Draw(t, "order")
		second := merge(uniqueReports(t, again), "S1")
		if a, b := text(t, first), text(t, second); a != b {
			t.Fatalf("one way\n%s\nanother\n%s", a, b)
		}
	})
}

// uniqueReports keeps the first of equal reports, as Take does.
func uniqueReports(t *rapid.T, reports []Report) []Report {
	seen := map[[sha256.Size]byte]bool{}
	var all []Report
	for _, r := range reports {
		if s := storedReport(t, r); !seen[s.digest] {
			seen[s.digest] = true
			all = append(all, s)
		}
	}
	return all
}

func text(t *rapid.T, m mergedReport) string {
	doc, err := json.MarshalIndent(buildVersion(threeOwed(), m), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(doc)
}

// aReport draws reports with few values at few times, so that reports overlap.
func aReport(t *rapid.T) Report {
	pick := func(name string, from ...string) string { return rapid.SampledFrom(from).Draw(t, name) }
	r := Report{At: day.Add(time.Duration(rapid.IntRange(0, 3).Draw(t, "hour")) * time.Hour), SampleID: "S1", Account: pick("account", "", "1", "2")}
	r.Set.Partial, r.Set.Corrected = rapid.Bool().Draw(t, "partial"), rapid.Bool().Draw(t, "corrected")
	r.Set.Specimen = networks.Specimen{Number: pick("specimen", "", "X", "Y"), Volume: pick("volume", "", "1 mL", "2 mL")}
	r.Set.Comments = rapid.SliceOfN(rapid.SampledFrom([]string{"one", "two", "Lipemic"}), 0, 2).Draw(t, "comments")
	if name := pick("laboratory", "", "L1", "L2"); name != "" {
		r.Set.Laboratory, r.Set.Laboratories = name, map[string]networks.Laboratory{name: {Name: name}}
	}
	if rapid.Bool().Draw(t, "document") {
		r.Document = []byte(pick("pdf", "p", "q"))
	}
	for range rapid.IntRange(0, 4).Draw(t, "values") {
		r.Set.Results = append(r.Set.Results, networks.Result{
			ProviderID: pick("code", "a", "b", "d", ""), SubID: pick("sub", "", "1", "2"), Name: pick("name", "a", "other"),
			Value: pick("value", "1", "2", "<5", "NEG"), Status: pick("status", "", "P", "F", "C"), TestProviderID: pick("test", "", "T1"),
		})
	}
	r.Sent, r.DateOnly = day.Add(time.Duration(rapid.IntRange(0, 30).Draw(t, "sent"))*time.Hour), rapid.Bool().Draw(t, "date only")
	for range rapid.IntRange(0, 2).Draw(t, "missing") {
		r.Set.Missing = append(r.Set.Missing, networks.MissingResult{
			ProviderID: pick("gone", "a", "c", "T1"), Note: pick("note", "", "QNS", "clotted"),
			Refused: rapid.Bool().Draw(t, "refused"), Rest: rapid.Bool().Draw(t, "rest"),
			Confirms: rapid.Bool().Draw(t, "confirms"), SubID: pick("confirmed sub", "", "1"),
		})
	}
	doc, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	r.id = uuid.NewSHA1(uuid.Nil, doc) // equal reports arrive as one
	return r
}

// Of two reports about one value, one wins.
func TestReportThatCounts(t *testing.T) {
	say := func(hour int, status, value string) Report {
		r := Report{At: day.Add(time.Duration(hour) * time.Hour), id: uuid.New()}
		r.Set.Results = []networks.Result{{ProviderID: "a", Value: value, Status: status}}
		return storedReport(t, r)
	}
	no := func(hour int, m networks.MissingResult) Report {
		r := Report{At: day.Add(time.Duration(hour) * time.Hour), id: uuid.New()}
		r.Set.Missing = []networks.MissingResult{m}
		return storedReport(t, r)
	}
	gone := func(hour int) Report { return no(hour, networks.MissingResult{ProviderID: "a"}) }
	rest := func(hour int) Report { return no(hour, networks.MissingResult{ProviderID: "a", Rest: true}) }
	for name, c := range map[string]struct {
		reports []Report
		want    string
	}{
		"a final one counts over a later preliminary one": {[]Report{say(1, "F", "1"), say(2, "P", "2")}, "[1] 0"},
		"of two final ones the later counts":              {[]Report{say(2, "F", "2"), say(1, "F", "1")}, "[2] 0"},
		"a correction stays":                              {[]Report{say(1, "C", "1"), say(2, "F", "2")}, "[1] 0"},
		"of two corrections the later counts":             {[]Report{say(1, "C", "1"), say(2, "C", "2")}, "[2] 0"},
		"a value is withdrawn":                            {[]Report{say(1, "F", "1"), gone(2)}, "[] 1"},
		"a value comes after all":                         {[]Report{say(2, "F", "1"), gone(1)}, "[1] 0"},
		"a preliminary value withdrawn":                   {[]Report{say(2, "P", "1"), gone(1)}, "[] 1"},
		"the rest of its test":                            {[]Report{say(1, "F", "1"), rest(2)}, "[1] 1"},
		"a preliminary value and the rest of its test":    {[]Report{say(1, "P", "1"), rest(2)}, "[1] 1"},
		"withdrawn before the rest of its test":           {[]Report{say(1, "F", "1"), gone(2), rest(3)}, "[] 1"},
	} {
		m := merge(c.reports, "S1")
		var values []string
		for _, r := range m.results {
			values = append(values, r.Value)
		}
		if got := fmt.Sprintf("%v %d", values, len(m.missing)); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// A lab may say that a value is final without sending it again (OBX-11 U).
func TestConfirmedValues(t *testing.T) {
	say := func(hour int, status string, values ...string) Report {
		r := Report{At: day.Add(time.Duration(hour) * time.Hour), id: uuid.New()}
		r.Set.Partial = status == "P"
		for i, v := range values {
			r.Set.Results = append(r.Set.Results, networks.Result{ProviderID: "a", SubID: strconv.Itoa(i + 1), Value: v, Status: status})
		}
		return storedReport(t, r)
	}
	flagged := func(hour int) Report {
		r := Report{At: day.Add(time.Duration(hour) * time.Hour), id: uuid.New()}
		r.Set.Missing = []networks.MissingResult{{ProviderID: "a", Confirms: true, Flag: "HH"}}
		return storedReport(t, r)
	}
	confirm := func(hour int, code, sub string) Report {
		r := Report{At: day.Add(time.Duration(hour) * time.Hour), id: uuid.New()}
		r.Set.Missing = []networks.MissingResult{{ProviderID: code, SubID: sub, Confirms: true}}
		return storedReport(t, r)
	}
	for name, c := range map[string]struct {
		reports []Report
		want    string
	}{
		"a preliminary value":       {[]Report{say(1, "P", "7"), confirm(2, "a", "1")}, "7 final; 0 missing"},
		"of a report before":        {[]Report{say(1, "P", "7"), say(3, "P", "8"), confirm(2, "a", "")}, "7 final; 0 missing"},
		"the last of two":           {[]Report{say(1, "P", "7"), say(2, "P", "8"), confirm(3, "a", "")}, "8 final; 0 missing"},
		"after a final value":       {[]Report{say(1, "F", "7"), confirm(2, "a", "")}, "7 final; 0 missing"},
		"before a correction":       {[]Report{say(1, "P", "7"), confirm(2, "a", ""), say(3, "C", "9")}, "9 corrected; 0 missing"},
		"one of two values":         {[]Report{say(1, "P", "7", "8"), confirm(2, "a", "2")}, "7 preliminary, 8 final; 0 missing"},
		"both values":               {[]Report{say(1, "P", "7", "8"), confirm(2, "a", "")}, "7 final, 8 final; 0 missing"},
		"twice":                     {[]Report{say(1, "P", "7"), confirm(2, "a", ""), confirm(3, "a", "")}, "7 final; 0 missing"},
		"a value that never came":   {[]Report{say(1, "P", "7"), confirm(2, "b", "")}, "7 preliminary; 1 missing"},
		"with a critical flag":      {[]Report{say(1, "P", "7"), flagged(2)}, "7 HH final; 0 missing"},
		"a critical flag after all": {[]Report{say(1, "F", "7"), flagged(2)}, "7 HH corrected; 0 missing"},
		"a critical flag alone":     {[]Report{flagged(2)}, "HH HH final; 0 missing"},
		"before any value has come": {[]Report{confirm(2, "a", "")}, "; 1 missing"},
	} {
		backward := slices.Clone(c.reports)
		slices.Reverse(backward)
		for _, reports := range [][]Report{c.reports, backward} {
			m := merge(reports, "S1")
			var got []string
			for _, r := range m.results {
				got = append(got, strings.TrimSpace(r.Value+" "+r.Flag)+" "+string(r.finality))
			}
			if text := fmt.Sprintf("%s; %d missing", strings.Join(got, ", "), len(m.missing)); text != c.want {
				t.Errorf("%s: %s, want %s", name, text, c.want)
			}
		}
	}
}

// Of two reports with one time, the one that was sent later counts, then the
// one that arrived later. A date without a time is the time of the message on
// that day.
func TestReportsOfOneTime(t *testing.T) {
	say := func(value string, at, sent time.Duration, dateOnly bool) Report {
		r := Report{At: day.Add(at), Sent: day.Add(sent), DateOnly: dateOnly, id: uuid.Must(uuid.NewV7())}
		r.Set.Specimen.Reported.Time = r.At
		r.Set.Results = []networks.Result{{ProviderID: "a", Value: value, Status: "F"}}
		return storedReport(t, r)
	}
	const midnight = -8 * time.Hour // the tests' day begins at eight
	for name, c := range map[string]struct{ first, second Report }{
		"sent later":                    {say("1", 0, 5*time.Minute, false), say("2", 0, 10*time.Minute, false)},
		"arrived later":                 {say("1", 0, 5*time.Minute, false), say("2", 0, 5*time.Minute, false)},
		"a date after a time":           {say("1", time.Hour, time.Hour, false), say("2", midnight, 2*time.Hour, true)},
		"a time after a date":           {say("1", midnight, time.Hour, true), say("2", 2*time.Hour, 2*time.Hour, false)},
		"a time on the day after":       {say("1", midnight, 40*time.Hour, true), say("2", 17*time.Hour, 17*time.Hour, false)},
		"a date that was sent days ago": {say("1", midnight, time.Hour, true), say("2", midnight, 50*time.Hour, true)},
	} {
		for _, all := range [][]Report{{c.first, c.second}, {c.second, c.first}} {
			if got := merge(all, "S1").results; len(got) != 1 || got[0].Value != "2" {
				t.Errorf("%s: %+v", name, got)
			}
		}
	}
}

// Very many values of one code are all kept. Comparing each with each would
// take minutes, so the test needs no clock.
func TestManyValuesOfOneCode(t *testing.T) {
	const many = 50_000
	r := Report{At: day, id: uuid.New()}
	for n := range many {
		r.Set.Results = append(r.Set.Results, networks.Result{ProviderID: "a", Value: strconv.Itoa(n)}, networks.Result{ProviderID: strconv.Itoa(n)})
	}
	if m := merge([]Report{r, r}, "S1"); len(m.results) != 2*many {
		t.Errorf("%d values", len(m.results))
	}
}

// Values of one code with different sub-ids are all kept, and one value under
// two tests counts once.
func TestSubIDs(t *testing.T) {
	both := Report{At: day, id: uuid.New()}
	both.Set.Results = []networks.Result{
		{ProviderID: "a", SubID: "1", Value: "E. coli"},
		{ProviderID: "a", SubID: "2", Value: "K. oxytoca"},
		{ProviderID: "b", TestProviderID: "T1", Value: "5"},
		{ProviderID: "b", TestProviderID: "T2", Value: "5"},
	}
	second := Report{At: day.Add(time.Hour), id: uuid.New()}
	second.Set.Results = []networks.Result{{ProviderID: "a", SubID: "2", Value: "K. pneumoniae"}}
	m := merge([]Report{storedReport(t, both), storedReport(t, second)}, "S1")
	got := map[string]bool{}
	for _, r := range m.results {
		got[r.Value] = true
	}
	if len(m.results) != 3 || !got["E. coli"] || !got["K. pneumoniae"] || !got["5"] {
		t.Errorf("%+v", m.results)
	}
}

// A value shows its status in one word, and the value that it replaces.
func TestFinalityAndPreviousValue(t *testing.T) {
	at := func(hour int) time.Time { return time.Date(2026, 3, 1, hour, 0, 0, 0, time.UTC) }
	report := func(hour int, set networks.ResultSet) Report {
		return Report{At: at(hour), Set: set, digest: [32]byte{byte(hour)}}
	}
	value := func(code, text, status string) networks.Result {
		return networks.Result{ProviderID: code, Name: code, Value: text, Unit: "mg/dL", Status: status}
	}
	partial := report(1, networks.ResultSet{Partial: true, Results: []networks.Result{value("A", "1", "P"), value("B", "2", "F"), value("C", "3", "")}})
	final := report(2, networks.ResultSet{Results: []networks.Result{value("A", "4", "F"), value("B", "2", "F"), value("C", "3", "")}})
	corrected := report(3, networks.ResultSet{Corrected: true, Results: []networks.Result{value("A", "4", "F"), value("B", "5", "C"), value("C", "6", "")}})
	marked := report(4, networks.ResultSet{Corrected: true, Results: []networks.Result{value("A", "4", "C"), value("B", "5", "C"), value("C", "3", "C")}})
	for name, c := range map[string]struct {
		reports []Report
		want    string
	}{
		"partial":    {[]Report{partial}, "A 1 preliminary, B 2 final, C 3 preliminary"},
		"final":      {[]Report{partial, final}, "A 4 final was 1 preliminary at 1, B 2 final, C 3 final"},
		"corrected":  {[]Report{corrected, partial, final}, "A 4 final was 1 preliminary at 1, B 5 corrected was 2 final at 2, C 6 corrected was 3 final at 2"},
		"all marked": {[]Report{final, marked}, "A 4 final, B 5 corrected was 2 final at 2, C 3 final"},
	} {
		var got []string
		for _, f := range merge(c.reports, "S").results {
			r := panel("female").normalise(f, "female", 40)
			text := fmt.Sprintf("%s %s %s", r.ProviderID, r.Text, r.Finality)
			if p := r.Previous; p != nil {
				text += fmt.Sprintf(" was %s %s at %d", p.Text, p.Finality, p.ReportedAt.Hour())
			}
			got = append(got, text)
		}
		slices.Sort(got)
		if text := strings.Join(got, ", "); text != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, text, c.want)
		}
	}
}

// A correction of the flag, range, unit or note alone shows what it replaces. A
// value that is sent again shows nothing.
func TestCorrectionsWithoutAnotherValue(t *testing.T) {
	first := networks.Result{ProviderID: "A", Name: "A", Value: "7", Unit: "mg/dL", Range: "3-5", Flag: "HH", Status: "F"}
	with := func(status string, change func(r *networks.Result)) networks.Result {
		r := first
		r.Status = status
		change(&r)
		return r
	}
	for name, c := range map[string]struct {
		first, next networks.Result
		want        string
	}{
		"the same":             {first, with("F", func(*networks.Result) {}), "7 final"},
		"the same, as C":       {first, with("C", func(*networks.Result) {}), "7 final"},
		"the flag":             {first, with("C", func(r *networks.Result) { r.Flag = "N" }), "7 corrected was 7 mg/dL HH 3-5 []"},
		"the flag, as F":       {first, with("F", func(r *networks.Result) { r.Flag = "N" }), "7 corrected was 7 mg/dL HH 3-5 []"},
		"N after no flag":      {with("F", func(r *networks.Result) { r.Flag = "" }), with("F", func(r *networks.Result) { r.Flag = "N" }), "7 final"},
		"the range":            {first, with("C", func(r *networks.Result) { r.Range = "3-9" }), "7 corrected was 7 mg/dL HH 3-5 []"},
		"the range, final now": {with("P", func(*networks.Result) {}), with("F", func(r *networks.Result) { r.Range = "3-9" }), "7 final"},
		"the unit":             {first, with("C", func(r *networks.Result) { r.Unit = "mmol/L" }), "7 corrected was 7 mg/dL HH 3-5 []"},
		"a note":               {with("F", func(r *networks.Result) { r.Notes = []string{"Fasting"} }), with("C", func(r *networks.Result) { r.Notes = []string{"Hemolyzed"} }), "7 corrected was 7 mg/dL HH 3-5 [Fasting]"},
		"a further note, as F": {first, with("F", func(r *networks.Result) { r.Notes = []string{"Called"} }), "7 final"},
	} {
		one, two := Report{At: day, id: uuid.New()}, Report{At: day.Add(time.Hour), id: uuid.New()}
		one.Set.Results, two.Set.Results = []networks.Result{c.first}, []networks.Result{c.next}
		again := two
		again.At, again.id = day.Add(2*time.Hour), uuid.New()
		for _, reports := range [][]Report{{one, two}, {two, one}, {one, two, again}} {
			m := merge(reports, "S1")
			r := panel("female").normalise(m.results[0], "female", 40)
			got := fmt.Sprintf("%s %s", r.Text, r.Finality)
			if p := r.Previous; p != nil {
				got += fmt.Sprintf(" was %s %s %s %s %v", p.Text, p.Unit, p.Flag, p.Range, p.Notes)
			}
			if got != c.want || len(m.results) != 1 {
				t.Errorf("%s: %s, want %s", name, got, c.want)
			}
		}
	}
}

// A correction of the flag is not lost behind one of the note, and the value before
// both stays visible.
func TestPreviousOfSeveralCorrections(t *testing.T) {
	say := func(hour int, value, flag, status string, notes ...string) Report {
		r := Report{At: day.Add(time.Duration(hour) * time.Hour), id: uuid.New()}
		r.Set.Results = []networks.Result{{ProviderID: "A", Value: value, Flag: flag, Status: status, Notes: notes}}
		return r
	}
	for want, reports := range map[string][]Report{
		"30 LL": {say(1, "30", "LL", "F"), say(2, "90", "", "C"), say(3, "90", "", "C", "checked")},
		"90 H":  {say(1, "30", "LL", "F"), say(2, "90", "H", "C"), say(3, "90", "", "C")},
	} {
		if p := merge(reports, "S1").results[0].previous; p == nil || p.Value+" "+p.Flag != want {
			t.Errorf("%+v, want %s", p, want)
		}
	}
}

// A withdrawn value stays visible with the time of its withdrawal. The sample with the
// remaining values gives the time of collection.
func TestWithdrawnValues(t *testing.T) {
	say := func(hour int, collected time.Time, set networks.ResultSet) Report {
		r := Report{At: day.Add(time.Duration(hour) * time.Hour), Set: set, id: uuid.New()}
		r.Set.Specimen.Number, r.Set.Specimen.Collected = "S1", networks.Moment{Time: collected}
		return r
	}
	values := say(1, day, networks.ResultSet{Results: []networks.Result{
		{ProviderID: "a", Name: "a", Value: "7.9", Unit: "mmol/L", Flag: "HH", Status: "F"}, {ProviderID: "b", Value: "1", Status: "F"},
	}})
	gone := say(2, day.Add(48*time.Hour), networks.ResultSet{Corrected: true, Missing: []networks.MissingResult{{ProviderID: "a", Note: "Wrong tube"}}})
	never := say(2, day, networks.ResultSet{Missing: []networks.MissingResult{{ProviderID: "c", Note: "QNS"}}})
	for _, reports := range [][]Report{{values, gone, never}, {never, gone, values}} {
		v := buildVersion(threeOwed(), merge(reports, "S1"))
		if len(v.Results) != 1 || len(v.Missing) != 2 {
			t.Fatalf("%d results, %d missing", len(v.Results), len(v.Missing))
		}
		for _, m := range v.Missing {
			p := m.Previous
			if m.ProviderID == "c" && (p != nil || !m.WithdrawnAt.IsZero()) {
				t.Errorf("a value that never came was %+v", p)
			}
			if m.ProviderID == "a" && (p == nil || p.Text != "7.9" || p.Flag != "HH" || p.Interpretation != orders.Critical || !m.WithdrawnAt.Equal(day.Add(2*time.Hour))) {
				t.Errorf("withdrawn at %v: %+v", m.WithdrawnAt, p)
			}
		}
		if at := v.Samples[0].Specimen.Collected.Time; !at.Equal(day) {
			t.Errorf("collected at %v", at)
		}
		again := v
		again.Missing = slices.Clone(v.Missing)
		for i := range again.Missing {
			again.Missing[i].WithdrawnAt = day.Add(9 * time.Hour)
		}
		if changed, err := changesResults(v, again); changed || err != nil {
			t.Errorf("a repeated withdrawal changes the results: %v", err)
		}
	}
	v := Version{Samples: []Sample{{Key: "S1"}, {Key: "S2"}, {Key: "S3"}}, Results: []Result{{Sample: "S2"}}}
	if all := v.UsedSamplesFirst(); all[0].Key != "S2" || all[1].Key != "S1" || v.Samples[0].Key != "S1" {
		t.Errorf("%+v", all)
	}
}

// A critical value needs a new notice if its number or its unit changes.
func TestNewCriticalValue(t *testing.T) {
	revision := func(text, unit, ucum string, i orders.Interpretation) *Revision {
		return &Revision{Version: Version{Results: []Result{{ProviderID: "GLU", Text: text, Unit: unit, UCUM: ucum, Interpretation: i}}}}
	}
	before := revision("30", "mg/dL", "mg/dL", orders.Critical)
	for name, c := range map[string]struct {
		now  *Revision
		want bool
	}{
		"repeated":           {revision("30", "mg/dL", "mg/dL", orders.Critical), false},
		"another spelling":   {revision("30", "MG/DL", "mg/dL", orders.Critical), false},
		"another unit":       {revision("30", "mmol/L", "mmol/L", orders.Critical), true},
		"another number":     {revision("31", "mg/dL", "mg/dL", orders.Critical), true},
		"critical no longer": {revision("90", "mg/dL", "mg/dL", orders.Normal), false},
		"an unknown unit":    {revision("30", "odd", "", orders.Critical), true},
	} {
		if got := c.now.hasNewCritical(before); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
