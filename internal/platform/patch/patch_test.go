package patch

import (
	"encoding/json"
	"testing"
)

type body struct {
	Name Field[string] `json:"name,omitzero"`
	Age  Field[int]    `json:"age,omitzero"`
}

func TestAbsentNullAndValueDiffer(t *testing.T) {
	for text, want := range map[string]body{
		`{}`:                          {},
		`{"name":null}`:               {Name: Null[string]()},
		`{"name":""}`:                 {Name: Set("")},
		`{"name":"x","age":7}`:        {Name: Set("x"), Age: Set(7)},
		`{"age": null }`:              {Age: Null[int]()},
		`{"name":"a","name":null}`:    {Name: Null[string]()},
		`{"name":null,"name":"late"}`: {Name: Set("late")},
	} {
		var got body
		if err := json.Unmarshal([]byte(text), &got); err != nil || got != want {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
}

func TestApply(t *testing.T) {
	old := "old"
	for name, c := range map[string]struct {
		field Field[string]
		want  *string
	}{"absent": {Field[string]{}, &old}, "null": {Null[string](), nil}, "value": {Set("new"), ptr("new")}} {
		dst := &old
		c.field.Apply(&dst)
		if (dst == nil) != (c.want == nil) || dst != nil && *dst != *c.want {
			t.Errorf("%s: %v", name, dst)
		}
	}
	if old != "old" {
		t.Error("the old value was written over")
	}
}

func ptr(s string) *string { return &s }

func FuzzField(f *testing.F) {
	f.Add(`{"name":null}`)
	f.Add(`{"name":"x","age":1}`)
	f.Fuzz(func(t *testing.T, text string) {
		var first, again body
		if json.Unmarshal([]byte(text), &first) != nil {
			return
		}
		out, err := json.Marshal(first)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(out, &again); err != nil || again != first {
			t.Fatalf("%s became %s: %+v, %v", text, out, again, err)
		}
	})
}
