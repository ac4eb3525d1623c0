package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"hale/internal/labs/appointments"
	"hale/internal/labs/critical"
	"hale/internal/labs/fulfilment"
	"hale/internal/labs/inbox"
	"hale/internal/labs/matching"
	"hale/internal/labs/matching/rehearsal"
	"hale/internal/labs/networks"
	"hale/internal/labs/networks/hl7v2"
	"hale/internal/labs/networks/partners"
	"hale/internal/labs/networks/sandboxlab"
	"hale/internal/labs/networks/settingsfile"
	"hale/internal/labs/orders"
	"hale/internal/labs/places"
	"hale/internal/labs/results"
	"hale/internal/people/messages"
	"hale/internal/people/messages/senders"
	"hale/internal/platform/config"
	"hale/internal/platform/jobs"
	"hale/internal/platform/ops"
	"hale/internal/platform/store"
)

// ordering holds the services that send orders to laboratories and receive results.
type ordering struct {
	lists   *orders.Index
	placer  *orders.Placer
	inbox   *inbox.Service
	visits  *appointments.Service
	sandbox *sandboxlab.Lab
	// fulfilment records the steps of kits and visits.
	fulfilment *fulfilment.Service
	// unmatched contains the results that fit no order.
	unmatched *matching.Queue
}

// ordering makes the services, and the loops of the networks that report by themselves.
func (a *App) ordering() (ordering, error) {
	o := ordering{
		lists:  orders.NewIndex(),
		placer: &orders.Placer{DB: a.DB, Networks: map[string]networks.Network{}, Log: a.Log},
		inbox:  &inbox.Service{DB: a.DB, Log: a.Log, Handlers: inbox.Handlers{Results: labResults{}}},
	}
	o.visits = &appointments.Service{DB: a.DB, Networks: o.placer.Networks, Places: new(places.Directory), Log: a.Log}
	o.inbox.Handlers.Visits = o.visits
	o.placer.Answers = o.inbox
	o.unmatched = &matching.Queue{Log: a.Log, Orders: o.lists}
	o.inbox.Handlers.Unmatched = o.unmatched
	o.sandbox = &sandboxlab.Lab{DB: a.DB, Inbox: o.inbox, Log: a.Log, Following: appointments.FollowingJobs(), Timed: appointments.TimedJobs()}
	labs, partner, err := a.labs()
	if err != nil {
		return o, err
	}
	labs.Peers = a.workers.node.Peers
	partner.CheckSending(a.checkSending)
	a.attention.connected = labs.Takes
	a.Metrics.GaugeBy("lab", "result_files_set_aside", "Files of laboratories that this node could not read since its start.", labs.SetAside)
	a.Metrics.GaugeBy("lab", "result_files_unreadable", "Files of laboratories that this node can see and not read.", labs.Unreadable)
	o.fulfilment = &fulfilment.Service{Inbox: o.inbox, Visits: o.visits, Partners: partner}
	for _, n := range append([]networks.Network{o.sandbox, labs, labs.TestSystems(), partner}, a.Networks...) {
		o.placer.Networks[n.Slug()] = n
		if receiver, ok := n.(networks.Receiver); ok {
			a.workers.add("lab network "+n.Slug(), a.whenFree(func(ctx context.Context) error { return receiver.Run(ctx, o.inbox) }))
		}
	}
	a.workers.add("orders for lists", func(ctx context.Context) error {
		o.lists.Warm(store.AsSystem(ctx), a.DB, a.Log)
		return nil
	})
	return o, nil
}

// labs returns the real labs and the partners of the networks file. Without a file there
// are none. Orders for labs then wait, and their job shows that the lab has no
// connection.
func (a *App) labs() (*hl7v2.Network, *partners.Network, error) {
	return readNetworks(a.Config, a.Now, a.Log)
}

// ConnectedLabs returns a function that reports whether the networks file has a lab with
// a slug. An invalid file has none.
func ConnectedLabs(cfg *config.Config) func(lab string) bool {
	labs, _, err := readNetworks(cfg, time.Now, ops.Discard())
	if err != nil {
		return func(string) bool { return false }
	}
	return labs.Takes
}

// CheckNetworks checks the networks file, and the certificates and secrets that it
// names.
func CheckNetworks(cfg *config.Config) error {
	_, _, err := readNetworks(cfg, time.Now, ops.Discard())
	return err
}

// ExamineNetworks checks the networks file like CheckNetworks, and also the folders that
// the file names. A node starts without these folders and waits for them. warnings
// describe settings that are valid and weaken a protection.
func ExamineNetworks(cfg *config.Config) (warnings []string, err error) {
	labs, _, err := readNetworks(cfg, time.Now, ops.Discard())
	if err != nil {
		return nil, err
	}
	return labs.Warnings(), labs.CheckFolders()
}

