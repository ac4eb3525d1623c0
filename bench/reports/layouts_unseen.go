package main

import (
	"fmt"
	"strings"
)

// The families of this file were written after the extractor. Nothing in the
// extractor was changed for them.

// inOutOfRange prints one column for results in range and one for results out of range.
func inOutOfRange(r *report) string {
	var b builder
	m := r.Metadata
	b.f(`<table><tr><td width="40%%"><b style="font-size:13pt">%s</b></td><td>Report Status: Final<br>%s, %s</td></tr></table>
<table style="border:1px solid"><tr><td>Patient Information<br><b>%s, %s</b><br><br>DOB: %s &nbsp; AGE: %d<br>Gender: %s</td><td>Specimen: %s<br>Requisition: 0012345<br><br>Collected: %s<br>Received: %s<br>Reported: %s</td><td>Client #: 97512334<br>HALLORAN, R<br>Harbor Family Practice</td></tr></table><br>`,
		esc(m.Lab), strings.ToUpper(m.LastName), strings.ToUpper(m.FirstName), strings.ToUpper(m.LastName), strings.ToUpper(m.FirstName), r.birth.Format(usDate), r.age(), r.sexLetter(), m.Specimen,
		r.drawn.Format("01/02/2006 / 15:04 EST"), r.drawn.Format("01/02/2006 / 20:11 EST"), r.reported.Format("01/02/2006 / 06:45 EST"))
	for _, s := range r.sections {
		b.f(`<table class="q"><thead><tr style="background:#ccc"><th width="36%%">Test Name</th><th width="14%%">In Range</th><th width="16%%">Out Of Range</th><th width="26%%">Reference Range</th><th width="8%%">Lab</th></tr></thead><tr><td colspan="5"><b>%s</b></td></tr>`, esc(strings.ToUpper(s.name)))
		for _, row := range s.rows {
			in, out := row.value, ""
			if row.flag != "" {
				in, out = "", row.value+" "+row.flag
			}
			rng := strings.NewReplacer("<=", "< OR = ", ">=", "> OR = ").Replace(row.rng)
			b.f(`<tr><td style="padding-left:14pt">%s</td><td>%s</td><td><b>%s</b></td><td>%s %s</td><td>AMD</td></tr>`, esc(strings.ToUpper(row.name)), esc(in), esc(out), esc(rng), esc(row.unit))
		}
		b.f(`</table>`)
	}
	b.f(`<p style="font-size:8pt">PERFORMING SITE: AMD %s, 14225 NEWBROOK DRIVE</p>`, esc(strings.ToUpper(m.Lab)))
	return page(`.q td,.q th{font-size:9pt}`, b.String())
}

// flagBefore prints the flag in a column before the result, and the unit beside the
// range.
func flagBefore(r *report) string {
	var b builder
	m := r.Metadata
	b.f(`<center><b style="font-size:15pt">%s</b><br>100 International Boulevard</center>
<table><tr><td><b>%s, %s</b></td><td>Date of Birth: %s</td><td>Sex: %s</td></tr><tr><td>Patient Name: %s %s</td><td>Lab No: %s</td><td>Date Collected: %s</td></tr><tr><td></td><td>Ordering Physician: HALLORAN</td><td>Date Reported: %s</td></tr></table><hr>`,
		esc(m.Lab), strings.ToUpper(m.LastName), m.FirstName, r.birth.Format(isoDate), r.sexLetter(), m.FirstName, m.LastName, m.Specimen, r.drawn.Format(isoDate), r.reported.Format(isoDate))
	b.f(`<table class="c"><thead><tr><th width="38%%">TEST</th><th width="10%%">FLAG</th><th width="16%%">RESULT</th><th width="36%%">REFERENCE RANGE - UNITS</th></tr></thead>`)
	for _, s := range r.sections {
		b.f(`<tr><td colspan="4" style="padding-top:6pt"><i><b>%s</b></i></td></tr>`, esc(s.name))
		for i := range s.rows {
			row := &s.rows[i]
			mark := ""
			if row.flag != "" {
				mark = "A"
				row.truth.Flag = "A"
				if row.flag != "A" {
					mark = row.flag
					row.truth.Flag = row.flag
				}
			}
			b.f(`<tr><td>%s</td><td>%s</td><td>%s</td><td>%s &nbsp; %s</td></tr>`, esc(row.name), mark, esc(row.value), esc(strings.Replace(row.rng, "-", " - ", boolInt(row.analyte.kind != "words"))), esc(row.unit))
		}
	}
	b.f(`</table><p>FINAL RESULTS</p>`)
	return page(`.c td,.c th{border-bottom:1px solid #ddd;font-size:9.5pt}`, b.String())
}

// leaders prints no header. Dots fill the line from a name to its value, and ranges are
// in square brackets.
func leaders(r *report) string {
	var b builder
	m := r.Metadata
	b.f("%s\n\nPatient ......: %s %s\nBorn .........: %s     Sex: %s\nOrder no. ....: %s\nCollected ....: %s\nReported .....: %s\n", m.Lab, m.FirstName, m.LastName, r.birth.Format(wordDate), r.sexWord(), m.Specimen,
		r.drawn.Format(wordDate), r.reported.Format(wordDate))
	for _, s := range r.sections {
		b.f("\n%s\n\n", strings.ToUpper(s.name))
		for _, row := range s.rows {
			name := row.name + " "
			name += strings.Repeat(".", max(3, 44-len(name)))
			rng := ""
			if row.rng != "" {
				rng = "[" + row.rng + "]"
			}
			b.f("%s\n", strings.TrimRight(fmt.Sprintf("%s %9s %-2s %-16s %s", name, row.value, row.flag, row.unit, rng), " "))
		}
	}
	b.f("\n-- end --\n")
	return page("", `<pre style="font-family:'Liberation Mono',monospace;font-size:8.5pt;line-height:1.3">`+esc(b.String())+`</pre>`)
}
