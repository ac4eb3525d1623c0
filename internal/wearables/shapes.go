package wearables

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// Shape says what is inside a summary's field: which words a text may be, what
// an object's members are and what a list holds. It is checked where data comes
// in, because clients of the API read these fields with strict types.
//
// Reference 7.5.
type Shape struct {
	Kind    Kind
	Words   []string // of a text; none means any
	Numbers []int    // of an integer; none means any
	Members []Member // of an object that is no map; others pass through
	Each    *Shape   // what a list or a map holds
}

// Member is a part of an object.
type Member struct {
	Name string
	*Shape
	Required bool
	Null     bool // it may be null
}

func one(kind Kind) *Shape            { return &Shape{Kind: kind} }
func words(all ...string) *Shape      { return &Shape{Kind: Text, Words: all} }
func listOf(each *Shape) *Shape       { return &Shape{Kind: List, Each: each} }
func mapOf(each *Shape) *Shape        { return &Shape{Kind: Object, Each: each} }
func object(members ...Member) *Shape { return &Shape{Kind: Object, Members: members} }

func must(name string, s *Shape) Member { return Member{Name: name, Shape: s, Required: true} }
func may(name string, s *Shape) Member  { return Member{Name: name, Shape: s, Null: true} }

// numbers are members that are numbers or null.
func numbers(names ...string) []Member {
	all := make([]Member, len(names))
	for i, name := range names {
		all[i] = may(name, one(Number))
	}
	return all
}

// dated is a list of what was noted on single days.
func dated(more ...Member) *Shape {
	return listOf(object(append([]Member{must("date", one(Day))}, more...)...))
}

var (
	energy = object(must("unit", words("kcal")), must("value", one(Number)))
	macros = object(append(numbers("carbs", "protein", "alcohol", "water", "fibre", "sugar", "cholesterol"),
		Member{Name: "fats", Shape: object(numbers("saturated", "monounsaturated", "polyunsaturated", "omega3", "omega6", "total")...)})...)
	micros = object(may("minerals", mapOf(one(Number))), may("trace_elements", mapOf(one(Number))), may("vitamins", mapOf(one(Number))))

	outcome = must("test_result", words("negative", "positive", "indeterminate"))
)

// shapes are by the field's name, which means the same in every document.
var shapes = map[string]*Shape{
	"heart_rate": object(numbers("avg_bpm", "min_bpm", "max_bpm", "resting_bpm", "avg_walking_bpm")...),
	"gender":     words("female", "male", "other", "unknown"),
	"sex":        words("female", "male", "other"),

	"type":                      words("long_sleep", "short_sleep", "acknowledged_nap", "unknown"),
	"state":                     words("tentative", "confirmed"),
	"stage_start_offset_second": listOf(one(Integer)),
	"stage_end_offset_second":   listOf(one(Integer)),
	"stage_type":                listOf(&Shape{Kind: Integer, Numbers: []int{-1, 1, 2, 3, 4, 5}}),

	"sport":    object(must("id", one(Integer)), must("name", one(Text)), must("slug", one(Text))),
	"hr_zones": listOf(one(Integer)),
	"map":      object(may("polyline", one(Text)), may("summary_polyline", one(Text))),

	"energy": energy,
	"macros": macros,
	"micros": micros,
	"data":   mapOf(object(may("energy", energy), may("macros", macros), may("micros", micros))),

	"menstrual_flow":          dated(must("flow", words("unspecified", "none", "light", "medium", "heavy"))),
	"cervical_mucus":          dated(must("quality", words("dry", "sticky", "creamy", "watery", "egg_white"))),
	"intermenstrual_bleeding": dated(),
	"contraceptive":           dated(must("type", words("unspecified", "implant", "injection", "iud", "intravaginal_ring", "oral", "patch"))),
	"detected_deviations": dated(must("deviation", words("persistent_intermenstrual_bleeding", "prolonged_menstrual_periods",
		"irregular_menstrual_cycles", "infrequent_menstrual_cycles"))),
	"ovulation_test":         dated(must("test_result", words("negative", "positive", "luteinizing_hormone_surge", "estrogen_surge", "indeterminate"))),
	"home_pregnancy_test":    dated(outcome),
	"home_progesterone_test": dated(outcome),
	"sexual_activity":        dated(may("protection_used", one(Flag))),
	"basal_body_temperature": dated(must("value", one(Number))),

	"classification":     words("sinus_rhythm", "atrial_fibrillation", "inconclusive"),
	"inconclusive_cause": words("high_heart_rate", "low_heart_rate", "poor_reading"),
}

// Shape is what is inside the field.
func (f Field) Shape() *Shape {
	if s := shapes[f.Name]; s != nil {
		return s
	}
	return one(f.Kind)
}

// String describes the shape in a few words.
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

// Fits says whether JSON text is a value of the field, or null.
func (f Field) Fits(raw []byte) bool {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	return d.Decode(&v) == nil && f.holds(v)
}

// holds says whether a parsed JSON value is one of the field, or null.
func (f Field) holds(v any) bool { return v == nil || f.Shape().holds(v) }

func (s *Shape) holds(v any) bool {
	if v == nil || !s.Kind.holds(v) {
		return false
	}
	switch v := v.(type) {
	case string:
		return len(s.Words) == 0 || slices.Contains(s.Words, v)
	case json.Number:
		n, _ := v.Int64() // of an integer that is in the list
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
