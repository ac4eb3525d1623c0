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

// ordersPath is where the pages of orders are.
const ordersPath = homePath + "/orders/"

// orderLine is an order on the first page.
type orderLine struct{ Path, Name, Step string }

// orderView is the page of one order: where it stands, when and where the visit
// is, and the papers that there are. What was found is not on it.
type orderView struct {
	frame
	Name, Step, Since string
	Help              string
	Visit             *visitView
	Form, How         string // paths of the requisition and of the instructions; empty where there is none
	Home              string
}

type visitView struct {
	State, When string
	Where       []string
}

// anOrder is everything that the page of an order reads.
type anOrder struct {
	order orders.Order
	facts orders.Facts
	team  teams.Team
	user  users.User
	visit *appointments.Appointment
}

func (p *Portal) order(w http.ResponseWriter, r *http.Request) error {
	session, err := p.resume(r.Context(), p.cookies.session(r))
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

// readOrder reads the order of the path, if it is the person's own.
func (p *Portal) readOrder(r *http.Request, s users.Session) (it anOrder, err error) {
	id, err := ids.Parse[orders.Order](r.PathValue("order"))
	if err != nil {
		return it, errNoPage
	}
	ctx := store.WithTeam(r.Context(), s.Team.UUID())
	err = p.db.Read(ctx, func(tx *store.Tx) (err error) {
		if it.order, err = ownOrder(ctx, tx, s, id); err != nil {
			return err
		}
		facts, err := orders.Around(ctx, tx, s.Team, []orders.Order{it.order})
		if err != nil {
			return err
		}
		it.facts = facts[0]
		if it.team, err = teams.Get(ctx, tx, s.Team); err != nil {
			return err
		}
		if it.user, err = users.Get(ctx, tx, s.Team, s.User); err != nil {
			return signedOff(err)
		}
		visit, err := appointments.Latest(ctx, tx, &it.order)
		if err == nil {
			it.visit = &visit
		} else if fault.Is(err, fault.NotFound) {
			err = nil
		}
		return err
	})
	return it, err
}

// ownOrder is an order of whoever the session is for. Another's is no page.
func ownOrder(ctx context.Context, tx *store.Tx, s users.Session, id orders.ID) (orders.Order, error) {
	o, err := orders.Get(ctx, tx, s.Team, id)
	if fault.Is(err, fault.NotFound) || err == nil && o.User != s.User {
		return orders.Order{}, errNoPage
	}
	return o, err
}

// signedOff is what a person is told who was deleted since.
func signedOff(err error) error {
	if fault.Is(err, fault.NotFound) {
		return users.ErrNoSession
	}
	return err
}

func orderOf(r *http.Request, it anOrder) orderView {
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

// visitOf tells of a visit in the time of its place.
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

// form is the requisition of an order that a sample is still wanted for. Nobody
// is to go to a lab with one that is over, such as that of which a redraw took
// the rest.
func form(s *documents.Subject) ([]byte, error) {
	if s.Order.Status.Terminal() {
		return nil, errNoPage
	}
	return s.Requisition()
}

// paper answers with a document about the order of the path.
func (p *Portal) paper(make func(*documents.Subject) ([]byte, error)) func(w http.ResponseWriter, r *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		session, err := p.resume(r.Context(), p.cookies.session(r))
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
			subject, err = documents.About(ctx, tx, &o)
			return err
		})
		if err != nil {
			return err
		}
		body, err := make(subject)
		if fault.Is(err, fault.NotFound) {
			return errNoPage
		}
		if err != nil {
			return err
		}
		w.Header().Set("Content-Type", "application/pdf")
		_, _ = w.Write(body) // a person who has gone is nobody to tell
		return nil
	}
}
