// Package paging encodes and checks cursors, which are opaque to the caller.
//
// A cursor contains a version byte, a JSON document with the position of the next page,
// and a checksum, in base64url. It contains no personal data. The checksum detects a
// truncated or mistyped cursor. It is no protection: every query is limited to the
// caller's team, whatever its cursor says.
//
// Each list has its own Go type for the position, and the checksum covers the name of
// that type. So a cursor of another list is refused. Otherwise it could decode into an
// empty position and return the first page again.
package paging

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"hash/crc32"
	"reflect"

	"hale/internal/platform/fault"
)

const (
	version   = 2
	maxCursor = 4096
)

var table = crc32.MakeTable(crc32.Castagnoli)

// Encode returns the cursor of a position, any value that marshals to JSON.
func Encode(position any) string {
	doc, err := json.Marshal(position)
	if err != nil {
		panic("paging: a position must marshal: " + err.Error())
	}
	buf := append([]byte{version}, doc...)
	buf = binary.BigEndian.AppendUint32(buf, checksum(position, buf))
	return base64.RawURLEncoding.EncodeToString(buf)
}

func checksum(position any, cursor []byte) uint32 {
	t := reflect.TypeOf(position)
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return crc32.Update(crc32.Checksum([]byte(t.String()), table), table, cursor)
}

// Decode reads a cursor into position. If the cursor is not from Encode with the same
// type, the error is an Invalid fault.
func Decode(cursor string, position any) error {
	bad := func() error {
		return fault.New(fault.Invalid, "Value error, not a cursor of this list").At("query", "next_cursor")
	}
	if len(cursor) > maxCursor {
		return bad()
	}
	buf, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	if err != nil || len(buf) < 6 || buf[0] != version {
		return bad()
	}
	body, sum := buf[:len(buf)-4], binary.BigEndian.Uint32(buf[len(buf)-4:])
	if checksum(position, body) != sum || json.Unmarshal(body[1:], position) != nil {
		return bad()
	}
	return nil
}
