package api

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"hale/internal/platform/ids"
	"hale/internal/platform/patch"
)

func TestCheckMembers(t *testing.T) {
	for body, want := range map[string]string{
		`{}`: "", `[]`: "", `null`: "", `"a"`: "", `7`: "",
		`{"a":1,"b":{"a":1},"c":[{"a":1},{"a":2}],"":{"":0}}`: "",
		`{"a":"a","b":"a"}`:                     "",
		`{"a":1,"a":1}`:                         "a",
		`{"a":{"b":[]},"A":{}}`:                 "A",
		`{"\u0061":1,"a":2}`:                    "a",
		`{"kind":1,"\u212aind":2}`:              "\u212aind",
		`{"a":{"b":1,"c":2,"b":3}}`:             "a.b",
		`{"data":[1,{"x":[[],{"y":1,"Y":2}]}]}`: "data[1].x[1].Y",
		`[{"a":1},{"a":1,"a":2}]`:               "[1].a",
		`{"":1,"":2}`:                           "",
	} {
		err := checkMembers([]byte(body))
		twice := body == `{"":1,"":2}` || want != ""
		if (err != nil) != twice {
			t.Errorf("%s: %v", body, err)
		}
		if err != nil && !strings.HasSuffix(err.Error(), separator+want) {
			t.Errorf("%s: %q", body, err)
		}
	}
	long := strings.Repeat("x", 200)
	if err := checkMembers([]byte(`{"` + long + `":1,"` + long + `":1}`)); err == nil || strings.Contains(err.Error(), "x") {
		t.Errorf("%v", err)
	}
}

func TestCheckJSON(t *testing.T) {
	for text, good := range map[string]bool{
		`{}`: true, `{"a":"b"}`: true, `{"a":"\n\\\"/"}`: true, `{"a":"\u00e9"}`: true, `{"a":"\\"}`: true, `\`: true, `"\u12`: true, `"\uzzzz"`: true,
		`{"a":"\u0000"}`: false, `{"a":"\\u0000"}`: true, `{"a":"\\\u0000"}`: false,
		`{"a":"\ud83d\ude00"}`: true, `{"a":"\uD83D\uDE00x"}`: true,
		`{"a":"\ud800"}`: false, `{"a":"\ud800x"}`: false, `{"a":"\udfffx"}`: false, `{"a":"\ude00\ud83d"}`: false,
		`{"a":"\ud83d\u0041"}`: false, `{"a":"\ud83d\\ude00"}`: false, `{"a":"\\ud83d"}`: true, `{"a":"\ud83d\ude00\ud83d"}`: false,
		"{\"a\":\"\xff\"}": false,
	} {
		if err := checkJSON([]byte(text)); (err == nil) != good {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// Texts that the database cannot store, and values of a wrong type, name their field.
func TestBodiesNameTheField(t *testing.T) {
	type inner struct {
		ID  ids.ID[inner]   `json:"id"`
		IDs []ids.ID[inner] `json:"ids"`
	}
	type body struct {
		Text  string              `json:"text"`
		Count int                 `json:"count"`
		List  []int64             `json:"list"`
		Size  *int64              `json:"size"`
		Limit patch.Field[int]    `json:"limit"`
		Inner ObjectOrNull[inner] `json:"inner"`
	}
	for text, want := range map[string]string{
		`{"text":"a","count":3.0,"list":[20002.0,1e3],"size":2.0,"limit":5.0}`: "",
		`{"text":"a\u0000"}`:    "value_error text",
		`{"list":["\ud800"]}`:   "value_error list[0]",
		`{"inner":{"id":null}}`: "",
		`{"inner":{"id":"3fa85f64-5717-4562-b3fc-2c963f66afa6"}}`:                         "",
		`{"inner":{"id":"3fa85f6457174562b3fc2c963f66afa6"}}`:                             "uuid_parsing inner.id",
		`{"inner":{"ids":["urn:uuid:3fa85f64-5717-4562-b3fc-2c963f66afa6"]},"count":3.0}`: "uuid_parsing inner.ids",
		`{"inner":{"ids":["{3fa85f64-5717-4562-b3fc-2c963f66afa6}"]}}`:                    "uuid_parsing inner.ids",
		`{"count":3.0,"size":1e30}`:                                                       "int_type size",
		`{"count":"3"}`:                                                                   "value_error count",
	} {
		var got body
		err := UnmarshalJSON([]byte(text), &got)
		var field *fieldError
		found := ""
		if errors.As(err, &field) {
			found = field.code + " " + field.place
		}
		if found != want || err != nil && want == "" {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
		if strings.Contains(text, "20002") && (got.Count != 3 || !slices.Equal(got.List, []int64{20002, 1000}) || *got.Size != 2 || got.Limit.Value != 5) {
			t.Errorf("%s was read as %+v", text, got)
		}
	}
	for _, text := range []string{`{"a\u0000":1}`, `{"text":"\u0000"`, "{\"text\":\"\xff\"}"} {
		if err := UnmarshalJSON([]byte(text), new(any)); !errors.Is(err, errBadText) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
