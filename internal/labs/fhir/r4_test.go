package fhir

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// resourceRules are the rules of R4 for our resources: the allowed elements,
// the required ones, and the words of the status. Of the standard's elements,
// they list only those that we could use.
type resourceRules struct {
	may, must string
	statuses  string
}

var r4 = map[string]resourceRules{
	"Patient":       {may: "extension identifier active name telecom gender birthDate address"},
	"Practitioner":  {may: "identifier active name telecom address gender birthDate qualification"},
	"Organization":  {may: "identifier active type name alias telecom address partOf"},
	"RelatedPerson": {may: "identifier active patient relationship name telecom gender birthDate address", must: "patient"},
	"Coverage": {
		may:  "identifier status type policyHolder subscriber subscriberId beneficiary dependent relationship period payor class order network",
		must: "status beneficiary payor", statuses: "active cancelled draft entered-in-error",
	},
	"ServiceRequest": {
		may: "identifier basedOn replaces requisition status intent category priority doNotPerform code orderDetail subject " +
			"occurrenceDateTime authoredOn requester performerType performer reasonCode reasonReference insurance supportingInfo specimen bodySite note patientInstruction",
		must: "status intent subject", statuses: "draft active on-hold revoked completed entered-in-error unknown",
	},
	"QuestionnaireResponse": {
		may:  "identifier basedOn partOf questionnaire status subject encounter authored author source item",
		must: "status", statuses: "in-progress completed amended entered-in-error stopped",
	},
	"Specimen": {
		may:      "identifier accessionIdentifier status type subject receivedTime parent request collection processing container condition note",
		statuses: "available unavailable unsatisfactory entered-in-error",
	},
	"DiagnosticReport": {
		may:  "identifier basedOn status category code subject encounter effectiveDateTime issued performer resultsInterpreter specimen result conclusion conclusionCode presentedForm",
		must: "status code", statuses: "registered partial preliminary final amended corrected appended cancelled entered-in-error unknown",
	},
	"Observation": {
		may: "identifier basedOn partOf status category code subject effectiveDateTime issued performer " +
			"valueQuantity valueCodeableConcept valueString valueRange dataAbsentReason interpretation note bodySite method specimen device referenceRange hasMember derivedFrom component",
		must: "status code", statuses: "registered preliminary final amended corrected cancelled entered-in-error unknown",
	},
}

// refersTo maps an element to the types that its references may have.
var refersTo = map[string]string{
	"subject": "Patient", "patient": "Patient", "beneficiary": "Patient", "subscriber": "Patient RelatedPerson", "payor": "Organization Patient", "requester": "Practitioner Organization Patient",
	"performer": "Organization Practitioner", "insurance": "Coverage", "specimen": "Specimen", "request": "ServiceRequest",
	"basedOn": "ServiceRequest", "result": "Observation", "supportingInfo": "QuestionnaireResponse",
}

// Words of the standard's required value sets.
var bindings = map[string]string{
	"gender": "male female other unknown", "comparator": "< <= >= >", "intent": "proposal plan directive order original-order reflex-order filler-order instance-order option",
	"priority": "routine urgent asap stat", "telecom.system": "phone fax email pager url sms other", "use": "usual official temp nickname anonymous old maiden home work billing secondary mobile",
}

