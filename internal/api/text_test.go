package api

import "testing"

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
