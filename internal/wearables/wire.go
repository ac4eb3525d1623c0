package wearables

import (
	"math"
	"strconv"
)

// The wire shapes of samples and sources. Events carry them, and so does the
// API's read of a group, which is why they are written here, append-style: a
// month of heart rates is 43,200 objects.
//
// Spec: Events, timeseries. Reference 7.3, 7.7.

// Describe gives a provider's display name and logo address for the
// deprecated fields of a source.
type Describe func(slug string) (name, logo string)

// AppendSource appends a source object.
func AppendSource(dst []byte, s Source, describe Describe) []byte {
	name, logo := "", ""
	if describe != nil {
		name, logo = describe(s.Provider)
	}
	kind := s.Type
	if kind == "" {
		kind = "unknown"
	}
	dst = appendText(append(dst, `{"provider":`...), s.Provider)
	dst = appendText(append(dst, `,"type":`...), kind)
	dst = appendTextOrNull(append(dst, `,"app_id":`...), s.AppID)
	dst = appendUUIDOrNull(append(dst, `,"device_id":`...), s.DeviceID)
	dst = appendTextOrNull(append(dst, `,"sport":`...), s.Sport)
	dst = appendUUIDOrNull(append(dst, `,"workout_id":`...), s.WorkoutID)
	dst = appendText(append(dst, `,"name":`...), name)
	dst = appendText(append(dst, `,"slug":`...), s.Provider)
	dst = appendText(append(dst, `,"logo":`...), logo)
	return append(dst, '}')
}

// AppendSamples appends the samples of one series as a JSON array.
func AppendSamples(dst []byte, s *Samples) []byte { return AppendAll(dst, []Samples{*s}) }

// AppendAll appends the samples of several series as one JSON array.
func AppendAll(dst []byte, all []Samples) []byte { return appendAll(dst, all, keep) }

// A Spill is offered the text while it grows. It may send it on and return an
// empty buffer to go on with.
type Spill func(dst []byte) []byte

func keep(dst []byte) []byte { return dst }

func appendAll(dst []byte, all []Samples, spill Spill) []byte {
	dst = append(dst, '[')
	first := true
	for i := range all {
		w := newSampleWriter(&all[i])
		for k := range all[i].Time {
			if !first {
				dst = append(dst, ',')
			}
			first = false
			dst = spill(w.append(dst, k))
		}
	}
	return append(dst, ']')
}

// AppendGroup appends the group of one source: its series may differ in the
// samples' type only.
//
// Reference 7.7.
func AppendGroup(dst []byte, series []Samples, describe Describe) []byte {
	return SpillGroup(dst, series, describe, keep)
}

// SpillGroup is AppendGroup for text that need not be in memory as a whole.
func SpillGroup(dst []byte, series []Samples, describe Describe, spill Spill) []byte {
	dst = AppendSource(append(dst, `{"source":`...), series[0].Source, describe)
	dst = appendAll(append(dst, `,"data":`...), series, spill)
	return append(dst, '}')
}

// sampleWriter writes samples of one series. What does not change from one to
// the next is formatted once.
type sampleWriter struct {
	s        *Samples
	interval bool
	pair     bool
	fixed    []byte // ,"type":…,"unit":…, up to the value
	tail     []byte // behind the value, with the closing brace
	clock    clock
	offset   []byte
	last     int32
}

func newSampleWriter(s *Samples) *sampleWriter {
	w := &sampleWriter{s: s, last: NoOffset, offset: []byte("null")}
	unit, tail := "", []byte(nil)
	if r, ok := ResourceNamed(s.Resource); ok {
		w.interval, w.pair, unit = r.Interval, r.Pair, r.Unit
		for _, field := range r.Extra {
			tail = append(appendText(append(tail, ','), field), ":null"...)
		}
	}
	w.tail = append(tail, '}')
	w.fixed = appendTextOrNull([]byte(`,"type":`), s.Type)
	w.fixed = appendText(append(w.fixed, `,"unit":`...), unit)
	if w.pair {
		w.fixed = append(w.fixed, `,"systolic":`...)
	} else {
		w.fixed = append(w.fixed, `,"value":`...)
	}
	return w
}

func (w *sampleWriter) append(dst []byte, i int) []byte {
	s := w.s
	dst = w.clock.append(append(dst, `{"timestamp":"`...), s.Time[i])
	if w.interval {
		dst = w.clock.append(append(dst, `","start":"`...), s.Time[i])
		end := s.Time[i]
		if len(s.End) > 0 {
			end = s.End[i]
		}
		dst = w.clock.append(append(dst, `","end":"`...), end)
	}
	dst = append(dst, `","timezone_offset":`...)
	if len(s.Offset) > 0 && s.Offset[i] != w.last {
		w.last = s.Offset[i]
		w.offset = appendOffset(w.offset[:0], w.last)
	}
	dst = append(dst, w.offset...)
	dst = appendNumber(append(dst, w.fixed...), s.Value[i])
	if w.pair {
		diastolic := math.NaN()
		if len(s.Value2) > 0 {
			diastolic = s.Value2[i]
		}
		dst = appendNumber(append(dst, `,"diastolic":`...), diastolic)
	}
	return append(dst, w.tail...)
}

func appendOffset(dst []byte, offset int32) []byte {
	if offset == NoOffset {
		return append(dst, "null"...)
	}
	return strconv.AppendInt(dst, int64(offset), 10)
}

// appendNumber appends a JSON number; what JSON cannot say is null.
func appendNumber(dst []byte, f float64) []byte {
	if i := int64(f); float64(i) == f && i > -1e15 && i < 1e15 {
		return strconv.AppendInt(dst, i, 10)
	}
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return append(dst, "null"...)
	}
	return strconv.AppendFloat(dst, f, 'g', -1, 64)
}