var (
	idForm       = regexp.MustCompile(`^[A-Za-z0-9\-.]{1,64}$`)
	dateForm     = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}$`)
	dateTimeForm = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2}))?$`)
	instantForm  = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$`)
	decimalForm  = regexp.MustCompile(`^-?(0|[1-9]\d*)(\.\d+)?$`)
	uriForm      = regexp.MustCompile(`^[a-z][a-z0-9+.\-]*:\S+$`)
)

// problems checks a bundle against the rules.
func problems(tb testing.TB, bundle Bundle) []string {
	tb.Helper()
	raw, err := json.Marshal(bundle)
	if err != nil {
		tb.Fatal(err)
	}
	var tree map[string]any
	decoder := json.NewDecoder(strings.NewReader(string(raw)))
	decoder.UseNumber()
	if err := decoder.Decode(&tree); err != nil {
		tb.Fatal(err)
	}
	c := checker{types: map[string]string{}}
	if tree["resourceType"] != "Bundle" || tree["type"] != "collection" {
		c.fail("Bundle", "is no collection")
	}
	c.matches("Bundle.id", tree["id"], idForm)
	c.matches("Bundle.timestamp", tree["timestamp"], instantForm)
	entries, _ := tree["entry"].([]any)
	for i, entry := range entries {
		resource, _ := entry.(map[string]any)["resource"].(map[string]any)
		url, _ := entry.(map[string]any)["fullUrl"].(string)
		kind, _ := resource["resourceType"].(string)
		if c.types[url] != "" {
			c.fail("Bundle", fmt.Sprintf("entry %d has the fullUrl of another (bdl-7)", i))
		}
		if url != fmt.Sprint("urn:uuid:", resource["id"]) {
			c.fail(kind, "its fullUrl is not that of its id")
		}
		c.types[url] = kind
	}
	for _, entry := range entries {
		c.resource(entry.(map[string]any)["resource"].(map[string]any))
	}
	return c.found
}

type checker struct {
	found []string
	types map[string]string // of resources, by fullUrl
}

func (c *checker) fail(at, problem string) { c.found = append(c.found, at+": "+problem) }

func (c *checker) matches(at string, value any, form *regexp.Regexp) {
	if text := fmt.Sprint(value); !form.MatchString(text) {
		c.fail(at, fmt.Sprintf("%q has not the right form", text))
	}
}

func (c *checker) oneOf(at string, value any, words string) {
	if !slices.Contains(strings.Fields(words), fmt.Sprint(value)) {
		c.fail(at, fmt.Sprintf("%q is no word of the value set", value))
	}
}

func (c *checker) resource(r map[string]any) {
	kind, _ := r["resourceType"].(string)
	rules, known := r4[kind]
	if !known {
		c.fail(kind, "is no resource that we export")
		return
	}
	c.matches(kind+".id", r["id"], idForm)
	for _, name := range strings.Fields(rules.must) {
		if r[name] == nil {
			c.fail(kind, "lacks "+name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r)) {
		if name != "resourceType" && name != "id" && !slices.Contains(strings.Fields(rules.may), name) {
			c.fail(kind, "has no element "+name)
		}
		c.element(kind+"."+name, name, r[name])
	}
	if status := r["status"]; status != nil {
		c.oneOf(kind+".status", status, rules.statuses)
	}
	switch kind {
	case "Observation":
		c.observation(r)
	case "Organization":
		if r["identifier"] == nil && r["name"] == nil {
			c.fail(kind, "has neither identifier nor name (org-1)")
		}
	}
}

func (c *checker) observation(r map[string]any) {
	values := 0
	for name := range r {
		if strings.HasPrefix(name, "value") {
			values++
		}
	}
	if values > 1 {
		c.fail("Observation", "has more than one value[x]")
	}
	if values > 0 && r["dataAbsentReason"] != nil {
		c.fail("Observation", "has a value and a dataAbsentReason (obs-6)")
	}
	if values == 0 && r["dataAbsentReason"] == nil {
		c.fail("Observation", "has neither value nor dataAbsentReason")
	}
	ranges, _ := r["referenceRange"].([]any)
	for _, each := range ranges {
		if u := each.(map[string]any); u["low"] == nil && u["high"] == nil && u["text"] == nil {
			c.fail("Observation.referenceRange", "must have low, high or text (obs-3)")
		}
	}
}

// element checks a value and its parts: nothing is empty, and every type keeps
// its form and invariants.
func (c *checker) element(at, name string, value any) {
	switch v := value.(type) {
	case nil:
		c.fail(at, "is null")
	case string:
		c.text(at, name, v)
	case json.Number:
		if !decimalForm.MatchString(v.String()) {
			c.fail(at, "is no decimal of the standard's")
		}
	case []any:
		if len(v) == 0 {
			c.fail(at, "is an empty list")
		}
		for _, each := range v {
			c.element(at, name, each)
		}
	case map[string]any:
		if len(v) == 0 {
			c.fail(at, "is an empty element (ele-1)")
		}
		c.invariants(at, v)
		if target, ok := v["reference"].(string); ok {
			c.refers(at, name, target)
		}
		for _, child := range slices.Sorted(maps.Keys(v)) {
			c.element(at+"."+child, child, v[child])
		}
	}
}

func (c *checker) refers(at, name, target string) {
	kind, known := c.types[target]
	if !known {
		c.fail(at, "refers to nothing in the bundle")
	} else if !slices.Contains(strings.Fields(refersTo[name]), kind) {
		c.fail(at, "refers to a "+kind)
	}
}

func (c *checker) text(at, name, v string) {
	if v == "" || strings.TrimSpace(v) != v {
		c.fail(at, "is empty or has space around it")
	}
	if strings.ContainsFunc(v, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' }) {
		c.fail(at, "holds a control character")
	}
	switch name {
	case "birthDate":
		c.matches(at, v, dateForm)
	case "effectiveDateTime", "authoredOn", "receivedTime", "collectedDateTime":
		c.matches(at, v, dateTimeForm)
	case "authored":
		c.matches(at, v, dateTimeForm)
	case "issued", "timestamp":
		c.matches(at, v, instantForm)
	case "data":
		if _, err := base64.StdEncoding.DecodeString(v); err != nil {
			c.fail(at, "is no base64")
		}
	case "system":
		if strings.Contains(at, "telecom") {
			c.oneOf(at, v, bindings["telecom.system"])
		} else {
			c.matches(at, v, uriForm)
		}
	case "gender", "comparator", "intent", "priority", "use":
		c.oneOf(at, v, bindings[name])
	}
}

// invariants checks the invariants of data types.
func (c *checker) invariants(at string, v map[string]any) {
	switch {
	case strings.HasSuffix(at, ".extension"):
		c.extension(at, v)
	case strings.HasSuffix(at, ".item"):
		if v["linkId"] == nil {
			c.fail(at, "lacks its linkId")
		}
	case strings.HasSuffix(at, ".answer"):
		if len(v) != 1 {
			c.fail(at, "must have one value[x]")
		}
	case strings.HasSuffix(at, "Quantity"), strings.HasSuffix(at, ".low"), strings.HasSuffix(at, ".high"):
		if v["value"] == nil {
			c.fail(at, "has no value")
		}
		if v["code"] != nil && v["system"] == nil {
			c.fail(at, "has a code without a system (qty-3)")
		}
		if v["comparator"] != nil && !strings.HasSuffix(at, "Quantity") {
			c.fail(at, "is a SimpleQuantity with a comparator (sqt-1)")
		}
	case strings.HasSuffix(at, ".telecom"):
		if v["value"] != nil && v["system"] == nil {
			c.fail(at, "has a value without a system (cpt-2)")
		}
	case strings.HasSuffix(at, ".presentedForm"):
		if v["data"] != nil && v["contentType"] == nil {
			c.fail(at, "has data without a contentType (att-1)")
		}
	case strings.HasSuffix(at, ".class"):
		if v["type"] == nil || v["value"] == nil {
			c.fail(at, "lacks type or value")
		}
	case strings.HasSuffix(at, ".note"):
		if v["text"] == nil {
			c.fail(at, "lacks its text")
		}
	}
}

// extension checks an extension and its parts. Those of US Core always have a
// text, and at most a category of their value set.
func (c *checker) extension(at string, v map[string]any) {
	url, _ := v["url"].(string)
	parts, nested := v["extension"].([]any)
	if url == "" || len(v) != 2 {
		c.fail(at, "must have a url, and either extensions or a value (ext-1)")
	}
	if !nested {
		return
	}
	c.matches(at, url, uriForm)
	texts := 0
	for _, part := range parts {
		switch p := part.(map[string]any); p["url"] {
		case "text":
			texts++
		case "ombCategory":
			coding, _ := p["valueCoding"].(map[string]any)
			c.oneOf(at+".ombCategory", coding["code"], "1002-5 2028-9 2054-5 2076-8 2106-3 2135-2 2186-5")
		default:
			c.fail(at, "is no part of a US Core extension")
		}
	}
	if texts != 1 {
		c.fail(at, "must have one text")
	}
}
