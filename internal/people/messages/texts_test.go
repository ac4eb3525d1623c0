package messages

import (
	"strings"
	"testing"

	"hale/internal/labs/orderwords"
)

var ruleChannels = map[Rule][]Channel{BySMS: {SMS}, BySMSAndEmail: {SMS, Email}, ByEmailOrSMS: {SMS, Email}}

// Every text can be sent. Every message about a visit and every reminder has a
// text; package orders tests the same for statuses.
func TestTexts(t *testing.T) {
	for _, tmpl := range texts.Templates() {
		name, channel := tmpl.Name(), SMS
		switch {
		case strings.HasSuffix(name, "."+string(Email)):
			channel = Email
		case !strings.HasSuffix(name, "."+string(SMS)):
			continue
		}
		for _, f := range []templateData{
			{Name: "Ada", Team: "Example Clinic", Link: "https://hale.example.org/p/x", Code: "012345"},
			{Team: "Example Clinic", Code: "012345"},
		} {
			look(t, name, channel, f)
		}
	}
	for event, rules := range visitRules {
		for method, rule := range rules {
			for _, channel := range ruleChannels[rule] {
				if texts.Lookup(templateFor(event, method, channel)) == nil {
					t.Errorf("%s of %s has no text for %s", event, method, channel)
				}
			}
		}
	}
}

// The order before a redraw has ended and has no form. The new order's own message
// has the link.
func TestRedrawMessageHasNoLink(t *testing.T) {
	for _, channel := range ruleChannels[BySMSAndEmail] {
		if name := templateFor("redraw_available", orderwords.WalkIn, channel); needsLink(name) {
			t.Errorf("%s has a link to the ended order", name)
		}
	}
}

func look(t *testing.T, name string, channel Channel, f templateData) {
	t.Helper()
	link := f.Link
	if !needsLink(name) {
		f.Link = ""
	}
	subject, text := renderText(name, f)
	switch {
	case (subject != "") != (channel == Email):
		t.Errorf("%s has the subject %q", name, subject)
	case f.Name != "" && !strings.Contains(text, f.Name), !strings.Contains(text, f.Team):
		t.Errorf("%s lacks the first name or the team: %q", name, text)
	case strings.HasPrefix(name, portalCode+".") != strings.Contains(text, f.Code):
		t.Errorf("%s has no code, or one that it should not have: %q", name, text)
	case strings.Contains(text, "<no value>"), strings.Contains(text, "  "), strings.TrimSpace(text) != text:
		t.Errorf("%s is badly formatted: %q", name, text)
	case needsLink(name) && link != "" && !strings.Contains(text, link):
		t.Errorf("%s has no link: %q", name, text)
	case f.Link == "" && strings.Contains(text, "in the portal"):
		t.Errorf("%s names the portal without a link to it: %q", name, text)
	case channel == SMS && len(text)-len(f.Link)-len(f.Team) > 160:
		t.Errorf("%s is long for an SMS: %d", name, len(text))
	}
	if strings.HasPrefix(name, "reminder_") && !needsLink(name) {
		t.Errorf("%s has no link into the portal", name)
	}
}
