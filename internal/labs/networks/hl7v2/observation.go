package hl7v2

import (
	"bytes"
	"cmp"
	"regexp"
	"slices"
	"strings"
	"time"

	"hale/internal/labs/hl7"
	"hale/internal/labs/networks"
	"hale/internal/labs/pdfs"
)

// readObservation reads an OBX.
func readObservation(c timeReader, t *test, o *observation) *entry {
	s := o.obx
	e := &entry{test: t}
	e.ProviderID, e.Name, e.LOINC = coding(s, 3)
	e.TestProviderID = t.code
	e.SubID = s.Get(4)
	e.Unit = unitOf(s.Field(6).First())
	e.Range = s.Text(7)
	e.Flag = abnormalFlag(s.Field(8))
	e.Status = valueStatus(s.Get(11))
	e.Notes = o.notes
	e.At = c.firstMoment(s.Get(14), s.Get(19))
	kind := strings.ToUpper(s.Get(2))
	e.text = kind == "TX" || kind == "FT"
	e.Value, e.Type = readValue(kind, s.Field(5))
	return e
}

// valueStatus reads OBX-11. Later versions have letters that mean a final value
// (V verified, B appended) or another one (A amended).
func valueStatus(code string) string {
	switch code = strings.ToUpper(strings.TrimSpace(code)); code {
	case "A":
		return "C"
	case "B", "V":
		return "F"
	}
	return code
}

var numberPattern = regexp.MustCompile(`^[+-]?(\d+\.?\d*|\.\d+)$`)

// readValue reads OBX-5 as its type says. The second result is the type of the
// value; when empty, it follows from the text.
func readValue(kind string, f hl7.Field) (text, is string) {
	repeats := f.Repeats()
	if len(repeats) == 0 && kind != "TX" && kind != "FT" {
		return "", ""
	}
	switch kind {
	case "NM":
		return joinTexts(repeats, ", ", hl7.Value.Text), "numeric" // also words: the test has numbers
	case "SN":
		text = joinTexts(repeats, ", ", structuredNumber)
		return text, structuredType(text)
	case "CE", "CWE", "CNE", "CF":
		return joinTexts(repeats, ", ", codedText), "coded_value"
	case "TX", "FT":
		return f.Text(), "comment"
	case "NA", "MA": // a list of numbers
		return strings.Join(strings.FieldsFunc(f.First().Raw(), func(r rune) bool { return r == '^' }), ", "), "comment"
	case "RP": // a pointer to a document
		return joinTexts(repeats, "\n", func(v hl7.Value) string { return v.Get(1) }), "comment"
	case "ED": // a PDF is stored separately; of other documents only text can be shown
		if v := repeats[0]; strings.EqualFold(v.Get(2), "TEXT") && strings.EqualFold(v.Get(4), "A") {
			return v.Get(5), "comment"
		}
		return "", ""
	case "DT", "TM", "TS", "DTM": // not numbers
		return joinTexts(repeats, ", ", writtenTime(kind)), "comment"
	case "CX", "EI":
		return joinTexts(repeats, ", ", func(v hl7.Value) string { return v.Get(1) }), "comment"
	case "XPN", "XCN", "XAD", "XTN", "XON":
		return joinTexts(repeats, ", ", func(v hl7.Value) string { return strings.TrimSpace(strings.ReplaceAll(v.Text(), "^", " ")) }), ""
	}
	return joinTexts(repeats, "\n", hl7.Value.Text), ""
}

// timeLayouts have the form in which a time of so many digits is written.
var timeLayouts = map[int]string{4: "2006", 6: "2006-01", 8: "2006-01-02", 10: "2006-01-02 15h", 12: "2006-01-02 15:04", 14: "2006-01-02 15:04:05"}

// writtenTime writes a value of a type of time as people do: 2026-11-01 10:30. A text
// that is no time stays as it is.
func writtenTime(kind string) func(v hl7.Value) string {
	day := ""
	if kind == "TM" { // a time of any day
		day = "20000101"
	}
	return func(v hl7.Value) string {
		t, err := hl7.ParseTime(day+v.Get(1), time.UTC)
		if err != nil {
			return v.Text()
		}
		layout := timeLayouts[t.Digits]
		if kind == "TM" {
			layout = strings.TrimPrefix(layout, timeLayouts[8]+" ")
		}
		if t.Zoned {
			layout += " -07:00"
		}
		return t.Format(layout)
	}
}

