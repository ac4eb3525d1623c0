package wearables

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/civil"
)

// Shape describes the value of a summary's field: the words of a text, the members of
// an object, the elements of a list. Ingest checks it, because clients of the API
// read these fields with strict types.
//
// Reference 7.5.
type Shape struct {
	Kind    Kind
	Words   []string // of a text; nil means any
	Numbers []int    // of an integer; nil means any
	Members []Member // of an object that is not a map; other members are allowed
	Each    *Shape   // element of a list or map
	// Least and Most bound a plausible number; both 0 means any. Ingest removes one
	// outside from its summary.
	Least, Most float64
}

// Member is a part of an object.
type Member struct {
	Name string
	*Shape
	Required bool
	Null     bool // it may be null
}

func shapeOfKind(kind Kind) *Shape    { return &Shape{Kind: kind} }
func words(all ...string) *Shape      { return &Shape{Kind: Text, Words: all} }
func listOf(each *Shape) *Shape       { return &Shape{Kind: List, Each: each} }
func mapOf(each *Shape) *Shape        { return &Shape{Kind: Object, Each: each} }
func object(members ...Member) *Shape { return &Shape{Kind: Object, Members: members} }

func requiredMember(name string, s *Shape) Member {
	return Member{Name: name, Shape: s, Required: true}
}

func optionalMember(name string, s *Shape) Member { return Member{Name: name, Shape: s, Null: true} }

// number and integer are numbers within bounds.
func number(least, most float64) *Shape  { return &Shape{Kind: Number, Least: least, Most: most} }
func integer(least, most float64) *Shape { return &Shape{Kind: Integer, Least: least, Most: most} }

// boundedLike returns the shape of a number with the bounds of the resource's samples.
func boundedLike(kind Kind, resource string) *Shape {
	r := resourcesByName[resource]
	return &Shape{Kind: kind, Least: r.Min, Most: r.Max}
}

// numbers returns members whose values are numbers of a shape, or null.
func numbers(s *Shape, names ...string) []Member {
	all := make([]Member, len(names))
	for i, name := range names {
		all[i] = optionalMember(name, s)
	}
	return all
}

// datedObjects returns the shape of a list of objects that have a date and the given members.
func datedObjects(more ...Member) *Shape {
	return listOf(object(append([]Member{requiredMember("date", shapeOfKind(Day))}, more...)...))
}

var (
	energy    = object(requiredMember("unit", words("kcal")), requiredMember("value", number(0, 100_000)))
	nutrients = number(0, 100_000)
	macros    = object(append(numbers(nutrients, "carbs", "protein", "alcohol", "water", "fibre", "sugar", "cholesterol"),
		Member{Name: "fats", Shape: object(numbers(nutrients, "saturated", "monounsaturated", "polyunsaturated", "omega3", "omega6", "total")...)})...)
	traces = mapOf(number(0, 1e9))
	micros = object(optionalMember("minerals", traces), optionalMember("trace_elements", traces), optionalMember("vitamins", traces))

	outcome = requiredMember("test_result", words("negative", "positive", "indeterminate"))
)

// Bounds of a day, and of a workout that lasts a week.
const (
	wholeDay    = 25 * 3600  // s: the day on which clocks go back
	mostSteps   = 1_000_000  // and pushes of a wheelchair
	farthestWay = 10_000_000 // m
)

func percent(kind Kind) *Shape { return &Shape{Kind: kind, Least: 0, Most: 100} }

