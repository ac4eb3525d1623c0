package portal

import (
	"fmt"
	"net/http"
	"time"

	"hale/internal/labs/appointments"
	"hale/internal/labs/orders"
	"hale/internal/people/users"
	"hale/internal/wearables"
)

// text holds every word of the pages in one language. The pages fill the printf
// verbs.
type text struct {
	Lang string // of the html element

	Portal string // in titles, after the page's own
	Skip   string

	LinkTitle, LinkIntro, LinkButton       string
	LinkOnce                               string
	CheckIntro, CheckLegend, CheckHelp     string
	Method, OnlyMethod                     map[users.CheckMethod]string
	NoMethod, SendCode                     string
	CodeTitle, CodeLabel, CodeHint         string
	CodeSent                               map[users.CheckMethod]string
	CodeSentAlready, CodeTooEarly          string
	NotACode, WrongCode, WrongCodeOne      string
	CodeOverTitle, CodeOver                string
	NewCodeTitle, NewCodeHint, NewCode     string
	OtherMethod, Sandbox                   string
	BirthDateTitle, BirthDateHint          string
	Month, Day, Year                       string
	ErrorPrefix, ErrorTitle, NotADate      string
	WrongDate, WrongDateOne, BirthDateOver string
	HomeTitle, HomeGreeting, HomeIntro     string
	OrdersTitle, OrderTitle, StepSince     string
	OrderHelpTitle, OrderHelp, ToHome      string
	YourVisit, VisitAt                     string
	Documents, OrderForm, Instructions     string
	SourcesTitle, SourcesNone              string
	Since, Provides, ProvidesNothing       string
	Status                                 map[string]string // of connections that do not work
	StopTitle, StopText                    string
	VisitTitle, VisitIdle, VisitEnd        string
	SignOut                                string
	LinkGone, SignedOff, SignedOut, NoPage message
	ForeignForm, FormTooLarge, Trouble     message
	NoCheck, NoCheckLeft                   message
	CodeWait, NoMoreCodes                  message
	second, secondsMany                    string
	dateLayout, timeLayout                 string
	resources                              map[string]string
	Visits                                 map[string]string // of appointments, by status
}

// message is a heading and what to do.
type message struct{ Title, Body string }

// with fills a name or a time into the body.
func (m message) with(word string) message {
	return message{m.Title, fmt.Sprintf(m.Body, word)}
}

// textFor returns the texts for a request. There is one language.
func textFor(*http.Request) *text { return &english }

// Date formats a day.
func (t *text) Date(at time.Time) string { return at.Format(t.dateLayout) }

// Clock formats a time of day with its zone.
func (t *text) Clock(at time.Time) string { return at.Format(t.timeLayout) }

// seconds formats a short wait.
func (t *text) seconds(n int) string {
	if n == 1 {
		return t.second
	}
	return fmt.Sprintf(t.secondsMany, n)
}