// readNetworks returns a SettingError with a line for each fault of the file.
func readNetworks(cfg *config.Config, now func() time.Time, log *slog.Logger) (*hl7v2.Network, *partners.Network, error) {
	path := cfg.Networks
	var document []byte
	if path != "" {
		var err error
		if document, err = os.ReadFile(path); err != nil {
			return nil, nil, &SettingError{fmt.Errorf("networks file %s: %w", path, errors.Unwrap(err))}
		}
	}
	if err := settingsfile.CheckSections(document, hl7v2.Slug, partners.Slug); err != nil {
		return nil, nil, networksError(path, err)
	}
	labs, wrongLabs := hl7v2.ParseSettings(document)
	fulfilling, wrongPartners := partners.ParseSettings(document)
	if err := errors.Join(wrongLabs, wrongPartners); err != nil {
		return nil, nil, networksError(path, err)
	}
	if labs.IsExposed() && !cfg.InsecureHL7 {
		return nil, nil, networksError(path, errors.New("networks.hl7v2.listen: an address outside loopback needs tls with certificate, key and authority, or the setting insecure-hl7"))
	}
	if clear := labs.OrdersInClear(); len(clear) > 0 && cfg.Production() && !cfg.InsecureHL7 {
		return nil, nil, networksError(path, fmt.Errorf("networks.hl7v2.labs.%s.address: production sends orders to another machine only with tls, or with the setting insecure-hl7", clear[0]))
	}
	network, wrongLabs := hl7v2.New(labs, now, log)
	partner, wrongPartners := partners.New(fulfilling, now)
	if err := errors.Join(wrongLabs, wrongPartners); err != nil {
		return nil, nil, networksError(path, err)
	}
	return network, partner, nil
}

func networksError(path string, err error) error {
	prefix := "networks file " + path + ": "
	return &SettingError{errors.New(prefix + strings.ReplaceAll(err.Error(), "\n", "\n"+prefix))}
}

func (o ordering) jobs() []jobs.Handler {
	all := append(append(o.placer.Jobs(), o.inbox.Job(), inbox.ForgetJob), o.sandbox.Jobs()...)
	all = append(all, o.visits.Jobs()...)
	return append(append(all, o.unmatched.Jobs()...), rehearsal.Job(o.unmatched))
}

// orderListeners returns the domains that follow orders.
func orderListeners() []orders.Listener {
	return []orders.Listener{
		{Name: "patient messages", Changed: messagePatient},
		{Name: "appointments", Changed: appointments.OrderChanged},
		{Name: "kits", Changed: orders.ShipKits},
	}
}

// messagePatient sends the patient a message about the order's status. An imported order
// sends no message about its creation.
//
// Reference 1.13, 1.19.
func messagePatient(ctx context.Context, tx *store.Tx, c orders.Change) error {
	o := c.Order
	if c.New() && o.SampleID != "" && !o.Registrable {
		return nil
	}
	return messages.OrderMoved(ctx, tx, messages.OrderEvent{
		Team: o.Team, User: o.User, Order: o.ID.UUID(), Method: string(o.Method), Status: string(o.Status),
		Message: o.Status.Message(o.Method), SMSEnabled: o.SMSEnabled, Contact: contactOf(o),
	})
}

// contactOf returns the recipient of messages: the patient, or the recipient of a kit
// that is not registered yet.
func contactOf(o *orders.Order) messages.Contact {
	switch {
	case o.Body.Patient != nil:
		p := o.Body.Patient
		return messages.Contact{FirstName: p.FirstName, Phone: p.PhoneNumber, Email: p.Email}
	case o.Body.Shipping != nil:
		return messages.Contact{Phone: o.Body.Shipping.PhoneNumber}
	}
	return messages.Contact{}
}

// labResults stores the results that labs report.
type labResults struct{}

// TakeResults stores the results of a report and moves its order.
func (labResults) TakeResults(ctx context.Context, tx *store.Tx, o *orders.Order, a inbox.Arrival) error {
	r := a.Report
	at := r.At
	if at.IsZero() {
		at = a.ReceivedAt
	}
	return results.Take(ctx, tx, o, results.Arrival{Key: a.Key, At: at, Received: a.ReceivedAt, Sent: r.Sent, DateOnly: r.DateOnly, SampleID: r.SampleID, Account: r.Account, Patient: r.Patient, Set: *r.Results})
}

// messages returns the service of messages to patients, with the channels that are
// set up.
func (a *App) messages() (*messages.Service, error) {
	s := &messages.Service{BaseURL: a.URL}
	if address := a.Config.SMTPURL.Reveal(); address != "" {
		mailer, err := senders.NewSMTP(address, a.Config.MailFrom, nil)
		if err != nil {
			return nil, err
		}
		s.Email = mailer
	}
	if a.Config.SMSGatewayURL != "" {
		gateway, err := senders.NewGateway(a.Config.SMSGatewayURL, a.Config.SMSGatewaySecret.Reveal(), a.DB.Now)
		if err != nil {
			return nil, err
		}
		s.SMS = gateway
	}
	return s, nil
}

// criticalAlarms sends e-mails about critical results through the same server.
func (a *App) criticalAlarms() *critical.Service {
	return &critical.Service{Email: a.sending.Email, BaseURL: a.URL, Operators: a.Config.OperatorsEmail}
}