func joinTexts(values []hl7.Value, separator string, read func(hl7.Value) string) string {
	var texts []string
	for _, v := range values {
		if text := strings.TrimSpace(read(v)); text != "" {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, separator)
}

// structuredNumber writes a structured number as a lab would print it: <5,
// 10-20, 1:128, 2+.
func structuredNumber(v hl7.Value) string {
	comparator, first, separator, second := v.Get(1), v.Get(2), v.Get(3), v.Get(4)
	if comparator == "<>" { // not equal; labs print ≠
		comparator = "≠"
	}
	if comparator == "=" {
		comparator = ""
	}
	return comparator + first + separator + second
}

// intervalPattern matches values that may be shown as a range: <5, >=60,
// 10-20.
var intervalPattern = regexp.MustCompile(`^([<>]=?\d*(\.\d+)?|\d*(\.\d+)?-\d*(\.\d+)?)$`)

func structuredType(text string) string {
	switch {
	case numberPattern.MatchString(text):
		return "numeric"
	case intervalPattern.MatchString(text):
		return "range"
	}
	return ""
}

// codedText returns the text of a code: its own, the original text, the
// alternate text, or the name of the code.
func codedText(v hl7.Value) string {
	return cmp.Or(v.Get(2), v.Get(9), v.Get(5), answerNames[v.Get(1)], answerNames[v.Get(4)], v.Get(1), v.Get(4))
}

// abnormalFlag reads OBX-8. Of a repeated flag the worst counts. A flag that is known
// from its name or its second code counts as much as one that is known from its code.
func abnormalFlag(f hl7.Field) string {
	var flags []string
	for _, v := range f.Repeats() {
		code := cmp.Or(v.Get(1), v.Get(4), v.Get(2), v.Get(5), v.Get(9))
		_, isKnown := hl7.FindFlag(code)
		for _, other := range []string{v.Get(2), v.Get(4), v.Get(5), v.Get(9)} {
			switch flag, ok := hl7.FindFlag(other); {
			case ok && !isKnown:
				code, isKnown = other, true
			case ok && flag.Interpretation == "critical":
				flags = append(flags, other)
			}
		}
		if code != "" {
			flags = append(flags, code)
		}
	}
	return hl7.WorstFlag(flags)
}

// unitOf returns the unit of OBX-6: its code, otherwise its name. Some labs do not
// escape the circumflex of 10^3/uL, which then separates two components.
func unitOf(v hl7.Value) string {
	code, next := v.Get(1), v.Get(2)
	if strings.HasSuffix(code, "10") && powerOfTen.MatchString(code+"^"+next) {
		return code + "^" + next
	}
	return cmp.Or(code, next)
}

var powerOfTen = regexp.MustCompile(`^[xX×*]?\s*10\^\d{1,2}(\s*/?\s*[A-Za-zµμ].*)?$`)

// takeDocument stores the PDF of an OBX and reports whether it was a document. A
// message may have several, which stay in their order. Of other documents, such as
// images, it notes that they were refused.
func (r *results) takeDocument(s hl7.Segment) bool {
	if strings.ToUpper(s.Get(2)) != "ED" {
		return false
	}
	v := s.Field(5).First()
	data := v.Get(5)
	isPDF := strings.EqualFold(v.Get(3), "PDF") || strings.EqualFold(v.Get(2), "PDF") || strings.HasPrefix(data, "JVBERi0")
	isEncoded := data != "" && (strings.EqualFold(v.Get(4), "Base64") || strings.EqualFold(v.Get(4), "Hex"))
	switch {
	case !isPDF && !isEncoded:
		return false
	case slices.Contains([]string{"D", "W", "X"}, strings.ToUpper(s.Get(11))): // withdrawn
		return true
	}
	document, problem := pdfs.Decode(v.Get(4), data)
	switch {
	case problem != "":
		r.set.Refused = append(r.set.Refused, problem)
	case r.set.PDF == nil:
		r.set.PDF = document
	case !bytes.Equal(document, r.set.PDF) && !slices.ContainsFunc(r.set.MorePDFs, func(other []byte) bool { return bytes.Equal(document, other) }):
		r.set.MorePDFs = append(r.set.MorePDFs, document)
	}
	return true
}

var cliaPattern = regexp.MustCompile(`^\d{2}D\d{7}$`)

// addLaboratory adds the laboratory that performed a test (OBX-23 to 25,
// before version 2.5 OBX-15) and returns the key by which results name it.
// Without a name it is the sender.
func (r *results) addLaboratory(of *reader, s hl7.Segment) string {
	lab := networks.Laboratory{Name: cmp.Or(s.Get(23), s.Get(15, 2))}
	ids := []string{s.Get(23, 10), s.Get(23, 3), s.Get(15)}
	if lab.Name == "" {
		ids = append(ids, of.header.SendingFacility.Get(2))
	}
	for _, id := range ids {
		if cliaPattern.MatchString(id) {
			lab.CLIA = id
			break
		}
	}
	if v := s.Field(24).First(); v.Raw() != "" {
		lab.Address = &networks.Address{
			FirstLine: v.Get(1), SecondLine: v.Get(2), City: v.Get(3), State: v.Get(4), Zip: v.Get(5), Country: v.Get(6),
		}
	}
	if v := s.Field(25).First(); v.Raw() != "" {
		lab.Director = director(v)
	}
	key := cmp.Or(lab.CLIA, s.Get(15), lab.Name)
	if key == "" {
		return ""
	}
	known, seen := r.set.Laboratories[key]
	if !seen && r.set.Laboratories == nil {
		r.set.Laboratories = map[string]networks.Laboratory{}
	}
	if !seen || known.Name == "" || known.Address == nil && lab.Address != nil {
		r.set.Laboratories[key] = lab
	}
	switch {
	case r.set.CLIA != "":
	case lab.CLIA != "": // the laboratory with a known number represents the report
		r.set.CLIA, r.set.Laboratory = lab.CLIA, lab.Name
	default:
		r.set.Laboratory = cmp.Or(r.set.Laboratory, lab.Name)
	}
	return key
}

// director returns the name of OBX-25 (XCN): prefix, given, family, degree.
func director(v hl7.Value) string {
	parts := slices.DeleteFunc([]string{v.Get(6), v.Get(3), v.Get(2)}, func(s string) bool { return s == "" })
	name := strings.Join(parts, " ")
	if degree := v.Get(7); degree != "" {
		name += ", " + degree
	}
	return name
}
