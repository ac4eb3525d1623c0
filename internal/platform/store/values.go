package store

import (
	"database/sql"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Micros is a moment as it is stored: microseconds since 1970, UTC.
func Micros(t time.Time) int64 { return t.UnixMicro() }

// MicrosOrNil is Micros of a moment that may be missing; nil binds NULL.
func MicrosOrNil(t *time.Time) any {
	if t == nil || t.IsZero() {
		return nil
	}
	return t.UnixMicro()
}

// FromMicros is the moment of a stored value, in UTC.
func FromMicros(us int64) time.Time { return time.UnixMicro(us).UTC() }

// ScanTime reads a BIGINT column of microseconds into t.
func ScanTime(t *time.Time) sql.Scanner { return timeScanner{t} }

// ScanNullTime reads one that may be NULL into p, nil for NULL.
func ScanNullTime(p **time.Time) sql.Scanner { return nullTimeScanner{p} }

type timeScanner struct{ t *time.Time }

func (s timeScanner) Scan(src any) error {
	us, ok := src.(int64)
	if !ok {
		return fmt.Errorf("store: a moment stored as %T", src)
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

// List is "($3, $4, $5)" for first 3 and n 3: a list for IN. Keep n small or
// of few sizes, since each size is a statement of its own.
func List(first, n int) string {
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

// Split calls fn with successive parts of items whose lengths are taken from
// sizes, a descending list that ends in 1. So a statement for many rows has
// only a few texts to prepare.
func Split[T any](items []T, sizes []int, fn func(part []T) error) error {
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

// LikePrefix makes the pattern for `col LIKE $1 ESCAPE '\'` that finds texts
// that start with prefix. Store the column folded: SQLite ignores ASCII case
// here and PostgreSQL does not.
func LikePrefix(prefix string) string {
	return strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(prefix) + "%"
}
