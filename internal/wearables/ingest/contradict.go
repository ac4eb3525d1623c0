package ingest

import (
	"encoding/json"
	"time"

	"hale/internal/platform/civil"
	"hale/internal/wearables"
)

// contradicts tells why the fields of a summary can not be true together;
// empty when they can.
func contradicts(d *wearables.Document, fields map[string]any) (reason string) {
	switch d.Name {
	case wearables.NoteResource:
		return noteContradicts(fields)
	case "sleep_cycle":
		return stagesContradict(fields)
	case "menstrual_cycle":
		start, _ := fields["period_start"].(string)
		for _, name := range []string{"period_end", "cycle_end"} {
			if end, ok := fields[name].(string); ok && end < start { // days of four-digit years
				return wearables.EndBeforeStart
			}
		}
	}
	return ""
}

// stagesContradict looks at the lists of a sleep cycle. A version of one tells
// all three or none: they are of the same stages, which follow each other.
//
// Reference 7.5, sleep_cycle.
func stagesContradict(fields map[string]any) (reason string) {
	starts, someStarts := fields["stage_start_offset_second"].([]any)
	ends, someEnds := fields["stage_end_offset_second"].([]any)
	stages, someStages := fields["stage_type"].([]any)
	if someStarts != someEnds || someEnds != someStages || len(starts) != len(ends) || len(ends) != len(stages) {
		return wearables.ShortColumns
	}
	end := 0.0
	for i := range stages {
		from, to := float(starts[i]), float(ends[i])
		switch {
		case to < from:
			return wearables.EndBeforeStart
		case i > 0 && from < end:
			return wearables.Overlapping
		}
		end = to
	}
	return ""
}

func float(v any) float64 {
	n, _ := v.(json.Number)
	f, _ := n.Float64()
	return f
}

const (
	heartRateZones = 6
	oldest         = 130 // years, as for a user's own birth date
)

// leaveOut goes on where Document.leaveOut ends: it takes out a birth date that
// nobody alive has, and zones of a heart rate that are not the six.
func (l *limits) leaveOut(fields map[string]any) (n int, reason string) {
	if text, ok := fields["birth_date"].(string); ok {
		birth, _ := civil.ParseDate(text)
		if latest := civil.DateOf(time.UnixMicro(l.latest).UTC()); birth.After(latest) || birth.Year < latest.Year-oldest {
			fields["birth_date"] = nil
			n++
		}
	}
	if zones, ok := fields["hr_zones"].([]any); ok && len(zones) != heartRateZones {
		fields["hr_zones"] = nil
		n++
	}
	if n > 0 && !tells(fields) {
		return n, wearables.Implausible
	}
	return n, ""
}

// noteContradicts tells why the fields of a version of a note can not be those
// of one.
func noteContradicts(fields map[string]any) (reason string) {
	if text, told := fields["value"]; told && (text == nil || text == "") {
		return wearables.MissingValue
	}
	if end := textOfMoment(fields["end"]); !end.IsZero() && end.Before(textOfMoment(fields["timestamp"])) {
		return wearables.EndBeforeStart
	}
	return ""
}
