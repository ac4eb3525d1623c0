package reports

import (
	"cmp"
	"context"
	"slices"
	"time"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/critical"
	"hale/internal/labs/loinc"
	"hale/internal/labs/orders"
	"hale/internal/labs/reports/extract"
	"hale/internal/labs/results/refrange"
	"hale/internal/platform/civil"
	"hale/internal/platform/store"
)

// alarmAge is the age of a sample whose critical values raise no notice: reports of past
// years are uploaded, too.
const alarmAge = 30 * 24 * time.Hour

// raiseAlarm raises a notice for critical values that the previous version does not have.
// If a report has no critical value any more, it closes the report's notice. before is
// nil for the first reading.
func raiseAlarm(ctx context.Context, tx *store.Tx, j *Job, before, now *Version) error {
	values := now.criticalValues()
	switch {
	case len(values) == 0 && before != nil:
		return critical.CloseReport(ctx, tx, j.Team, j.ID.UUID())
	case len(values) == 0 || now.isOld(tx.Now()):
		return nil
	}
	if before != nil {
		known := before.criticalValues()
		values = slices.DeleteFunc(values, func(value string) bool { return slices.Contains(known, value) })
	}
	if len(values) == 0 {
		return nil
	}
	return critical.Raise(ctx, tx, j.Team, critical.Subject{Report: &critical.Report{ID: j.ID.UUID(), User: j.User}})
}

// isOld reports whether the sample is older than alarmAge. A report without a date is new.
func (v *Version) isOld(now time.Time) bool {
	if v.Metadata.SeveralCollections { // another sample may be new
		return false
	}
	day, err := civil.ParseDate(cmp.Or(v.Metadata.CollectedDate, v.Metadata.ReportedDate))
	return err == nil && now.Sub(day.In(time.UTC)) > alarmAge
}

// criticalValues names the critical values of a version. A result that an order or an
// earlier report has already was notified there.
func (v *Version) criticalValues() (all []string) {
	for i := range v.Rows {
		r := &v.Rows[i]
		if _, repeated := v.Repeated[i]; r.Interpretation == string(orders.Critical) && !repeated && !v.Removed[i] {
			all = append(all, cmp.Or(codeOf(r), foldText(r.Name))+" "+r.Value+" "+foldUnit(codeOf(r), cmp.Or(r.UCUM, r.Unit)))
		}
	}
	return all
}

// worstFirst lists the interpretations, the most severe first.
var worstFirst = []orders.Interpretation{orders.Critical, orders.Abnormal, orders.Unknown, orders.Normal}

// worst returns the most severe interpretation of the rows; empty without rows.
func (v *Version) worst() orders.Interpretation {
	for _, word := range worstFirst {
		for i := range v.Rows {
			if !v.Removed[i] && orUnknown(v.Rows[i].Interpretation) == string(word) {
				return word
			}
		}
	}
	return ""
}

// judgeCritical marks a value at or beyond the critical limits of the catalogue, as for
// values of orders. It does not use the report's flag.
func judgeCritical(r *extract.Row) {
	assay, code, known := criticalAssay(codeOf(r))
	if !known || r.Number == nil || r.UCUM == "" {
		return
	}
	factor, comparable := loinc.Factor(code, assay.Unit, r.UCUM)
	if unit, ok := loinc.UCUM(assay.Unit); ok && r.UCUM == unit {
		factor, comparable = 1, true
	}
	if !comparable {
		return
	}
	limits := refrange.Range{}
	if assay.CriticalLow != nil {
		limits.Low = &refrange.Bound{Value: *assay.CriticalLow * factor}
	}
	if assay.CriticalHigh != nil {
		limits.High = &refrange.Bound{Value: *assay.CriticalHigh * factor}
	}
	if c := limits.Compare(boundedValue(r)); isTrue(c.Above) || isTrue(c.Below) {
		r.Interpretation = string(orders.Critical)
	}
}

// criticalAssay returns the assay of the catalogue with the critical limits of a LOINC code,
// and its code. Glucose in mmol/L has another code than the assay in mg/dL: then component
// and specimen decide.
func criticalAssay(code string) (catalogue.Assay, string, bool) {
	if assay, known := catalogue.KnownAssay(code); known && hasLimits(&assay) {
		return assay, code, true
	}
	of, known := loinc.Find(code)
	if !known || of.Scale != "Qn" {
		return catalogue.Assay{}, "", false
	}
	for _, c := range loinc.AllCodes() {
		if c.Component != of.Component || c.Specimen != of.Specimen || c.Scale != "Qn" {
			continue
		}
		if assay, known := catalogue.KnownAssay(c.Code); known && hasLimits(&assay) {
			return assay, c.Code, true
		}
	}
	return catalogue.Assay{}, "", false
}

func hasLimits(a *catalogue.Assay) bool { return a.CriticalLow != nil || a.CriticalHigh != nil }
