package results

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/critical"
	"hale/internal/labs/labclock"
	"hale/internal/labs/networks"
	"hale/internal/labs/orders"
	"hale/internal/labs/pdfs"
	"hale/internal/platform/store"
)

// Arrival is a report of an order that arrives.
type Arrival struct {
	// Key names the report in the order's history. It never changes.
	Key string
	// At is the time of the report.
	At time.Time
	// Sent is the time of the message, Received that of its arrival; zero if it is
	// unknown. DateOnly reports that At is only a date.
	Sent, Received    time.Time
	DateOnly          bool
	SampleID, Account string
	// Patient is the person as the lab reported it.
	Patient networks.ReportedPatient
	Set     networks.ResultSet
	// Review is set when a person decided that the report belongs to the order.
	Review *Review
}

// Take stores a report of an order. When the report changes the order's
// results, Take adds a revision and moves the order. A report that is stored
// already changes nothing.
//
// o is the order as it was read; it is updated.
func Take(ctx context.Context, tx *store.Tx, o *orders.Order, a Arrival) error {
	if err := tx.Lock(ctx, "results:"+o.ID.String()); err != nil {
		return fmt.Errorf("results: waiting for other reports of %s: %w", o.ID, err)
	}
	known, err := readReports(ctx, tx, o)
	if err != nil {
		return err
	}
	pdf := a.Set.PDF
	if len(a.Set.MorePDFs) > 0 {
		if pdf, err = pdfs.Join(append([][]byte{pdf}, a.Set.MorePDFs...)); err != nil {
			pdf, a.Set.Refused = a.Set.PDF, append(slices.Clone(a.Set.Refused), pdfs.NotJoined)
		}
	}
	clock, err := labclock.Read(ctx, tx, o.Team)
	if err != nil {
		return err
	}
	if !a.Received.IsZero() { // on the lab's clock, which may be ahead
		a.Received = labclock.LaterOf(a.Received.Add(clock.Ahead), clock.StepAt).UTC()
	}
	next, doc, err := newReport(tx, a)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(known, func(r Report) bool { return r.digest == next.digest || r.digest == next.unnamed }) {
		return nil
	}
	if err := storeReport(ctx, tx, o, next, doc, pdf); err != nil {
		return err
	}
	numbers := []string{a.SampleID, a.Set.Specimen.Number}
	for _, s := range a.Set.Specimens {
		numbers = append(numbers, s.Number)
	}
	if err := orders.AddNumbers(ctx, tx, o, numbers...); err != nil {
		return err
	}
	a.At = next.known(a.At)
	return revise(ctx, tx, o, append(known, next), a)
}

// newReport returns a report as it is stored: with the hash of its document in
// place of the document.
func newReport(tx *store.Tx, a Arrival) (Report, []byte, error) {
	r := Report{At: a.At.UTC(), SampleID: a.SampleID, Account: a.Account, Set: a.Set, id: tx.NewUUID()}
	if len(a.Set.PDF) > 0 {
		sum := sha256.Sum256(a.Set.PDF)
		r.Document, r.Set.PDF, r.Set.MorePDFs = sum[:], nil, nil
		for _, more := range a.Set.MorePDFs {
			next := sha256.Sum256(more)
			sum = sha256.Sum256(append(r.Document, next[:]...))
			r.Document = sum[:]
		}
	}
	unnamed, err := json.Marshal(r)
	if err != nil {
		return Report{}, nil, fmt.Errorf("results: marshalling a report: %w", err)
	}
	r.Patient = a.Patient
	doc, err := json.Marshal(r)
	if err != nil {
		return Report{}, nil, fmt.Errorf("results: marshalling a report: %w", err)
	}
	r.digest, r.unnamed = sha256.Sum256(doc), sha256.Sum256(unnamed)
	if a.Review != nil || !a.Sent.IsZero() || !a.Received.IsZero() || a.DateOnly { // these do not make it another report
		r.Review, r.Sent, r.Received, r.DateOnly = a.Review, a.Sent, a.Received, a.DateOnly
		if doc, err = json.Marshal(r); err != nil {
			return Report{}, nil, fmt.Errorf("results: marshalling a report: %w", err)
		}
	}
	return r, doc, nil
}

