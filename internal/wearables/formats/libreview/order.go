package libreview

import (
	"context"
	"errors"
	"io"
	"strconv"
	"strings"
	"time"

	"hale/internal/platform/fault"
	"hale/internal/wearables/formats/sheet"
)

// order is the order of day and month in the dates of the file.
type order int

const (
	dayFirst   order = iota // 28-03-2024 14:05
	monthFirst              // 03-28-2024 2:05 PM
)

// evidence collects hints of a file's dates about their order.
type evidence struct{ day, month, halves bool }

// orderOf looks at all dates of a file. A number above twelve settles the
// order. Without one, a clock of twelve hours means that the month is first, as
// in accounts with the settings of the United States.
func orderOf(ctx context.Context, file io.Reader) (order, error) {
	rows, c, err := open(file)
	if err != nil {
		return 0, err
	}
	var e evidence
	for {
		row, err := rows.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return 0, err
		}
		e.see(sheet.Cell(row, c.at))
	}
	return e.order()
}

func (e *evidence) see(cell string) {
	parts, ok := split(cell)
	if !ok || len(parts.date[0]) == 4 {
		return
	}
	e.halves = e.halves || parts.half != ""
	first, _ := strconv.Atoi(parts.date[0])
	second, _ := strconv.Atoi(parts.date[1])
	e.day = e.day || first > 12 && second <= 12
	e.month = e.month || second > 12 && first <= 12
}

func (e *evidence) order() (order, error) {
	switch {
	case e.day && e.month:
		return 0, fault.New(fault.Unprocessable, "the dates of the file have the day first in some rows and the month first in others")
	case e.day:
		return dayFirst, nil
	case e.month, e.halves:
		return monthFirst, nil
	}
	return dayFirst, nil
}

// moment is a time of the file in its parts.
type moment struct {
	date [3]string
	time string
	half string // AM, PM or empty
}

// split divides a time into its parts. Two or three parts have spaces between them. The
// first one, the date, has hyphens, slashes or points.
func split(cell string) (m moment, ok bool) {
	if len(cell) > 30 {
		return m, false
	}
	words := strings.Fields(cell)
	if len(words) != 2 && len(words) != 3 {
		return m, false
	}
	date := strings.FieldsFunc(words[0], func(r rune) bool { return r == '-' || r == '/' || r == '.' })
	if len(date) != 3 {
		return m, false
	}
	m = moment{date: [3]string(date), time: words[1]}
	if len(words) == 3 {
		m.half = strings.ToUpper(strings.ReplaceAll(words[2], ".", ""))
	}
	return m, m.half == "" || m.half == "AM" || m.half == "PM"
}

// wall parses a local time. If the year comes first, the month follows it, whatever the
// order.
func (o order) wall(cell string) (time.Time, bool) {
	m, ok := split(cell)
	if !ok {
		return time.Time{}, false
	}
	year, month, day := m.date[2], m.date[1], m.date[0]
	switch {
	case len(m.date[0]) == 4:
		year, day = m.date[0], m.date[2]
	case o == monthFirst:
		month, day = day, month
	}
	clock, layout := m.time, "2006-1-2 15:4"
	if m.half != "" {
		clock, layout = m.time+" "+m.half, "2006-1-2 3:4 PM"
	}
	if strings.Count(m.time, ":") == 2 {
		layout = strings.Replace(layout, ":4", ":4:5", 1)
	}
	at, err := time.Parse(layout, year+"-"+month+"-"+day+" "+clock)
	return at, err == nil
}
