package export

import (
	"bufio"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"

	"hale/internal/wearables"
)

// A sample is an Observation with a quantity, a summary one with a component for each of
// its values. Streams of workouts have no place in the standard that readers support:
// they are left out.
//
// The standard: https://hl7.org/fhir/R4/observation.html.

// observation has the elements in use.
type observation struct {
	ResourceType string      `json:"resourceType"`
	ID           string      `json:"id"`
	Status       string      `json:"status"`
	Category     []concept   `json:"category"`
	Code         concept     `json:"code"`
	Subject      reference   `json:"subject"`
	Effective    string      `json:"effectiveDateTime,omitempty"`
	Period       *period     `json:"effectivePeriod,omitempty"`
	Device       *reference  `json:"device,omitempty"`
	Quantity     *quantity   `json:"valueQuantity,omitempty"`
	Component    []component `json:"component,omitempty"`
}

type component struct {
	Code     concept   `json:"code"`
	Quantity *quantity `json:"valueQuantity,omitempty"`
	Text     string    `json:"valueString,omitempty"`
	Flag     *bool     `json:"valueBoolean,omitempty"`
}

type concept struct {
	Coding []coding `json:"coding,omitempty"`
	Text   string   `json:"text,omitempty"`
}

type coding struct {
	System string `json:"system"`
	Code   string `json:"code"`
}

type quantity struct {
	Value  float64 `json:"value"`
	Unit   string  `json:"unit,omitempty"`
	System string  `json:"system,omitempty"`
	Code   string  `json:"code,omitempty"`
}

type period struct {
	Start string `json:"start"`
	End   string `json:"end,omitempty"`
}

type reference struct {
	Reference string `json:"reference,omitempty"`
	Display   string `json:"display,omitempty"`
}

// Code systems.
const (
	loinc      = "http://loinc.org"
	ucum       = "http://unitsofmeasure.org"
	categories = "http://terminology.hl7.org/CodeSystem/observation-category"
	ownCodes   = "urn:hale:resource" // names of resources and of fields of summaries
)

// vitalSummaries are the summaries of the category of vital signs. For time series, the table
// of resources has the category. All others are activities.
var vitalSummaries = []string{"body", wearables.ProfileResource}

// ucumOf has the codes of units that are no codes themselves.
var ucumOf = map[string]string{
	"bpm": "/min", "count": "{count}", "°C": "Cel", "mmHg": "mm[Hg]", "ml": "mL", "rmssd": "ms", "index": "1", "unit": "[iU]", "FSU": "{FSU}",
}

// fhirFile writes one Observation per line.
type fhirFile struct {
	out  *bufio.Writer
	user uuid.UUID
}

func newFHIR(w io.Writer, user uuid.UUID) sink {
	return &fhirFile{bufio.NewWriterSize(w, 64<<10), user}
}

func (f *fhirFile) close() error { return f.out.Flush() }

func (f *fhirFile) write(r *row) error {
	if r.resource == wearables.WorkoutStream {
		return nil
	}
	o := observation{
		ResourceType: "Observation", ID: r.id.String(), Status: "final", Code: codeOf(r.resource, r.kind),
		Subject: reference{Reference: "Patient/" + f.user.String()}, Device: deviceOf(&r.source),
		Category: []concept{{Coding: []coding{{categories, categoryOf(r.resource)}}}},
	}
	if r.id == uuid.Nil {
		o.ID = f.idOf(r)
	}
	o.setTime(r)
	switch {
	case r.second != nil:
		o.Component = []component{
			{Code: concept{[]coding{{loinc, "8480-6"}}, "systolic"}, Quantity: quantityOf(*r.value, r.unit)},
			{Code: concept{[]coding{{loinc, "8462-4"}}, "diastolic"}, Quantity: quantityOf(*r.second, r.unit)},
		}
	case r.value != nil:
		o.Quantity = quantityOf(*r.value, r.unit)
	default:
		var fields map[string]any
		if err := json.Unmarshal(r.document, &fields); err != nil {
			return err
		}
		o.Component = components(nil, "", fields)
	}
	line, err := json.Marshal(o)
	if err != nil {
		return err
	}
	_, err = f.out.Write(append(line, '\n'))
	return err
}

// idOf returns the id of a sample, the same in each export.
func (f *fhirFile) idOf(r *row) string {
	s := &r.source
	key := r.resource + "|" + r.kind + "|" + s.Type + "|" + s.AppID + "|" + textOf(s.DeviceID) + "|" + textOf(s.WorkoutID) + "|" + strconv.FormatInt(r.start, 10)
	return wearables.SummaryID(f.user, s.Provider, "sample", key).String()
}

// codeOf returns the code of a resource. A resource without a LOINC code has our code only.
func codeOf(resource, kind string) concept {
	c := concept{Text: resource}
	if kind != "" {
		c.Text += " " + kind
	}
	if r, ok := wearables.ResourceNamed(resource); ok && r.LOINC[kind] != "" {
		c.Coding = append(c.Coding, coding{loinc, r.LOINC[kind]})
	}
	c.Coding = append(c.Coding, coding{ownCodes, resource})
	return c
}

func categoryOf(resource string) string {
	if r, ok := wearables.ResourceNamed(resource); ok && r.VitalSign || slices.Contains(vitalSummaries, resource) {
		return "vital-signs"
	}
	return "activity"
}

func deviceOf(s *wearables.Source) *reference {
	d := reference{Display: s.Provider + " " + s.Type}
	if s.AppID != "" {
		d.Display += " " + s.AppID
	}
	if s.DeviceID != nil {
		d.Reference = "Device/" + s.DeviceID.String()
	}
	return &d
}

// setTime sets the moment, the period or the day.
func (o *observation) setTime(r *row) {
	zone := time.UTC
	if r.offset != wearables.NoOffset {
		zone = time.FixedZone("", int(r.offset))
	}
	text := func(us int64) string { return time.UnixMicro(us).In(zone).Format("2006-01-02T15:04:05.999999Z07:00") }
	switch {
	case r.end > r.start:
		o.Period = &period{text(r.start), text(r.end)}
	case r.start != 0:
		o.Effective = text(r.start)
	default:
		o.Effective = r.day
	}
}

func quantityOf(v float64, unit string) *quantity {
	q := quantity{Value: v, Unit: unit}
	if unit != "" {
		q.System, q.Code = ucum, unit
		if code, ok := ucumOf[unit]; ok {
			q.Code = code
		}
	}
	return &q
}

// notComponents are fields of summaries that other elements have.
var notComponents = []string{
	"id", "user_id", "source", "source_provider", "source_type", "source_app_id", "source_device_id", "source_id", "priority_id",
	"created_at", "updated_at", "date",
}

// components returns the values of a summary, in the order of their names. A list has no
// component.
func components(all []component, prefix string, fields map[string]any) []component {
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if prefix == "" && slices.Contains(notComponents, name) {
			continue
		}
		c := component{Code: concept{[]coding{{ownCodes, prefix + name}}, prefix + name}}
		switch v := fields[name].(type) {
		case float64:
			c.Quantity = &quantity{Value: v}
		case bool:
			c.Flag = &v
		case string:
			if v == "" {
				continue
			}
			c.Text = v
		case map[string]any:
			all = components(all, prefix+name+".", v)
			continue
		default:
			continue
		}
		all = append(all, c)
	}
	return all
}
