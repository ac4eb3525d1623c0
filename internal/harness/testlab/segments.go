package testlab

import (
	"fmt"
	"strings"
)

// segment is a line of a message: its fields, with the name as the first one.
type segment []string

// parse cuts a message into segments. Separators must be those that the guide
// recommends.
func parse(message string) ([]segment, error) {
	if !strings.HasPrefix(message, `MSH|^~\&|`) && !strings.HasPrefix(message, `MSH|^~\&#|`) {
		return nil, fmt.Errorf("the message does not begin with MSH and the recommended separators")
	}
	if !strings.HasSuffix(message, "\r") || strings.Contains(message, "\n") {
		return nil, fmt.Errorf("segments must end in CR")
	}
	var all []segment
	for line := range strings.SplitSeq(strings.TrimSuffix(message, "\r"), "\r") {
		fields := segment(strings.Split(line, "|"))
		if len(fields[0]) != 3 {
			return nil, fmt.Errorf("the segment %d has no name", len(all)+1)
		}
		if fields[0] == "MSH" { // the first separator is the first field
			fields = append(segment{"MSH", "|"}, fields[1:]...)
		}
		all = append(all, fields)
	}
	return all, nil
}

// raw returns a field as written.
func (s segment) raw(field int) string {
	if field >= len(s) {
		return ""
	}
	return s[field]
}

// get returns a component of the first repetition of a field.
func (s segment) get(field, component int) string {
	first, _, _ := strings.Cut(s.raw(field), "~")
	parts := strings.Split(first, "^")
	if component > len(parts) {
		return ""
	}
	return unescape(parts[component-1])
}

var unescaper = strings.NewReplacer(`\F\`, "|", `\S\`, "^", `\T\`, "&", `\R\`, "~", `\E\`, `\`)

func unescape(text string) string { return unescaper.Replace(text) }

var escaper = strings.NewReplacer("|", `\F\`, "^", `\S\`, "&", `\T\`, "~", `\R\`, `\`, `\E\`)

// line writes a segment from the fields with content. A value is written as it
// is; use text for a value with special characters.
func line(name string, fields map[int]string) string {
	last := 0
	for n := range fields {
		last = max(last, n)
	}
	all := make([]string, last+1)
	all[0] = name
	for n, value := range fields {
		all[n] = value
	}
	return strings.Join(all, "|") + "\r"
}

// text writes components, with their special characters escaped.
func text(components ...string) string {
	for i, c := range components {
		components[i] = escaper.Replace(c)
	}
	return strings.TrimRight(strings.Join(components, "^"), "^")
}
