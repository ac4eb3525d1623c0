package applehealth

import (
	"bytes"

	"hale/internal/wearables/derive"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/xmlscan"
	"hale/internal/wearables/units"
)

// pendingRecord is a record that was read but whose metadata may follow: the person
// entered it, or it was measured in another time zone.
type pendingRecord struct {
	open       bool
	rule       *rule
	count      *files.TypeCount
	start, end int64
	offset     int32
	value      float64
	kind       string
	words      string // wearables.ExtraText of the record's words beside its value
	source     int
	begins     bool  // a first day of bleeding
	protected  *bool // whether protection was used
}

// Dates outside these are slips of a clock. They are left out here already so
// that the days a file touches are few; wearables has narrower bounds.
const (
	earliestInstant = 0                     // 1970
	latestInstant   = 4_102_444_800_000_000 // 2100
)

// pressureKey identifies a blood pressure and which of its two numbers a record has.
type pressureKey struct {
	at     int64
	source int
	shape  shape
}

// pressureHalf is one of the two numbers, until the record of the other is read.
type pressureHalf struct {
	value  float64
	record int64 // its number within its type
}

// onRecord reads one Record. A file has each record of a correlation a second
// time, outside of the correlation. So onRecord only counts the inner copy.
func (r *Reader) onRecord(tag *xmlscan.Tag) error {
	if r.inside > 0 {
		if tag.Kind != xmlscan.Closing {
			r.report.Copies++
		}
		return nil
	}
	r.endRecord()
	if tag.Kind == xmlscan.Closing {
		return nil
	}
	r.report.Records++
	r.readRecord(tag)
	if tag.Kind == xmlscan.Empty {
		r.endRecord()
	}
	if r.columns.n >= flushAt {
		return r.flush()
	}
	return nil
}

func (r *Reader) readRecord(tag *xmlscan.Tag) {
	var kind, name, device, unit, start, end, value []byte
	for i := range tag.Attrs {
		a := &tag.Attrs[i]
		switch string(a.Name) {
		case "type":
			kind = a.Value
		case "sourceName":
			name = a.Value
		case "device":
			device = a.Value
		case "unit":
			unit = a.Value
		case "startDate":
			start = a.Value
		case "endDate":
			end = a.Value
		case "value":
			value = a.Value
		}
	}
	t := r.types.of(kind, &r.report)
	t.count.Read++
	if t.rule == nil {
		t.count.Skipped++
		r.report.Left(t.count)
		return
	}
	p := &r.record
	var ok, endOK bool
	p.start, p.offset, ok = parseMoment(start)
	p.end, _, endOK = parseMoment(end)
	if !ok || !endOK || p.end < p.start || p.start < earliestInstant || p.end > latestInstant {
		t.count.BadDate++
		r.report.Left(t.count)
		return
	}
	p.rule, p.count, p.kind = t.rule, t.count, t.rule.kind
	if p.value, ok = t.valueOf(p, unit, value); !ok {
		r.report.Left(t.count)
		return
	}
	p.source = r.sources.of(name, device)
	p.begins, p.protected, p.words = false, nil, ""
	p.open = true
}

// endRecord keeps the pending record.
func (r *Reader) endRecord() {
	p := &r.record
	if !p.open {
		return
	}
	p.open = false
	switch p.rule.shape {
	case systolic, diastolic:
		r.pair(p)
		return
	case portion:
		r.eat(p)
	case sleepStage:
		if !r.sleep(p) {
			p.count.TooMany++
			r.report.Left(p.count)
			return
		}
	case onTheWay:
		if !r.course.add(p) {
			p.count.TooMany++
			r.report.Left(p.count)
			return
		}
	case restingHR:
		keepNewest(r.facts, r.restAt, p, func(f *derive.DayFacts, v *float64) { f.RestingBPM = v })
	case walkingHR:
		keepNewest(r.facts, r.walkAt, p, func(f *derive.DayFacts, v *float64) { f.WalkingBPM = v })
	case cycleNote:
		if !r.note(p) {
			p.count.TooMany++
			r.report.Left(p.count)
		}
		return // entries that have a cycle are counted at the end
	case height:
		if r.person.Height == nil || p.start >= r.person.HeightAt {
			value := p.value
			r.person.Height, r.person.HeightAt = &value, p.start
		}
	default:
		r.keep(p)
		r.warmth(p)
	}
	p.count.Mapped++
	r.report.Mapped++
}

