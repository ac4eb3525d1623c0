package messages

import (
	_ "embed"
	"fmt"
	"strings"
	"text/template"
	"text/template/parse"
)

//go:embed templates.txt
var templatesFile string

// texts are the parsed templates.
var texts = template.Must(template.New("").Parse(templatesFile))

// templateData has the fields of the templates.
type templateData struct{ Name, Team, Link, Code string }

// templateFor returns the name of an event's template.
func templateFor(event, method string, channel Channel) string {
	if name := event + "." + method + "." + string(channel); texts.Lookup(name) != nil {
		return name
	}
	return event + "." + string(channel)
}

// renderText returns the text of a message, and for e-mails the subject.
func renderText(name string, f templateData) (subject, text string) {
	if texts.Lookup(name+".subject") != nil {
		subject = renderTemplate(name+".subject", f)
	}
	return subject, renderTemplate(name, f)
}

func renderTemplate(name string, f templateData) string {
	var b strings.Builder
	if err := texts.ExecuteTemplate(&b, name, f); err != nil {
		panic(fmt.Sprintf("messages: %v", err)) // a test renders every template
	}
	return strings.TrimSpace(b.String()) // the template of an e-mail ends with a line break
}

// needsLink reports whether a template has a link into the portal.
func needsLink(name string) bool {
	t := texts.Lookup(name)
	if t == nil {
		return false
	}
	for _, node := range t.Root.Nodes {
		if call, ok := node.(*parse.TemplateNode); ok && call.Name == "here" {
			return true
		}
	}
	return false
}
