package documents

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"hale/internal/labs/hl7"
	"hale/internal/labs/networks"
	"hale/internal/labs/orders"
	"hale/internal/labs/results"
	"hale/internal/platform/store"
)

// Reports makes the report of an order's results for when the lab sent none of
// its own.
//
// Reference 1.14, GET /v3/order/{order_id}/result/pdf.
type Reports struct{}

// ResultPDF is the report of a revision.
func (Reports) ResultPDF(ctx context.Context, tx *store.Tx, o *orders.Order, r *results.Revision) ([]byte, error) {
	s, err := About(ctx, tx, o)
	if err != nil {
		return nil, err
	}
	return s.Report(r)
}

// Report is the results on paper: of each its value, unit, range, flag and the
// laboratory's words, then what is missing and who tested.
func (s *Subject) Report(r *results.Revision) ([]byte, error) {
	p := newSheet("Laboratory report", s.foot(), r.CreatedAt)
	s.reportHead(p, r)
	sites := laboratories(r)
	findings(p, r, sites)
	absent(p, r)
	if len(r.Comments) > 0 {
		p.heading("Comments")
		for _, c := range r.Comments {
			p.paragraph(c, normal, "")
		}
	}
	performed(p, sites)
	p.paragraph("Flags: H above the range, L below it, HH and LL critical, A abnormal, AA critically abnormal; * means outside the range.", small, "")
	return p.bytes()
}

// standing says in words how final the results are.
func standing(r *results.Revision) string {
	switch {
	case r.Corrected && r.Status == results.Partial:
		return "CORRECTED, PARTIAL - more results are to come"
	case r.Corrected:
		return "CORRECTED - replaces earlier reports"
	case r.Status == results.Partial:
		return "PARTIAL - more results are to come"
	}
	return "FINAL"
}

func (s *Subject) reportHead(p *sheet, r *results.Revision) {
	o := &s.Full
	p.put(margin, p.y+14, 15, "B", printable("LABORATORY REPORT"))
	state := printable(standing(r))
	p.put(pageWidth-margin-p.width(11, "B", state), p.y+14, 11, "B", state)
	lab := s.Facts.Lab
	name := r.Laboratory
	if name == "" {
		name = lab.Name
	}
	p.put(margin, p.y+28, normal, "", printable(joined("   ", name, clia(r.CLIA))))
	p.y += 34
	p.again = func() {
		p.put(margin, p.y+8, normal, "B", printable(fmt.Sprintf("LABORATORY REPORT, continued   %s   %s", s.Order.SampleID, standing(r))))
		p.y += 16
	}
	p.fields(3,
		field{"Patient", lastFirst(o.Patient)}, field{"Date of birth", birth(o.Patient)}, field{"Sex", words(o.Patient.Gender)}, field{"Patient ID", o.Patient.ID.String()},
		field{"Control number", s.Order.SampleID}, field{"Ordered (UTC)", day(o.PlacedAt.UTC())}, field{"Physician", joined(", ", o.Physician.LastName, o.Physician.FirstName)}, field{"Account", account(s, r)},
		field{"Panel", s.Facts.Test.Name}, field{"Report version", fmt.Sprint(r.Number)}, field{"Version made", minute(r.CreatedAt.UTC())}, field{"Overall", words(r.Interpretation)},
	)
	for _, sample := range r.Samples {
		sp := sample.Specimen
		number := sp.Number
		if number == "" {
			number = sample.Key
		}
		fasting := ""
		if sp.Fasting != nil {
			fasting = yesNo(*sp.Fasting)
		}
		p.fields(5, field{"Sample", number}, field{"Collected", moment(sp.Collected)}, field{"Received", moment(sp.Received)}, field{"Reported", moment(sp.Reported)}, field{"Fasting", fasting})
		if about := joined("; ", sp.Volume, sp.Information); about != "" {
			p.paragraph(about, small+1, "")
		}
	}
}

func account(s *Subject, r *results.Revision) string {
	if r.Account != "" {
		return r.Account
	}
	return s.Full.Account.Number
}

// moment prints an instant on the clock of the laboratory when it gave one.
func moment(m networks.Moment) string {
	if m.Time.IsZero() {
		return ""
	}
	if m.Offset == nil {
		return m.Time.UTC().Format("01/02/2006 15:04")
	}
	return m.Time.In(time.FixedZone("", *m.Offset)).Format("01/02/2006 15:04 -07:00")
}

