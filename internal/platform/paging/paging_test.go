package paging

import (
	"testing"

	"pgregory.net/rapid"

	"hale/internal/platform/fault"
)

type place struct {
	Series int64
	Time   int64
	Name   string
}

func TestACursorComesBackAsItWas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := place{rapid.Int64().Draw(t, "series"), rapid.Int64().Draw(t, "time"), rapid.String().Draw(t, "name")}
		var got place
		if err := Decode(Encode(want), &got); err != nil || got != want {
			t.Fatalf("%+v came back as %+v: %v", want, got, err)
		}
	})
}

func TestADamagedCursorIsRefused(t *testing.T) {
	good := Encode(place{7, 8, "x"})
	for i := range good {
		for _, c := range []byte{'A', 'z', '!', 0} {
			if good[i] == c {
				continue
			}
			bad := good[:i] + string(c) + good[i+1:]
			var got place
			if err := Decode(bad, &got); !fault.Is(err, fault.Invalid) {
				t.Errorf("%q: %v", bad, err)
			}
		}
		var got place
		if err := Decode(good[:i], &got); !fault.Is(err, fault.Invalid) {
			t.Errorf("cut at %d: %v", i, err)
		}
	}
}

// A position of another list may have other fields, or the same fields by chance.
func TestACursorOfAnotherListIsRefused(t *testing.T) {
	type elsewhere place
	for _, other := range []any{elsewhere{7, 8, "x"}, struct{ User string }{"y"}, int64(7)} {
		var got place
		if err := Decode(Encode(other), &got); !fault.Is(err, fault.Invalid) {
			t.Errorf("%T: %v", other, err)
		}
	}
	at := &place{7, 8, "x"}
	got := &place{}
	if err := Decode(Encode(at), &got); err != nil || *got != *at {
		t.Errorf("by pointers: %+v, %v", got, err)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(Encode(place{1, 2, "a"}))
	f.Add("")
	f.Add("AQ")
	f.Fuzz(func(t *testing.T, cursor string) {
		var got place
		if err := Decode(cursor, &got); err != nil {
			if !fault.Is(err, fault.Invalid) {
				t.Fatalf("%q: %v", cursor, err)
			}
			return
		}
		var again place
		if err := Decode(Encode(got), &again); err != nil || again != got {
			t.Fatalf("%+v came back as %+v: %v", got, again, err)
		}
	})
}
