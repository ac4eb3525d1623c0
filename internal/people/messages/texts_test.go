package messages

import (
	"strings"
	"testing"
)

var channelsOf = map[cell][]Channel{sms: {SMS}, both: {SMS, Email}, emailElseSMS: {SMS, Email}}

// Every message that the table can ask for has a text, and no text is without
// a place in the table.
func TestEveryMessageHasItsText(t *testing.T) {
	used := map[string]bool{}
	for event, cells := range matrix {
		for method, c := range cells {
			for _, channel := range channelsOf[c] {
				name := templateFor(event, method, channel)
				used[name] = true
				if texts.Lookup(name) == nil {
					t.Errorf("%s of %s has no text for %s", event, method, channel)
					continue
				}
				for _, f := range []filling{{"Ada", "Example Clinic", "https://hale.example.org/p/x"}, {"", "Example Clinic", ""}} {
					look(t, name, channel, f)
				}
			}
		}
	}
	for _, tmpl := range texts.Templates() {
		name := strings.TrimSuffix(tmpl.Name(), ".subject")
		if strings.Contains(name, ".") && !used[name] {
			t.Errorf("%s is never said", name)
		}
	}
}

// The order of which a redraw takes the rest is over: the portal has the new form
// with the new order, whose own message leads there.
func TestARedrawLeadsToNoOldForm(t *testing.T) {
	for _, channel := range channelsOf[both] {
		if name := templateFor("redraw_available", walkIn, channel); needsLink(name) {
			t.Errorf("%s leads to the order that is over", name)
		}
	}
}

func look(t *testing.T, name string, channel Channel, f filling) {
	t.Helper()
	link := f.Link
	if !needsLink(name) {
		f.Link = ""
	}
	subject, text := fill(name, f)
	switch {
	case (subject != "") != (channel == Email):
		t.Errorf("%s has the subject %q", name, subject)
	case f.Name != "" && !strings.Contains(text, f.Name), !strings.Contains(text, f.Team):
		t.Errorf("%s names nobody: %q", name, text)
	case strings.Contains(text, "<no value>"), strings.Contains(text, "  "), strings.TrimSpace(text) != text:
		t.Errorf("%s is badly set: %q", name, text)
	case needsLink(name) && link != "" && !strings.Contains(text, link):
		t.Errorf("%s has no link: %q", name, text)
	case channel == SMS && len(text)-len(f.Link)-len(f.Team) > 160:
		t.Errorf("%s is long for an SMS: %d", name, len(text))
	}
	if strings.HasPrefix(name, "reminder_") && !needsLink(name) {
		t.Errorf("%s does not lead into the portal", name)
	}
}
