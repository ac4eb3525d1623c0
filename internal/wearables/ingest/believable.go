package ingest

import (
	"encoding/json"
	"slices"

	"hale/internal/wearables"
)

// leaveOut takes out of a summary the numbers that no living body and no
// working device gives, and tells how many they were: a heart rate of 9000
// says nothing about the steps of the day. reason is set where nothing is left
// to store.
func leaveOut(d *wearables.Document, fields map[string]any) (n int, reason string) {
	for name, v := range fields {
		s := wearables.ShapeNamed(name)
		if s == nil || v == nil {
			continue
		}
		left, lost := believable(s, v)
		fields[name] = left
		n += lost
	}
	if n > 0 && (d.Parallel || d.Start == "" && !tells(fields)) {
		return n, wearables.Implausible
	}
	return n, ""
}

// tells says whether anything is known beside the day.
func tells(fields map[string]any) bool {
	for name, v := range fields {
		if v != nil && !slices.Contains([]string{"calendar_date", "date", "time_zone", "timezone_offset"}, name) {
			return true
		}
	}
	return false
}

// believable is what is left of a value of the shape, nil for nothing, and how
// many numbers it lost. An object goes with a number that it needs, or with the
// last that it has, and a list with any: its places mean something. Of a list of
// objects only those go.
func believable(s *wearables.Shape, v any) (left any, lost int) {
	switch v := v.(type) {
	case json.Number:
		if f, _ := v.Float64(); s.Least != s.Most && (f < s.Least || f > s.Most) {
			return nil, 1
		}
	case []any:
		kept := slices.DeleteFunc(v, func(each any) bool {
			left, n := believable(s.Each, each)
			lost += n
			return left == nil
		})
		if lost > 0 && s.Each.Kind != wearables.Object {
			return nil, lost
		}
		return kept, lost
	case map[string]any:
		some := false
		for name, each := range v {
			if m := s.Member(name); m.Shape != nil && each != nil {
				left, n := believable(m.Shape, each)
				if lost += n; left == nil && m.Required {
					return nil, lost
				}
				v[name] = left
			}
			some = some || v[name] != nil
		}
		if lost > 0 && !some {
			return nil, lost
		}
	}
	return v, lost
}
