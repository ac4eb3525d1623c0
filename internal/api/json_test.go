package api

import (
	"strings"
	"testing"
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
