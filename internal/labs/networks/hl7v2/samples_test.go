package hl7v2

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"hale/internal/labs/hl7"
	"hale/internal/labs/networks"
	"hale/internal/testdata"
)

// The public result messages with their expected content. A line of describe is
// one fact; absent fields are left out.
func TestResultSamples(t *testing.T) {
	for file, want := range map[string]string{
		"LAB-ORU-1.hl7": `
order 88502218 sample 82503246 of DONALD D DUCK 1924-10-10 male at 2014-10-06T06:45:00+07:00
partial
specimen SpecimenID
collected 2014-10-06T05:35:00+07:00
received 2014-10-06T08:21:00+07:00
24317-0: 11273-0 ERYTHROCYTES (LOINC 11273-0) = 4.06 numeric tera.l-1 flag N status P at 2014-10-06T06:27:00+07:00
24317-0: 20570-8 HEMATOCRIT (LOINC 20570-8) = 40.1 numeric % flag N status P at 2014-10-06T08:30:00+07:00
24317-0: 11125-2 PLATELETS (LOINC 11125-2) = 221 numeric giga.l-1 flag N status F at 2014-10-06T08:30:00+07:00
order 855238581 sample 890775544 of DONALD D DUCK 1924-10-10 male at 2014-10-06T06:45:00+07:00
partial
specimen SpecimenID
collected 2014-10-06T05:35:00+07:00
received 2014-10-06T08:21:00+07:00
26464-8: 23761-0 NEUTROPHILS/100 LEUKOCYTES (LOINC 23761-0) = 72 numeric % flag N status P at 2014-10-06T06:27:00+07:00
26464-8: 26450-7 EOSINOPHILS/100 LEUKOCYTES (LOINC 26450-7) = 2 numeric % flag N status P at 2014-10-06T06:27:00+07:00
26464-8: 26478-8 LYMPHOCYTES/100 LEUKOCYTES (LOINC 26478-8) = 20 numeric % flag N status P at 2014-10-06T06:27:00+07:00
26464-8: 26485-3 MONOCYTES/100 LEUKOCYTES (LOINC 26485-3) = 6 numeric % flag N status P at 2014-10-06T06:27:00+07:00
26464-8: 30180-4 BASOPHILS/100 LEUKOCYTES (LOINC 30180-4) = 0 numeric % flag N status P at 2014-10-06T06:27:00+07:00`,

		"LAB-ORU-2.hl7": `
order 855238581 sample 890775544 of DONALD D DUCK 1924-10-10 male at 2014-10-06T09:31:00+07:00
specimen SpecimenID
collected 2014-10-06T05:35:00+07:00
received 2014-10-06T06:21:00+07:00
26464-8: 30180-4 BASOPHILS/100 LEUKOCYTES (LOINC 30180-4) = 0 numeric % flag N status F at 2014-10-06T08:30:00+07:00
26464-8: 23761-0 NEUTROPHILS/100 LEUKOCYTES (LOINC 23761-0) = 72 numeric % flag N status F at 2014-10-06T08:30:00+07:00
26464-8: 26450-7 EOSINOPHILS/100 LEUKOCYTES (LOINC 26450-7) = 2 numeric % flag N status F at 2014-10-06T08:30:00+07:00
26464-8: 26478-8 LYMPHOCYTES/100 LEUKOCYTES (LOINC 26478-8) = 20 numeric % flag N status F at 2014-10-06T08:30:00+07:00
26464-8: 26485-3 MONOCYTES/100 LEUKOCYTES (LOINC 26485-3) = 6 numeric % flag N status F at 2014-10-06T08:30:00+07:00
order 88502218 sample 82503246 of DONALD D DUCK 1924-10-10 male at 2014-10-06T09:31:00+07:00
specimen SpecimenID
collected 2014-10-06T05:35:00+07:00
received 2014-10-06T06:21:00+07:00
24317-0: 20509-6 HEMOGLOBIN (LOINC 20509-6) = 13.4 numeric g/l-1 flag N status F at 2014-10-06T08:30:00+07:00
24317-0: 11156-7 LEUKOCYTES (LOINC 11156-7) = 8.2 numeric giga.l-1 flag N status F at 2014-10-06T08:30:00+07:00
24317-0: 11273-0 ERYTHROCYTES (LOINC 11273-0) = 4.08 numeric tera.l-1 flag N status F at 2014-10-06T08:30:00+07:00
24317-0: 20570-8 HEMATOCRIT (LOINC 20570-8) = 39.7 numeric % flag N status F at 2014-10-06T08:30:00+07:00
24317-0: 11125-2 PLATELETS (LOINC 11125-2) = 220 numeric giga.l-1 flag N status F at 2014-10-06T08:30:00+07:00`,

		// An observation before ORC and OBR, a document without one, notes of four
		// places, and zones of every kind.
		"ORU-R01-01.hl7": `
order 845439 sample 986 of Huckleberry Finn 1963-08-15 male at 2002-03-15T07:30:00+02:15
partial
specimen 2012545 volume 40 lbs
collected 2011-01-03T14:34:28-08:00
received 2012-03-01T00:00:00-02:15
reported 2002-03-15T07:30:00+02:15
625-4: 8867-4 heartrate (LOINC 8867-4) = https://testurl.com comment status F at 1999-07-02T00:00:00-02:15 by ABC Hospital
625-4: 625-4 Bacteria identified in Stool by Culture = Salmonella coded_value beats/min range 70-80 flag A status P at 2012-03-01T00:00:00-02:15 by 16D0648109 sub 1
  note: Submission of serum
  note: No Antibodies Detected
625-4: 8867-4 Bacteria identified (LOINC 8867-4) = 27 numeric status I at 2002-02-15T07:30:00+02:15 sub 1
625-4: 8867-4 Bacteria identified (LOINC 8867-4) = 25 numeric status I at 2002-02-15T07:30:00+02:15 sub 1
laboratory 16D0648109: State Hygienic Laboratory, CLIA 16D0648109, Christopher Atchinson, State Hygienic Laboratory|UI Research Park -Coralville|Iowa City|IA|52242-5002|USA
laboratory ABC Hospital: ABC Hospital, A city|Florida|VA|22031|USA
report of State Hygienic Laboratory, CLIA 16D0648109
comment: Enteric culture includes testing for Salmonella, Shigella, Campylobacter, Yersinia, E.coli O157:H7 & other STECs, and Aeromonas
comment: Allergy to peanuts observed.
comment: Serum or Plasma: https://testurl.com`,

		// A structured number, and a range that cannot be parsed, as printed.
		"ORU-R01-RMGEAD.hl7": `
order 845439 sample 1045813 of EVE E EVERYWOMAN 1962-03-20 female at 2002-02-15T09:30:00+06:00
collected 2002-02-15T07:30:00+06:00
15545: 1554-5 GLUCOSE = 182 numeric mg/dl range 70_105 flag H status F at 2002-02-15T07:30:00+06:00`,

		// Text over several OBX without a code, and a final observation without a
		// value. There is no zone.
		"ORU-multiline-short-mixed.hl7": `
order PON_0d70c6c8 sample FON_0d70c6c8 of Autogenerated Patient 1963-03-06 male at 2020-08-02T12:44:55Z
collected 2020-08-02T12:44:55 without zone
1487:  ECHO CARDIOGRAM COMPLETE = [PII] Emergency Department⏎ED Encounter Arrival Date: [ADDRESS] [PERSONALNAME]: comment status F at 2020-08-02T12:44:55 without zone
missing 1487: 12345
comment: Created for MRN: 0d70c6c8`,

		"ORU-multiline-short.hl7": `
order PON_0d70c6c8 sample FON_0d70c6c8 of Autogenerated Patient 1963-03-06 male at 2020-08-02T12:44:55Z
collected 2020-08-02T12:44:55 without zone
1487:  ECHO CARDIOGRAM COMPLETE = [PII] Emergency Department⏎ED Encounter Arrival Date: [ADDRESS] [PERSONALNAME]: comment status F at 2020-08-02T12:44:55 without zone
comment: Created for MRN: 0d70c6c8`,
	} {
		t.Run(file, func(t *testing.T) {
			m := sample(t, file)
			got := describe(readReports(m, m.Header(), "", Lab{}), m.Header().Time.Location())
			if diff := gocmp.Diff(strings.TrimPrefix(want, "\n"), got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func sample(t *testing.T, file string) *hl7.Message {
	t.Helper()
	raw, err := os.ReadFile(testdata.Shared(t, "labs/hl7/"+file))
	if err != nil {
		t.Fatal(err)
	}
	m, err := hl7.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// describe writes reports as lines of words that a person can compare with the
// message. Times of a report are in the zone of its moments, or in loc.
func describe(reports []networks.Report, loc *time.Location) string {
	var b strings.Builder
	line := func(format string, args ...any) {
		text := strings.Join(strings.Split(strings.TrimRight(fmt.Sprintf(format, args...), " "), "\n"), "⏎")
		b.WriteString(text + "\n")
	}
	for _, r := range reports {
		at := r.At.In(loc)
		if r.Results != nil && r.Results.Specimen.Reported.Offset != nil {
			at = r.At.In(time.FixedZone("", *r.Results.Specimen.Reported.Offset))
		}
		line("order %s%s of %s %s %s%s at %s%s", r.Placer, word("sample", r.SampleID), r.Patient.FirstName, r.Patient.LastName,
			r.Patient.DOB, word("", r.Patient.Gender), at.Format(time.RFC3339), word("account", r.Account))
		if said := word("status", r.Status) + word("detail", r.Detail) + word("tests", strings.Join(r.Tests, ",")) +
			word("refused", strings.Join(r.Refused, ",")) + word("because", r.Reason); said != "" {
			line("%s", said[1:])
		}
		if at := moment(r.Collected); at != "" {
			line("drawn %s", at)
		}
		if r.Results != nil {
			describeResults(line, *r.Results)
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func describeResults(line func(string, ...any), set networks.ResultSet) {
	if set.Partial {
		line("partial")
	}
	if set.Corrected {
		line("corrected")
	}
	s := set.Specimen
	if s.Number+s.Volume+s.Information != "" || s.Fasting != nil {
		fasting := ""
		if s.Fasting != nil {
			fasting = fmt.Sprint(*s.Fasting)
		}
		line("specimen%s%s%s%s", word("", s.Number), word("volume", s.Volume), word("fasting", fasting), word("information", s.Information))
	}
	if !s.Collected.Time.IsZero() {
		line("collected %s", moment(s.Collected))
	}
	if !s.Received.Time.IsZero() {
		line("received %s", moment(s.Received))
	}
	if !s.Reported.Time.IsZero() {
		line("reported %s", moment(s.Reported))
	}
	for _, r := range set.Results {
		line("%s: %s%s%s = %s%s%s%s%s%s%s%s%s", r.TestProviderID, r.ProviderID, word("", r.Name), inBrackets(word("LOINC", r.LOINC)), r.Value,
			word("", r.Type), word("", r.Unit), word("range", r.Range), word("flag", r.Flag), word("status", r.Status),
			word("at", moment(r.At)), word("by", r.Laboratory), word("sub", r.SubID)+word("specimen", r.Specimen))
		for _, note := range r.Notes {
			line("  note: %s", note)
		}
	}
	for _, m := range set.Missing {
		rest := ""
		if m.Rest {
			rest = " rest"
		}
		line("missing %s: %s%s%s%s%s%s", m.TestProviderID, m.ProviderID, word("", m.Name), inBrackets(word("LOINC", m.LOINC)), word("because", m.Reason), word("note", m.Note), rest)
	}
	for _, key := range slices.Sorted(maps.Keys(set.Laboratories)) {
		l := set.Laboratories[key]
		address := ""
		if a := l.Address; a != nil {
			address = strings.Trim(strings.Join([]string{a.FirstLine, a.SecondLine, a.City, a.State, a.Zip, a.Country}, "|"), "|")
		}
		parts := slices.DeleteFunc([]string{l.Name, strings.TrimSpace(word("CLIA", l.CLIA)), l.Director, address}, func(s string) bool { return s == "" })
		line("laboratory %s: %s", key, strings.Join(parts, ", "))
	}
	if set.CLIA != "" {
		line("report of %s, CLIA %s", cmp.Or(set.Laboratory, "the sender"), set.CLIA)
	}
	for _, c := range set.Comments {
		line("comment: %s", c)
	}
	if set.PDF != nil {
		line("PDF %q… of %d bytes", set.PDF[:8], len(set.PDF))
	}
	if len(set.MorePDFs)+len(set.Refused)+len(set.Specimens) > 0 {
		line("%d more documents, refused %v, %d more specimens", len(set.MorePDFs), set.Refused, len(set.Specimens))
	}
}

// word returns " name value", or nothing without a value.
func word(name, value string) string {
	switch {
	case value == "":
		return ""
	case name == "":
		return " " + value
	}
	return " " + name + " " + value
}

func inBrackets(text string) string {
	if text == "" {
		return ""
	}
	return " (" + strings.TrimSpace(text) + ")"
}

func moment(m networks.Moment) string {
	switch {
	case m.Time.IsZero():
		return ""
	case m.Offset == nil:
		return m.Time.Format("2006-01-02T15:04:05") + " without zone"
	}
	return m.Time.In(time.FixedZone("", *m.Offset)).Format(time.RFC3339)
}
