package hl7v2

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"hale/internal/labs/hl7"
	"hale/internal/labs/networks"
)

// addSpecimens reads the SPM of a test, and the fields of OBR that older versions have
// instead. It returns the key of each specimen: empty for the first one of the order.
// A test without SPM has one. Of tests with one specimen, the first with a fact about
// it counts.
func (r *results) addSpecimens(of *reader, q *request) (keys []string) {
	own := make([]networks.Specimen, max(len(q.specimens), 1))
	for i := range own {
		if i < len(q.specimens) {
			addSPM(of.clock, &own[i], q.specimens[i])
		}
		own[i].Type = cmp.Or(own[i].Type, sourceName(q.obr.Field(15).First()))
		setIfZero(&own[i].Collected, of.clock.moment(q.obr.Get(7)))
		keys = append(keys, r.addSpecimen(of, q, &own[i]))
	}
	return keys
}

// addSpecimen adds one specimen of a test, and returns its key if it is a further
// one of the order.
func (r *results) addSpecimen(of *reader, q *request, own *networks.Specimen) (further string) {
	sample := &r.set.Specimen
	if r.isFurther(own) && len(r.set.Specimens) <= maxSpecimens {
		further = own.Key()
		at := slices.IndexFunc(r.set.Specimens, func(s networks.Specimen) bool { return s.Key() == further })
		if at < 0 {
			at = len(r.set.Specimens)
			r.set.Specimens = append(r.set.Specimens, networks.Specimen{})
		}
		sample = &r.set.Specimens[at]
	}
	sample.Number, sample.Type = cmp.Or(sample.Number, own.Number), cmp.Or(sample.Type, own.Type)
	sample.Volume = cmp.Or(sample.Volume, own.Volume, quantity(q.obr.Get(9), q.obr.Get(9, 2), ""))
	setIfZero(&sample.Collected, own.Collected)
	setIfZero(&sample.Received, own.Received)
	setIfZero(&sample.Received, of.clock.moment(q.obr.Get(14)))
	if sample.Reported.Time.IsZero() {
		sample.Reported = of.clock.moment(q.obr.Get(22))
		if at, err := hl7.ParseTime(q.obr.Get(22), of.clock.zone); further == "" {
			r.dateOnly = err == nil && at.Digits <= len("20060102")
		}
	}
	information := q.obr.Text(13)
	if sample.Fasting == nil {
		sample.Fasting = parseFasting(information)
	}
	sample.Information = cmp.Or(sample.Information, clinicalInformation(q.obr.Field(13).First()))
	return further
}

// addSPM adds the facts of an SPM that a specimen lacks.
func addSPM(clock timeReader, to *networks.Specimen, s hl7.Segment) {
	to.Number = cmp.Or(to.Number, s.Get(2), s.Field(2).First().Get(2))
	to.Type = cmp.Or(to.Type, materialName(s.Field(4).First()))
	to.Volume = cmp.Or(to.Volume, quantity(s.Get(12), s.Get(12, 2), s.Get(12, 2, 2)))
	setIfZero(&to.Collected, clock.moment(s.Get(17)))
	setIfZero(&to.Received, clock.moment(s.Get(18)))
}

// maxSpecimens bounds the further specimens of one order in a message.
const maxSpecimens = 200

// isFurther reports whether a specimen is another one than the order's first:
// it has another number, or without numbers another type or time of collection.
func (r *results) isFurther(s *networks.Specimen) bool {
	first := &r.set.Specimen
	if s.Number != "" && first.Number != "" {
		return s.Number != first.Number
	}
	return s.Type != "" && first.Type != "" && s.Type != first.Type || differInTime(s.Collected, first.Collected)
}

// differInTime reports whether two known times of collection cannot be the same. A
// time at midnight may be a date only.
func differInTime(a, b networks.Moment) bool {
	if a.Time.IsZero() || b.Time.IsZero() {
		return false
	}
	one, other := a.Text(), b.Text()
	if day := len("2006-01-02"); one[day:day+6] == "T00:00" || other[day:day+6] == "T00:00" {
		return one[:day] != other[:day]
	}
	return a.Time.Sub(b.Time).Abs() >= time.Minute
}

// clinicalInformation returns OBR-13 in words, without codes. It is a text, or
// a code of HL7 table 0916 with or without its name.
func clinicalInformation(v hl7.Value) string {
	code, name := v.Get(1), v.Get(2)
	if words, known := relevantInformation[strings.ToUpper(strings.TrimSpace(code))]; known {
		return cmp.Or(name, words)
	}
	if name != "" && v.Get(3) != "" {
		return name
	}
	if word, rest, cut := strings.Cut(strings.TrimSpace(code), " "); cut && name == "" && relevantInformation[word] != "" {
		return strings.TrimSpace(rest) // some labs write the code into the text
	}
	return strings.TrimSpace(strings.ReplaceAll(v.Text(), "^", " "))
}

// relevantInformation is HL7 table 0916, and Y for yes.
var relevantInformation = map[string]string{
	"F":   "Patient was fasting prior to the procedure.",
	"Y":   "Patient was fasting prior to the procedure.",
	"NF":  "The patient indicated they did not fast prior to the procedure.",
	"NG":  "Not given. The patient was not asked at the time of the procedure.",
	"FNA": "Fasting not asked of the patient at time of procedure.",
}

// collectionTime returns the time of collection in a message without results:
// SPM-17, or OBR-7. In an order message it counts only where the message
// reports a status or observations. An answer repeats the order, whose OBR-7
// may be a planned time.
func (d *draft) collectionTime(q *request) networks.Moment {
	answer := d.header.Type == "ORL" || d.header.Type == "ORR"
	if !answer && !slices.Contains([]string{"SC", "SN", "SR", "RE"}, strings.ToUpper(q.orc.Get(1))) {
		return networks.Moment{}
	}
	var at networks.Moment
	for _, s := range q.specimens {
		setIfZero(&at, d.clock.moment(s.Get(17)))
	}
	if !answer {
		setIfZero(&at, d.clock.moment(q.obr.Get(7)))
	}
	return at
}

func setIfZero(at *networks.Moment, found networks.Moment) {
	if at.Time.IsZero() {
		*at = found
	}
}

func quantity(amount, unit, words string) string {
	if amount == "" {
		return ""
	}
	return strings.TrimSpace(amount + " " + cmp.Or(unit, words))
}

// parseFasting reads OBR-13, whose first word labs take from HL7 table 0916:
// F, NF, NG (not given) and FNA (not asked).
func parseFasting(text string) *bool {
	word, _, _ := strings.Cut(strings.ToUpper(strings.TrimSpace(text)), " ")
	word, _, _ = strings.Cut(word, "^")
	yes := true
	switch strings.Trim(word, ".,:;") {
	case "F", "FASTING", "Y":
		return &yes
	case "NF", "NONFASTING", "NON-FASTING":
		no := false
		return &no
	}
	return nil
}