// Resource describes a resource. A name without a description is returned as it
// is.
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

	CheckIntro:  "This device is new to us. Before we show your health data, we check that it is you.",
	CheckLegend: "How should we check?",
	CheckHelp:   "Is the phone number or the e-mail address no longer yours? Ask %s to correct it.",
	Method: map[users.CheckMethod]string{
		users.CodeBySMS:     "Send a code by text message to the number that ends in %s",
		users.CodeByEmail:   "Send a code by e-mail to %s",
		users.ByDateOfBirth: "Enter my date of birth",
	},
	OnlyMethod: map[users.CheckMethod]string{
		users.CodeBySMS:     "We will send a code by text message to the number that ends in %s.",
		users.CodeByEmail:   "We will send a code by e-mail to %s.",
		users.ByDateOfBirth: "We will ask for your date of birth.",
	},
	NoMethod: "Choose how we should check that it is you.",
	SendCode: "Send the code",

	CodeTitle: "Enter your code",
	CodeLabel: "Code",
	CodeHint:  "It has six digits and works for ten minutes.",
	CodeSent: map[users.CheckMethod]string{
		users.CodeBySMS:   "We sent a code by text message to the number that ends in %s.",
		users.CodeByEmail: "We sent a code by e-mail to %s. If you do not see it, look in your spam folder.",
	},
	CodeSentAlready: "We have just sent you a code. If it does not arrive, you can ask for a new one in %s.",
	CodeTooEarly:    "You can ask for a new code in %s.",
	NotACode:        "Enter the six digits of the code.",
	WrongCode:       "This is not the code that we sent. You can try %d more times. After that you need a new code.",
	WrongCodeOne:    "This is not the code that we sent. You can try one more time. After that you need a new code.",
	CodeOverTitle:   "This code no longer works",
	CodeOver:        "A code works for ten minutes, and you can try five times. You can ask for a new one.",
	NewCodeTitle:    "No code?",
	NewCodeHint:     "A code can take a minute to arrive. Only the newest code works.",
	NewCode:         "Send a new code",
	OtherMethod:     "Choose another way",
	Sandbox:         "This is a sandbox: no message leaves the service. The team finds the code with “hale outbox”.",

	BirthDateTitle: "Enter your date of birth",
	BirthDateHint:  "For example, 3 27 1985",
	Month:          "Month",
	Day:            "Day",
	Year:           "Year",

	ErrorPrefix:   "Error: ",
	ErrorTitle:    "There is a problem",
	NotADate:      "Enter a month, a day and a year of four digits that make a real date.",
	WrongDate:     "This is not the date of birth that we have. You can try %d more times. After that we no longer ask for it.",
	WrongDateOne:  "This is not the date of birth that we have. You can try one more time. After that we no longer ask for it.",
	BirthDateOver: "A wrong date of birth was entered five times, so we no longer ask for it. A code still works.",

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
	Documents:      "Documents",
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
	StopText:  "Turn sharing off in the app on your phone, or ask %s to disconnect it. Data that you shared before stays with them until they delete it.",

	VisitTitle: "Your visit",
	VisitIdle:  "After 15 minutes without activity, you are signed out.",
	VisitEnd:   "Your visit ends at %s at the latest.",
	SignOut:    "Sign out",

	LinkGone:     message{"This link does not work", "It may be too old, it may have been used before, or a part of it may be missing. Ask for a new one."},
	SignedOff:    message{"You are signed out", "For your safety a visit ends after a while. To come back, open the link that you were sent, or ask for a new one."},
	SignedOut:    message{"You have signed out", "You can close this page now. To come back, open the link that you were sent, or ask for a new one."},
	NoPage:       message{"This page does not exist", "Check the address, or open the link that you were sent."},
	ForeignForm:  message{"This did not come from our page", "Open the link that you were sent and try again."},
	FormTooLarge: message{"This form is too large", "Open the link that you were sent and try again."},
	Trouble:      message{"Something went wrong", "It is not your fault, and nothing was changed. Try again in a few minutes."},

	NoCheck:     message{"We cannot check that it is you", "This device is new to us, and your health data is private. We have no way to send you a code, so we cannot open your page here. Please contact %s the way you usually do. They can bring your phone number and e-mail address up to date, or let you in from their own app or website."},
	NoCheckLeft: message{"We cannot check that it is you", "A wrong date of birth was entered five times, so we no longer ask for it. We have no way to send you a code. Please contact %s the way you usually do. They can bring your phone number and e-mail address up to date, or let you in from their own app or website."},
	CodeWait:    message{"Please wait a moment", "We have just sent you a code for another link. You can ask for one for this link in %s. Then go back and try again."},
	NoMoreCodes: message{"This link gets no more codes", "We have sent ten codes for it, or wrong codes were entered too often. Please ask %s for a new link."},
	second:      "one second",
	secondsMany: "%d seconds",

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
	string(appointments.InProgress): "It has started.",
	string(appointments.Completed):  "It is over.",
	string(appointments.Cancelled):  "It was cancelled.",
}

// englishResources describes resources for people, by their names in events. Resources
// with the same description are shown once.
var englishResources = func() map[string]string {
	all := map[string]string{
		"device":                "Your devices",
		"sleep_stream":          "Sleep stages",
		wearables.WorkoutStream: "Workout details and routes",
	}
	for _, r := range wearables.Resources() {
		all[r.Event] = r.Label
	}
	for _, d := range wearables.Documents() {
		all[d.Name] = d.Label
	}
	return all
}()
