package apitest

import (
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// place is where a request has an identity. In a body the name is a path, such
// as order_set.lab_test_ids[].
type place struct{ in, name string }

func (p place) String() string { return p.in + " " + p.name }

// leaf is the name of the field or parameter itself.
func (p place) leaf() string {
	return strings.TrimRight(p.name[strings.LastIndexByte(p.name, '.')+1:], "[]")
}

// key is the name under which there is one value of the place's kind.
func (p place) key() string {
	name := p.leaf()
	if one, several := strings.CutSuffix(name, "_ids"); several {
		name = one + "_id"
	}
	return name
}

// of is the value of a place: its own, or that of its kind.
func (p place) of(values map[string]string) string {
	if value, own := values[p.name]; own {
		return value
	}
	return values[p.key()]
}

// put sets the value of the place in a body, and what is around it.
func (p place) put(object map[string]any, value string) {
	at := object
	steps := strings.Split(p.name, ".")
	for _, step := range steps[:len(steps)-1] {
		name, list := strings.CutSuffix(step, "[]")
		var inner map[string]any
		if list {
			items, _ := at[name].([]any)
			if len(items) == 0 {
				items = []any{map[string]any{}}
			}
			at[name] = items[:1]
			inner, _ = items[0].(map[string]any)
		} else if inner, _ = at[name].(map[string]any); inner == nil {
			inner = map[string]any{}
			at[name] = inner
		}
		at = inner
	}
	name, list := strings.CutSuffix(steps[len(steps)-1], "[]")
	if at[name] = value; list {
		at[name] = []any{value}
	}
}

// whole builds the plainest valid request of an operation: what is required,
// and of what is optional only the given places. values are used by name
// wherever they fit.
func (s *service) whole(t *testing.T, o operation, values map[string]string, with ...place) request {
	t.Helper()
	r := request{method: o.Method, headers: map[string]string{}}
	path, query := map[string]string{}, url.Values{}
	for _, p := range o.Params {
		value := place{p.In, p.Name}.of(values)
		if value == "" {
			value = fmt.Sprint(s.doc.plain(p.Schema, p.Name, values))
		}
		switch {
		case p.In == "path":
			path[p.Name] = url.PathEscape(value)
		case p.In == "query" && (p.Required || slices.Contains(with, place{"query", p.Name})):
			query.Set(p.Name, value)
		case p.In == "header" && p.Required:
			if value == "plain" { // a key: each request has its own
				value = fmt.Sprintf("key-%06d", count.Add(1))
			}
			r.headers[strings.ToLower(p.Name)] = value
		}
	}
	r.path = o.fill(path)
	if len(query) > 0 {
		r.path += "?" + query.Encode()
	}
	if r.body = s.wholeBody(t, o, values, with); r.body != nil {
		r.headers["content-type"] = "application/json"
		if o.Body == nil {
			r.headers["content-type"] = o.BodyTypes[0]
		}
	}
	return r
}

func (s *service) wholeBody(t *testing.T, o operation, values map[string]string, with []place) []byte {
	t.Helper()
	text, special := wholeBodies[o.String()]
	for _, p := range with {
		if other, ok := wholeBodies[o.String()+" with "+p.name]; ok {
			text = other
		}
	}
	if o.Body == nil {
		if special {
			return []byte(text)
		}
		return nil
	}
	value := s.doc.plain(o.Body, "body", values)
	if special {
		for name, value := range values { // "$user_id" in a body stands for the fixture's
			text = strings.ReplaceAll(text, `"$`+name+`"`, `"`+value+`"`)
		}
		value = mustDecode(t, text)
	}
	for _, p := range with {
		if name, list := strings.CutPrefix(p.name, "[]."); list && p.in == "body" {
			item, _ := s.doc.plain(s.doc.resolve(o.Body).Items, "body", values).(map[string]any)
			place{p.in, name}.put(item, p.of(values))
			value = []any{item}
		} else if object, ok := value.(map[string]any); ok && p.in == "body" {
			p.put(object, p.of(values))
			delete(object, instead[p.name])
		}
	}
	whole, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return whole
}

// instead are fields of which a body has the one or the other.
var instead = map[string]string{"message_id": "from_seq"}

// wholeBodies are bodies whose rules go beyond their schema. One operation may
// have another "with" a field.
var wholeBodies = map[string]string{
	"PATCH /v2/user/{user_id}/info":            someInfo,
	"POST /v2/user/{user_id}/insurance":        someInsurance,
	"POST /v3/insurance/search/payor":          `{"insurance_name":"aetna"}`,
	"POST /v3/payor":                           somePayor,
	"POST /v2/user/{user_id}/imports":          someExport,
	"POST /v2/timeseries/{user_id}/{resource}": somePush,
	"POST /v2/webhooks/{webhook_id}/replay":    `{"from_seq":1}`,
	"POST /v2/user/{user_id}/device":           `{"provider":"apple_health_kit","device_model":"One"}`,
	"PATCH /v2/user/{user_id}":                 `{"fallback_time_zone":"Europe/Berlin"}`,
}

// plain is the simplest value that a schema allows, or the known one of its name.
func (d *document) plain(s *schema, name string, values map[string]string) any {
	s = d.resolve(s)
	if value, ok := values[name]; ok && (s == nil || slices.Contains(s.Type, "string")) {
		return value
	}
	switch {
	case s == nil:
		return nil
	case len(s.Enum) > 0:
		return s.Enum[0]
	case len(s.AllOf) > 0:
		return d.plain(s.AllOf[0], name, values)
	case len(s.AnyOf) > 0:
		return d.plain(s.AnyOf[0], name, values)
	case len(s.OneOf) > 0:
		return d.plain(s.OneOf[0], name, values)
	case len(s.Type) == 0:
		return "x"
	}
	switch s.Type[0] {
	case "object":
		object := map[string]any{}
		for property, of := range s.Properties {
			if slices.Contains(s.Required, property) {
				object[property] = d.plain(of, property, values)
			}
		}
		return object
	case "array":
		if s.MinItems != nil && *s.MinItems > 0 || name == "data" {
			return []any{d.plain(s.Items, name, values)}
		}
		return []any{}
	case "integer", "number":
		if s.Minimum != nil {
			return math.Ceil(*s.Minimum)
		}
		return 1
	case "boolean":
		return true
	}
	return plainText(s, name)
}

// plainText is a word that the fields of a format or a name take.
func plainText(s *schema, name string) string {
	switch s.Format {
	case "uuid":
		return "3fa85f64-5717-4562-b3fc-2c963f66afa6"
	case "date":
		return "1984-05-17"
	case "date-time":
		return "2026-03-01T12:00:00+00:00"
	case "email":
		return "person@example.com"
	}
	if word, ok := plainWords[name]; ok {
		return word
	}
	if s.MaxLength != nil && *s.MaxLength == 2 {
		return "AZ"
	}
	return "plain"
}

var plainWords = map[string]string{
	"url": "http://127.0.0.1:9/hook", "email": "person@example.com", "phone_number": "+14155550123",
	"zip": "85004", "zip_code": "85004", "state": "AZ", "country": "US",
	"provider": "apple_health_kit", "resource": "heartrate", "unit": "bpm", "fallback_time_zone": "Europe/Berlin",
	"start_date": "2026-01-01", "end_date": "2026-12-31",
	"consentType": "terms-of-use",
}