// keep adds the record to its columns.
func (r *Reader) keep(p *pendingRecord) {
	col := r.columns.at(columnKey{p.rule.resource, p.kind, p.rule.sport, p.words, p.source}, r.sources.list)
	if p.rule.shape != point {
		col.End = append(col.End, p.end)
	}
	r.columns.add(col, p.start, p.offset, p.value)
}

// sleep keeps a stage of sleep until the end: nights consist of stages, and no series
// holds them.
func (r *Reader) sleep(p *pendingRecord) bool {
	if r.asleep >= maxSleep {
		return false
	}
	r.asleep++
	s := r.sleepers[p.source]
	if s == nil {
		s = &derive.Sleeper{Source: r.sources.list[p.source]}
		r.sleepers[p.source] = s
	}
	s.Segments = append(s.Segments, derive.Segment{Start: p.start, End: p.end, Offset: p.offset, Stage: int8(p.value)})
	return true
}

// pair joins the two halves of a blood pressure, which are far apart: all records of
// one type come before those of the next.
func (r *Reader) pair(p *pendingRecord) {
	other := pressureKey{p.start, p.source, systolic}
	if p.rule.shape == systolic {
		other.shape = diastolic
	}
	found, ok := r.halves[other]
	if !ok {
		if len(r.halves) < maxHalves {
			r.halves[pressureKey{p.start, p.source, p.rule.shape}] = pressureHalf{p.value, p.count.Read}
		} else {
			p.count.Unpaired++
			r.report.LeftAt(p.count, p.count.Read, "unpaired")
		}
		return
	}
	delete(r.halves, other)
	high, low := p.value, found.value
	if p.rule.shape == diastolic {
		high, low = low, high
	}
	col := r.columns.at(columnKey{resource: p.rule.resource, source: p.source}, r.sources.list)
	r.columns.add(col, p.start, p.offset, high)
	col.Value2 = append(col.Value2, low)
	for _, name := range []string{"BloodPressureSystolic", "BloodPressureDiastolic"} {
		r.report.Type(name).Mapped++
	}
	r.report.Mapped += 2
}

// unpaired counts the halves that are left at the end.
func (r *Reader) unpaired() {
	for h, found := range r.halves {
		name := "BloodPressureSystolic"
		if h.shape == diastolic {
			name = "BloodPressureDiastolic"
		}
		count := r.report.Type(name)
		count.Unpaired++
		r.report.LeftAt(count, found.record, "unpaired")
	}
}

// onMetadata reads an entry of the record or workout around it.
func (r *Reader) onMetadata(tag *xmlscan.Tag) {
	if tag.Kind == xmlscan.Closing {
		return
	}
	var key, value []byte
	for i := range tag.Attrs {
		switch a := &tag.Attrs[i]; string(a.Name) {
		case "key":
			key = a.Value
		case "value":
			value = a.Value
		}
	}
	switch {
	case r.inside > 0:
		r.foodMetadata(key, value)
	case r.record.open:
		r.recordMetadata(key, value)
	case r.workout != nil && r.segment == 0:
		r.workoutMetadata(key, value)
	}
}

func (r *Reader) recordMetadata(key, value []byte) {
	switch string(key) {
	case "HKWasUserEntered":
		if string(bytes.TrimSpace(value)) == "1" {
			r.record.source = r.sources.manual(r.record.source)
		}
	case "HKInsulinDeliveryReason":
		if r.record.rule.resource == insulin {
			r.record.delivered(string(bytes.TrimSpace(value)))
		}
	case "HKBodyTemperatureSensorLocation":
		if r.record.rule.resource == "body_temperature" {
			r.record.words = thermometers[string(bytes.TrimSpace(value))]
		}
	case "HKMenstrualCycleStart":
		r.record.begins = string(bytes.TrimSpace(value)) == "1"
	case "HKSexualActivityProtectionUsed":
		used := string(bytes.TrimSpace(value)) == "1"
		r.record.protected = &used
	case "HKTimeZone":
		r.record.offset = r.zones.offset(value, r.record.start, r.record.offset)
	}
}

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
func (t *typeState) valueOf(p *pendingRecord, unit, value []byte) (float64, bool) {
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
