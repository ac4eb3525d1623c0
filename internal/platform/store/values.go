package store

import (
	"database/sql"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// Micros converts a time to its stored form, microseconds since 1970 in UTC.
func Micros(t time.Time) int64 { return t.UnixMicro() }

// MicrosOrNil converts an optional time like Micros. It returns nil, which becomes NULL,
// for a nil or zero time.
func MicrosOrNil(t *time.Time) any {
	if t == nil || t.IsZero() {
		return nil
	}
	return t.UnixMicro()
}

// FromMicros converts a stored time, to UTC.
func FromMicros(us int64) time.Time { return time.UnixMicro(us).UTC() }

// ScanTime scans a BIGINT column of microseconds into t.
func ScanTime(t *time.Time) sql.Scanner { return timeScanner{t} }

// ScanNullTime scans a column like ScanTime, and sets *p to nil for NULL.
func ScanNullTime(p **time.Time) sql.Scanner { return nullTimeScanner{p} }

type timeScanner struct{ t *time.Time }

func (s timeScanner) Scan(src any) error {
	us, ok := src.(int64)
	if !ok {
		return fmt.Errorf("store: a time is stored as %T", src)
	}
	*s.t = FromMicros(us)
	return nil
}

type nullTimeScanner struct{ p **time.Time }

func (s nullTimeScanner) Scan(src any) error {
	if src == nil {
		*s.p = nil
		return nil
	}
	var t time.Time
	if err := (timeScanner{&t}).Scan(src); err != nil {
		return err
	}
	*s.p = &t
	return nil
}

// Placeholders returns a list for IN: "($3, $4, $5)" for first 3 and n 3. Use few
// values of n, because each one is a statement to prepare.
func Placeholders(first, n int) string {
	var b strings.Builder
	b.WriteByte('(')
	for i := range n {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteByte('$')
		b.WriteString(strconv.Itoa(first + i))
	}
	b.WriteByte(')')
	return b.String()
}

// AmongValues returns a condition that follows others: the column has one of some values. It
// adds the values to the arguments of the statement. Without values it returns "". It
// repeats the last value up to a power of two, so that few statements are prepared.
func AmongValues[T any](args *[]any, column string, values []T) string {
	if len(values) == 0 {
		return ""
	}
	first, width := len(*args)+1, 1
	for width < len(values) {
		width *= 2
	}
	for i := range width {
		*args = append(*args, plainText(values[min(i, len(values)-1)]))
	}
	return " AND " + column + " IN " + Placeholders(first, width)
}

// plainText turns a word of a named type into a string, which is an argument of SQL.
func plainText(value any) any {
	if v := reflect.ValueOf(value); v.Kind() == reflect.String {
		return v.String()
	}
	return value
}

// Chunks splits items into parts and calls fn with each. The lengths of the parts
// come from sizes, a descending list that ends in 1. So a statement for many rows
// has few texts to prepare.
func Chunks[T any](items []T, sizes []int, fn func(part []T) error) error {
	for len(items) > 0 {
		n := 1
		for _, size := range sizes {
			if len(items) >= size {
				n = size
				break
			}
		}
		if err := fn(items[:n]); err != nil {
			return err
		}
		items = items[n:]
	}
	return nil
}

// SplitPadded splits items like Chunks, for lookups. It repeats the last item until the
// last part has one of the sizes.
func SplitPadded[T any](items []T, sizes []int, fn func(part []T)) {
	for len(items) > 0 {
		n := sizes[0]
		for _, size := range sizes {
			if size >= len(items) {
				n = size
			}
		}
		if n <= len(items) {
			fn(items[:n])
			items = items[n:]
			continue
		}
		part := append(make([]T, 0, n), items...)
		for len(part) < n {
			part = append(part, items[len(items)-1])
		}
		fn(part)
		return
	}
}

// LikePrefix returns the pattern of `col LIKE $1 ESCAPE '\'` for texts that start
// with prefix. Fold the case of the column: SQLite ignores ASCII case in LIKE and
// PostgreSQL does not.
func LikePrefix(prefix string) string {
	return strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(prefix) + "%"
}
