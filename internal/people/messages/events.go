package messages

import (
	"context"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"hale/internal/labs/orderwords"
	"hale/internal/people/users"
	"hale/internal/platform/fault"
	"hale/internal/platform/secrets"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// Channel is SMS or e-mail.
type Channel string

// The channels.
const (
	SMS   Channel = "sms"
	Email Channel = "email"
)

// Channels lists the channels.
var Channels = []Channel{SMS, Email}

// Rule names the channels that carry a message.
type Rule int

// The rules.
const (
	NoMessage Rule = iota
	BySMS
	BySMSAndEmail
	ByEmailOrSMS // SMS only if no e-mail can be sent
)

// String describes the rule.
func (r Rule) String() string {
	return [...]string{"", "SMS", "SMS and e-mail", "e-mail (SMS if that is impossible)"}[r]
}

// visitRules has the rules of visits and reminders, by event and method. The rule
// of an order's status comes with the OrderEvent.
//
// Reference 1.19.
var visitRules = map[string]map[string]Rule{
	orderwords.StatusAppointmentPending:   {orderwords.AtHome: ByEmailOrSMS},
	orderwords.StatusAppointmentScheduled: {orderwords.AtHome: ByEmailOrSMS, orderwords.WalkIn: BySMS},
	orderwords.StatusAppointmentCancelled: {orderwords.AtHome: ByEmailOrSMS, orderwords.WalkIn: BySMS},
	"reminder_kit":                        {orderwords.TestKit: BySMS},
	"reminder_booking":                    {orderwords.WalkIn: BySMS},
	"reminder_visit_24h":                  {orderwords.AtHome: ByEmailOrSMS, orderwords.WalkIn: BySMS},
	"reminder_visit_2h":                   {orderwords.AtHome: ByEmailOrSMS, orderwords.WalkIn: BySMS},
}

// channels returns the channels that the rule names and that allows accepts.
func (r Rule) channels(allows func(Channel) bool) []Channel {
	var wanted []Channel
	switch r {
	case NoMessage:
		return nil
	case BySMS:
		wanted = []Channel{SMS}
	case BySMSAndEmail:
		wanted = []Channel{SMS, Email}
	case ByEmailOrSMS:
		wanted = []Channel{SMS}
		if allows(Email) {
			wanted = []Channel{Email}
		}
	}
	var open []Channel
	for _, channel := range wanted {
		if allows(channel) {
			open = append(open, channel)
		}
	}
	return open
}

// Contact is the patient of an order. An empty address closes its channel.
type Contact struct {
	FirstName string
	Phone     string // E.164
	Email     string
}

// LogValue keeps personal data out of logs.
func (Contact) LogValue() slog.Value { return slog.StringValue(secrets.Withheld) }

// OrderEvent is the new status of an order.
type OrderEvent struct {
	Team       teams.ID
	User       users.ID
	Order      uuid.UUID
	Method     string // testkit, walk_in_test, at_home_phlebotomy or on_site_collection
	Status     string // low-level, such as requisition_created
	Message    Rule   // of the status and the method
	SMSEnabled bool   // the order's own switch
	Contact    Contact
}

// OrderMoved queues the messages about an order's new status, and plans or clears
// reminders. Call it once for every status, in the transaction that sets it.
// AppointmentMoved queues the messages about appointments.
//
// Reference 1.19.
func OrderMoved(ctx context.Context, tx *store.Tx, e OrderEvent) error {
	p, err := findPatient(ctx, tx, e.Team, e.User, e.Order, e.Method, e.SMSEnabled, e.Contact)
	if err != nil {
		return err
	}
	if err := p.queueEvent(ctx, tx, e.Status, e.Message, Message{}); err != nil {
		return err
	}
	return p.updateOrderReminders(ctx, tx, e.Status)
}

// AppointmentEvent is the new status or time of an appointment.
type AppointmentEvent struct {
	Team        teams.ID
	User        users.ID
	Order       uuid.UUID
	Appointment uuid.UUID
	Method      string    // of the order
	Status      string    // pending, confirmed or cancelled; others have no message
	Start       time.Time // zero while there is no time
	SMSEnabled  bool      // the order's own switch
	Contact     Contact
}

// AppointmentMoved queues the messages about an appointment and plans its reminders
// again. Call it for every new status and every new time.
//
// Reference 1.19.
func AppointmentMoved(ctx context.Context, tx *store.Tx, e AppointmentEvent) error {
	p, err := findPatient(ctx, tx, e.Team, e.User, e.Order, e.Method, e.SMSEnabled, e.Contact)
	if err != nil {
		return err
	}
	events := map[string]string{"pending": orderwords.StatusAppointmentPending, "confirmed": orderwords.StatusAppointmentScheduled, "cancelled": orderwords.StatusAppointmentCancelled}
	if event, ok := events[e.Status]; ok {
		if err := p.queueEvent(ctx, tx, event, p.visitRule(event), Message{}); err != nil {
			return err
		}
	}
	return p.updateVisitReminders(ctx, tx, e)
}

// patient is the person of one order, with the switches that apply.
type patient struct {
	base     Message // fields that all messages share
	method   string
	contact  Contact
	orderSMS bool // the order's switch
	settings Settings
}

// findPatient reads the switches. All are off for a deleted user, who gets no
// messages although the order may continue.
func findPatient(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID, order uuid.UUID, method string, ownSMS bool, c Contact) (*patient, error) {
	settings, err := SettingsOf(ctx, tx, team)
	if err != nil {
		return nil, err
	}
	switch err := users.Exists(ctx, tx, team, user); {
	case fault.Is(err, fault.NotFound):
		settings = Settings{}
	case err != nil:
		return nil, err
	}
	return &patient{
		base: Message{Team: team, User: user, Order: order}, method: method, contact: c, orderSMS: ownSMS, settings: settings,
	}, nil
}

// allows reports whether the switches and the address open a channel.
func (p *patient) allows(channel Channel) bool {
	if channel == SMS {
		return p.settings.SMS && p.orderSMS && p.contact.Phone != ""
	}
	return p.settings.Email && p.contact.Email != ""
}

// visitRule returns the rule of an event about a visit, or of a reminder.
func (p *patient) visitRule(event string) Rule { return visitRules[event][p.method] }

// queueEvent queues the messages of an event. The times and the topic come from when.
func (p *patient) queueEvent(ctx context.Context, tx *store.Tx, event string, rule Rule, when Message) error {
	for _, channel := range rule.channels(p.allows) {
		m := p.base
		m.Channel, m.Template, m.FirstName = channel, templateFor(event, p.method, channel), p.contact.FirstName
		m.Topic, m.Due, m.Expires = when.Topic, when.Due, when.Expires
		if m.Recipient = p.contact.Phone; channel == Email {
			m.Recipient = p.contact.Email
		}
		if _, err := Queue(ctx, tx, m); err != nil {
			return err
		}
	}
	return nil
}
