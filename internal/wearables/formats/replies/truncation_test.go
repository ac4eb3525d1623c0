package replies

import (
	"encoding/json"
	"runtime"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestCloseValue(t *testing.T) {
	for _, c := range []struct{ text, whole, partial string }{
		{``, ``, ``},
		{`[`, ``, ``},
		{`12`, ``, ``},
		{`"te`, ``, ``},
		{`[1,2`, `[1]`, `[1]`},
		{`[1,2,`, `[1,2]`, `[1,2]`},
		{`[1,true`, `[1,true]`, `[1,true]`},
		{`[1,tru`, `[1]`, `[1]`},
		{`[1,"a\"b`, `[1]`, `[1]`},
		{`[{"a":1,"b":[1,2,`, ``, `[{"a":1,"b":[1,2]}]`},
		{`[{"a":1},{"b":"x","c":"`, `[{"a":1}]`, `[{"a":1},{"b":"x"}]`},
		{`{"a":1,"b":{"c":[5,{"d":6,"e":`, `{"a":1,"b":{"c":[5]}}`, `{"a":1,"b":{"c":[5,{"d":6}]}}`},
		{`{"a":1,"b":[[`, `{"a":1}`, `{"a":1}`},
		{`{"a":"]}","b`, `{"a":"]}"}`, `{"a":"]}"}`},
		{`{"a":[],"b":{}`, `{"a":[],"b":{}}`, `{"a":[],"b":{}}`},
		{` [1] `, `[1]`, `[1]`},
		{`]`, ``, ``},
	} {
		if got := string(closeValue([]byte(c.text), false)); got != c.whole {
			t.Errorf("%s: %s, want %s", c.text, got, c.whole)
		}
		if got := string(closeValue([]byte(c.text), true)); got != c.partial {
			t.Errorf("%s, with what is partial: %s, want %s", c.text, got, c.partial)
		}
	}
}

// A closed text is a valid value or empty, wherever the text ends and whatever it
// contains.
func TestClosedTextIsValidJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.SampledFrom([]string{"[", "]", "{", "}", ",", ":", `"a"`, `"`, `\`, "12", "true", "tr", "null", " ", `"b":`, `{"c":[`})
		text := strings.Join(rapid.SliceOf(word).Draw(t, "words"), "")
		for _, partial := range []bool{false, true} {
			if got := closeValue([]byte(text), partial); got != nil && !json.Valid(got) {
				t.Fatalf("%s: %s", text, got)
			}
		}
	})
}

// The work does not grow with the depth at which a text ends. It allocates at
// most 20 times the size of the text.
func TestCloseValueIsLinear(t *testing.T) {
	text := []byte(`{"x":` + strings.Repeat("[", mostOpen-1) + strings.Repeat("1,", 100_000))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got := closeValue(text, true)
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 20*uint64(len(text)) {
		t.Errorf("%d bytes for a text of %d", took, len(text))
	}
	if want := string(text[:len(text)-1]) + strings.Repeat("]", mostOpen-1) + "}"; string(got) != want {
		t.Errorf("%d bytes, want %d", len(got), len(want))
	}
	if got := closeValue([]byte(strings.Repeat("[", 2*mostOpen)+"1,"), true); got != nil {
		t.Errorf("of what lies too deep there are %d bytes", len(got))
	}
}
