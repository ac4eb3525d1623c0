package messages

// Channel is a way to reach a person.
type Channel string

// The channels.
const (
	SMS   Channel = "sms"
	Email Channel = "email"
)

// cell is what the table has for an event and a collection method.
type cell int

const (
	nothing cell = iota
	sms
	both         // SMS and e-mail
	emailElseSMS // SMS only when no e-mail can be sent
)

// Collection methods, as orders have them.
const (
	testkit     = "testkit"
	phlebotomy  = "at_home_phlebotomy"
	walkIn      = "walk_in_test"
	onSite      = "on_site_collection"
	pending     = "appointment_pending"
	confirmed   = "appointment_scheduled"
	calledOff   = "appointment_cancelled"
	requisition = "requisition_created"
	bypassed    = "requisition_bypassed"
	withPatient = "with_customer"
)

// matrix is what is said when. An event that is not in it, such as partial
// results, a sample error or a requisition that was bypassed, says nothing.
//
// Reference 1.19.
var matrix = map[string]map[string]cell{
	"ordered":            {testkit: sms, phlebotomy: sms, walkIn: sms, onSite: sms},
	requisition:          {phlebotomy: both, walkIn: both, onSite: both},
	pending:              {phlebotomy: emailElseSMS},
	confirmed:            {phlebotomy: emailElseSMS, walkIn: sms},
	calledOff:            {phlebotomy: emailElseSMS, walkIn: sms},
	"draw_completed":     {phlebotomy: sms, onSite: sms},
	"transit_customer":   {testkit: sms},
	"out_for_delivery":   {testkit: sms},
	"delivered_to_lab":   {testkit: sms},
	"redraw_available":   {walkIn: both},
	"completed":          {testkit: sms, phlebotomy: sms, walkIn: sms, onSite: sms},
	"cancelled":          {testkit: sms, phlebotomy: sms, walkIn: sms, onSite: sms},
	"reminder_kit":       {testkit: sms},
	"reminder_booking":   {walkIn: sms},
	"reminder_visit_24h": {phlebotomy: emailElseSMS, walkIn: sms},
	"reminder_visit_2h":  {phlebotomy: emailElseSMS, walkIn: sms},
}

// channels are the ways that are open for a cell: may says whether one is.
func (c cell) channels(may func(Channel) bool) []Channel {
	var wanted []Channel
	switch c {
	case nothing:
		return nil
	case sms:
		wanted = []Channel{SMS}
	case both:
		wanted = []Channel{SMS, Email}
	case emailElseSMS:
		wanted = []Channel{SMS}
		if may(Email) {
			wanted = []Channel{Email}
		}
	}
	var open []Channel
	for _, channel := range wanted {
		if may(channel) {
			open = append(open, channel)
		}
	}
	return open
}
