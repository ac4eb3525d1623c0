package partners

import (
	"context"
	"crypto/hmac"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"hale/internal/labs/networks"
	"hale/internal/platform/civil"
	"hale/internal/platform/fault"
)

// Network has all partners.
type Network struct {
	partners map[string]*client
	now      func() time.Time
}

var (
	_ networks.Network  = (*Network)(nil)
	_ networks.Booker   = (*Network)(nil)
	_ networks.Shipper  = (*Network)(nil)
	_ networks.Recaller = (*Network)(nil)
)

// New makes the network from checked settings, and reads the secrets.
func New(s Settings, now func() time.Time) (*Network, error) {
	n := &Network{partners: map[string]*client{}, now: now}
	for _, name := range slices.Sorted(maps.Keys(s.Partners)) {
		c, err := newClient(name, s.Partners[name], now)
		if err != nil {
			return nil, fmt.Errorf("networks.%s.partners.%s.%w", Slug, name, err)
		}
		n.partners[name] = c
	}
	return n, nil
}

// CheckSending sets a function that returns an error while nothing may be sent. Each
// request to a partner asks it first.
func (n *Network) CheckSending(check func() error) {
	for _, c := range n.partners {
		c.check = check
	}
}

// Slug names the network.
func (*Network) Slug() string { return Slug }

// Place refuses: partners are no laboratories.
func (*Network) Place(context.Context, networks.Order) (networks.Receipt, error) {
	return networks.Receipt{}, networks.ErrUnsupported
}

// Cancel refuses, as Place.
func (*Network) Cancel(context.Context, networks.Order) error { return networks.ErrUnsupported }

// ForKits returns the partner that ships a lab's kits; empty means staff.
func (n *Network) ForKits(lab string) string {
	fallback := ""
	for name, p := range n.partners {
		switch {
		case !p.Kits:
		case slices.Contains(p.Labs, lab):
			return name
		case len(p.Labs) == 0:
			fallback = name
		}
	}
	return fallback
}

// ForVisits returns the partner of an appointment provider; empty means staff.
func (n *Network) ForVisits(provider string) string {
	for name, p := range n.partners {
		if slices.Contains(p.Providers, provider) {
			return name
		}
	}
	return ""
}

// The bodies of posts. docs/fulfilment.md describes them.
type (
	kitBody struct {
		OrderID  uuid.UUID   `json:"order_id"`
		SampleID string      `json:"sample_id,omitempty"`
		Lab      string      `json:"lab"`
		Priority bool        `json:"priority"`
		Tests    []testBody  `json:"tests"`
		ShipTo   addressBody `json:"ship_to"`
	}
	testBody struct {
		Code string `json:"code"`
		Name string `json:"name"`
	}
	addressBody struct {
		Name        string `json:"name,omitempty"`
		FirstLine   string `json:"first_line"`
		SecondLine  string `json:"second_line,omitempty"`
		City        string `json:"city"`
		State       string `json:"state"`
		Zip         string `json:"zip"`
		Country     string `json:"country"`
		Phone       string `json:"phone,omitempty"`
		AccessNotes string `json:"access_notes,omitempty"`
	}
	orderRef struct {
		OrderID uuid.UUID `json:"order_id"`
	}
	slotsBody struct {
		Provider string     `json:"provider"`
		Site     string     `json:"site,omitempty"`
		Zip      string     `json:"zip,omitempty"`
		Zone     string     `json:"time_zone"`
		Start    civil.Date `json:"start_date"`
		Days     int        `json:"days"`
	}
	slotBody struct {
		Key      string    `json:"key"`
		Start    time.Time `json:"start_at"`
		End      time.Time `json:"end_at"`
		Price    int64     `json:"price_cents"`
		Free     int       `json:"free"`
		Priority bool      `json:"priority"`
	}
	visitBody struct {
		ID       uuid.UUID   `json:"id"`
		OrderID  uuid.UUID   `json:"order_id"`
		Provider string      `json:"provider"`
		Site     string      `json:"site,omitempty"`
		SlotKey  string      `json:"slot_key,omitempty"`
		Start    *time.Time  `json:"start_at,omitempty"`
		End      *time.Time  `json:"end_at,omitempty"`
		Lab      string      `json:"lab"`
		SampleID string      `json:"sample_id,omitempty"`
		Fasting  bool        `json:"fasting"`
		Tests    []testBody  `json:"tests"`
		Patient  patientBody `json:"patient"`
		Address  addressBody `json:"address"`
		Notes    string      `json:"notes,omitempty"`
	}
	patientBody struct {
		FirstName string     `json:"first_name"`
		LastName  string     `json:"last_name"`
		Born      civil.Date `json:"dob"`
		Gender    string     `json:"gender"`
		Phone     string     `json:"phone,omitempty"`
		Email     string     `json:"email,omitempty"`
	}
	bookingBody struct {
		BookingID  string `json:"booking_id"`
		ExternalID string `json:"external_id"`
	}
)

