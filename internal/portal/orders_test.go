package portal

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"hale/internal/labs/appointments"
	"hale/internal/labs/catalogue"
	"hale/internal/labs/orders"
	"hale/internal/labs/orders/orderstest"
	"hale/internal/people/users"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/store"
)

// order creates an order of the person.
func (s *site) order(t *testing.T, method orders.Method, at orders.Status) orders.Order {
	t.Helper()
	team, err := s.team(t)
	if err != nil {
		t.Fatal(err)
	}
	userstest.Write(t, s.db, func(ctx context.Context, tx *store.Tx) error { return catalogue.Seed(ctx, tx, team) })
	test := orderstest.Test(t, s.db, team.ID, method)
	request := orderstest.Request(t, s.db, s.user, test)
	var o orders.Order
	userstest.Write(t, s.db, func(ctx context.Context, tx *store.Tx) (err error) {
		o, err = orders.Create(ctx, tx, team.ID, request)
		return err
	})
	orderstest.MoveTo(t, s.db, &o, at)
	return o
}

// A new device opens the order after the code.
func TestLinkOpensItsOrder(t *testing.T) {
	s := newSite(t)
	o := s.order(t, catalogue.WalkIn, orders.RequisitionCreated)
	id := o.ID.UUID()
	for _, purpose := range []users.LinkContext{users.Launch, users.Communications} {
		person := newBrowser(t)
		link := s.linkTo(t, purpose, &id)
		if purpose == users.Communications {
			person.post(link, "method", "sms").want(t, 303)
			link += "/code"
		}
		in := person.post(link, "code", s.code(t))
		in.want(t, 303)
		if to := in.header.Get("Location"); to != "/portal/orders/"+o.ID.String() {
			t.Fatalf("%s leads to %q", purpose, to)
		}
		page := person.get(s.url + in.header.Get("Location"))
		page.want(t, 200, "The lab has the order", "Since March 1, 2026", "ask Test team", "Order form (PDF)", "How to give your sample (PDF)")
		if strings.Contains(page.body, "Your visit") || page.header.Get("Content-Security-Policy") != policy {
			t.Error(page.body)
		}
		for _, document := range []string{"/form", "/instructions"} {
			got := person.get(s.url + "/portal/orders/" + o.ID.String() + document)
			if got.status != 200 || got.header.Get("Content-Type") != "application/pdf" || !bytes.HasPrefix([]byte(got.body), []byte("%PDF-")) || got.header.Get("Cache-Control") != "no-store" {
				t.Errorf("%s: %d %v", document, got.status, got.header)
			}
		}
		person.get(s.url+"/portal").want(t, 200, "Your lab orders", "/portal/orders/"+o.ID.String(), "The lab has the order")
	}
}

func TestOrdersOfOthersHaveNoPage(t *testing.T) {
	s := newSite(t)
	early := s.order(t, catalogue.WalkIn, orders.Ordered)
	other := orderstest.New(t, s.db, s.user.Team, catalogue.WalkIn)
	newBrowser(t).get(s.url+"/portal/orders/"+early.ID.String()).want(t, 401, "You are signed out")
	person := newBrowser(t)
	person.post(s.linkTo(t, users.Launch, nil)).want(t, 303)
	unknown := person.get(s.url + "/portal/orders/" + uuid.NewString())
	unknown.want(t, 404, "This page does not exist")
	for _, path := range []string{other.ID.String(), other.ID.String() + "/form", other.ID.String() + "/instructions", early.ID.String() + "/form", "x", "x/form"} {
		if got := person.get(s.url + "/portal/orders/" + path); got.status != 404 || got.body != unknown.body {
			t.Errorf("%s: %d\n%s", path, got.status, got.body)
		}
	}
	page := person.get(s.url + "/portal/orders/" + early.ID.String())
	page.want(t, 200, "We have received the order")
	if strings.Contains(page.body, "Order form") {
		t.Error("an order without a requisition shows a form")
	}
}

func TestEndedOrderHasNoForm(t *testing.T) {
	s := newSite(t)
	person := newBrowser(t)
	person.post(s.linkTo(t, users.Launch, nil)).want(t, 303)
	for _, at := range []orders.Status{orders.RedrawAvailable, orders.Completed, orders.Cancelled} {
		o := s.order(t, catalogue.WalkIn, orders.RequisitionCreated)
		path := s.url + "/portal/orders/" + o.ID.String()
		person.get(path+"/form").want(t, 200)
		orderstest.MoveTo(t, s.db, &o, at)
		page := person.get(path)
		page.want(t, 200, english.Step(at))
		if strings.Contains(page.body, "Order form") {
			t.Errorf("%s: %s", at, page.body)
		}
		person.get(path+"/form").want(t, 404, "This page does not exist")
	}
}

func TestVisitIsInTheTimeZoneOfItsPlace(t *testing.T) {
	start := time.Date(2026, 3, 10, 17, 0, 0, 0, time.UTC)
	at := appointments.Appointment{Status: appointments.Scheduled, Start: &start, TimeZone: "America/Phoenix"}
	at.Body.Site = "Downtown Lab"
	at.Body.Address.FirstLine, at.Body.Address.City, at.Body.Address.State, at.Body.Address.Zip = "1 Main Street", "Phoenix", "AZ", "85004"
	got := visitOf(&english, &at)
	if got.State != "It is confirmed." || got.When != "March 10, 2026, 10:00 AM MST" || strings.Join(got.Where, "|") != "Downtown Lab|1 Main Street|Phoenix, AZ 85004" {
		t.Errorf("%+v", got)
	}
	at.Status = appointments.Cancelled
	if got := visitOf(&english, &at); got.State != "It was cancelled." || got.When != "" || len(got.Where) > 0 {
		t.Errorf("%+v", got)
	}
}

// Every status of an order and of a visit has a text.
func TestEveryStatusHasAText(t *testing.T) {
	for _, status := range orders.Statuses {
		if english.Step(status) == "" {
			t.Errorf("no words for %s", status)
		}
	}
	for _, status := range appointments.Statuses {
		if english.Visits[string(status)] == "" {
			t.Errorf("no words for a visit that is %s", status)
		}
	}
}
