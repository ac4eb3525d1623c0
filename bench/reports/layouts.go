package main

import (
	"fmt"
	"html"
	"strconv"
	"strings"
	"time"
)

// family is one way of laying out a report.
type family struct {
	name   string
	unseen bool // written after the extractor, and not looked at while it changed
	panels []panel
	html   func(*report) string
}

var families = []family{
	{"current-previous", false, []panel{chemistryPanel, bloodCountPanel, lipidPanel, endocrinePanel}, currentPrevious},
	{"monospace", false, []panel{chemistryPanel, bloodCountPanel, urinalysisPanel}, monospaceFont},
	{"ruled", false, []panel{chemistryPanel, bloodCountPanel, lipidPanel, urinalysisPanel}, ruledTable},
	{"methods", false, []panel{bloodCountPanel, chemistryPanel, lipidPanel, endocrinePanel}, methods},
	{"dates", false, []panel{bloodCountPanel, chemistryPanel}, dates},
	{"running-text", false, []panel{europeanCountPanel, europeanPanel}, runningText},
	{"range-bars", false, []panel{lipidPanel, endocrinePanel, chemistryPanel}, rangeBars},
	{"words", false, []panel{serologyPanel, urinalysisPanel}, words},
	{"decimal-commas", false, []panel{europeanPanel, europeanCountPanel}, decimalCommas},
	{"wrapped", false, []panel{bloodCountPanel, endocrinePanel, urinalysisPanel}, wrapWords},
	{"in-out-of-range", true, []panel{chemistryPanel, bloodCountPanel, lipidPanel, urinalysisPanel}, inOutOfRange},
	{"flag-before", true, []panel{bloodCountPanel, chemistryPanel, endocrinePanel, serologyPanel}, flagBefore},
	{"leaders", true, []panel{chemistryPanel, bloodCountPanel, endocrinePanel, urinalysisPanel}, leaders},
	{"portal-cards", false, []panel{europeanPanel, europeanCountPanel, lipidPanel, serologyPanel}, portalCards},
}

func esc(s string) string { return html.EscapeString(s) }

func page(style, body string) string {
	return `<!DOCTYPE html><html><head><meta charset="utf-8"><title>report</title><style>
@page{size:A4;margin:14mm 12mm}
body{font-family:"Liberation Sans",Arial,sans-serif;font-size:10pt;color:#000}
table{border-collapse:collapse;width:100%} td,th{text-align:left;vertical-align:top;padding:1.5pt 4pt}
` + style + `</style></head><body>` + body + `</body></html>`
}

type builder struct{ strings.Builder }

func (b *builder) f(format string, args ...any) { fmt.Fprintf(b, format, args...) }

const usDate, ukDate, isoDate, wordDate = "01/02/2006", "02/01/2006", "2006-01-02", "02-Jan-2006"

// currentPrevious prints the current result and flag next to the previous one.
func currentPrevious(r *report) string {
	var b builder
	m := r.Metadata
	b.f(`<h2 style="margin:0">%s</h2><div>1200 Harbor Way, Port Ellery &nbsp; Tel 555-0100</div><hr>
<table style="width:100%%"><tr><td><b>Patient:</b> %s, %s<br><b>DOB:</b> %s<br><b>Sex:</b> %s</td>
<td><b>Date Collected:</b> %s<br><b>Date Received:</b> %s<br><b>Date Reported:</b> %s</td>
<td><b>Specimen ID:</b> %s<br><b>Ordering Physician:</b> R. Halloran, MD<br>Fasting: Yes</td></tr></table>`,
		esc(m.Lab), strings.ToUpper(m.LastName), strings.ToUpper(m.FirstName), r.birth.Format(usDate), r.sexWord(),
		r.drawn.Format(usDate), r.drawn.AddDate(0, 0, 1).Format(usDate), r.reported.Format(usDate), m.Specimen)
	older := r.drawn.AddDate(0, -7, 3).Format(usDate)
	for _, s := range r.sections {
		b.f(`<h3 style="margin:10pt 0 2pt 0">%s</h3><table><thead><tr style="background:#ddd"><th width="32%%">Test</th><th width="20%%">Current Result and Flag</th><th width="20%%">Previous Result and Date</th><th width="12%%">Units</th><th width="16%%">Reference Interval</th></tr></thead>`, esc(s.name))
		for _, row := range s.rows {
			flag := map[string]string{"H": "High", "L": "Low", "A": "Abnormal"}[row.flag]
			prev := ""
			if row.earlier != "" && r.random.IntN(3) > 0 {
				prev = esc(row.earlier) + " &nbsp; " + older
			}
			foot := "01"
			if r.random.IntN(3) == 0 {
				foot = "02"
			}
			b.f(`<tr><td>%s<sup style="font-size:6pt">%s</sup></td><td>%s &nbsp;&nbsp; <b>%s</b></td><td>%s</td><td>%s</td><td>%s</td></tr>`,
				esc(row.name), foot, boldText(row.value, flag != ""), flag, prev, esc(row.unit), esc(row.rng))
		}
		b.f(`</table>`)
	}
	b.f(`<p style="font-size:7pt">01: Performed at Harbor Way. 02: Performed at Lake Street. Flags: High and Low are outside of the reference interval.</p>`)
	return page("", b.String())
}