// Ship asks the partner to ship a kit. Without one, staff ship it. Partners send
// no kits for sandbox orders at a test system.
func (n *Network) Ship(ctx context.Context, o networks.Order) error {
	p, ok := n.partners[n.ForKits(o.Lab)]
	if !ok || o.ShipTo == nil || o.Sandbox {
		return nil
	}
	return p.post(ctx, "/kits", o.ID, kitBody{
		OrderID: o.ID, SampleID: o.SampleID, Lab: o.Lab, Priority: o.Priority, Tests: testsOf(o), ShipTo: addressOf(*o.ShipTo),
	}, nil)
}

// Recall asks the partner not to ship the kit of a cancelled order.
func (n *Network) Recall(ctx context.Context, o networks.Order) error {
	p, ok := n.partners[n.ForKits(o.Lab)]
	if !ok || o.Sandbox {
		return nil
	}
	err := p.post(ctx, "/kits/cancel", o.ID, orderRef{o.ID}, nil)
	if refusal := (*networks.Refusal)(nil); errors.Is(err, errGone) || errors.As(err, &refusal) { // never had, or shipped already
		return nil
	}
	return err
}

// Slots asks the partner of a provider. Staff have no calendar here.
func (n *Network) Slots(ctx context.Context, q networks.SlotQuery) ([]networks.Slot, error) {
	p, ok := n.partners[n.ForVisits(q.Provider)]
	if !ok {
		return nil, networks.ErrUnsupported
	}
	var answer struct {
		Slots []slotBody `json:"slots"`
	}
	err := p.post(ctx, "/slots", uuid.New(), slotsBody{Provider: q.Provider, Site: q.Site, Zip: q.Zip, Zone: q.Zone, Start: q.Start, Days: 14}, &answer)
	if err != nil {
		return nil, err
	}
	var all []networks.Slot
	for _, s := range answer.Slots {
		if s.Key == "" || !s.End.After(s.Start) {
			return nil, fmt.Errorf("partners: a slot of %s has no key or no length", p.name)
		}
		all = append(all, networks.Slot{
			Provider: q.Provider, Site: q.Site, Zone: q.Zone, Start: s.Start.UTC(), End: s.End.UTC(), Price: s.Price, Free: s.Free, Priority: s.Priority, Key: s.Key,
		})
	}
	return all, nil
}

// Book books a slot.
func (n *Network) Book(ctx context.Context, wish uuid.UUID, o networks.Order, slot networks.Slot) (networks.Booking, error) {
	p, ok := n.partners[n.ForVisits(slot.Provider)]
	if !ok {
		return networks.Booking{}, networks.ErrUnsupported
	}
	body := visitOf(wish, o, slot.Provider, o.Patient.Address, "")
	body.Site, body.SlotKey, body.Start, body.End = slot.Site, slot.Key, &slot.Start, &slot.End
	b, err := p.book(ctx, body)
	b.Slot = slot
	return b, err
}

