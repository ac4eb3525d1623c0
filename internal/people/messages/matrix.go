package messages

// Channel is a way to reach a person.
type Channel string

// The channels.
const (
	SMS   Channel = "sms"
	Email Channel = "email"
)

// Rule names the channels that carry a message.
type Rule int

// The rules.
const (
	NoMessage Rule = iota
	BySMS
	BySMSAndEmail
	ByEmailOrSMS // SMS only when no e-mail can be sent
)

// Collection methods, as orders have them.
const (
	testkit     = "testkit"
	phlebotomy  = "at_home_phlebotomy"
	walkIn      = "walk_in_test"
	pending     = "appointment_pending"
	confirmed   = "appointment_scheduled"
	calledOff   = "appointment_cancelled"
	requisition = "requisition_created"
	bypassed    = "requisition_bypassed"
	withPatient = "with_customer"
)

// String describes the rule.
func (r Rule) String() string {
	return [...]string{"", "SMS", "SMS and e-mail", "e-mail (SMS if that is impossible)"}[r]
}

// matrix has the rules for messages about visits, and for reminders, by event and
// method. The rules for statuses of orders come with the OrderEvent.
//
// Reference 1.19.
var matrix = map[string]map[string]Rule{
	pending:              {phlebotomy: ByEmailOrSMS},
	confirmed:            {phlebotomy: ByEmailOrSMS, walkIn: BySMS},
	calledOff:            {phlebotomy: ByEmailOrSMS, walkIn: BySMS},
	"reminder_kit":       {testkit: BySMS},
	"reminder_booking":   {walkIn: BySMS},
	"reminder_visit_24h": {phlebotomy: ByEmailOrSMS, walkIn: BySMS},
	"reminder_visit_2h":  {phlebotomy: ByEmailOrSMS, walkIn: BySMS},
}

// channels returns the channels that the rule names and that may allows.
func (r Rule) channels(may func(Channel) bool) []Channel {
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