// revise merges all reports and adds a revision when the results have changed.
func revise(ctx context.Context, tx *store.Tx, o *orders.Order, all []Report, a Arrival) error {
	setOrder(all)
	if !slices.ContainsFunc(all, func(r Report) bool { return r.hasContent() }) {
		return setCollectionTime(ctx, tx, o, merge(all, o.SampleID), a) // only documents so far
	}
	e, err := readExpectations(ctx, tx, o)
	if err != nil {
		return err
	}
	for i := range all {
		e.separateValueWords(&all[i])
	}
	e.setKeys(all)
	e.markReflex(all)
	m := merge(all, o.SampleID)
	now, err := labclock.TimeOf(ctx, tx, o.Team)
	if err != nil {
		return err
	}
	next := Revision{Order: o.ID, Number: 1, CreatedAt: now, Version: buildVersion(&e, m)}
	before, documented, err := latestRevision(ctx, tx, o)
	if err != nil {
		return err
	}
	if before != nil {
		next.Number = before.Number + 1
		same, err := isSameVersion(before.Version, next.Version)
		if err != nil || same && documented == m.document {
			return err
		}
	}
	if err := storeRevision(ctx, tx, o, next, m.document); err != nil {
		return err
	}
	return applyRevision(ctx, tx, o, before, &next, &e, a)
}

// isSameVersion reports whether two versions are equal.
func isSameVersion(a, b Version) (bool, error) {
	one, err := json.Marshal(a)
	if err != nil {
		return false, fmt.Errorf("results: comparing versions: %w", err)
	}
	other, err := json.Marshal(b)
	if err != nil {
		return false, fmt.Errorf("results: comparing versions: %w", err)
	}
	return bytes.Equal(one, other), nil
}

// changesResults reports whether a version has another value or another
// missing result. A repeated report with a new date or document has neither. The
// order of the values does not matter.
// Finality, conflict and previous value follow from values and statuses.
func changesResults(before, after Version) (bool, error) {
	for _, v := range []*Version{&before, &after} {
		v.Warnings = nil
		v.Samples, v.Comments, v.Laboratory, v.CLIA, v.Account, v.Corrected, v.Patient, v.Reviews = nil, nil, "", "", "", false, networks.ReportedPatient{}, nil
		v.Results = slices.Clone(v.Results)
		for i := range v.Results {
			v.Results[i].Finality, v.Results[i].Previous, v.Results[i].Conflict = "", nil, ""
			if v.Results[i].Status == "C" { // a final value
				v.Results[i].Status = "F"
			}
		}
		v.Missing = slices.Clone(v.Missing)
		for i := range v.Missing {
			v.Missing[i].Previous, v.Missing[i].WithdrawnAt = nil, time.Time{}
		}
	}
	one, err := textsOf(before.Results)
	if err != nil {
		return false, err
	}
	other, err := textsOf(after.Results)
	if err != nil || !slices.Equal(one, other) {
		return true, err
	}
	before.Results, after.Results = nil, nil
	same, err := isSameVersion(before, after)
	return !same, err
}

// textsOf returns the sorted JSON texts of values.
func textsOf(all []Result) ([]string, error) {
	texts := make([]string, len(all))
	for i := range all {
		doc, err := json.Marshal(&all[i])
		if err != nil {
			return nil, fmt.Errorf("results: comparing values: %w", err)
		}
		texts[i] = string(doc)
	}
	slices.Sort(texts)
	return texts, nil
}

// hasNewCritical reports whether a critical value or its unit is new. A
// person must learn of it, even if that person learned of earlier ones. Of equal
// values of one code each counts.
func (v *Revision) hasNewCritical(before *Revision) bool {
	type countedValue struct{ code, sub, text string }
	key := func(r *Result, text, unit string) countedValue {
		return countedValue{codeOf(r.ProviderID, r.LOINC, r.TestID, r.Name), r.SubID, text + " " + unit}
	}
	count := func(v *Revision) (now, replaced map[countedValue]int) {
		now, replaced = map[countedValue]int{}, map[countedValue]int{}
		for i := range v.Results {
			r := &v.Results[i]
			if r.Interpretation == orders.Critical {
				now[key(r, r.Text, cmp.Or(r.UCUM, r.Unit))]++
			}
			if p := r.Previous; p != nil && p.Interpretation == orders.Critical && p.Finality != PreliminaryValue && r.Status != "C" {
				replaced[key(r, p.Text, p.Unit)]++
			}
		}
		return now, replaced
	}
	known, gone := map[countedValue]int{}, map[countedValue]int{}
	spelled := map[countedValue]bool{} // as previous values are
	if before != nil {
		known, gone = count(before)
		for i := range before.Results {
			r := &before.Results[i]
			spelled[key(r, r.Text, r.Unit)] = r.Interpretation == orders.Critical || spelled[key(r, r.Text, r.Unit)]
			if p := r.Previous; p != nil && p.Interpretation == orders.Critical { // it was current before
				spelled[key(r, p.Text, p.Unit)] = true
			}
		}
	}
	now, replaced := count(v)
	for one, n := range now {
		if n > known[one] {
			return true
		}
	}
	// A critical value that arrives after the value that replaces it.
	for one := range replaced {
		if gone[one] == 0 && !spelled[one] {
			return true
		}
	}
	return false
}

