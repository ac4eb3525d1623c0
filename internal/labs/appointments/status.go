package appointments

// Kind says where the sample is drawn.
//
// Reference 2.5, AppointmentType.
type Kind string

// The kinds: at the patient's home, or at a patient service center.
const (
	Phlebotomy Kind = "phlebotomy"
	AtCenter   Kind = "patient_service_center"
)

// Status is where an appointment is: the event_status of the wire.
//
// Reference 2.5.
type Status string

// The statuses. What follows each is in arrows.
const (
	// Asked is before the network has answered. Nobody is shown it.
	Asked Status = ""
	// Pending is not acknowledged, or has no time yet.
	Pending Status = "pending"
	// Reserved holds a slot until the order has its requisition.
	Reserved   Status = "reserved"
	Scheduled  Status = "scheduled"
	InProgress Status = "in_progress"
	Completed  Status = "completed"
	Cancelled  Status = "cancelled"
)

// Statuses lists those that are shown.
var Statuses = []Status{Pending, Reserved, Scheduled, InProgress, Completed, Cancelled}

// Word is the status of the wire beside the event_status: confirmed for
// scheduled, and the same for the others.
func (s Status) Word() string {
	if s == Scheduled {
		return "confirmed"
	}
	return string(s)
}

// Live reports that the appointment is still to come, or being asked for.
func (s Status) Live() bool { return s != Completed && s != Cancelled }

// Arrow is a move that an appointment may make.
type Arrow struct {
	From, To Status
	// Skips marks a move over steps that nobody reported.
	Skips bool
}

// arrows are all moves there are. Reference 2.5; what it leaves out is marked
// as skipping. Scheduled to scheduled is another time.
var arrows = map[Kind][]Arrow{
	Phlebotomy: {
		{From: Asked, To: Pending},
		{From: Pending, To: Reserved},
		{From: Pending, To: Scheduled},
		{From: Pending, To: Cancelled},
		{From: Reserved, To: Scheduled},
		{From: Reserved, To: Cancelled},
		{From: Scheduled, To: Scheduled},
		{From: Scheduled, To: InProgress},
		{From: Scheduled, To: Cancelled},
		{From: InProgress, To: Completed},
		{From: InProgress, To: Cancelled},
		{From: Pending, To: InProgress, Skips: true},
		{From: Pending, To: Completed, Skips: true},
		{From: Reserved, To: Completed, Skips: true},
		{From: Scheduled, To: Completed, Skips: true},
	},
	AtCenter: {
		{From: Asked, To: Pending},
		{From: Asked, To: Reserved},
		{From: Pending, To: Reserved},
		{From: Pending, To: Scheduled},
		{From: Pending, To: Cancelled},
		{From: Reserved, To: Scheduled},
		{From: Reserved, To: Cancelled},
		{From: Scheduled, To: Scheduled},
		{From: Scheduled, To: Completed},
		{From: Scheduled, To: Cancelled},
		{From: Pending, To: Completed, Skips: true},
		{From: Reserved, To: Completed, Skips: true},
	},
}

// May reports whether an appointment of the kind can move between two statuses.
func (k Kind) May(from, to Status) bool {
	for _, a := range arrows[k] {
		if a.From == from && a.To == to {
			return true
		}
	}
	return false
}
