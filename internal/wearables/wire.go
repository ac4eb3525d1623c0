package wearables

import (
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/google/uuid"
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
func AppendAll(dst []byte, all []Samples) []byte {
	dst = append(dst, '[')
	begin := len(dst)
	for i := range all {
		w := newSampleWriter(&all[i])
		for k := range all[i].Time {
			if len(dst) > begin {
				dst = append(dst, ',')
			}
			dst = w.append(dst, k)
		}
	}
	return append(dst, ']')
}

// AppendGroup appends the group of one source: its series may differ in the
// samples' type only.
//
// Reference 7.7.
func AppendGroup(dst []byte, series []Samples, describe Describe) []byte {
	dst = AppendSource(append(dst, `{"source":`...), series[0].Source, describe)
	dst = AppendAll(append(dst, `,"data":`...), series)
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

// clock formats instants; neighbours share the text of their day.
type clock struct {
	day  int64
	date [11]byte // 2006-01-02T
	set  bool
}

const (
	microsecond = 1
	secondUS    = 1_000_000 * microsecond
	minuteUS    = 60 * secondUS
	hourUS      = 60 * minuteUS
	dayUS       = 24 * hourUS
)

// append writes an instant, UTC microseconds, as 2006-01-02T15:04:05+00:00
// with six decimals when it is not a whole second.
func (c *clock) append(dst []byte, us int64) []byte {
	day := floorDiv(us, dayUS)
	if !c.set || day != c.day {
		c.day, c.set = day, true
		c.date = dateText(day)
	}
	dst = append(dst, c.date[:]...)
	rest := us - day*dayUS
	sec := rest / secondUS
	h, m, s := sec/3600, sec/60%60, sec%60
	dst = append(dst, byte('0'+h/10), byte('0'+h%10), ':', byte('0'+m/10), byte('0'+m%10), ':', byte('0'+s/10), byte('0'+s%10))
	if frac := rest % secondUS; frac != 0 {
		var digits [7]byte
		digits[0] = '.'
		for i := 6; i > 0; i-- {
			digits[i] = byte('0' + frac%10)
			frac /= 10
		}
		dst = append(dst, digits[:]...)
	}
	return append(dst, "+00:00"...)
}

// dateText is the civil date of a day number since 1970, with the T.
func dateText(day int64) (text [11]byte) {
	// Days are counted from 0000-03-01, so that leap days end a year.
	z := day + 719_468
	era := floorDiv(z, 146_097)
	doe := z - era*146_097
	yoe := (doe - doe/1460 + doe/36_524 - doe/146_096) / 365
	doy := doe - (365*yoe + yoe/4 - yoe/100)
	mp := (5*doy + 2) / 153
	d := doy - (153*mp+2)/5 + 1
	m := mp + 3
	if m > 12 {
		m -= 12
	}
	y := yoe + era*400
	if m <= 2 {
		y++
	}
	copy(text[:], "0000-00-00T")
	for _, part := range [...]struct{ at, n, v int64 }{{0, 4, y}, {5, 2, m}, {8, 2, d}} {
		for at := part.at + part.n - 1; at >= part.at; at-- {
			text[at] = byte('0' + part.v%10)
			part.v /= 10
		}
	}
	return text
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// appendTime appends an instant in quotes.
func appendTime(dst []byte, us int64) []byte {
	var c clock
	return append(c.append(append(dst, '"'), us), '"')
}

func appendUUIDOrNull(dst []byte, id *uuid.UUID) []byte {
	if id == nil {
		return append(dst, "null"...)
	}
	return appendUUID(dst, *id)
}

func appendUUID(dst []byte, id uuid.UUID) []byte {
	dst = append(dst, '"')
	dst = append(dst, id.String()...)
	return append(dst, '"')
}

func appendTextOrNull(dst []byte, s string) []byte {
	if s == "" {
		return append(dst, "null"...)
	}
	return appendText(dst, s)
}

const hexDigits = "0123456789abcdef"

// appendText appends a JSON string. Bytes that are not UTF-8 become the
// replacement character, as in encoding/json.
func appendText(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
			i++
		case c < 0x20:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
			i++
		case c < utf8.RuneSelf:
			dst = append(dst, c)
			i++
		default:
			r, n := utf8.DecodeRuneInString(s[i:])
			dst = utf8.AppendRune(dst, r)
			i += n
		}
	}
	return append(dst, '"')
}