// staffPrefix begins the ids of bookings that staff arrange.
const staffPrefix = "staff:"

// Request asks for a visit without a time. Without a partner, staff agree on a
// time with the patient.
func (n *Network) Request(ctx context.Context, wish uuid.UUID, o networks.Order, provider string, at networks.Address, notes string) (networks.Booking, error) {
	p, ok := n.partners[n.ForVisits(provider)]
	if !ok {
		return networks.Booking{Provider: provider, ID: staffPrefix + wish.String()}, nil
	}
	return p.book(ctx, visitOf(wish, o, provider, at, notes))
}

func (c *client) book(ctx context.Context, body visitBody) (networks.Booking, error) {
	var answer bookingBody
	err := c.post(ctx, "/visits", body.ID, body, &answer)
	if refusal := (*networks.Refusal)(nil); errors.As(err, &refusal) {
		return networks.Booking{}, networks.ErrUnsupported // a final refusal of a visit
	}
	if err != nil {
		return networks.Booking{}, err
	}
	if answer.BookingID == "" {
		return networks.Booking{}, fmt.Errorf("partners: %s answered without a booking_id", c.name)
	}
	return networks.Booking{Provider: body.Provider, ID: answer.BookingID, ExternalID: answer.ExternalID}, nil
}

// Unbook cancels a visit.
func (n *Network) Unbook(ctx context.Context, b networks.Booking) error {
	p, ok := n.partners[n.ForVisits(b.Provider)]
	if !ok || strings.HasPrefix(b.ID, staffPrefix) {
		return nil
	}
	err := p.post(ctx, "/visits/cancel", uuid.NewSHA1(uuid.NameSpaceOID, []byte(b.ID)), struct {
		BookingID string `json:"booking_id"`
	}{b.ID}, nil)
	if errors.Is(err, errGone) {
		return nil
	}
	return err
}

func testsOf(o networks.Order) []testBody {
	all := []testBody{}
	for _, t := range o.Tests {
		all = append(all, testBody{t.ProviderID, t.Name})
	}
	return all
}

func addressOf(a networks.Address) addressBody {
	country := a.Country
	if country == "" {
		country = "US"
	}
	return addressBody{a.Receiver, a.FirstLine, a.SecondLine, a.City, a.State, a.Zip, country, a.Phone, a.AccessNotes}
}

func visitOf(wish uuid.UUID, o networks.Order, provider string, at networks.Address, notes string) visitBody {
	p := o.Patient
	return visitBody{
		ID: wish, OrderID: o.ID, Provider: provider, Lab: o.Lab, SampleID: o.SampleID, Fasting: o.Fasting, Tests: testsOf(o),
		Patient: patientBody{p.FirstName, p.LastName, p.DOB, p.Gender, p.Phone, p.Email}, Address: addressOf(at), Notes: notes,
	}
}

// tolerance bounds the age of a signature, in both directions.
const tolerance = 5 * time.Minute

// errForged does not say which part is wrong.
var errForged = fault.New(fault.Unauthenticated, "The signature is missing, wrong or older than five minutes")

// Verify checks the signature of a report of a partner, in the form of Standard
// Webhooks: id, timestamp and signature are the headers. Any valid secret may
// have signed it.
func (n *Network) Verify(partner, id, timestamp, signature string, body []byte) error {
	c, known := n.partners[partner]
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if !known || err != nil || id == "" || len(id) > 64 {
		return errForged
	}
	at := time.Unix(seconds, 0)
	if age := n.now().Sub(at); age > tolerance || age < -tolerance {
		return errForged
	}
	_, valid := c.signer().Sign(id, at, body)
	for one := range strings.FieldsSeq(signature) {
		for want := range strings.FieldsSeq(valid) {
			if hmac.Equal([]byte(one), []byte(want)) {
				return nil
			}
		}
	}
	return errForged
}