func boldText(s string, on bool) string {
	if on {
		return "<b>" + esc(s) + "</b>"
	}
	return esc(s)
}

// monospaceFont prints a report as hospitals do: in one font, with columns made by spaces.
func monospaceFont(r *report) string {
	var b builder
	m := r.Metadata
	b.f("%s\n%s\n\n", center(strings.ToUpper(m.Lab), 90), center("LABORATORY REPORT", 90))
	b.f("PATIENT: %-38s ACCESSION: %s\n", strings.ToUpper(m.LastName+","+m.FirstName), m.Specimen)
	b.f("DOB: %-20s SEX: %-15s COLLECTED: %s\n", r.birth.Format(usDate), r.sexLetter(), r.drawn.Format("01/02/2006 15:04"))
	b.f("LOC: 4 WEST%-32sREPORTED:  %s\n", "", r.reported.Format("01/02/2006 15:04"))
	style := r.random.IntN(2)
	for _, s := range r.sections {
		b.f("%s\n", strings.Repeat("-", 90))
		b.f("%s\n", strings.ToUpper(s.name))
		b.f("%-34s %-12s %-4s %-18s %s\n", "TEST", "RESULT", "FLAG", "REFERENCE RANGE", "UNITS")
		for i := range s.rows {
			row := &s.rows[i]
			flag := row.flag
			if style == 1 && flag != "" {
				flag = "*"
				row.truth.Flag = "A"
			}
			rng := strings.ReplaceAll(strings.ReplaceAll(row.rng, "<=", "< OR = "), ">=", "> OR = ")
			name := strings.ToUpper(row.name)
			if len(name) > 33 {
				name = row.name[:0] + name[:33]
				name = strings.TrimRight(name, " ")
				if len(row.name) > 33 {
					name = strings.ToUpper(row.analyte.names[0])
					row.truth.Name = row.analyte.names[0]
				}
			}
			b.f("%-34s %-12s %-4s %-18s %s\n", name, row.value, flag, rng, row.unit)
		}
	}
	b.f("%s\n%s\n", strings.Repeat("-", 90), "* = OUTSIDE REFERENCE RANGE   H = HIGH   L = LOW")
	return page("", `<pre style="font-family:'Liberation Mono',monospace;font-size:8.5pt;line-height:1.25">`+esc(b.String())+`</pre>`)
}

func center(s string, width int) string {
	return strings.Repeat(" ", max(0, (width-len(s))/2)) + s
}

