package messages

import (
	"context"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"hale/internal/people/users"
	"hale/internal/platform/fault"
	"hale/internal/platform/secrets"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// Contact is who is told, as the order has them. An empty address closes its
// channel.
type Contact struct {
	FirstName string
	Phone     string // E.164
	Email     string
}

// LogValue keeps a person out of logs.
func (Contact) LogValue() slog.Value { return slog.StringValue(secrets.Withheld) }

// OrderEvent is a status that an order has come to.
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

// OrderMoved queues what there is to say of an order's new status, and plans
// or clears reminders. Tell it of every status, once, in the transaction that
// makes it. What there is to say of appointments comes by AppointmentMoved.
//
// Reference 1.19.
func OrderMoved(ctx context.Context, tx *store.Tx, e OrderEvent) error {
	s, err := about(ctx, tx, e.Team, e.User, e.Order, e.Method, e.SMSEnabled, e.Contact)
	if err != nil {
		return err
	}
	if err := s.say(ctx, tx, e.Status, e.Message, Message{}); err != nil {
		return err
	}
	return s.orderReminders(ctx, tx, e.Status)
}

// AppointmentEvent is a status or a time that an appointment has come to.
type AppointmentEvent struct {
	Team        teams.ID
	User        users.ID
	Order       uuid.UUID
	Appointment uuid.UUID
	Method      string    // of the order
	Status      string    // pending, confirmed or cancelled; nothing is said of others
	Start       time.Time // zero while there is no time
	SMSEnabled  bool      // the order's own switch
	Contact     Contact
}

// AppointmentMoved queues what there is to say of an appointment and plans its
// reminders anew. Tell it of every new status and of every new time.
//
// Reference 1.19.
func AppointmentMoved(ctx context.Context, tx *store.Tx, e AppointmentEvent) error {
	s, err := about(ctx, tx, e.Team, e.User, e.Order, e.Method, e.SMSEnabled, e.Contact)
	if err != nil {
		return err
	}
	said := map[string]string{"pending": pending, "confirmed": confirmed, "cancelled": calledOff}
	if status, ok := said[e.Status]; ok {
		if err := s.say(ctx, tx, status, s.rule(status), Message{}); err != nil {
			return err
		}
	}
	return s.visitReminders(ctx, tx, e)
}

// subject is one order and whom it is about, with the switches in force.
type subject struct {
	base     Message // what its messages have in common
	method   string
	contact  Contact
	ownSMS   bool // the order's switch
	settings Settings
}

// about reads the switches. All are off for a user who is deleted: the order may
// go on, and the person hears no more of it.
func about(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID, order uuid.UUID, method string, ownSMS bool, c Contact) (*subject, error) {
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
	return &subject{
		base: Message{Team: team, User: user, Order: order}, method: method, contact: c, ownSMS: ownSMS, settings: settings,
	}, nil
}

// may reports whether a channel is open.
func (s *subject) may(channel Channel) bool {
	if channel == SMS {
		return s.settings.SMS && s.ownSMS && s.contact.Phone != ""
	}
	return s.settings.Email && s.contact.Email != ""
}

// rule returns the rule of an event about a visit, or of a reminder.
func (s *subject) rule(event string) Rule { return matrix[event][s.method] }

// say queues the messages of an event. The times and the topic come from when.
func (s *subject) say(ctx context.Context, tx *store.Tx, event string, rule Rule, when Message) error {
	for _, channel := range rule.channels(s.may) {
		m := s.base
		m.Channel, m.Template, m.FirstName = channel, templateFor(event, s.method, channel), s.contact.FirstName
		m.Topic, m.Due, m.Expires = when.Topic, when.Due, when.Expires
		if m.Recipient = s.contact.Phone; channel == Email {
			m.Recipient = s.contact.Email
		}
		if _, err := Queue(ctx, tx, m); err != nil {
			return err
		}
	}
	return nil
}
