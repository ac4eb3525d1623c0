package events

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

func FuzzUnpack(f *testing.F) {
	f.Add([]byte{plainForm, 'a'})
	f.Add(pack(bytes.Repeat([]byte("health "), 1000)))
	f.Add([]byte{compressedForm, 0x28, 0xb5, 0x2f, 0xfd})
	f.Fuzz(func(t *testing.T, stored []byte) {
		body, err := unpack(stored)
		if err == nil && len(body) > maxStoredPlain && stored[0] == compressedForm {
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

// Plain text is copied; other text is escaped as encoding/json does.
func TestTextsInEnvelopes(t *testing.T) {
	for _, text := range []string{
		"", "u-1", "a b~", `"`, `\`, "<a>&", "\x00", "\n", "\x7f", "é", "\u2028", "\xff", "日本", strings.Repeat("x", 300) + `"`,
	} {
		want, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := appendText([]byte("-"), text); string(got) != "-"+string(want) {
			t.Errorf("%q is %s, want %s", text, got[1:], want)
		}
	}
}