// shapes contains the shapes of fields by name. A name means the same in every document.
var shapes = map[string]*Shape{
	"timezone_offset": integer(-18*3600, 18*3600),

	"calories_total":  boundedLike(Number, "calories_active"),
	"calories_active": boundedLike(Number, "calories_active"),
	"steps":           integer(0, mostSteps),
	"wheelchair_push": integer(0, mostSteps),
	"distance":        number(0, farthestWay),
	"daily_movement":  number(0, farthestWay),
	"low":             number(0, wholeDay/60),
	"medium":          number(0, wholeDay/60),
	"high":            number(0, wholeDay/60),
	"floors_climbed":  boundedLike(Integer, "floors_climbed"),
	"heart_rate":      object(numbers(boundedLike(Number, "heartrate"), "avg_bpm", "min_bpm", "max_bpm", "resting_bpm", "avg_walking_bpm")...),

	"weight":                         boundedLike(Number, "body_weight"),
	"fat":                            boundedLike(Number, "body_fat"),
	"water_percentage":               percent(Number),
	"muscle_mass_percentage":         percent(Number),
	"bone_mass_percentage":           percent(Number),
	"visceral_fat_index":             number(0, 1_000),
	"body_mass_index":                boundedLike(Number, "body_mass_index"),
	"lean_body_mass_kilogram":        boundedLike(Number, "lean_body_mass"),
	"waist_circumference_centimeter": boundedLike(Number, "waist_circumference"),

	"height": integer(20, 300),
	"gender": words("female", "male", "other", "unknown"),
	"sex":    words("female", "male", "other"),

	"type":                     words("long_sleep", "short_sleep", "acknowledged_nap", "unknown"),
	"state":                    words("tentative", "confirmed"),
	"duration":                 integer(0, wholeDay),
	"total":                    integer(0, wholeDay),
	"awake":                    integer(0, wholeDay),
	"light":                    integer(0, wholeDay),
	"rem":                      integer(0, wholeDay),
	"deep":                     integer(0, wholeDay),
	"latency":                  integer(0, wholeDay),
	"score":                    percent(Integer),
	"recovery_readiness_score": percent(Integer),
	"efficiency":               percent(Number),
	"hr_lowest":                boundedLike(Integer, "heartrate"),
	"hr_average":               boundedLike(Integer, "heartrate"),
	"hr_resting":               boundedLike(Integer, "heartrate"),
	"hr_dip":                   number(-100, 100),
	"average_hrv":              boundedLike(Number, "hrv"),
	"respiratory_rate":         boundedLike(Number, "respiratory_rate"),
	"skin_temperature":         number(5, 50),
	"temperature_delta":        boundedLike(Number, "body_temperature_delta"),

	"stage_start_offset_second": listOf(integer(0, wholeDay)),
	"stage_end_offset_second":   listOf(integer(0, wholeDay)),
	"stage_type":                listOf(&Shape{Kind: Integer, Numbers: []int{-1, 1, 2, 3, 4, 5}}),

	"sport":                  object(requiredMember("id", shapeOfKind(Integer)), requiredMember("name", shapeOfKind(Text)), requiredMember("slug", shapeOfKind(Text))),
	"average_hr":             boundedLike(Integer, "heartrate"),
	"max_hr":                 boundedLike(Integer, "heartrate"),
	"hr_zones":               listOf(integer(0, 8*wholeDay)),
	"moving_time":            integer(0, 8*wholeDay),
	"calories":               number(0, 200_000),
	"total_elevation_gain":   number(0, 100_000),
	"elev_high":              number(-12_000, 50_000),
	"elev_low":               number(-12_000, 50_000),
	"average_speed":          number(0, 1_000),
	"max_speed":              number(0, 1_000),
	"average_watts":          number(0, 10_000),
	"device_watts":           number(0, 10_000),
	"max_watts":              number(0, 10_000),
	"weighted_average_watts": number(0, 10_000),
	"map":                    object(optionalMember("polyline", shapeOfKind(Text)), optionalMember("summary_polyline", shapeOfKind(Text))),

	"energy": energy,
	"macros": macros,
	"micros": micros,
	"data":   mapOf(object(optionalMember("energy", energy), optionalMember("macros", macros), optionalMember("micros", micros))),

	"menstrual_flow":          datedObjects(requiredMember("flow", words("unspecified", "none", "light", "medium", "heavy"))),
	"cervical_mucus":          datedObjects(requiredMember("quality", words("dry", "sticky", "creamy", "watery", "egg_white"))),
	"intermenstrual_bleeding": datedObjects(),
	"contraceptive":           datedObjects(requiredMember("type", words("unspecified", "implant", "injection", "iud", "intravaginal_ring", "oral", "patch"))),
	"detected_deviations": datedObjects(requiredMember("deviation", words("persistent_intermenstrual_bleeding", "prolonged_menstrual_periods",
		"irregular_menstrual_cycles", "infrequent_menstrual_cycles"))),
	"ovulation_test":         datedObjects(requiredMember("test_result", words("negative", "positive", "luteinizing_hormone_surge", "estrogen_surge", "indeterminate"))),
	"home_pregnancy_test":    datedObjects(outcome),
	"home_progesterone_test": datedObjects(outcome),
	"sexual_activity":        datedObjects(optionalMember("protection_used", shapeOfKind(Flag))),
	"basal_body_temperature": datedObjects(requiredMember("value", boundedLike(Number, "basal_body_temperature"))),

	"voltage_sample_count":  integer(0, 100_000_000),
	"heart_rate_mean":       boundedLike(Integer, "heartrate"),
	"sampling_frequency_hz": number(0, 100_000),

	"tags": listOf(words(resourcesByName[NoteResource].Tags...)),

	"classification":     words("sinus_rhythm", "atrial_fibrillation", "inconclusive"),
	"inconclusive_cause": words("high_heart_rate", "low_heart_rate", "poor_reading"),
}

