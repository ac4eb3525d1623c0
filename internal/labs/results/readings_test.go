package results

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"hale/internal/labs/networks"
)

// reading writes a report of one code in short: "F 88@8 C 543HH@10 X@12 W@10" are
// values with status, value, flag and hour. A value may have a sub-id (88#2) and a
// parent (88^1).
func reading(hour int, text string) Report {
	r := Report{At: day.Add(time.Duration(hour) * time.Hour), id: uuid.NewSHA1(uuid.Nil, []byte(fmt.Sprint(hour, text)))}
	words := strings.Fields(text)
	for len(words) > 0 {
		status, word := words[0], words[1]
		words = words[2:]
		one := networks.Result{ProviderID: "GLU", Name: "Glucose", Unit: "mg/dL", Status: status}
		value, at, timed := strings.Cut(word, "@")
		if timed {
			var h int
			fmt.Sscan(at, &h)
			one.At = networks.Moment{Time: day.Add(time.Duration(h-24) * time.Hour)}
		}
		value, parent, _ := strings.Cut(value, "^")
		if parent != "" {
			one.Parent = networks.Parent{Code: "600-7", SubID: parent}
		}
		value, one.SubID, _ = strings.Cut(value, "#")
		one.Value = strings.TrimRight(value, "HL")
		one.Flag = value[len(one.Value):]
		switch status {
		case "C":
			r.Set.Corrected = true
		case "P":
			r.Set.Partial = true
		case "X", "W":
			r.Set.Corrected = r.Set.Corrected || status == "W"
			r.Set.Missing = append(r.Set.Missing, networks.MissingResult{ProviderID: "GLU", Name: "Glucose", SubID: one.SubID, At: one.At, Parent: one.Parent, Note: "why"})
			continue
		}
		r.Set.Results = append(r.Set.Results, one)
	}
	return r
}