// site is a laboratory that tested, with the number by which results name it.
type site struct {
	key string
	networks.Laboratory
}

// laboratories lists who tested, in the order of their keys.
func laboratories(r *results.Revision) []site {
	var all []site
	for _, sample := range r.Samples {
		for key, lab := range sample.Laboratories {
			if !slices.ContainsFunc(all, func(s site) bool { return s.key == key }) {
				all = append(all, site{key, lab})
			}
		}
	}
	slices.SortFunc(all, func(a, b site) int { return strings.Compare(a.key, b.key) })
	return all
}

// findings is the table of results, under the marker that owes each.
func findings(p *sheet, r *results.Revision, sites []site) {
	p.heading("Results")
	if len(r.Results) == 0 {
		p.paragraph("There are no results yet.", normal, "")
		return
	}
	var rows []row
	group := ""
	for i := range r.Results {
		one := &r.Results[i]
		if owner := ownerOf(one); owner != group {
			group = owner
			rows = append(rows, row{title: owner})
		}
		abnormal := one.Interpretation == orders.Abnormal || one.Interpretation == orders.Critical
		name := one.Name
		if mark := stage(one.Status); mark != "" {
			name += " (" + mark + ")"
		}
		rows = append(rows, row{cells: []cell{
			{words: name},
			{words: one.Text, bold: abnormal},
			{words: flagOf(one), bold: true},
			{words: one.Unit},
			{words: one.Range.Text},
			{words: number(sites, one.Laboratory)},
		}})
		for _, note := range one.Notes {
			if note != one.Text {
				rows = append(rows, row{note: note})
			}
		}
	}
	p.table([]column{{"Test", 3.6}, {"Result", 2.2}, {"Flag", 0.8}, {"Units", 1.3}, {"Reference", 2}, {"Lab", 0.6}}, rows)
}

// ownerOf is the name over a result: the marker that was ordered.
func ownerOf(r *results.Result) string {
	if len(r.Markers) == 0 {
		return "Further results"
	}
	return r.Markers[0].Name
}

// flagOf returns the lab's flag, or ours where the lab gave none. A normal value
// has none.
func flagOf(r *results.Result) string {
	yes := func(b *bool) bool { return b != nil && *b }
	if r.Flag != "" && r.Flag != hl7.FlagNormal {
		return r.Flag
	}
	if flag := hl7.FlagFor(string(r.Interpretation), yes(r.Above), yes(r.Below)); flag != hl7.FlagNormal {
		return flag
	}
	return ""
}

// stage marks a value that is not simply final. HL7 table 0085.
func stage(status string) string {
	switch status {
	case "P":
		return "preliminary"
	case "C":
		return "corrected"
	}
	return ""
}

func number(sites []site, key string) string {
	if i := slices.IndexFunc(sites, func(s site) bool { return s.key == key }); i >= 0 {
		return fmt.Sprint(i + 1)
	}
	return ""
}

// absent lists what was expected and will not come, and why.
func absent(p *sheet, r *results.Revision) {
	if len(r.Missing) == 0 {
		return
	}
	title := "Not reported"
	if r.Status == results.Partial {
		title = "Not reported so far"
	}
	p.heading(title)
	var rows []row
	for _, m := range r.Missing {
		rows = append(rows, row{cells: []cell{{words: m.Name}, {words: words(m.Failure)}, {words: m.Note}}})
	}
	p.table([]column{{"Test", 3}, {"Reason", 2.5}, {"Laboratory's words", 3.5}}, rows)
}

// performed names the laboratories that tested, with what the law wants to
// stand on a report: name, address, CLIA number and director.
func performed(p *sheet, sites []site) {
	if len(sites) == 0 {
		return
	}
	p.heading("Testing performed at")
	for i, lab := range sites {
		where := ""
		if lab.Address != nil {
			where = joined(", ", lab.Address.FirstLine, lab.Address.SecondLine, lab.Address.City, joined(" ", lab.Address.State, lab.Address.Zip))
		}
		director := lab.Director
		if director != "" {
			director = "Director: " + director
		}
		p.point(fmt.Sprintf("%d", i+1), joined("   ", lab.Name, where, clia(lab.CLIA), lab.Phone, director))
	}
}

func clia(number string) string {
	if number == "" {
		return ""
	}
	return "CLIA " + number
}