// ruledTable prints a table with lines. The flag is beside the value, range and unit
// share a cell, and there is a status and an older value.
func ruledTable(r *report) string {
	var b builder
	m := r.Metadata
	b.f(`<table><tr><td width="60%%"><span style="font-size:16pt"><b>%s</b></span><br>Final Report</td><td>Report Date: %s<br>Lab No: %s</td></tr></table>
<table class="g"><tr><td>Patient Name</td><td>%s %s</td><td>Date of Birth</td><td>%s</td></tr><tr><td>Gender</td><td>%s</td><td>Collection Date</td><td>%s</td></tr></table>`,
		esc(m.Lab), r.reported.Format(wordDate), m.Specimen, m.FirstName, m.LastName, r.birth.Format(wordDate), r.sexWord(), r.drawn.Format(wordDate))
	older := r.drawn.AddDate(0, -5, -2).Format(wordDate)
	b.f(`<br><table class="g"><thead><tr><th width="34%%">Component</th><th width="16%%">Value</th><th width="26%%">Ref Range &amp; Units</th><th width="10%%">Status</th><th width="14%%">%s</th></tr></thead>`, older)
	for _, s := range r.sections {
		b.f(`<tr><td colspan="5" style="background:#eee"><b>%s</b></td></tr>`, esc(s.name))
		for _, row := range s.rows {
			flag := ""
			if row.flag != "" {
				flag = " (" + row.flag + ")"
			}
			b.f(`<tr><td>%s</td><td>%s</td><td>%s</td><td>Final</td><td>%s</td></tr>`, esc(row.name), boldText(row.value+flag, flag != ""),
				esc(strings.TrimSpace(strings.Replace(row.rng, "-", " - ", boolInt(!strings.Contains(row.rng, "Non-")))+" "+row.unit)), esc(row.earlier))
		}
	}
	b.f(`</table>`)
	return page(`.g td,.g th{border:1px solid #444;font-size:9pt}`, b.String())
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// methods prints the method below the name of a test, sub-headings, and ranges of several
// lines.
func methods(r *report) string {
	var b builder
	m := r.Metadata
	title := "Mr."
	if !r.male {
		title = "Mrs."
	}
	b.f(`<center><span style="font-size:17pt"><b>%s</b></span><br><span style="font-size:8pt">NABL style sample &middot; 24 hour service</span></center><hr>
<table><tr><td width="18%%">Name</td><td width="34%%">: %s %s %s</td><td width="20%%">Sample ID</td><td>: %s</td></tr>
<tr><td>Age / Sex</td><td>: %d Years / %s</td><td>Collected On</td><td>: %s</td></tr>
<tr><td>DOB</td><td>: %s</td><td>Reported On</td><td>: %s</td></tr></table><hr>`,
		esc(m.Lab), title, strings.ToUpper(m.FirstName), strings.ToUpper(m.LastName), m.Specimen, r.age(), r.sexWord(), r.drawn.Format("02/Jan/2006 03:04 PM"), r.birth.Format("02/Jan/2006"), r.reported.Format("02/Jan/2006 03:04 PM"))
	b.f(`<table><thead><tr><th width="40%%" style="border-bottom:1px solid">Investigation</th><th width="14%%" style="border-bottom:1px solid">Result</th><th width="14%%" style="border-bottom:1px solid">Unit</th><th style="border-bottom:1px solid">Biological Ref. Interval</th></tr></thead>`)
	for _, s := range r.sections {
		b.f(`<tr><td colspan="4" align="center" style="padding-top:8pt"><center><b><u>%s</u></b></center></td></tr>`, esc(strings.ToUpper(s.name)))
		for i := range s.rows {
			row := &s.rows[i]
			a := row.analyte
			name := esc(row.name)
			if a.method != "" {
				name += `<br><span style="font-size:7pt;color:#444"><i>Method: ` + esc(a.method) + `</i></span>`
			}
			rng := esc(row.rng)
			f := func(v float64) string { return strconv.FormatFloat(v, 'f', a.decimals, 64) }
			switch a.kind {
			case "sexed":
				rng = fmt.Sprintf("M: %s - %s<br>F: %s - %s", f(a.low), f(a.high), f(a.female[0]), f(a.female[1]))
			case "bands":
				var parts []string
				for _, x := range a.bands {
					parts = append(parts, esc(x.label+": "+strings.Replace(x.text, "-", " - ", 1)))
				}
				rng = strings.Join(parts, "<br>")
			case "upto":
				rng = "Upto " + f(a.high)
				row.truth.Min = nil
				if row.flag == "L" {
					row.flag, row.truth.Flag = "", ""
				}
			case "":
				rng = esc(strings.Replace(row.rng, "-", " - ", 1))
			}
			flag := row.flag
			value := boldText(row.value, flag != "")
			if flag != "" {
				value = "<b>" + flag + "</b> &nbsp; " + value
			}
			b.f(`<tr><td>%s</td><td>%s</td><td>%s</td><td>%s</td></tr>`, name, value, esc(row.unit), rng)
		}
	}
	b.f(`</table><center>*** End of Report ***</center>`)
	return page("", b.String())
}

// dates prints one column for each visit. The newest visit is the one of the report.
func dates(r *report) string {
	var b builder
	m := r.Metadata
	newestFirst := r.random.IntN(2) == 0
	b.f(`<b style="font-size:14pt">%s</b><br>Cumulative report<br><br>
<table><tr><td>Name: %s %s</td><td>Date of birth: %s</td><td>Sex: %s</td></tr><tr><td>Laboratory number: %s</td><td>Specimen collected: %s</td><td>Report issued: %s</td></tr></table><br>`,
		esc(m.Lab), m.FirstName, m.LastName, r.birth.Format(wordDate), r.sexLetter(), m.Specimen, r.drawn.Format(wordDate), r.reported.Format(wordDate))
	days := []time.Time{r.drawn, r.drawn.AddDate(0, -3, 0), r.drawn.AddDate(0, -8, 2)}
	if !newestFirst {
		days[0], days[2] = days[2], days[0]
	}
	for _, s := range r.sections {
		b.f(`<p style="margin:8pt 0 2pt 0"><b>%s</b></p><table class="d"><thead><tr><th width="30%%">Test</th>`, esc(s.name))
		for _, d := range days {
			b.f(`<th width="13%%">%s</th>`, d.Format("02 Jan 2006"))
		}
		b.f(`<th width="14%%">Units</th><th>Range</th></tr></thead>`)
		for i := range s.rows {
			row := &s.rows[i]
			b.f(`<tr><td>%s</td>`, esc(row.name))
			for _, d := range days {
				switch {
				case d.Equal(r.drawn):
					flag := ""
					if row.flag != "" {
						flag = " " + row.flag
					}
					b.f(`<td>%s</td>`, boldText(row.value+flag, flag != ""))
				case r.random.IntN(4) == 0:
					b.f(`<td>-</td>`)
				default:
					v, f := r.number(row.analyte, row.analyte.low, row.analyte.high, r.random.IntN(6) == 0)
					if f != "" {
						v += " " + f
					}
					b.f(`<td>%s</td>`, v)
				}
			}
			b.f(`<td>%s</td><td>%s</td></tr>`, esc(row.unit), esc(row.rng))
		}
		b.f(`</table>`)
	}
	return page(`.d td,.d th{border-bottom:1px solid #bbb}`, b.String())
}

// runningText prints results as sentences, as letters of clinics do.
func runningText(r *report) string {
	var b builder
	m := r.Metadata
	b.f(`<b>%s</b><br>Department of Clinical Biochemistry and Haematology<br><br>Dear Dr Halloran,<br><br>
Re: %s %s, date of birth %s, %s<br>Lab reference: %s. Sample collected: %s. Reported: %s.<br><br>
Thank you for referring this patient. The results of the blood tests are as follows.<br><br>`,
		esc(m.Lab), m.FirstName, m.LastName, r.birth.Format("2 January 2006"), strings.ToLower(r.sexWord()), m.Specimen, r.drawn.Format("2 January 2006"), r.reported.Format("2 January 2006"))
	for _, s := range r.sections {
		b.f(`<p style="text-align:justify"><b>%s:</b> `, esc(s.name))
		for i, row := range s.rows {
			rng := row.rng
			flag := ""
			if row.flag != "" {
				flag = " " + row.flag
			}
			sep := ", "
			if i == len(s.rows)-1 {
				sep = "."
			}
			b.f(`%s %s%s %s (%s)%s`, esc(row.name), row.value, flag, esc(row.unit), esc(rng), sep)
		}
		b.f(`</p>`)
	}
	b.f(`<p>Reference ranges are given in brackets. H and L mark results above and below them.</p><p>Yours sincerely,<br>Consultant Pathologist</p>`)
	return page("", b.String())
}

// rangeBars draws a bar for each result with the bounds at its ends.
func rangeBars(r *report) string {
	var b builder
	m := r.Metadata
	b.f(`<table><tr><td><b style="font-size:18pt">%s</b></td><td align="right">Your Health Report</td></tr></table>
<table style="background:#f3f3f3"><tr><td>Patient name<br><b>%s %s</b></td><td>Date of birth<br><b>%s</b></td><td>Sex<br><b>%s</b></td><td>Collected<br><b>%s</b></td><td>Reported<br><b>%s</b></td><td>Accession<br><b>%s</b></td></tr></table>`,
		esc(m.Lab), m.FirstName, m.LastName, r.birth.Format("Jan 2, 2006"), r.sexWord(), r.drawn.Format("Jan 2, 2006"), r.reported.Format("Jan 2, 2006"), m.Specimen)
	for _, s := range r.sections {
		b.f(`<h3>%s</h3><table><thead><tr><th width="34%%">Biomarker</th><th width="12%%">Result</th><th width="14%%">Unit</th><th width="22%%"></th><th width="18%%">Optimal Range</th></tr></thead>`, esc(s.name))
		for i := range s.rows {
			row := &s.rows[i]
			word := map[string]string{"H": "High", "L": "Low", "A": "Abnormal", "": "Normal"}[row.flag]
			b.f(`<tr style="height:24pt"><td>%s</td><td><b>%s</b></td><td>%s</td><td><table style="width:80pt"><tr><td style="background:#e0a0a0;width:20pt;height:5pt;padding:0"></td><td style="background:#90c090;width:40pt;height:5pt;padding:0"></td><td style="background:#e0a0a0;width:20pt;height:5pt;padding:0"></td></tr></table><span style="font-size:7pt">%s</span></td><td>%s</td></tr>`,
				esc(row.name), esc(row.value), esc(row.unit), word, esc(strings.Replace(row.rng, "-", " – ", 1)))
		}
		b.f(`</table>`)
	}
	return page("", b.String())
}

// words prints serology and microbiology, whose results are words.
func words(r *report) string {
	var b builder
	m := r.Metadata
	b.f(`<b style="font-size:13pt">%s</b><br>Microbiology and Serology<hr>
<table><tr><td>Patient: %s %s</td><td>Born: %s</td><td>Sex: %s</td></tr><tr><td>Accession No.: %s</td><td>Collected: %s</td><td>Reported: %s</td></tr></table><hr>`,
		esc(m.Lab), m.FirstName, m.LastName, r.birth.Format(isoDate), r.sexLetter(), m.Specimen, r.drawn.Format(isoDate), r.reported.Format(isoDate))
	for _, s := range r.sections {
		b.f(`<p><b>%s</b> &nbsp; Specimen: %s</p><table><thead><tr><th width="42%%"><u>Examination</u></th><th width="22%%"><u>Result</u></th><th width="20%%"><u>Expected</u></th><th><u>Units</u></th></tr></thead>`, esc(strings.ToUpper(s.name)), esc(s.specimen))
		for i := range s.rows {
			row := &s.rows[i]
			flag := row.flag
			value := row.value
			if flag != "" {
				value += "  " + map[string]string{"A": "(A)", "H": "(H)", "L": "(L)"}[flag]
			}
			if r.random.IntN(2) == 0 && row.analyte.kind == "words" {
				value = strings.ToUpper(value)
				row.truth.Value = strings.ToUpper(row.value)
			}
			b.f(`<tr><td>%s</td><td>%s</td><td>%s</td><td>%s</td></tr>`, esc(row.name), boldText(value, flag != ""), esc(row.rng), esc(row.unit))
			if r.random.IntN(5) == 0 {
				b.f(`<tr><td colspan="4" style="font-size:8pt;padding-left:16pt">Interpret together with the clinical picture. A repeat is advised when symptoms persist.</td></tr>`)
			}
		}
		b.f(`</table>`)
	}
	return page("", b.String())
}

// decimalCommas prints a report in English as laboratories in continental Europe do, with
// decimal commas.
func decimalCommas(r *report) string {
	var b builder
	m := r.Metadata
	comma := func(s string) string { return strings.ReplaceAll(s, ".", ",") }
	b.f(`<table><tr><td width="50%%"><b>%s</b><br>Kanaalstraat 14, Utrechtsdorp</td><td>Request no.: %s<br>Sampling date: %s<br>Report date: %s</td></tr></table>
<p>Surname: %s &nbsp;&nbsp; First name: %s &nbsp;&nbsp; Birth date: %s &nbsp;&nbsp; Sex: %s</p>`,
		esc(m.Lab), m.Specimen, r.drawn.Format("02.01.2006"), r.reported.Format("02.01.2006"), m.LastName, m.FirstName, r.birth.Format("02.01.2006"), r.sexLetter())
	b.f(`<table class="e"><thead><tr><th width="34%%">Analysis</th><th width="6%%"></th><th width="14%%">Value</th><th width="18%%">Unit</th><th width="28%%">Reference values</th></tr></thead>`)
	for _, s := range r.sections {
		b.f(`<tr><td colspan="5"><b>%s</b></td></tr>`, esc(s.name))
		for i := range s.rows {
			row := &s.rows[i]
			row.truth.Value = comma(row.value)
			mark := map[string]string{"H": "+", "L": "-", "": ""}[row.flag]
			unit := esc(row.unit)
			if strings.Contains(unit, "10^") && r.random.IntN(2) == 0 {
				unit = strings.NewReplacer("10^9", "10<sup>9</sup>", "10^12", "10<sup>12</sup>").Replace(unit)
			}
			rng := strings.Replace(comma(row.rng), "-", " - ", 1)
			if row.rng[0] == '<' {
				rng = "< " + comma(row.rng[1:])
			}
			b.f(`<tr><td>%s</td><td>%s</td><td align="right" style="text-align:right">%s</td><td>%s</td><td>%s</td></tr>`, esc(row.name), mark, boldText(comma(row.value), mark != ""), unit, esc(rng))
		}
	}
	b.f(`</table><p style="font-size:7pt">+ above, - below the reference values</p>`)
	return page(`.e td{border-bottom:1px dotted #999}`, b.String())
}

// wrapWords prints narrow columns: names take two lines, values are in the middle of the
// row, and units are below ranges.
func wrapWords(r *report) string {
	var b builder
	m := r.Metadata
	b.f(`<b style="font-size:15pt">%s</b><table><tr><td>Patient Information<br><b>%s, %s</b><br>DOB: %s &nbsp; Age: %d<br>Gender: %s</td><td>Specimen Information<br>Specimen: %s<br>Collected: %s / 08:15 EST<br>Reported: %s / 17:40 EST</td><td>Client Information<br>Harbor Family Practice<br>12 Quay Street</td></tr></table><hr>`,
		esc(m.Lab), strings.ToUpper(m.LastName), strings.ToUpper(m.FirstName), r.birth.Format(usDate), r.age(), r.sexWord(), m.Specimen, r.drawn.Format(usDate), r.reported.Format(usDate))
	for _, s := range r.sections {
		b.f(`<p style="margin:8pt 0 0 0"><b>%s</b></p><table class="w"><thead><tr><th width="22%%">Test Name</th><th width="14%%">Result</th><th width="10%%">Flag</th><th width="22%%">Reference Range</th><th width="14%%">Units</th><th width="8%%">Lab</th></tr></thead>`, esc(s.name))
		for i := range s.rows {
			row := &s.rows[i]
			rng := row.rng
			if row.unit != "" && r.random.IntN(2) == 0 {
				rng += " " + row.unit
			}
			b.f(`<tr><td>%s</td><td>%s</td><td>%s</td><td>%s</td><td>%s</td><td>EN</td></tr>`, esc(row.name), boldText(row.value, row.flag != ""), row.flag, esc(rng), esc(row.unit))
		}
		b.f(`</table>`)
	}
	return page(`.w td{vertical-align:middle;border-bottom:1px solid #ccc;font-size:10pt} .w{width:100%;table-layout:fixed}`, b.String())
}

// portalCards prints one block for each result, as patient portals do.
func portalCards(r *report) string {
	var b builder
	m := r.Metadata
	b.f(`<b style="font-size:16pt">%s</b><br>Test Results<br><br>Name: %s %s &nbsp; | &nbsp; DOB: %s &nbsp; | &nbsp; Legal sex: %s<br>Accession number: %s<br>Collected on: %s<br>Reported on: %s<br>`,
		esc(m.Lab), m.FirstName, m.LastName, r.birth.Format("1/2/2006"), r.sexWord(), m.Specimen, r.drawn.Format("January 2, 2006"), r.reported.Format("January 2, 2006"))
	for _, s := range r.sections {
		b.f(`<h3>%s</h3>`, esc(s.name))
		for _, row := range s.rows {
			word := map[string]string{"H": "High", "L": "Low", "A": "Abnormal", "": ""}[row.flag]
			b.f(`<div style="border-bottom:1px solid #ccc;padding:3pt 0;page-break-inside:avoid"><b>%s</b><br>`, esc(row.name))
			label := "Normal range"
			if row.analyte.kind == "words" || row.analyte.kind == "titre" {
				label = "Normal value"
			}
			if row.analyte.kind == "<" || row.analyte.kind == "<=" || row.analyte.kind == ">" || row.analyte.kind == ">=" {
				label = "Normal value"
			}
			b.f(`<span style="font-size:9pt">%s: %s %s</span><br>Value: %s %s`, label, esc(strings.Replace(row.rng, "-", " - ", boolInt(row.analyte.kind != "words"))), esc(row.unit), esc(row.value), esc(row.unit))
			if word != "" {
				b.f(` &nbsp; <b>%s</b>`, word)
			}
			b.f(`</div>`)
		}
	}
	return page("", b.String())
}