// mergedReadings describes the merged values of one code, with the values that
// they replace.
func mergedReadings(e *expectations, reports []Report) string {
	reports = slices.Clone(reports)
	e.setKeys(reports)
	m := merge(reports, "S1")
	var all []string
	for _, r := range m.results {
		text := r.Value + r.Flag
		if !r.At.Time.IsZero() {
			text += fmt.Sprintf("@%d", int(r.At.Time.Sub(day).Hours())+24)
		}
		if r.SubID != "" {
			text += "#" + r.SubID
		}
		if r.Parent.SubID != "" {
			text += "^" + r.Parent.SubID
		}
		if r.finality != FinalValue {
			text += " " + string(r.finality)
		}
		if r.previous != nil {
			text += " was " + r.previous.Value + r.previous.Flag
		}
		all = append(all, text)
	}
	v := buildVersion(e, m)
	for _, no := range v.Missing {
		if no.Reported {
			all = append(all, "missing "+no.Note)
		}
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

// A code may come several times in one specimen. The time of the observation, the
// sub-id and the parent result determine which value a later message means.
func TestReadingsOfOneCode(t *testing.T) {
	for name, c := range map[string]struct {
		reports []string
		want    string
	}{
		"a correction becomes critical":           {[]string{"F 88@8 F 543HH@10", "C 39LL@8"}, "39LL@8 corrected was 88, 543HH@10"},
		"a correction beside a critical value":    {[]string{"F 88@8 F 543HH@10", "C 89@8"}, "543HH@10, 89@8 corrected was 88"},
		"one of two values":                       {[]string{"F 88@8 F 143@10", "C 560HH@10"}, "560HH@10 corrected was 143, 88@8"},
		"sent with the other":                     {[]string{"F 88@8 F 143@10", "F 88@8 C 560HH@10"}, "560HH@10 corrected was 143, 88@8"},
		"no longer critical":                      {[]string{"F 88@8 F 543HH@10", "F 88@8 C 143@10"}, "143@10 corrected was 543HH, 88@8"},
		"both":                                    {[]string{"F 88@8 F 143@10", "C 87@8 C 560@10"}, "560@10 corrected was 143, 87@8 corrected was 88"},
		"first one, then both":                    {[]string{"F 88@8", "F 88@8 F 143@10", "C 89@8"}, "143@10, 89@8 corrected was 88"},
		"a third value":                           {[]string{"F 88@8 F 143@10", "F 150@12"}, "143@10, 150@12, 88@8"},
		"a correction of an unknown time":         {[]string{"F 88@8 F 143@10", "C 150@11"}, "143@10, 150@11 corrected, 88@8"},
		"preliminary, then final":                 {[]string{"P 88@8 P 143@10", "F 88@8", "F 145@10"}, "145@10 was 143, 88@8"},
		"one final, one preliminary":              {[]string{"F 88@8 P 543HH@10", "F 143@10"}, "143@10 was 543HH, 88@8"},
		"a single value with another time":        {[]string{"F 88@8", "C 89@9"}, "89@9 corrected was 88"},
		"the same, not marked":                    {[]string{"F 88@8", "F 89@9"}, "89@9 corrected was 88"},
		"a time that returns":                     {[]string{"F 88@8", "F 143@10", "C 39LL@8"}, "143@10, 39LL@8 corrected was 88"},
		"a critical value and an earlier one":     {[]string{"F 543HH@10", "C 39LL@8"}, "39LL@8 corrected, 543HH@10"},
		"sub-ids":                                 {[]string{"F 88#1@8 F 143#2@8", "C 560#2@8"}, "560@8#2 corrected was 143, 88@8#1"},
		"organisms":                               {[]string{"F 16^2@8", "F 1^1@8"}, "16@8^2, 1@8^1"},
		"organisms, one sub-id":                   {[]string{"F 16#1^2@8 F 1^1@8", "C 2^1@8"}, "16@8#1^2, 2@8^1 corrected was 1"},
		"one organism, named later":               {[]string{"F 16@8", "C 8^2@8"}, "8@8^2 corrected was 16"},
		"one of two values is withdrawn":          {[]string{"F 88@8 F 543HH@10", "W 543@10"}, "88@8, missing why"},
		"one of two values will not come":         {[]string{"F 88@8 X -@10"}, "88@8, missing why"},
		"a withdrawal with another time":          {[]string{"F 88@8", "W 88@9"}, "missing why"},
		"a withdrawal without a time":             {[]string{"F 88@8 F 543HH@10", "W 543"}, "missing why"},
		"a withdrawn sub-id":                      {[]string{"F 88#1 F 143#2", "W 143#2"}, "88#1, missing why"},
		"a withdrawal of an unknown time":         {[]string{"F 88@8 F 543HH@10", "W 543@11"}, "543HH@10, 88@8, missing why"},
		"a value of another organism withdrawn":   {[]string{"F 16^2 F 1^1", "W 1^1"}, "16^2, missing why\nParent result: 600-7, sub-id 1"},
		"one of two withdrawn values sent again":  {[]string{"F 88@8 F 543HH@10", "W 543", "C 88@8"}, "88@8, missing why"},
		"both withdrawn values sent again":        {[]string{"F 88@8 F 543HH@10", "W 543", "C 88@8 C 543HH@10"}, "543HH@10, 88@8"},
		"a later collection after a correction":   {[]string{"F 4.0@8", "C 4.4@8", "F 6.1@10"}, "6.1@10 corrected was 4.4"},
		"an earlier value sent again":             {[]string{"F 4.0@8", "C 4.4@8", "F 4.0@8"}, "4.4@8 corrected was 4.0"},
		"a final value after a withdrawal":        {[]string{"F 4.0@8", "W 4.0@8", "F 6.1@8"}, "6.1@8 corrected was 4.0"},
		"a value that came before the withdrawal": {[]string{"F 4.0@8", "F 6.1@8", "W 6.1@8"}, "missing why"},
		"a withdrawn value that is sent again":    {[]string{"F 88@8 F 143@10", "W 143@10", "C 145@10"}, "145@10 corrected was 143, 88@8"},
		"equal values of different times remain":  {[]string{"F 88@8 F 88@10", "C 90@10"}, "88@8, 90@10 corrected was 88"},
	} {
		var reports []Report
		for hour, text := range c.reports {
			reports = append(reports, reading(hour, text))
		}
		for range 2 {
			if got := mergedReadings(threeOwed(), reports); got != c.want {
				t.Errorf("%s: %s, want %s", name, got, c.want)
			}
			slices.Reverse(reports)
		}
	}
}

// The last word on each reading counts: a correction over a final value, then the
// later report. Only a final value that was observed, or is critical and was
// reported, after all corrections counts over them. The order of arrival changes nothing.
func TestTheLatestReportOfEachValueCounts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		readings := rapid.IntRange(2, 3).Draw(t, "readings")
		type word struct {
			corrected, critical bool
			value               string
		}
		said := make([][]word, readings)
		var reports []Report
		for n := range rapid.IntRange(1, 6).Draw(t, "messages") {
			var texts []string
			for i := range readings {
				if n > 0 && !rapid.Bool().Draw(t, "has") {
					continue
				}
				w := word{n > 0 && rapid.Bool().Draw(t, "corrected"), rapid.Bool().Draw(t, "critical"), fmt.Sprint(100*n + i)}
				if w.critical {
					w.value += "HH"
				}
				status := "F"
				if w.corrected {
					status = "C"
				}
				said[i] = append(said[i], w)
				texts = append(texts, fmt.Sprintf("%s %s@%d", status, w.value, 8+i))
			}
			if len(texts) > 0 {
				reports = append(reports, reading(n, strings.Join(texts, " ")))
			}
		}
		reports = rapid.Permutation(reports).Draw(t, "order")
		e := threeOwed()
		e.setKeys(reports)
		var got, want []string
		for _, r := range merge(reports, "S1").results {
			got = append(got, r.Value+r.Flag)
		}
		for _, words := range said {
			last := slices.MaxFunc(words, func(a, b word) int { return cmp.Compare(asNumber(a.corrected), asNumber(b.corrected)) })
			for _, w := range words {
				if w.corrected == last.corrected {
					last = w
				}
			}
			if end := words[len(words)-1]; end.critical && !end.corrected {
				last = end
			} else if last.corrected {
				after := words[slices.Index(words, last)+1:]
				for _, w := range after {
					if w.critical {
						last = w
					}
				}
			}
			want = append(want, last.value)
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Fatalf("%q, want %q", got, want)
		}
	})
}