// Shape returns the shape of the field's value.
func (f Field) Shape() *Shape {
	if s := shapes[f.Name]; s != nil {
		return s
	}
	return shapeOfKind(f.Kind)
}

// ListedWords returns the words that a text, or each text of a list, may have.
func (s *Shape) ListedWords() []string {
	if s.Kind == List && s.Each != nil {
		return s.Each.Words
	}
	return s.Words
}

// String describes the shape in words.
func (s *Shape) String() string {
	switch {
	case len(s.Words) > 0:
		return "one of " + strings.Join(s.Words, ", ")
	case len(s.Members) > 0:
		names := make([]string, len(s.Members))
		for i, m := range s.Members {
			names[i] = m.Name
		}
		return "an object of " + strings.Join(names, ", ")
	case s.Kind == List && s.Each != nil:
		return "a list of " + s.Each.String()
	}
	return string(s.Kind)
}

// Fault names the first member of a JSON object that is missing or does not fit its
// shape. It returns an empty text if all members fit, and for values that are no
// object.
func (s *Shape) Fault(raw []byte) string {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v map[string]any
	if d.Decode(&v) != nil || v == nil {
		return ""
	}
	for _, m := range s.Members {
		value, ok := v[m.Name]
		switch {
		case !ok && m.Required:
			return m.Name + " is missing"
		case ok && !(value == nil && m.Null) && !m.holds(value):
			return m.Name + " should be " + m.String()
		}
	}
	return ""
}

// Fits reports whether JSON text is a value of the field, or null.
func (f Field) Fits(raw []byte) bool {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	return d.Decode(&v) == nil && f.Holds(v)
}

// Holds reports whether a parsed JSON value fits the field, or is null.
func (f Field) Holds(v any) bool { return v == nil || f.Shape().holds(v) }

func (s *Shape) holds(v any) bool {
	if v == nil || !s.Kind.holds(v) {
		return false
	}
	switch v := v.(type) {
	case string:
		return len(s.Words) == 0 || slices.Contains(s.Words, v)
	case json.Number:
		n, _ := v.Int64() // of an integer in the list
		return len(s.Numbers) == 0 || slices.Contains(s.Numbers, int(n))
	case []any:
		return !slices.ContainsFunc(v, func(each any) bool { return s.Each != nil && !s.Each.holds(each) })
	case map[string]any:
		return s.holdsObject(v)
	}
	return true
}

func (s *Shape) holdsObject(v map[string]any) bool {
	for _, each := range v {
		if s.Each != nil && !s.Each.holds(each) {
			return false
		}
	}
	for _, m := range s.Members {
		switch value, ok := v[m.Name]; {
		case !ok:
			if m.Required {
				return false
			}
		case value == nil && m.Null:
		case !m.holds(value):
			return false
		}
	}
	return true
}

// holds reports whether a parsed JSON value is of the kind. Null is of every kind.
func (k Kind) holds(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case json.Number:
		f, err := v.Float64()
		if k == Integer {
			return err == nil && f == math.Trunc(f) && math.Abs(f) <= maxWhole
		}
		return err == nil && k == Number
	case bool:
		return k == Flag
	case string:
		switch k {
		case Day:
			_, err := civil.ParseDate(v)
			return err == nil
		case Moment:
			_, err := time.Parse(time.RFC3339, v)
			return err == nil
		case UUID:
			return uuid.Validate(v) == nil
		default:
			return k == Text
		}
	case []any:
		return k == List
	}
	return k == Object
}

// ShapeNamed returns the shape of a field, which is the same in every document,
// or nil.
func ShapeNamed(field string) *Shape { return shapes[field] }

// Member returns the member of an object with a name. Its Shape is nil if it may be
// anything.
func (s *Shape) Member(name string) Member {
	for _, m := range s.Members {
		if m.Name == name {
			return m
		}
	}
	return Member{Name: name, Shape: s.Each}
}
