package places

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Weekdays is a set of days of the week, bit 0 for Monday.
type Weekdays uint8

// EveryDay is the whole week.
const EveryDay Weekdays = 1<<7 - 1

var dayNames = [7]string{"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"}

var shortNames = [7]string{"Mo", "Tu", "We", "Th", "Fr", "Sa", "Su"}

// Has reports whether the set contains a day; 0 is Monday.
func (d Weekdays) Has(day int) bool { return d>>day&1 == 1 }

// String returns the form that ParseWeekdays reads: Mo,Tu,Fr.
func (d Weekdays) String() string {
	var words []string
	for day, name := range shortNames {
		if d.Has(day) {
			words = append(words, name)
		}
	}
	return strings.Join(words, ",")
}

// Span is a part of a day, in minutes since midnight, local time. Close is
// after Open and at most 24:00.
type Span struct {
	Open, Close int
}

type spanJSON struct {
	Open  string `json:"open"`
	Close string `json:"close"`
}

// MarshalJSON writes {"open": "07:00", "close": "15:30"}.
func (s Span) MarshalJSON() ([]byte, error) {
	return json.Marshal(spanJSON{ClockText(s.Open), ClockText(s.Close)})
}

// UnmarshalJSON reads the same form.
func (s *Span) UnmarshalJSON(data []byte) error {
	var text spanJSON
	if err := json.Unmarshal(data, &text); err != nil {
		return err
	}
	read, err := newSpan(text.Open, text.Close)
	*s = read
	return err
}

// ClockText formats a minute of the day: 07:05.
func ClockText(minute int) string { return string(appendClock(nil, minute)) }

func appendClock(b []byte, minute int) []byte {
	h, m := minute/60, minute%60
	return append(b, byte('0'+h/10), byte('0'+h%10), ':', byte('0'+m/10), byte('0'+m%10))
}

// Hours are the opening hours of a week, Monday first. A day without spans is
// closed. Unknown hours are a nil *Hours.
type Hours [7][]Span

// String returns the shortest text that ParseHours reads. It groups days with
// the same hours: Mo-Fr 07:00-15:30; Sa 08:00-12:00.
func (h Hours) String() string {
	var b []byte
	for day := 0; day < 7; day++ {
		if len(h[day]) == 0 {
			continue
		}
		if len(b) > 0 {
			b = append(b, "; "...)
		}
		last := day
		for last < 6 && slices.Equal(h[last+1], h[day]) {
			last++
		}
		b = append(b, shortNames[day]...)
		if last > day {
			b = append(append(b, '-'), shortNames[last]...)
		}
		for i, s := range h[day] {
			b = append(b, " ,"[min(i, 1)])
			b = appendClock(append(appendClock(b, s.Open), '-'), s.Close)
		}
		day = last
	}
	if len(b) == 0 {
		return "Mo-Su off"
	}
	return string(b)
}

// MarshalJSON writes {"monday": [{"open": "07:00", "close": "15:30"}], …} with all
// seven days.
func (h Hours) MarshalJSON() ([]byte, error) {
	out := []byte{'{'}
	for day, name := range dayNames {
		spans := h[day]
		if spans == nil {
			spans = []Span{}
		}
		text, err := json.Marshal(spans)
		if err != nil {
			return nil, err
		}
		out = fmt.Appendf(out, "%q:%s,", name, text)
	}
	out[len(out)-1] = '}'
	return out, nil
}

// UnmarshalJSON reads the same form. Days that are absent or null are closed.
func (h *Hours) UnmarshalJSON(data []byte) error {
	var week map[string][]Span
	if err := json.Unmarshal(data, &week); err != nil {
		return err
	}
	*h = Hours{}
	var seen Weekdays
	for name, spans := range week {
		day := dayOf(name)
		if day < 0 || seen.Has(day) {
			return fmt.Errorf("hours: %q is not a day of the week, or is listed twice", shorten(name))
		}
		seen |= 1 << day
		for _, s := range spans {
			if err := h.open(day, s); err != nil {
				return err
			}
		}
	}
	return nil
}

var errOverlap = errors.New("hours: the times of a day must follow each other")

// open adds a span to a day, after its other spans.
func (h *Hours) open(day int, s Span) error {
	if n := len(h[day]); n > 0 && h[day][n-1].Close > s.Open {
		return errOverlap
	}
	h[day] = append(h[day], s)
	return nil
}

