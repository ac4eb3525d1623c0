package push

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/google/uuid"

	"hale/internal/wearables"
)

// Group holds the samples of one batch that share source, words and unit, as columns.
// Index has the index of each in the list that was sent.
type Group struct {
	wearables.Samples
	Unit  string // as sent; empty without
	Index []int32
}

// sample is the sample that is being read.
type sample struct {
	time, end           int64
	value, value2       float64
	offset              int32
	hasTime, hasEnd     bool
	hasValue, hasValue2 bool
	hasOffset           bool
	records             [5]string // as in recordFields
	label
}

// label holds the texts that samples of a group share, as slices of the body.
type label struct {
	kind, unit          []byte
	sourceType, product []byte
	app, sport          []byte
	device, workout     uuid.UUID
	extra               string // words of the resource's further fields
}

func (l *label) is(g *groupOf) bool {
	return string(l.kind) == g.kind && string(l.unit) == g.Unit && string(l.sourceType) == g.sourceType &&
		string(l.product) == g.product && string(l.app) == g.Source.AppID && string(l.sport) == g.Source.Sport &&
		l.device == g.device && l.workout == g.workout && l.extra == g.Extra
}

type groupOf struct {
	Group
	kind, sourceType, product string // as sent
	device, workout           uuid.UUID
}

// groups sorts samples by label. Most batches have few labels, and neighbours share
// theirs.
type groups struct {
	all  []*groupOf
	last *groupOf
	byID map[string]*groupOf // if there are many
}

const fewGroups = 16

func (gs *groups) find(l *label) *groupOf {
	if gs.last != nil && l.is(gs.last) {
		return gs.last
	}
	if len(gs.all) <= fewGroups {
		for _, g := range gs.all {
			if l.is(g) {
				gs.last = g
				return g
			}
		}
	} else if g := gs.byID[l.id()]; g != nil {
		gs.last = g
		return g
	}
	gs.last = gs.make(l)
	return gs.last
}

func (gs *groups) make(l *label) *groupOf {
	g := &groupOf{
		kind: string(l.kind), sourceType: string(l.sourceType), product: string(l.product), device: l.device, workout: l.workout,
	}
	g.Unit = string(l.unit)
	g.Type, g.Extra = strings.ToLower(strings.TrimSpace(g.kind)), l.extra
	g.Source = wearables.Source{Type: sourceType(g.sourceType, g.product), AppID: string(l.app), Sport: string(l.sport)}
	if l.device != uuid.Nil {
		g.Source.DeviceID = &g.device
	}
	if l.workout != uuid.Nil {
		g.Source.WorkoutID = &g.workout
	}
	gs.all = append(gs.all, g)
	if gs.byID == nil {
		gs.byID = map[string]*groupOf{}
	}
	gs.byID[l.id()] = g
	return g
}

func (l *label) id() string {
	var b strings.Builder
	for _, part := range [][]byte{l.kind, l.unit, l.sourceType, l.product, l.app, l.sport, l.device[:], l.workout[:]} {
		b.Write(part)
		b.WriteByte(0)
	}
	b.WriteString(l.extra)
	return b.String()
}

// sourceType returns the stated type of device, or that of the model name.
//
// Reference 7.3.
func sourceType(stated, product string) string {
	switch {
	case stated != "":
		return stated
	case strings.HasPrefix(product, "Watch"):
		return "watch"
	case strings.HasPrefix(product, "iPhone"):
		return "phone"
	}
	return "unknown"
}

// grow makes room for n more samples.
func (g *groupOf) grow(n int) {
	g.Time, g.Value, g.Index = slices.Grow(g.Time, n), slices.Grow(g.Value, n), slices.Grow(g.Index, n)
	if g.End != nil {
		g.End = slices.Grow(g.End, n)
	}
	if g.Offset != nil {
		g.Offset = slices.Grow(g.Offset, n)
	}
}

// add appends a sample. An optional column starts with the first sample that has it.
func (g *groupOf) add(s *sample, index int) {
	if s.hasEnd && g.End == nil {
		g.End = append(make([]int64, 0, cap(g.Time)), g.Time...)
	}
	if s.hasOffset && g.Offset == nil {
		g.Offset = make([]int32, len(g.Time), cap(g.Time))
		for i := range g.Offset {
			g.Offset[i] = wearables.NoOffset
		}
	}
	if s.hasValue2 && g.Value2 == nil {
		g.Value2 = make([]float64, len(g.Time), cap(g.Time))
		for i := range g.Value2 {
			g.Value2[i] = math.NaN()
		}
	}
	if record := cmp.Or(s.records[:]...); record != "" || g.Record != nil {
		if g.Record == nil {
			g.Record = make([]string, len(g.Time), cap(g.Time))
		}
		g.Record = append(g.Record, record)
	}
	g.Time = append(g.Time, s.time)
	g.Value = append(g.Value, s.value)
	g.Index = append(g.Index, int32(index))
	if g.End != nil {
		end := s.time
		if s.hasEnd {
			end = s.end
		}
		g.End = append(g.End, end)
	}
	if g.Offset != nil {
		g.Offset = append(g.Offset, s.offset)
	}
	if g.Value2 != nil {
		value2 := math.NaN()
		if s.hasValue2 {
			value2 = s.value2
		}
		g.Value2 = append(g.Value2, value2)
	}
}
