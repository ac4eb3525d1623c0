package documents

import (
	"context"
	"slices"
	"strings"
	"time"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/networks"
	"hale/internal/labs/orders"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// Subject is an order with everything that its papers say.
type Subject struct {
	Order orders.Order
	Facts orders.Facts
	// Full is the order as its lab gets it, so that paper and message agree.
	Full networks.Order
}

// Read reads an order of a team for its papers, or returns a NotFound fault.
func Read(ctx context.Context, tx *store.Tx, team teams.ID, id orders.ID) (*Subject, error) {
	o, err := orders.Get(ctx, tx, team, id)
	if err != nil {
		return nil, err
	}
	return About(ctx, tx, &o)
}

// About is Read for an order that is at hand.
func About(ctx context.Context, tx *store.Tx, o *orders.Order) (*Subject, error) {
	facts, err := orders.Around(ctx, tx, o.Team, []orders.Order{*o})
	if err != nil {
		return nil, err
	}
	full, err := orders.ForNetwork(ctx, tx, o)
	if err != nil {
		return nil, err
	}
	return &Subject{*o, facts[0], full}, nil
}

// placedAt is when the lab got the order: the date in its documents.
func (s *Subject) placedAt() time.Time {
	for _, e := range s.Facts.Events {
		if e.Status == orders.RequisitionCreated {
			return e.CreatedAt
		}
	}
	return s.Order.CreatedAt
}

// foot is what every page of an order's documents says at the bottom. It names
// the order and nobody.
func (s *Subject) foot() string {
	words := "Order " + s.Order.ID.String()
	if s.Full.Sandbox {
		words += "   SANDBOX - not for clinical use"
	}
	return words
}

// samples lists what has to be collected, each kind once.
func (s *Subject) samples() []catalogue.SampleType {
	all := []catalogue.SampleType{s.Facts.Test.SampleType}
	for _, m := range s.Facts.Markers {
		if !slices.Contains(all, m.Sample) {
			all = append(all, m.Sample)
		}
	}
	return all
}

func missing(what string) error { return fault.New(fault.NotFound, what) }

// words makes a value of the wire readable: at_home_phlebotomy is At home
// phlebotomy.
func words[S ~string](value S) string {
	text := strings.ReplaceAll(string(value), "_", " ")
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

func joined(sep string, parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), sep)
}

// address is a place in one or more lines.
func address(a networks.Address) string {
	return joined("\n", a.FirstLine, a.SecondLine, joined(" ", joined(", ", a.City, a.State), a.Zip))
}

// lastFirst is a name as labs file it.
func lastFirst(p networks.Patient) string { return joined(", ", p.LastName, p.FirstName) }

// day prints a date as the United States write it, which is what papers of its
// labs have.
func day(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.Format("01/02/2006")
}

func minute(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.Format("01/02/2006 15:04 MST")
}

func birth(p networks.Patient) string {
	if p.DOB.IsZero() {
		return ""
	}
	return day(p.DOB.In(time.UTC))
}

func yesNo(b bool) string {
	if b {
		return "Yes"
	}
	return "No"
}
