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

// texts are the templates; the file is part of the binary and tested.
var texts = template.Must(template.New("").Parse(templatesFile))

// filling is what templates can name.
type filling struct{ Name, Team, Link, Code string }

// templateFor is the text of an event for a method and a channel.
func templateFor(event, method string, channel Channel) string {
	if name := event + "." + method + "." + string(channel); texts.Lookup(name) != nil {
		return name
	}
	return event + "." + string(channel)
}

// fill makes the subject, which only e-mails have, and the text of a message.
func fill(name string, f filling) (subject, text string) {
	if texts.Lookup(name+".subject") != nil {
		subject = execute(name+".subject", f)
	}
	return subject, execute(name, f)
}

func execute(name string, f filling) string {
	var b strings.Builder
	if err := texts.ExecuteTemplate(&b, name, f); err != nil {
		panic(fmt.Sprintf("messages: %v", err)) // every template is filled in by a test
	}
	return strings.TrimSpace(b.String()) // an e-mail's text ends with a line break of its own
}

// needsLink reports whether a text sends the reader into the portal.
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
