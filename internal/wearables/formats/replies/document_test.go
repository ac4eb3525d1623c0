package replies_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"hale/internal/wearables"
	"hale/internal/wearables/formats/replies"
)

func document(t *testing.T, text string) replies.Document {
	t.Helper()
	d, ok := replies.Parse([]byte(text))
	if !ok {
		t.Fatal(text)
	}
	return d
}

func TestFieldsOfOtherTypesAreIgnored(t *testing.T) {
	d := document(t, `{"n":12.5,"neg":-1,"big":9007199254740993,"quoted":"1436275800000000000","text":"a","number":"12.5","bad":"0x1p4",
		"null":null,"list":[{"a":1},2,{"b":2}],"in":{"x":true},"zero":0,"huge":1e400,"vast":1e300,"float":1.5e3,"cool":-0.4,"ice":-36}`)
	if v, ok := d.Number("n"); v != 12.5 || !ok {
		t.Error(v, ok)
	}
	for _, name := range []string{"quoted", "text", "null", "list", "in", "none", "huge", "vast"} {
		if v, ok := d.Number(name); ok {
			t.Errorf("%s is the number %v", name, v)
		}
	}
	if v, ok := d.Loose("number"); v != 12.5 || !ok {
		t.Error(v, ok)
	}
	if _, ok := d.Loose("bad"); ok {
		t.Error("a hexadecimal number passes")
	}
	for name, want := range map[string]int64{"big": 9007199254740993, "quoted": 1436275800000000000, "float": 1500} {
		if n, ok := d.Integer(name); n != want || !ok {
			t.Errorf("%s is %d", name, n)
		}
	}
	if _, ok := d.Integer("n"); ok {
		t.Error("12.5 passes for a whole number")
	}
	if d.Amount("neg") != nil || d.Positive("zero") != nil || *d.Amount("zero") != 0 {
		t.Error("amounts")
	}
	if v := d.Deviation("cool"); v == nil || *v != -0.4 || d.Deviation("ice") != nil || d.Deviation("text") != nil {
		t.Error("deviations")
	}
	if v := d.Minutes("float"); v == nil || *v != 25 || d.Minutes("neg") != nil {
		t.Error("minutes")
	}
	if d.Word("text") != "a" || d.Word("big") != "9007199254740993" || d.Word("in") != "" {
		t.Error("words")
	}
	if len(d.Documents("list")) != 2 || d.Documents("list")[1].Under != "list" || !d.Inner("in").Flag("x") || !d.Inner("list").Empty() {
		t.Error("inner documents")
	}
	if d.States("null") || !d.Has("null") || d.States("none") {
		t.Error("states")
	}
	if _, ok := replies.Parse([]byte("null")); ok {
		t.Error("null passes for an object")
	}
}

func TestSumOfStatedValues(t *testing.T) {
	one, two := int64(1), int64(2)
	if replies.Sum(nil, nil) != nil {
		t.Error("a sum of nothing")
	}
	if sum := replies.Sum(&one, nil, &two); sum == nil || *sum != 3 || one != 1 {
		t.Errorf("%v, and the first is %d", sum, one)
	}
}

func TestBirthDates(t *testing.T) {
	d := document(t, `{"a":"1931-02-28","old":"1899-12-31","no":"1931-02-30","next":"2100-01-01"}`)
	if date, ok := d.Birth("a"); !ok || date.String() != "1931-02-28" {
		t.Error(date, ok)
	}
	for _, name := range []string{"old", "no", "next", "none"} {
		if date, ok := d.Birth(name); ok {
			t.Errorf("%s is %v", name, date)
		}
	}
}

func TestTimes(t *testing.T) {
	d := document(t, `{"z":"2025-03-02T06:30:00.5Z","east":"2025-03-02T06:30:00+0530","far":"2025-03-02T06:30:00+19:00","old":"1999-03-02T06:30:00Z",
		"wall":"2025-03-02 06:30:00.250","s":1740897000,"ms":1740897000123,"ns":"1740897000123456789","neg":-5,"day":"2025-03-02","nonsense":"x"}`)
	at, offset, ok := d.Moment("east")
	if !ok || offset != 19800 || !at.Equal(time.Date(2025, 3, 2, 1, 0, 0, 0, time.UTC)) {
		t.Error(at, offset, ok)
	}
	for _, name := range []string{"far", "old", "wall", "day", "nonsense", "s"} {
		if _, offset, ok := d.Moment(name); ok || offset != wearables.NoOffset {
			t.Errorf("%s passes for a moment", name)
		}
	}
	if at, ok := d.Wall("wall"); !ok || at.Nanosecond() != 250e6 {
		t.Error(at, ok)
	}
	want := time.Date(2025, 3, 2, 6, 30, 0, 0, time.UTC)
	if at, ok := d.Unix("s"); !ok || !at.Equal(want) {
		t.Error(at)
	}
	if at, ok := d.UnixMilli("ms"); !ok || !at.Equal(want.Add(123*time.Millisecond)) {
		t.Error(at)
	}
	if at, ok := d.UnixNano("ns"); !ok || !at.Equal(want.Add(123456789)) {
		t.Error(at)
	}
	for _, name := range []string{"neg", "ms", "ns", "day"} {
		if at, ok := d.Unix(name); ok {
			t.Errorf("%s passes for seconds: %v", name, at)
		}
	}
}

// After any addition, stages are adjacent and in order, and neighbours differ.
func TestStagesAreInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s replies.Stages
		for range rapid.IntRange(0, 20).Draw(t, "n") {
			from := rapid.Int64Range(-10, 1000).Draw(t, "from")
			s.Add(from, from+rapid.Int64Range(-10, 100).Draw(t, "length"), int8(rapid.IntRange(1, 4).Draw(t, "stage")))
		}
		for i := range s.Types {
			if s.Starts[i] < 0 || s.Starts[i] >= s.Ends[i] {
				t.Fatalf("%+v", s)
			}
			if i > 0 && (s.Starts[i] < s.Ends[i-1] || s.Starts[i] == s.Ends[i-1] && s.Types[i] == s.Types[i-1]) {
				t.Fatalf("%+v", s)
			}
		}
	})
}