// applyRevision announces a critical revision, and moves the order to the
// status of its results.
//
// Reference 1.7, 1.8.
func applyRevision(ctx context.Context, tx *store.Tx, o *orders.Order, before, now *Revision, e *expectations, a Arrival) error {
	changed := true
	if before != nil {
		var err error
		if changed, err = changesResults(before.Version, now.Version); err != nil {
			return err
		}
	}
	// The value may be replaced already. Notes without values have no value to compare.
	isNew := now.hasNewCritical(before) || isCalledCriticalWithoutValue(&a.Set) || now.CalledCritical && (before == nil || !before.CalledCritical)
	if isNew || changed && now.Interpretation == orders.Critical {
		if err := orders.AnnounceCritical(ctx, tx, o, string(now.Status)); err != nil {
			return err
		}
	}
	if isNew {
		if err := critical.Raise(ctx, tx, o.Team, critical.Subject{Order: o, Revision: now.Number}); err != nil {
			return err
		}
	}
	m := orders.Move{By: orders.Lab, At: a.At, Key: a.Key + ":results", Change: func(o *orders.Order) { now.markOrder(o, e, a) }}
	moved := false
	if changed {
		var err error
		if moved, err = moveOrder(ctx, tx, o, before, now, m); err != nil {
			return err
		}
	}
	if moved {
		return nil
	}
	return orders.Amend(ctx, tx, o, m.Change)
}

// moveOrder makes the step of a revision, if the order can make it.
func moveOrder(ctx context.Context, tx *store.Tx, o *orders.Order, before, now *Revision, m orders.Move) (bool, error) {
	switch {
	case now.Status == Partial && len(now.Results) == 0:
		return false, nil // the missing results may have been cancelled before there was a sample
	case now.Status == Partial && o.Method == catalogue.TestKit:
		m.To = orders.DeliveredToLab // kits know no partial results, but the sample has arrived
	case now.Status == Partial:
		m.To = orders.PartialResults
	case before != nil && before.Status == Final:
		m.To = orders.Corrected
	default:
		return completeOrder(ctx, tx, o, now, m)
	}
	return orders.Advance(ctx, tx, o, m)
}

// completeOrder completes an order with its first final results, or redraws
// the markers that the lab could not measure.
func completeOrder(ctx context.Context, tx *store.Tx, o *orders.Order, now *Revision, m orders.Move) (bool, error) {
	_, redrawn, err := orders.Redraw(ctx, tx, o, now.redrawMarkers(), m)
	if err != nil || redrawn {
		return redrawn, err
	}
	m.To = orders.Completed
	return orders.Advance(ctx, tx, o, m)
}

// markOrder sets the fields of an order that lists and events show.
func (v *Revision) markOrder(o *orders.Order, e *expectations, a Arrival) {
	missing := v.HasMissing()
	o.Interpretation, o.IsCritical, o.HasMissing = v.Interpretation, v.Interpretation == orders.Critical, &missing
	if o.SampleID == "" {
		o.SampleID = a.SampleID
	}
	common, worst := catalogue.TAT(e.ordered)
	o.SetStatedCollection(collectionTime(v.UsedSamplesFirst()), a.At, common, worst)
}

// UsedSamplesFirst returns the samples, those with values first. A sample whose values
// the lab withdrew has none.
func (v *Version) UsedSamplesFirst() []Sample {
	used := map[string]bool{}
	for i := range v.Results {
		used[v.Results[i].Sample] = true
	}
	all := slices.Clone(v.Samples)
	slices.SortStableFunc(all, func(a, b Sample) int {
		switch {
		case used[a.Key] == used[b.Key]:
			return 0
		case used[a.Key]:
			return -1
		}
		return 1
	})
	return all
}

// collectionTime returns the time of collection of the first sample that has
// one.
func collectionTime(samples []Sample) networks.Moment {
	for _, s := range samples {
		if at := s.Specimen.Collected; !at.Time.IsZero() {
			return at
		}
	}
	return networks.Moment{}
}

// setCollectionTime sets the time of collection of an order whose lab has sent
// only documents so far.
func setCollectionTime(ctx context.Context, tx *store.Tx, o *orders.Order, m mergedReport, a Arrival) error {
	at := collectionTime(m.samples)
	if at.Time.IsZero() {
		return nil
	}
	common, worst, err := orders.Turnaround(ctx, tx, o)
	if err != nil {
		return err
	}
	return orders.Amend(ctx, tx, o, func(o *orders.Order) { o.SetStatedCollection(at, a.At, common, worst) })
}