// ParseHours reads opening hours in one of two forms: the JSON of MarshalJSON,
// or text such as
//
//	Mo-Fr 07:00-12:00,13:00-15:30; Sa 08:00-12:00
//
// which is the common part of the opening_hours of OpenStreetMap.
func ParseHours(text string) (*Hours, error) {
	text = strings.TrimSpace(text)
	var h Hours
	if strings.HasPrefix(text, "{") {
		if err := json.Unmarshal([]byte(text), &h); err != nil {
			return nil, fmt.Errorf("invalid opening hours: %w", err)
		}
		return &h, nil
	}
	if text == "24/7" {
		text = "Mo-Su 00:00-24:00"
	}
	for rule := range strings.SplitSeq(text, ";") {
		if err := h.rule(strings.TrimSpace(rule)); err != nil {
			return nil, err
		}
	}
	return &h, nil
}

// rule reads "Mo-Fr 07:00-12:00,13:00-15:30". A later rule replaces earlier
// rules for its days.
func (h *Hours) rule(text string) error {
	names, times, ok := strings.Cut(text, " ")
	if !ok {
		return fmt.Errorf("hours: %q: expected days and times, such as Mo-Fr 07:00-15:30", shorten(text))
	}
	days, err := ParseWeekdays(names)
	if err != nil {
		return err
	}
	var spans []Span
	if times = strings.TrimSpace(times); times != "off" && times != "closed" {
		for part := range strings.SplitSeq(times, ",") {
			from, to, _ := strings.Cut(strings.TrimSpace(part), "-")
			s, err := newSpan(strings.TrimSpace(from), strings.TrimSpace(to))
			if err != nil {
				return err
			}
			spans = append(spans, s)
		}
	}
	for day := range h {
		if !days.Has(day) {
			continue
		}
		h[day] = nil
		for _, s := range spans {
			if err := h.open(day, s); err != nil {
				return err
			}
		}
	}
	return nil
}

// ParseWeekdays reads days and ranges of days, separated by commas, such as
// Mo-Fr,Su or monday,tuesday. Two letters of the English name are enough.
func ParseWeekdays(text string) (Weekdays, error) {
	var all Weekdays
	for part := range strings.SplitSeq(text, ",") {
		from, to, isRange := strings.Cut(strings.TrimSpace(part), "-")
		if !isRange {
			to = from
		}
		first, last := dayOf(from), dayOf(to)
		if first < 0 || last < 0 {
			return 0, fmt.Errorf("hours: %q: days are Mo, Tu, We, Th, Fr, Sa, Su", shorten(part))
		}
		for day := first; ; day = (day + 1) % 7 { // Sa-Mo includes the end of the week
			all |= 1 << day
			if day == last {
				break
			}
		}
	}
	return all, nil
}

// dayOf returns the day of the week whose name begins with a text of at least two
// letters, or -1.
func dayOf(name string) int {
	name = strings.ToLower(strings.TrimSpace(name))
	for day, full := range dayNames {
		if len(name) >= 2 && strings.HasPrefix(full, name) {
			return day
		}
	}
	return -1
}

func newSpan(open, closing string) (Span, error) {
	from, ok1 := ParseClock(open)
	to, ok2 := ParseClock(closing)
	if !ok1 || !ok2 || from >= to {
		return Span{}, fmt.Errorf("hours: %q to %q: expected two times of a day, such as 07:00 and 15:30", shorten(open), shorten(closing))
	}
	return Span{from, to}, nil
}

// ParseClock reads 07:05 or 7:05, up to 24:00, as a minute of the day.
func ParseClock(text string) (int, bool) {
	hour, minute, ok := strings.Cut(text, ":")
	if !ok || len(hour) < 1 || len(hour) > 2 || len(minute) != 2 || !isDigits(hour) || !isDigits(minute) {
		return 0, false
	}
	n := 0
	for _, c := range hour {
		n = n*10 + int(c-'0')
	}
	m := int(minute[0]-'0')*10 + int(minute[1]-'0')
	at := n*60 + m
	return at, m < 60 && at <= 24*60
}

// shorten cuts a text to a length that is enough to find it in a file.
func shorten(s string) string {
	if r := []rune(s); len(r) > 40 {
		return string(r[:40]) + "…"
	}
	return s
}
