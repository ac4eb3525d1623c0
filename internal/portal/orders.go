package portal

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"hale/internal/labs/appointments"
	"hale/internal/labs/documents"
	"hale/internal/labs/orders"
	"hale/internal/people/users"
	"hale/internal/platform/civil"
	"hale/internal/platform/fault"
	"hale/internal/platform/ids"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// ordersPath begins the paths of orders' pages.
const ordersPath = homePath + "/orders/"

// orderLine is an order on the first page.
type orderLine struct{ Path, Name, Step string }

// orderView is the page of one order: its status, the visit and the documents. It
// shows no results.
type orderView struct {
	frame
	Name, Step, Since string
	Help              string
	Visit             *visitView
	Form, How         string // paths of the requisition and the instructions; empty for none
	Home              string
}

type visitView struct {
	State, When string
	Where       []string
}

// orderRecords holds the records of an order's page.
type orderRecords struct {
	order orders.Order
	facts orders.Facts
	team  teams.Team
	user  users.User
	visit *appointments.Appointment
}

func (p *Portal) order(w http.ResponseWriter, r *http.Request) error {
	session, err := p.resume(r)
	if err != nil {
		return err
	}
	it, err := p.readOrder(r, session)
	if err != nil {
		return err
	}
	p.render(w, http.StatusOK, orderPage, orderOf(r, it))
	return nil
}

// readOrder reads the order of the path if it belongs to the person.
func (p *Portal) readOrder(r *http.Request, s users.Session) (it orderRecords, err error) {
	id, err := ids.Parse[orders.Order](r.PathValue("order"))
	if err != nil {
		return it, errNoPage
	}
	ctx := store.WithTeam(r.Context(), s.Team.UUID())
	err = p.db.Read(ctx, func(tx *store.Tx) (err error) {
		if it.order, err = ownOrder(ctx, tx, s, id); err != nil {
			return err
		}
		facts, err := orders.ReadFacts(ctx, tx, s.Team, []orders.Order{it.order})
		if err != nil {
			return err
		}
		it.facts = facts[0]
		if it.team, err = teams.Get(ctx, tx, s.Team); err != nil {
			return err
		}
		if it.user, err = users.Get(ctx, tx, s.Team, s.User); err != nil {
			return endedSession(err)
		}
		visit, err := appointments.GetLatest(ctx, tx, &it.order)
		if err == nil {
			it.visit = &visit
		} else if fault.Is(err, fault.NotFound) {
			err = nil
		}
		return err
	})
	return it, err
}

// ownOrder reads an order of the session's user. Any other order is an unknown
// page.
func ownOrder(ctx context.Context, tx *store.Tx, s users.Session, id orders.ID) (orders.Order, error) {
	o, err := orders.Get(ctx, tx, s.Team, id)
	if fault.Is(err, fault.NotFound) || err == nil && o.User != s.User {
		return orders.Order{}, errNoPage
	}
	return o, err
}

// endedSession turns the error about a deleted user into ErrNoSession.
func endedSession(err error) error {
	if fault.Is(err, fault.NotFound) {
		return users.ErrNoSession
	}
	return err
}

func orderOf(r *http.Request, it orderRecords) orderView {
	t, o := textFor(r), &it.order
	path := ordersPath + o.ID.String()
	view := orderView{
		frame: frameFor(r, t.OrderTitle), Name: it.facts.Test.Name, Step: t.Step(o.Status), Home: homePath,
		Since: fmt.Sprintf(t.StepSince, t.Date(o.StatusAt.In(zoneOf(it.user)))), Help: fmt.Sprintf(t.OrderHelp, it.team.Name),
	}
	if !o.Status.Terminal() {
		view.How = path + "/instructions"
		if orders.HasRequisition(it.facts.Events) && o.SampleID != "" && o.Body.Patient != nil {
			view.Form = path + "/form"
		}
	}
	if it.visit != nil {
		view.Visit = visitOf(t, it.visit)
	}
	return view
}

// visitOf describes a visit in its place's time zone.
func visitOf(t *text, a *appointments.Appointment) *visitView {
	v := &visitView{State: t.Visits[string(a.Status)]}
	if a.Start != nil && a.Status != appointments.Cancelled {
		zone, err := civil.Zone(a.TimeZone)
		if err != nil {
			zone = time.UTC
		}
		at := a.Start.In(zone)
		v.When = fmt.Sprintf(t.VisitAt, t.Date(at), t.Clock(at))
	}
	for _, line := range []string{
		a.Body.Site, a.Body.Address.FirstLine, a.Body.Address.SecondLine,
		a.Body.Address.City + ", " + a.Body.Address.State + " " + a.Body.Address.Zip,
	} {
		if line != "" && a.Status != appointments.Cancelled {
			v.Where = append(v.Where, line)
		}
	}
	return v
}

// requisition returns the order form while the order needs a sample. An ended
// order has none, so that no person takes it to a lab; a redraw, for example,
// has a form of its own.
func requisition(s *documents.Subject) ([]byte, error) {
	if s.Order.Status.Terminal() {
		return nil, errNoPage
	}
	return s.Requisition()
}

// document answers with a PDF about the order of the path.
func (p *Portal) document(create func(*documents.Subject) ([]byte, error)) func(w http.ResponseWriter, r *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		session, err := p.resume(r)
		if err != nil {
			return err
		}
		id, err := ids.Parse[orders.Order](r.PathValue("order"))
		if err != nil {
			return errNoPage
		}
		ctx := store.WithTeam(r.Context(), session.Team.UUID())
		var subject *documents.Subject
		err = p.db.Read(ctx, func(tx *store.Tx) error {
			o, err := ownOrder(ctx, tx, session, id)
			if err != nil {
				return err
			}
			subject, err = documents.NewSubject(ctx, tx, &o)
			return err
		})
		if err != nil {
			return err
		}
		body, err := create(subject)
		if fault.Is(err, fault.NotFound) {
			return errNoPage
		}
		if err != nil {
			return err
		}
		w.Header().Set("Content-Type", "application/pdf")
		_, _ = w.Write(body) // an error means that the browser closed the connection
		return nil
	}
}
