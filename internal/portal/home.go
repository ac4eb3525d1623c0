package portal

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"hale/internal/labs/orders"
	"hale/internal/people/users"
	"hale/internal/platform/audit"
	"hale/internal/platform/civil"
	"hale/internal/platform/fault"
	"hale/internal/platform/ids"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
	"hale/internal/wearables/connections"
	"hale/internal/wearables/providers"
)

// homeView is the first page of a signed-in person.
type homeView struct {
	frame
	Greeting string
	Intro    string
	Orders   []orderLine
	Stop     string
	Sources  []sourceView
	End      string
}

type sourceView struct {
	Name     string
	Logo     string // path on this host
	Status   string
	Since    string
	Provides []string
}

// homeRecords holds the records of the home page.
type homeRecords struct {
	team        teams.Team
	user        users.User
	info        users.Info
	connections []connections.Connection
	orders      []orders.Order // newest first
	facts       []orders.Facts // in the order of orders
}

// maxOrders bounds the orders on the first page.
const maxOrders = 20

func (p *Portal) home(w http.ResponseWriter, r *http.Request) error {
	session, err := p.resume(r)
	if err != nil {
		return err
	}
	records, err := p.read(r.Context(), session)
	if fault.Is(err, fault.NotFound) { // deleted in the meantime
		return users.ErrNoSession
	}
	if err != nil {
		return err
	}
	p.render(w, http.StatusOK, homePage, homeOf(r, records, session))
	return nil
}

// resume reads the session, writes that it is in use, and notes the person.
func (p *Portal) resume(r *http.Request) (session users.Session, err error) {
	token := p.cookies.session(r)
	ctx := store.AsSystem(r.Context()) // the token is the only scope
	touch := false
	err = p.db.Read(ctx, func(tx *store.Tx) (err error) {
		session, err = users.Resume(ctx, tx, token)
		touch = err == nil && session.NeedsTouch(tx.Now())
		return err
	})
	if err != nil {
		return session, err
	}
	note(r, session.Team, session.User)
	if !touch {
		return session, nil
	}
	return session, p.db.Write(ctx, func(tx *store.Tx) error { return users.Touch(ctx, tx, token) })
}

// access is the person of a request. A page notes it when it knows the person.
type access struct {
	team teams.ID
	user users.ID
}

type accessKey struct{}

// note records the person of a request for the audit log.
func note(r *http.Request, team teams.ID, user users.ID) {
	if a, ok := r.Context().Value(accessKey{}).(*access); ok {
		a.team, a.user = team, user
	}
}

// audited adds a row to the audit log for a request whose person is known. It has the
// status of the answer. The person is the caller and the subject.
func (p *Portal) audited(next http.HandlerFunc) http.HandlerFunc {
	if p.audit == nil {
		return next
	}
	return func(w http.ResponseWriter, r *http.Request) {
		about := &access{}
		r = r.WithContext(context.WithValue(r.Context(), accessKey{}, about))
		answer := &statusWriter{ResponseWriter: w}
		next(answer, r)
		if about.team.IsZero() {
			return
		}
		subject, object := about.user.UUID(), ""
		if order, err := ids.Parse[orders.Order](r.PathValue("order")); err == nil { // other texts may be personal
			object = order.String()
		}
		_, path, _ := strings.Cut(r.Pattern, " ")
		p.audit.Add(audit.Entry{
			Team: about.team.UUID(), At: p.db.Now(), ActorKind: audit.ActorPortal, Actor: about.user.String(), User: &subject,
			Action: r.Method + " " + path, Object: object, Address: audit.HostOf(r.RemoteAddr), Status: cmp.Or(answer.status, http.StatusOK),
			RequestID: w.Header().Get("X-Request-Id"),
		})
	}
}

// statusWriter records the status of an answer.
type statusWriter struct {
	http.ResponseWriter
	status int
}

// WriteHeader records the first status.
func (w *statusWriter) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (p *Portal) read(ctx context.Context, s users.Session) (records homeRecords, err error) {
	ctx = store.WithTeam(ctx, s.Team.UUID())
	err = p.db.Read(ctx, func(tx *store.Tx) (err error) {
		if records.team, err = teams.Get(ctx, tx, s.Team); err != nil {
			return err
		}
		if records.user, err = users.Get(ctx, tx, s.Team, s.User); err != nil {
			return err
		}
		if records.info, err = users.LatestInfo(ctx, tx, s.Team, s.User); err != nil {
			return err
		}
		if records.connections, err = connections.List(ctx, tx, s.Team, s.User); err != nil {
			return err
		}
		if records.orders, err = orders.OrdersOfUser(ctx, tx, s.Team, s.User, maxOrders); err != nil {
			return err
		}
		records.facts, err = orders.ReadFacts(ctx, tx, s.Team, records.orders)
		return err
	})
	return records, err
}

func homeOf(r *http.Request, records homeRecords, s users.Session) homeView {
	t := textFor(r)
	view := homeView{
		frame:    frameFor(r, t.HomeTitle),
		Greeting: fmt.Sprintf(t.HomeGreeting, records.info.FirstName),
		Intro:    fmt.Sprintf(t.HomeIntro, records.team.Name),
		Stop:     fmt.Sprintf(t.StopText, records.team.Name),
		End:      fmt.Sprintf(t.VisitEnd, t.Clock(s.EndsAt().In(zoneOf(records.user)))),
	}
	for i, o := range records.orders {
		view.Orders = append(view.Orders, orderLine{ordersPath + o.ID.String(), records.facts[i].Test.Name, t.Step(o.Status)})
	}
	for _, c := range records.connections {
		view.Sources = append(view.Sources, sourceOf(t, c, zoneOf(records.user)))
	}
	return view
}

// zoneOf returns the person's time zone, or UTC if it is unknown.
func zoneOf(u users.User) *time.Location {
	if u.TimeZone != nil {
		if zone, err := civil.Zone(u.TimeZone.Name); err == nil {
			return zone
		}
	}
	return time.UTC
}

func sourceOf(t *text, c connections.Connection, zone *time.Location) sourceView {
	view := sourceView{
		Name: c.Provider.Name, Logo: providers.LogoPath + c.Provider.Slug + ".svg",
		Status: t.Status[string(c.Status)], Since: fmt.Sprintf(t.Since, t.Date(c.CreatedOn.In(zone))),
	}
	for resource, a := range c.Resources {
		if a.Status == connections.Available {
			view.Provides = append(view.Provides, t.Resource(resource))
		}
	}
	slices.Sort(view.Provides)
	view.Provides = slices.Compact(view.Provides)
	return view
}

// signOut ends the session and clears what the browser stored.
func (p *Portal) signOut(w http.ResponseWriter, r *http.Request) error {
	ctx := store.AsSystem(r.Context())
	token := p.cookies.session(r)
	if err := p.db.Write(ctx, func(tx *store.Tx) error { return users.Leave(ctx, tx, token) }); err != nil {
		return err
	}
	p.cookies.dropSession(w)
	w.Header().Set("Clear-Site-Data", `"cache", "storage"`)
	http.Redirect(w, r, signedOutPath, http.StatusSeeOther)
	return nil
}

func (p *Portal) signedOut(w http.ResponseWriter, r *http.Request) error {
	done := textFor(r).SignedOut
	p.render(w, http.StatusOK, messagePage, messageView{frame: frameFor(r, done.Title), Message: done})
	return nil
}
