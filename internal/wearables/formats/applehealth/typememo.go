package applehealth

import (
	"bytes"

	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/xmlscan"
	"hale/internal/wearables/units"
)

// typeState holds the state of one type while a file is read.
type typeState struct {
	rule  *rule // nil for a type without a resource
	count *files.TypeCount
	unit  []byte // the unit of the record before
	scale units.Scale
	known bool // unit was looked up and is good
}

// typeMemo finds the state of a record's type. Exports are sorted by type, so
// nearly always it is the one before.
type typeMemo struct {
	byName map[string]*typeState
	name   []byte
	last   *typeState
}

func newTypeMemo() typeMemo { return typeMemo{byName: map[string]*typeState{}} }

func (m *typeMemo) of(name []byte, report *files.Report) *typeState {
	if m.last != nil && bytes.Equal(name, m.name) {
		return m.last
	}
	state, ok := m.byName[string(name)]
	if !ok {
		if len(m.byName) > 2*files.MaxTypes {
			clear(m.byName)
		}
		state = &typeState{rule: rules[string(name)], count: report.Type(shortName(name))}
		m.byName[string(name)] = state
	}
	m.name, m.last = append(m.name[:0], name...), state
	return state
}

// valueOf reads a record's value in our unit. If it cannot, it counts the reason.
func (t *typeState) valueOf(p *pending, unit, value []byte) (float64, bool) {
	switch t.rule.shape {
	case occurrence:
		return 1, true
	case minutes:
		return float64(p.end-p.start) / 60e6, true
	case standHour:
		p.kind = "stood"
		if bytes.HasSuffix(value, []byte("Idle")) {
			p.kind = "idle"
		}
		return 1, true
	case sleepStage:
		stage, ok := sleepStages[string(value)]
		if !ok {
			t.count.BadValue++
			return 0, false
		}
		return float64(stage), true
	case cycleNote:
		if t.rule.words == nil { // the type has no values
			return 1, true
		}
		var ok bool
		if p.kind, ok = t.rule.words.of(value); !ok {
			t.count.BadValue++
		}
		return 1, ok
	default:
		return t.quantity(unit, value)
	}
}

// quantity reads a number and converts it.
func (t *typeState) quantity(unit, value []byte) (float64, bool) {
	if t.unit == nil || !bytes.Equal(unit, t.unit) {
		t.scale, t.known = t.rule.units[unitName(unit)]
		t.unit = append(t.unit[:0], unit...)
		if t.unit == nil {
			t.unit = []byte{}
		}
	}
	if !t.known {
		t.count.BadUnit++
		return 0, false
	}
	v, ok := xmlscan.Number(value)
	if !ok {
		t.count.BadValue++
		return 0, false
	}
	return t.scale.Convert(v), true
}
