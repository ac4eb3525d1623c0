package drill

import (
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

// write puts the result of the case into the queue, as one that has arrived.
func (p *rehearsal) write(ctx context.Context) error {
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
			ID: tx.NewUUID(), Network: network, Key: "drill:" + p.ID.String(), ReceivedAt: tx.Now(), Report: report,
		})
		if err != nil {
			return err
		}
		p.Result = &id
		return p.save(ctx, tx)
	})
}

// report is the result of the case. But for the case of another person's
// sample, it names a sample that nobody knows.
func (p *rehearsal) report(ctx context.Context, tx *store.Tx) (networks.Report, error) {
	from := p.test
	if p.wrong != nil {
		from = p.wrong
	}
	set := resultsOf(from.markers, p.Interpretation, tx.Now())
	set.Partial = p.Partial
	r := networks.Report{Lab: from.lab.Slug, SampleID: "X-" + p.ID.String()[24:], At: tx.Now(), Results: &set}
	who := p.somebody()
	if o, ok := p.Taking[p.first()]; ok {
		order, err := orders.Get(ctx, tx, p.Team, o.Order)
		if err != nil {
			return r, err
		}
		who = *order.Body.Patient
		if p.Case == matching.OtherPerson {
			who = p.stranger(who)
			r.SampleID, r.Placer = order.SampleID, order.ID.String()
		}
	}
	r.Patient = networks.ReportedPatient{FirstName: who.FirstName, LastName: who.LastName, DOB: who.BirthDate, Gender: who.Gender}
	return r, nil
}

// stranger is somebody else than a patient.
func (p *rehearsal) stranger(than orders.Patient) orders.Patient {
	than.FirstName, than.LastName = "Stranger", "Not"+p.somebody().LastName
	than.BirthDate = than.BirthDate.AddDays(-1234)
	return than
}

// resultsOf measures everything that markers owe. The first value is as grave
// as asked for; of an unknown one the lab reports no values at all.
func resultsOf(markers []*catalogue.Marker, grave orders.Interpretation, at time.Time) networks.ResultSet {
	moment := networks.Moment{Time: at}
	set := networks.ResultSet{Specimen: networks.Specimen{Collected: moment, Received: moment, Reported: moment}}
	first := grave
	for _, m := range markers {
		for _, e := range m.Results {
			if grave == orders.Unknown {
				set.Missing = append(set.Missing, networks.Missing{ProviderID: e.ProviderID, TestProviderID: m.ProviderID, Name: e.Name, LOINC: e.LOINC})
				continue
			}
			r := networks.Result{ProviderID: e.ProviderID, TestProviderID: m.ProviderID, Name: e.Name, LOINC: e.LOINC, Unit: e.Assay.Unit, Status: "F", At: moment}
			r.Value, r.Flag = value(e.Assay, first)
			set.Results = append(set.Results, r)
			first = orders.Normal
		}
	}
	return set
}

// value is a value of an assay with the lab's flag.
func value(a catalogue.Assay, grave orders.Interpretation) (text, flag string) {
	if a.Scale != catalogue.Quantity {
		words := a.Normal
		if grave != orders.Normal {
			words, flag = a.Abnormal, hl7.FlagFor(string(grave), false, false)
		}
		if len(words) == 0 {
			return "See note", flag
		}
		return words[0], flag
	}
	low, high := bounds(a)
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

// bounds of what is normal for a woman of forty.
func bounds(a catalogue.Assay) (low, high float64) {
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
