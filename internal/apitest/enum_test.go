package apitest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hale/internal/platform/store/storetest"
)

// unknownWord is in no enum of the document.
const unknownWord = "no_such_word"

// enumStyle is the form of every message about a word outside an enum.
//
// Reference 5.1, enum.
var enumStyle = regexp.MustCompile(`^Input should be ('[^']+'(, '[^']+')* or )?'[^']+'$`)

// Every enum of the document refuses an unknown word, and every refusal lists
// the words in one style. The expressions of aggregate queries are alternatives,
// so an unknown word in one may break another rule first: the tests of package
// query cover them.
func TestEnumMessagesHaveOneStyle(t *testing.T) {
	s := start(t, storetest.NewSQLite(t))
	f := s.fixture(t)
	checked, unused := 0, maps.Clone(lenientEnums)
	for _, o := range s.doc.operations {
		for _, p := range s.doc.enums(o) {
			values := f.valuesFor(o)
			values[p.name] = unknownWord
			got := s.send(t, s.minimalRequest(t, o, values, p), s.Key)
			found, err := enumProblem(got)
			reason := lenientEnums[p.String()]
			if !found {
				delete(unused, p.String())
			}
			switch {
			case err != nil:
				t.Errorf("%v %v: %v", o, p, err)
			case !found && reason == "":
				t.Errorf("%v %v was answered %d %.300s", o, p, got.status, got.body)
			case found:
				checked++
			}
		}
	}
	for p := range unused {
		t.Errorf("the %s refuses unknown words: remove it from the list", p)
	}
	if checked < 100 {
		t.Errorf("only %d enums refused a word", checked)
	}
}

// lenientEnums are places that accept an unknown word, with the reason.
var lenientEnums = map[string]string{
	"body data[].source_type": rejectedElements, "body data[].source.type": rejectedElements,
	"body source.type": rejectedElements, "body users[].source.type": rejectedElements,
	"body data[].bolus_purpose": rejectedElements, "body data[].delivery_form": rejectedElements, "body data[].delivery_mode": rejectedElements,
	"body data[].intensity": rejectedElements, "body data[].sensor_location": rejectedElements,

	"body event_type":                  ownRefusal,
	"body filter_types[]":              ownRefusal,
	"body patient_address.state":       ownRefusal,
	"body physician.licensed_states[]": ownRefusal,
	"body shipping_details.state":      ownRefusal,
	"query types":                      ownRefusal,

	"body data[].energy.unit":              asObject,
	"body data[].cervical_mucus[].quality": asObject, "body data[].contraceptive[].type": asObject,
	"body data[].detected_deviations[].deviation": asObject, "body data[].home_pregnancy_test[].test_result": asObject,
	"body data[].home_progesterone_test[].test_result": asObject, "body data[].menstrual_flow[].flow": asObject,
	"body data[].ovulation_test[].test_result": asObject,
}

const (
	rejectedElements = "the answer counts the value among the rejected ones"
	ownRefusal       = "the refusal has another message, or is of a field beside it"
	asObject         = "the refusal is of the object that has the word"
)

// enumProblem reports whether an answer refuses a word of an enum. Another form
// of a message is an error.
func enumProblem(got answer) (found bool, err error) {
	if got.status != http.StatusUnprocessableEntity {
		return false, nil
	}
	var body struct {
		Detail json.RawMessage `json:"detail"`
	}
	var problems []struct{ Type, Msg string }
	if err := json.Unmarshal(got.body, &body); err != nil {
		return false, err
	}
	if json.Unmarshal(body.Detail, &problems) != nil { // a sentence
		return false, nil
	}
	for _, p := range problems {
		if p.Type == "enum" {
			found = true
		}
		if p.Type == "enum" && !enumStyle.MatchString(p.Msg) {
			return found, fmt.Errorf("the message %q has another form", p.Msg)
		}
	}
	return found, nil
}

// enums lists the places of an operation that accept the words of an enum only.
func (d *document) enums(o operation) (all []place) {
	for _, p := range o.Params {
		s := d.resolve(p.Schema)
		if items := d.resolve(s.Items); isWords(s) || items != nil && isWords(items) {
			all = append(all, place{p.In, p.Name})
		}
	}
	return append(all, d.enumsOf(o.Body, "", 0)...)
}

func (d *document) enumsOf(s *schema, at string, depth int) (all []place) {
	if s = d.resolve(s); s == nil || depth > 8 {
		return nil
	}
	if isWords(s) {
		return []place{{"body", at}}
	}
	all = d.enumsOf(s.Items, at+"[]", depth+1)
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		all = append(all, d.enumsOf(s.Properties[name], strings.TrimPrefix(at+"."+name, "."), depth+1)...)
	}
	choices := slices.DeleteFunc(slices.Concat(s.AnyOf, s.OneOf), func(c *schema) bool {
		return slices.Equal(c.Type, stringOrList{"null"}) || len(s.Type) > 0 && !isWords(c) // words with spaces around them
	})
	if len(choices) == 1 {
		all = append(all, d.enumsOf(choices[0], at, depth+1)...)
	}
	return all
}

func isWords(s *schema) bool { return len(s.Enum) > 0 && slices.Contains(s.Type, "string") }
