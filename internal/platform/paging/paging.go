// Package paging makes cursors: opaque to the caller, checked on return.
//
// A cursor is a version byte, a JSON document and a checksum, in base64url. It
// says where to go on and carries no personal data; the checksum catches a
// cut or mistyped cursor, and every query that follows one is scoped to the
// caller's team all the same.
//
// What a list goes on with is of a Go type of its own, and the checksum covers
// the name of that type: a cursor of another list is refused, where otherwise
// it might decode into nothing and begin at the beginning.
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
	version = 2
	longest = 2048
)

var table = crc32.MakeTable(crc32.Castagnoli)

// Encode makes a cursor of a position, any value that marshals to JSON.
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

// Decode reads a cursor into position. A cursor that Encode did not make of a
// position of the same type is an Invalid fault.
func Decode(cursor string, position any) error {
	bad := func() error {
		return fault.New(fault.Invalid, "Value error, not a cursor of this list").At("query", "next_cursor")
	}
	if len(cursor) > longest {
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
