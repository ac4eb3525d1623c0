package healthconnect

import (
	"context"
	"math"
)

// query runs a statement and gives each row to take. Values have SQLite's types, whatever
// the schema declares: int64, float64, string, []byte or nil.
func (db *database) query(ctx context.Context, text string, columns int, take func(row []any) error) error {
	rows, err := db.conn.QueryContext(ctx, text)
	if err != nil {
		return readError(err)
	}
	defer rows.Close()
	row := make([]any, columns)
	into := make([]any, columns)
	for i := range row {
		into[i] = &row[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return readError(err)
		}
		if err := take(row); err != nil {
			return err
		}
	}
	return readError(rows.Err())
}

// integer returns a value as a whole number, or false if it is not one.
func integer(v any) (int64, bool) {
	switch v := v.(type) {
	case int64:
		return v, true
	case float64:
		return int64(v), v == math.Trunc(v) && math.Abs(v) < 1<<53
	}
	return 0, false
}

// number returns a value as a finite number, or false if it is not one.
func number(v any) (float64, bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, !math.IsNaN(v) && !math.IsInf(v, 0)
	}
	return 0, false
}

// text returns a value that is a text, or an empty text.
func text(v any) string {
	s, _ := v.(string)
	return s
}

// Times outside these bounds come from a wrong clock, and would overflow in microseconds:
// 1970 to 2100, in milliseconds.
const (
	earliest = 0
	latest   = 4_102_444_800_000
)

// moment converts a value in milliseconds to UTC microseconds. It returns false if the
// time is out of bounds.
func moment(v any) (int64, bool) {
	ms, ok := integer(v)
	return ms * 1000, ok && ms >= earliest && ms <= latest
}
