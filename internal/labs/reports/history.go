package reports

import (
	"cmp"
	"context"
	"slices"

	"hale/internal/labs/reports/extract"
	"hale/internal/labs/results"
	"hale/internal/people/users"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// History holds all results of a user: those of orders and those of completed reports.
type History struct {
	Orders  []results.OrderResults
	Reports []ReportResults
}

// ReportResults is a completed report with its results. Repeated in its version links the
// rows that an order or an earlier report has already, as of now.
type ReportResults struct {
	Job Job
	Revision
}

// HistoryOf returns all results of a user, oldest order and report first.
func HistoryOf(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID) (h History, err error) {
	if h.Orders, err = results.OfUser(ctx, tx, team, user); err != nil {
		return h, err
	}
	var stored []fact
	for i := range h.Orders {
		stored = append(stored, factsOfOrder(&h.Orders[i].Order, &h.Orders[i].Revision)...)
	}
	read, err := completedReports(ctx, tx, team, user)
	if err != nil {
		return h, err
	}
	for i := range read {
		r, err := Results(ctx, tx, &read[i])
		if err != nil {
			return h, err
		}
		rows := facts(&read[i], &r.Version)
		r.Repeated = map[int]Origin{}
		known := len(stored) // a report does not repeat itself
		for n := range rows {
			if same, _ := findSame(&rows[n], stored[:known]); same != nil {
				r.Repeated[rows[n].origin.Row] = *same
			} else {
				stored = append(stored, rows[n])
			}
		}
		h.Reports = append(h.Reports, ReportResults{read[i], r})
	}
	return h, nil
}

// UserResultDocument is one result of a user on the wire.
type UserResultDocument struct {
	Name           string                 `json:"name"`
	Panel          *string                `json:"source_panel_name" nullable:"true" doc:"The heading of the result in its parsed report; of a drug, the organism. Null for results of orders."`
	LOINC          *string                `json:"loinc" nullable:"true"`
	Result         string                 `json:"result" doc:"Result as reported."`
	Type           string                 `json:"type"`
	Number         *float64               `json:"number" nullable:"true" doc:"The value of a number or of a number with a comparator."`
	Comparator     *string                `json:"comparator" nullable:"true" doc:"<, <=, > or >="`
	Unit           *string                `json:"unit" nullable:"true"`
	UCUM           *string                `json:"ucum_unit" nullable:"true"`
	Range          *string                `json:"reference_range" nullable:"true"`
	Min            *float64               `json:"min_range_value" nullable:"true"`
	Max            *float64               `json:"max_range_value" nullable:"true"`
	Interpretation string                 `json:"interpretation"`
	CollectedOn    *string                `json:"collected_on" nullable:"true" doc:"Day of the collection as yyyy-mm-dd."`
	NeedsReview    bool                   `json:"needs_review" doc:"Whether the reader of reports is not sure of this result."`
	Origin         ResultOriginDocument   `json:"origin" doc:"An order with a laboratory, or a parsed report."`
	Repeated       []ResultOriginDocument `json:"repeated_in" nullable:"false" doc:"Reports that show the same result again."`
}

// Documents returns all results for the wire, newest sample first. A result that several
// reports show is one result.
func (h *History) Documents() []UserResultDocument {
	all := []UserResultDocument{}
	place := map[Origin]int{}
	add := func(o Origin, d UserResultDocument) {
		d.Origin, d.Repeated = *originOrNil(&o), []ResultOriginDocument{}
		place[o] = len(all)
		all = append(all, d)
	}
	for i := range h.Orders {
		one := &h.Orders[i]
		for _, f := range factsOfOrder(&one.Order, &one.Revision) {
			add(f.origin, documentOfOrder(&one.Results[f.origin.Row], f.day))
		}
	}
	for i := range h.Reports {
		one := &h.Reports[i]
		for _, f := range facts(&one.Job, &one.Version) {
			if same, repeats := one.Repeated[f.origin.Row]; repeats {
				d := &all[place[same]]
				d.Repeated = append(d.Repeated, *originOrNil(&f.origin))
				continue
			}
			add(f.origin, documentOfRow(&one.Rows[f.origin.Row], f.day))
		}
	}
	slices.SortStableFunc(all, func(a, b UserResultDocument) int { return cmp.Compare(dayOf(b), dayOf(a)) })
	return all
}

func dayOf(d UserResultDocument) string {
	if d.CollectedOn == nil {
		return ""
	}
	return *d.CollectedOn
}

func documentOfOrder(r *results.Result, day string) UserResultDocument {
	d := UserResultDocument{
		Name: r.Name, LOINC: textOrNil(r.LOINC), Result: r.Text, Type: string(r.Type), Unit: textOrNil(r.Unit), UCUM: textOrNil(r.UCUM),
		Range: textOrNil(r.Range.Text), Interpretation: string(r.Interpretation), CollectedOn: textOrNil(day),
	}
	number, comparator := r.Number, ""
	if number == nil {
		comparator, number = splitComparator(r.Text)
	}
	d.Number, d.Comparator = finiteOrNil(number), textOrNil(comparator)
	if r.Range.Low != nil {
		d.Min = finiteOrNil(&r.Range.Low.Value)
	}
	if r.Range.High != nil {
		d.Max = finiteOrNil(&r.Range.High.Value)
	}
	return d
}

func documentOfRow(r *extract.Row, day string) UserResultDocument {
	return UserResultDocument{
		Name: r.Name, Panel: textOrNil(r.Panel), LOINC: textOrNil(codeOf(r)), Result: r.Value, Type: string(r.Type), Number: finiteOrNil(r.Number), Comparator: textOrNil(r.Comparator), Unit: textOrNil(r.Unit), UCUM: textOrNil(r.UCUM),
		Range: textOrNil(r.Range.Text), Min: finiteOrNil(r.Range.Min), Max: finiteOrNil(r.Range.Max),
		Interpretation: orUnknown(r.Interpretation), CollectedOn: textOrNil(day), NeedsReview: r.NeedsReview,
	}
}
