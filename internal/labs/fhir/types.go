package fhir

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"
)

// Coding is a code of a system.
type Coding struct {
	System  string `json:"system,omitempty"`
	Code    string `json:"code,omitempty"`
	Display string `json:"display,omitempty"`
}

// CodeableConcept is a thing in codes and in words.
type CodeableConcept struct {
	Coding []Coding `json:"coding,omitempty"`
	Text   string   `json:"text,omitempty"`
}

// Identifier is a number that somebody gave.
type Identifier struct {
	Use    string           `json:"use,omitempty"`
	Type   *CodeableConcept `json:"type,omitempty"`
	System string           `json:"system,omitempty"`
	Value  string           `json:"value,omitempty"`
}

// Extension says what the standard itself has no element for: a value, or
// further extensions.
type Extension struct {
	Extension   []Extension `json:"extension,omitempty"`
	URL         string      `json:"url"`
	ValueCoding *Coding     `json:"valueCoding,omitempty"`
	ValueString string      `json:"valueString,omitempty"`
}

// Reference points to a resource of the bundle.
type Reference struct {
	Reference string `json:"reference,omitempty"`
	Display   string `json:"display,omitempty"`
}

// HumanName is the name of a person.
type HumanName struct {
	Use    string   `json:"use,omitempty"`
	Family string   `json:"family,omitempty"`
	Given  []string `json:"given,omitempty"`
}

// ContactPoint is a phone number or a mail address.
type ContactPoint struct {
	System string `json:"system,omitempty"`
	Value  string `json:"value,omitempty"`
}

// PostalAddress is a place.
type PostalAddress struct {
	Use        string   `json:"use,omitempty"`
	Line       []string `json:"line,omitempty"`
	City       string   `json:"city,omitempty"`
	State      string   `json:"state,omitempty"`
	PostalCode string   `json:"postalCode,omitempty"`
	Country    string   `json:"country,omitempty"`
}

// Quantity is a number with a unit. The number keeps the digits it was written
// with, because they say how precise it is.
type Quantity struct {
	Value      json.Number `json:"value,omitempty"`
	Comparator string      `json:"comparator,omitempty"`
	Unit       string      `json:"unit,omitempty"`
	System     string      `json:"system,omitempty"`
	Code       string      `json:"code,omitempty"`
}

// Range lies between two quantities.
type Range struct {
	Low  *Quantity `json:"low,omitempty"`
	High *Quantity `json:"high,omitempty"`
}

// Annotation is a note.
type Annotation struct {
	Text string `json:"text"`
}

// Attachment is a document; Data goes out in base64.
type Attachment struct {
	ContentType string `json:"contentType,omitempty"`
	Data        []byte `json:"data,omitempty"`
	Title       string `json:"title,omitempty"`
}

// decimal makes a number of the standard's of text, which must be digits with
// at most one point. A number of JSON begins with a digit, and not with a zero
// that others follow.
func decimal(text string) (json.Number, bool) {
	text = strings.TrimSpace(text)
	sign := ""
	if rest, ok := strings.CutPrefix(text, "-"); ok {
		sign, text = "-", rest
	} else {
		text = strings.TrimPrefix(text, "+")
	}
	whole, fraction, point := strings.Cut(text, ".")
	if !digits(whole) || !digits(fraction) || whole+fraction == "" || len(whole)+len(fraction) > 18 {
		return "", false
	}
	whole = strings.TrimLeft(whole, "0")
	if whole == "" {
		whole = "0"
	}
	if point && fraction != "" {
		whole += "." + fraction
	}
	return json.Number(sign + whole), true
}

func digits(text string) bool {
	return strings.Trim(text, "0123456789") == ""
}

func number(f float64) json.Number { return json.Number(strconv.FormatFloat(f, 'f', -1, 64)) }

// instant is a moment to the millisecond, which always has an offset.
func instant(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04:05.000Z07:00")
}

// dateTime is a moment as precise as it is known: to the second with an
// offset, to the day without one.
func dateTime(m Moment) string {
	switch {
	case m.Time.IsZero():
		return ""
	case m.Offset == nil:
		return m.Time.UTC().Format(time.DateOnly)
	}
	return m.Time.In(time.FixedZone("", *m.Offset)).Format("2006-01-02T15:04:05Z07:00")
}

// clean makes a text one that the standard allows: no control characters but
// line ends and tabs, and no white space around it.
func clean(text string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, text))
}
