package events

import (
	"bytes"
	"testing"
)

func FuzzUnpack(f *testing.F) {
	f.Add([]byte{plain, 'a'})
	f.Add(pack(bytes.Repeat([]byte("health "), 1000)))
	f.Add([]byte{compressed, 0x28, 0xb5, 0x2f, 0xfd})
	f.Fuzz(func(t *testing.T, stored []byte) {
		body, err := unpack(stored)
		if err == nil && len(body) > maxStoredPlain && stored[0] == compressed {
			t.Errorf("%d bytes became %d", len(stored), len(body))
		}
	})
}

func FuzzPack(f *testing.F) {
	f.Add([]byte(`{"event_type":"x"}`))
	f.Add(bytes.Repeat([]byte("health "), 1000))
	f.Fuzz(func(t *testing.T, body []byte) {
		if len(body) > MaxBody {
			return
		}
		again, err := unpack(pack(body))
		if err != nil || !bytes.Equal(again, body) {
			t.Errorf("%d bytes came back as %d, %v", len(body), len(again), err)
		}
	})
}
