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

// Subject is an order with the data of its papers.
type Subject struct {
	Order orders.Order
	Facts orders.Facts
	// Full is the order as its lab gets it, so that paper and message agree.
	Full networks.Order
	// Zone is the zone of the place of the collection, nil if it is unknown.
	Zone *time.Location
}

// Read reads the data for the papers of a team's order, or returns a NotFound
// fault.
func Read(ctx context.Context, tx *store.Tx, team teams.ID, id orders.ID) (*Subject, error) {
	o, err := orders.Get(ctx, tx, team, id)
	if err != nil {
		return nil, err
	}
	return NewSubject(ctx, tx, &o)
}

// NewSubject is Read for an order that is already read.
func NewSubject(ctx context.Context, tx *store.Tx, o *orders.Order) (*Subject, error) {
	facts, err := orders.ReadFacts(ctx, tx, o.Team, []orders.Order{*o})
	if err != nil {
		return nil, err
	}
	full, err := orders.ForNetwork(ctx, tx, o)
	if err != nil {
		return nil, err
	}
	zone, err := zoneOfPlace(ctx, tx, o)
	if err != nil {
		return nil, err
	}
	return &Subject{*o, facts[0], full, zone}, nil
}

// Cancelled reports that the order was cancelled, or that the lab will not carry
// it out. Its papers must not lead to a collection.
func (s *Subject) Cancelled() bool {
	return s.Order.Status.Stage(s.Order.Method) == orders.StageCancelled
}

// ErrCancelled refuses papers of a cancelled order that leave the team.
var ErrCancelled = fault.New(fault.Refused, "The order is cancelled").WithType("order_cancelled")

// banner returns the text at the top of every page of a cancelled order, empty
// for other orders.
func (s *Subject) banner() string {
	if !s.Cancelled() {
		return ""
	}
	return "CANCELLED on " + formatDay(s.local(s.Order.StatusAt)) + " - do not collect a sample for this order"
}

// placedAt returns the time when the lab got the order: the date in its
// documents.
func (s *Subject) placedAt() time.Time {
	for _, e := range s.Facts.Events {
		if e.Status == orders.RequisitionCreated {
			return e.CreatedAt
		}
	}
	return s.Order.CreatedAt
}

// footer returns the last line of every page. It names the order and no
// person.
func (s *Subject) footer() string {
	words := "Order " + s.Order.ID.String()
	if s.Full.Sandbox {
		words += "   SANDBOX - not for clinical use"
	}
	return words
}

// samples lists the kinds of samples, each once.
func (s *Subject) samples() []catalogue.SampleType {
	all := []catalogue.SampleType{s.Facts.Test.SampleType}
	for _, m := range s.Facts.Markers {
		if !slices.Contains(all, m.Sample) {
			all = append(all, m.Sample)
		}
	}
	return all
}

func notFound(what string) error { return fault.New(fault.NotFound, what) }

// label makes a word of the wire readable: at_home_phlebotomy becomes At home
// phlebotomy.
func label[S ~string](value S) string {
	text := strings.ReplaceAll(string(value), "_", " ")
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

func joinNonEmpty(sep string, parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), sep)
}

// address formats an address in one or more lines.
func address(a networks.Address) string {
	return joinNonEmpty("\n", a.FirstLine, a.SecondLine, joinNonEmpty(" ", joinNonEmpty(", ", a.City, a.State), a.Zip))
}

// lastFirst returns a name in the order in which labs file it.
func lastFirst(p networks.Patient) string { return joinNonEmpty(", ", p.LastName, p.FirstName) }

func formatBirth(p networks.Patient) string {
	if p.DOB.IsZero() {
		return ""
	}
	return formatDay(p.DOB.In(time.UTC))
}

func yesNo(b bool) string {
	if b {
		return "Yes"
	}
	return "No"
}
