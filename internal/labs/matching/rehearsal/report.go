package rehearsal

import (
	"cmp"
	"context"
	"strconv"
	"time"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/hl7"
	"hale/internal/labs/inbox"
	"hale/internal/labs/matching"
	"hale/internal/labs/networks"
	"hale/internal/labs/orders"
	"hale/internal/platform/store"
)

// writeResult puts the result of the case into the queue as arrived.
func (p *execution) writeResult(ctx context.Context) error {
	if p.Result != nil {
		return nil
	}
	return p.db.Write(ctx, func(tx *store.Tx) error {
		report, err := p.report(ctx, tx)
		if err != nil {
			return err
		}
		network := orders.SandboxNetwork
		id, err := matching.Put(ctx, tx, p.Team, inbox.Arrival{
			ID: tx.NewUUID(), Network: network, Key: "rehearsal:" + p.ID.String(), ReceivedAt: tx.Now(), Report: report,
		})
		if err != nil {
			return err
		}
		p.Result = &id
		return p.save(ctx, tx)
	})
}

// report builds the result of the case. It names an unknown sample, except in
// the case of another person's sample.
func (p *execution) report(ctx context.Context, tx *store.Tx) (networks.Report, error) {
	from := p.panel
	if p.wrongPanel != nil {
		from = p.wrongPanel
	}
	set := resultsOf(from.markers, p.Interpretation, tx.Now())
	set.Partial = p.Partial
	r := networks.Report{Lab: from.lab.Slug, SampleID: "X-" + p.ID.String()[24:], At: tx.Now(), Results: &set}
	who := p.testPatient()
	if o, ok := p.Artifacts[p.firstRole()]; ok {
		order, err := orders.Get(ctx, tx, p.Team, o.Order)
		if err != nil {
			return r, err
		}
		who = *order.Body.Patient
		if p.Case == matching.OtherPerson {
			who = p.otherPatient(who)
			r.SampleID, r.Placer = order.SampleID, order.ID.String()
		}
	}
	r.Patient = networks.ReportedPatient{FirstName: who.FirstName, LastName: who.LastName, DOB: who.BirthDate, Gender: who.Gender}
	return r, nil
}

// otherPatient returns a person who differs from a patient.
func (p *execution) otherPatient(than orders.Patient) orders.Patient {
	than.FirstName, than.LastName = "Stranger", "Not"+p.testPatient().LastName
	than.BirthDate = than.BirthDate.AddDays(-1234)
	return than
}

// resultsOf returns results for every result of some markers. The first value
// has the requested interpretation; for unknown the lab reports no values.
func resultsOf(markers []*catalogue.Marker, grave orders.Interpretation, at time.Time) networks.ResultSet {
	moment := networks.Moment{Time: at}
	set := networks.ResultSet{Specimen: networks.Specimen{Collected: moment, Received: moment, Reported: moment}}
	first := grave
	for _, m := range markers {
		for _, e := range m.Results {
			if grave == orders.Unknown {
				set.Missing = append(set.Missing, networks.MissingResult{ProviderID: e.ProviderID, TestProviderID: m.ProviderID, Name: e.Name, LOINC: e.LOINC})
				continue
			}
			r := networks.Result{ProviderID: e.ProviderID, TestProviderID: m.ProviderID, Name: e.Name, LOINC: e.LOINC, Unit: e.Assay.Unit, Status: "F", At: moment}
			r.Value, r.Flag = resultValue(e.Assay, first)
			set.Results = append(set.Results, r)
			first = orders.Normal
		}
	}
	return set
}

// resultValue returns a value of an assay with the lab's flag.
func resultValue(a catalogue.Assay, grave orders.Interpretation) (text, flag string) {
	if a.Scale != catalogue.Quantity {
		words := a.Normal
		if grave != orders.Normal {
			words, flag = a.Abnormal, hl7.FlagFor(string(grave), false, false)
		}
		if len(words) == 0 {
			return "See note", cmp.Or(flag, hl7.FlagNormal)
		}
		return words[0], flag
	}
	low, high := normalBounds(a)
	n := (low + high) / 2
	switch {
	case grave == orders.Critical && a.CriticalHigh != nil:
		n, flag = *a.CriticalHigh, hl7.FlagCriticalHigh
	case grave == orders.Critical:
		n, flag = 2*high, hl7.FlagCriticalHigh
	case grave == orders.Abnormal:
		n, flag = high+(high-low)/10, hl7.FlagHigh
	}
	return strconv.FormatFloat(n, 'f', a.Decimals+1, 64), flag
}

// normalBounds returns the normal range of a woman of forty.
func normalBounds(a catalogue.Assay) (low, high float64) {
	low, high = 1, 2
	if r, ok := a.RangeFor("female", 40); ok {
		switch {
		case r.Low != nil && r.High != nil:
			return *r.Low, *r.High
		case r.High != nil:
			return *r.High / 2, *r.High
		case r.Low != nil:
			return *r.Low, *r.Low * 2
		}
	}
	return low, high
}
