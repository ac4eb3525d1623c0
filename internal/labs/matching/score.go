package matching

import (
	"math"
	"time"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/orders"
)

// Scores from which a candidate is sure, and likely.
const (
	sureFrom   = 0.8
	likelyFrom = 0.5
)

// incoming is a report as it is compared with orders.
type incoming struct {
	Person   Person
	Lab      string // slug; empty for a sender that nobody knows
	Account  string // number
	SampleID string
	Placer   string
	Markers  []Marker
	At       time.Time
}

// known is an order as reports are compared with it.
type known struct {
	orders.Order
	Person  Person
	Lab     string // slug
	Account string // number
	Markers []*catalogue.Marker
}

// finding is what the comparison of a report with an order says.
type finding struct {
	order    *known
	named    bool // the report names the order's number or sample
	person   likeness
	lab      agreement
	account  agreement
	overlap  Overlap
	standing standing
}

// standing is whether an order can have results now.
type standing int8

// The standings.
const (
	open standing = iota
	uncollected
	completed
	cancelled
)

// standingOf an order. A cancelled or failed order waits for nothing; nobody can
// have sent the sample of an order that its lab does not know, of a kit that is
// not registered, or of a visit that has not taken place.
func standingOf(o *orders.Order) standing {
	switch stage := o.Status.Stage(o.Method); {
	case stage == orders.StageCancelled || stage == orders.StageFailed:
		return cancelled
	case stage == orders.StageCompleted || o.Status == orders.RedrawAvailable:
		return completed
	case !o.Status.HasRequisition() || o.Body.Patient == nil:
		return uncollected
	case o.Method == catalogue.AtHome && o.Status != orders.DrawCompleted && stage != orders.StageWithLab:
		return uncollected
	}
	return open
}

func examine(r incoming, o *known) finding {
	return finding{
		order:    o,
		named:    r.SampleID != "" && r.SampleID == o.SampleID || r.Placer != "" && r.Placer == o.ID.String(),
		person:   compare(r.Person, o.Person),
		lab:      texts(r.Lab, o.Lab),
		account:  texts(r.Account, o.Account),
		overlap:  overlapOf(r.Markers, o.Markers),
		standing: standingOf(&o.Order),
	}
}

// The most that a candidate may score that has something against it.
const (
	mostForOtherPerson = 0.4 // another birth date or name
	mostForOtherLab    = 0.7
	mostForClosed      = 0.75
	mostWithoutPerson  = 0.6
)

// grounds are the finding's score and reasons. The score adds what speaks for a
// candidate and is cut to the least of what speaks against it.
func (f finding) grounds() Grounds {
	g := Grounds{Overlap: f.overlap}
	score, most := 0.0, 1.0
	count := func(points float64, why Reason) {
		score += points
		if why != "" {
			g.Reasons = append(g.Reasons, why)
		}
	}
	against := func(limit float64, why Reason) {
		most = min(most, limit)
		g.Reasons = append(g.Reasons, why)
	}
	if f.named {
		count(0.4, SameSample)
	}
	score += f.person.points()
	switch {
	case f.person.contradicts():
		against(mostForOtherPerson, PersonDiffers)
	case f.person.alike():
		g.Reasons = append(g.Reasons, PersonSame)
	default:
		most = min(most, mostWithoutPerson)
	}
	switch f.lab {
	case same:
		count(0.1, SameLab)
	case differs:
		against(mostForOtherLab, OtherLab)
	case unknown:
	}
	if f.account == differs {
		against(mostForClosed, OtherAccount)
	}
	switch why := f.overlap.reason(); why {
	case MarkersExact:
		count(0.2, why)
	case MarkersPartial:
		count(0.1, why)
	case MarkersNone:
		against(mostForOtherLab, why)
	default:
	}
	switch f.standing {
	case completed:
		against(mostForClosed, CompletedOrder)
	case cancelled:
		against(mostForClosed, CancelledOrder)
	case uncollected:
		against(mostForClosed, InvalidCollection)
	case open:
		score += 0.1
	}
	g.Score = math.Round(min(score, most)*100) / 100
	return g
}

// points of a person: a birth date tells most.
func (l likeness) points() float64 {
	var sum float64
	for _, part := range []struct {
		got    agreement
		points float64
	}{{l.DOB, 0.22}, {l.Last, 0.16}, {l.First, 0.12}, {l.Sex, 0.05}} {
		if part.got == same {
			sum += part.points
		}
	}
	return sum
}
