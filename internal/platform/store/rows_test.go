package store_test

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"reflect"
	"testing"

	"github.com/google/uuid"

	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
)

type (
	word  string
	count int32
)

// Both engines scan a column in the same way, or both return an error.
func TestScan(t *testing.T) {
	id := uuid.MustParse("01890a5d-ac96-774b-bcce-b302099a8057")
	text, number := "a word", int64(7)
	cases := []struct {
		column string
		arg    any
		dest   any
		want   any // nil for an error
	}{
		{`CAST($1 AS BIGINT)`, 7, new(int64), int64(7)},
		{`CAST($1 AS BIGINT)`, 7, new(int), 7},
		{`CAST($1 AS BIGINT)`, 7, new(count), count(7)},
		{`CAST($1 AS BIGINT)`, int64(1) << 40, new(count), nil},
		{`CAST($1 AS BIGINT)`, 7, new(uint8), uint8(7)},
		{`CAST($1 AS BIGINT)`, -7, new(uint8), nil},
		{`CAST($1 AS BIGINT)`, 7, new(*int64), &number},
		{`CAST($1 AS BIGINT)`, nil, new(*int64), (*int64)(nil)},
		{`CAST($1 AS BIGINT)`, nil, new(int64), nil},
		{`CAST($1 AS BIGINT)`, nil, new(sql.NullInt64), sql.NullInt64{}},
		{`CAST($1 AS BIGINT)`, 7, new(sql.NullInt64), sql.NullInt64{Int64: 7, Valid: true}},
		{`CAST($1 AS BIGINT)`, 7, new(float64), 7.0},
		{`CAST($1 AS BIGINT)`, 7, new(string), "7"},
		{`CAST($1 AS BIGINT)`, 7, new(any), int64(7)},
		{`CAST($1 AS DOUBLE PRECISION)`, 0.25, new(float64), 0.25},
		{`CAST($1 AS DOUBLE PRECISION)`, 0.25, new(int64), nil},
		{`CAST($1 AS DOUBLE PRECISION)`, nil, new(*float64), (*float64)(nil)},
		{`CAST($1 AS TEXT)`, text, new(string), text},
		{`CAST($1 AS TEXT)`, text, new(word), word(text)},
		{`CAST($1 AS TEXT)`, word(text), new(string), text},
		{`CAST($1 AS TEXT)`, "", new(string), ""},
		{`CAST($1 AS TEXT)`, text, new([]byte), []byte(text)},
		{`CAST($1 AS TEXT)`, text, new(json.RawMessage), nil},
		{`CAST($1 AS BYTEA)`, []byte(text), new(json.RawMessage), json.RawMessage(text)},
		{`CAST($1 AS TEXT)`, text, new(*string), &text},
		{`CAST($1 AS TEXT)`, nil, new(*string), (*string)(nil)},
		{`CAST($1 AS TEXT)`, nil, new(string), nil},
		{`CAST($1 AS TEXT)`, "17", new(int64), int64(17)},
		{`CAST($1 AS TEXT)`, text, new(int64), nil},
		{`CAST($1 AS TEXT)`, nil, new(any), any(nil)},
		{`CAST($1 AS BYTEA)`, []byte("\x00b"), new([]byte), []byte("\x00b")},
		{`CAST($1 AS BYTEA)`, []byte{}, new([]byte), []byte{}},
		{`CAST($1 AS BYTEA)`, nil, new([]byte), []byte(nil)},
		{`CAST($1 AS UUID)`, id, new(uuid.UUID), id},
		{`CAST($1 AS UUID)`, &id, new(uuid.UUID), id},
		{`CAST($1 AS UUID)`, id, new(*uuid.UUID), &id},
		{`CAST($1 AS UUID)`, (*uuid.UUID)(nil), new(*uuid.UUID), (*uuid.UUID)(nil)},
	}
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		ctx := store.AsSystem(t.Context())
		for _, c := range cases {
			t.Run(fmt.Sprintf("%s %v into %T", c.column, c.arg, c.dest), func(t *testing.T) {
				dest := reflect.New(reflect.TypeOf(c.dest).Elem())
				column := store.Translate(db.Engine(), c.column)
				err := db.Read(ctx, func(tx *store.Tx) error {
					return tx.QueryRow(ctx, `SELECT `+column, c.arg).Scan(dest.Interface())
				})
				refused := c.want == nil && reflect.TypeOf(c.dest) != reflect.TypeFor[*any]()
				if refused != (err != nil) {
					t.Fatalf("refused: %v", err)
				}
				if got := dest.Elem().Interface(); !refused && !reflect.DeepEqual(got, c.want) {
					t.Errorf("%#v, not %#v", got, c.want)
				}
			})
		}
	})
}
