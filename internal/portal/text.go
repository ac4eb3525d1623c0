package portal

import (
	"net/http"
	"time"

	"hale/internal/labs/appointments"
	"hale/internal/labs/orders"
)

// text is every word of the pages in one language. Verbs in a text are filled
// by printf in the templates.
type text struct {
	Lang string // of the html element

	Portal string // in titles, after the page's own
	Skip   string

	LinkTitle, LinkIntro, LinkButton       string
	LinkOnce                               string
	CheckIntro, CheckLegend, CheckHint     string
	Month, Day, Year                       string
	ErrorPrefix, ErrorTitle, NotADate      string
	WrongDate, WrongDateOne                string
	HomeTitle, HomeGreeting, HomeIntro     string
	OrdersTitle, OrderTitle, StepSince     string
	OrderHelpTitle, OrderHelp, ToHome      string
	YourVisit, VisitAt                     string
	Papers, OrderForm, Instructions        string
	SourcesTitle, SourcesNone              string
	Since, Provides, ProvidesNothing       string
	Status                                 map[string]string // of connections that do not simply work
	StopTitle, StopText                    string
	VisitTitle, VisitIdle, VisitEnd        string
	SignOut                                string
	LinkGone, SignedOff, SignedOut, NoPage message
	ForeignForm, Trouble                   message
	dateLayout, timeLayout                 string
	resources                              map[string]string
	Visits                                 map[string]string // of appointments, by status
}

// message is a heading with what to do.
type message struct{ Title, Body string }

// textFor picks the language of a request. There is one so far.
func textFor(*http.Request) *text { return &english }

// Date is a day in the language's usual form.
func (t *text) Date(at time.Time) string { return at.Format(t.dateLayout) }

// Clock is a time of day with its zone.
func (t *text) Clock(at time.Time) string { return at.Format(t.timeLayout) }

// Resource is a resource in plain words; a name we have no words for is shown
// as it is.
func (t *text) Resource(name string) string {
	if words, ok := t.resources[name]; ok {
		return words
	}
	return name
}

// Step describes an order's status. A second language needs its own texts here.
func (*text) Step(s orders.Status) string { return s.PatientText() }

var english = text{
	Lang:   "en",
	Portal: "Health portal",
	Skip:   "Skip to content",

	LinkTitle:  "Open your health portal",
	LinkIntro:  "%s sent you this link. It opens a page about your own health data. Do not pass it on.",
	LinkButton: "Continue",
	LinkOnce:   "This link works once, and only for a few minutes.",

	CheckIntro:  "We do not know this device yet. Tell us your date of birth, so that nobody else opens your page.",
	CheckLegend: "Your date of birth",
	CheckHint:   "For example, 3 27 1985",
	Month:       "Month",
	Day:         "Day",
	Year:        "Year",

	ErrorPrefix:  "Error: ",
	ErrorTitle:   "There is a problem",
	NotADate:     "Enter a month, a day and a year that make a real date.",
	WrongDate:    "This is not the date of birth that we have. You can try %d more times. After that you need a new link.",
	WrongDateOne: "This is not the date of birth that we have. You can try one more time. After that you need a new link.",

	HomeTitle:    "Your health portal",
	HomeGreeting: "Hello %s",
	HomeIntro:    "This page is from %s. It shows your lab orders, which apps and devices share your health data with them, and what they share.",

	OrdersTitle:    "Your lab orders",
	OrderTitle:     "Your lab order",
	StepSince:      "Since %s",
	OrderHelpTitle: "To change something",
	OrderHelp:      "To book, move or cancel a visit, or with any question about this order, ask %s.",
	ToHome:         "All your orders and connections",
	YourVisit:      "Your visit",
	VisitAt:        "%s, %s",
	Papers:         "Papers",
	OrderForm:      "Order form (PDF)",
	Instructions:   "How to give your sample (PDF)",

	SourcesTitle:    "Connected apps and devices",
	SourcesNone:     "Nothing is connected yet. When you connect an app or a device, it shows up here.",
	Since:           "Connected since %s",
	Provides:        "It shares:",
	ProvidesNothing: "It has not shared anything yet.",
	Status: map[string]string{
		"error":  "Needs attention",
		"paused": "Paused",
	},

	StopTitle: "To stop sharing",
	StopText:  "Turn sharing off in the app on your phone, or ask %s to disconnect it. What was shared before stays with them until they delete it.",

	VisitTitle: "Your visit",
	VisitIdle:  "You are signed out when you do nothing for 15 minutes.",
	VisitEnd:   "Your visit ends at %s at the latest.",
	SignOut:    "Sign out",

	LinkGone:    message{"This link does not work", "It may be too old, it may have been used before, or a part of it may be missing. Ask whoever sent it to you for a new one."},
	SignedOff:   message{"You are signed out", "For your safety a visit ends after a while. To come back, open the link that you were sent, or ask for a new one."},
	SignedOut:   message{"You have signed out", "You can close this page now. To come back, open the link that you were sent, or ask for a new one."},
	NoPage:      message{"This page does not exist", "Check the address, or open the link that you were sent."},
	ForeignForm: message{"This did not come from our page", "Open the link that you were sent and try again."},
	Trouble:     message{"Something went wrong", "It is not your fault, and nothing was changed. Try again in a few minutes."},

	dateLayout: "January 2, 2006",
	timeLayout: "3:04 PM MST",
	resources:  englishResources,
	Visits:     englishVisits,
}

// englishVisits describe the statuses of appointments.
var englishVisits = map[string]string{
	string(appointments.Pending):    "It was asked for and is not confirmed yet.",
	string(appointments.Reserved):   "It is being confirmed.",
	string(appointments.Scheduled):  "It is confirmed.",
	string(appointments.InProgress): "It is going on.",
	string(appointments.Completed):  "It is over.",
	string(appointments.Cancelled):  "It was cancelled.",
}