// A susceptibility names its organism, by the culture's result or by OBR-26 alone.
func TestOrganismsOfSusceptibilities(t *testing.T) {
	r := Report{At: day, id: uuid.New()}
	add := func(code, sub, value string, parent networks.Parent) {
		r.Set.Results = append(r.Set.Results, networks.Result{ProviderID: code, Name: code, SubID: sub, Value: value, Status: "F", Parent: parent})
	}
	add("ORG", "1", "Escherichia coli", networks.Parent{})
	add("ORG", "2", "Staphylococcus  aureus", networks.Parent{})
	add("VAN", "", "1", networks.Parent{Code: "ORG", SubID: "1"})
	add("VAN", "", "16", networks.Parent{Code: "org", SubID: "2"})
	add("AMP", "", "8", networks.Parent{Code: "600-7", SubID: "3", Value: "K. oxytoca"})
	add("CIP", "", "2", networks.Parent{Code: "600-7", SubID: "3"})
	add("TSH", "", "9", networks.Parent{})
	add("FT4", "", "1.1", networks.Parent{Code: "TSH"})
	r.Set.Missing = []networks.MissingResult{{ProviderID: "VAN", Note: "repeat", Parent: networks.Parent{Code: "ORG", SubID: "4"}}}
	e, reports := threeOwed(), []Report{r}
	e.setKeys(reports)
	v := buildVersion(e, merge(reports, "S1"))
	var got []string
	for _, one := range v.Results {
		got = append(got, one.Name+" "+one.Text+" "+strings.Join(one.Notes, "/"))
	}
	for _, no := range v.Missing {
		if no.Reported {
			got = append(got, no.Name+" missing "+no.Note)
		}
	}
	want := []string{
		"ORG Escherichia coli Escherichia coli", "ORG Staphylococcus  aureus Staphylococcus  aureus", "VAN 1 ORG: Escherichia coli",
		"VAN 16 ORG: Staphylococcus aureus", "AMP 8 Organism: K. oxytoca", "CIP 2 Parent result: 600-7, sub-id 3", "TSH 9 ", "FT4 1.1 ",
		"VAN missing repeat\nParent result: ORG, sub-id 4",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want\n%q", got, want)
	}
}

func asNumber(yes bool) int {
	if yes {
		return 1
	}
	return 0
}
