package replies_test

import (
	"fmt"
	"strings"
	"testing"

	"hale/internal/platform/fault"
	"hale/internal/wearables"
	"hale/internal/wearables/formats/files/filestest"
	"hale/internal/wearables/formats/replies"
	"hale/internal/wearables/formats/replies/repliestest"
	"hale/internal/wearables/formats/sheet"
)

// heartBeatMaker returns a provider of heart beats for tests. Its documents have the time zone
// beside the list of beats. Each taken document is added to seen.
func heartBeatMaker(seen *[]string) replies.Maker {
	m := replies.Maker{
		Kind: "invented", Title: "invented JSON", Provider: "oura", Lists: []string{"body", "beats", "scalar"}, Late: []string{"zone", "far"},
	}
	m.Open = func(r *replies.Reader) replies.Reading {
		beat := func(d replies.Document) replies.Verdict {
			at, ok := d.Unix("at")
			if !ok {
				return replies.BadDate
			}
			*seen = append(*seen, fmt.Sprint(d.Word("id"), " ", d.Under, " ", d.Around("zone").Text("zone"), d.Around("far").Text("far")))
			source := wearables.Source{Provider: "oura", Type: "watch"}
			r.Gather.At(sheet.Key{Resource: "heartrate", Source: source}, at.UnixMicro(), r.OffsetIn(d.Around("zone").Text("zone"), at), 60)
			return replies.Mapped
		}
		return replies.Reading{Resources: []replies.Resource{
			{Name: "beat", Keys: []string{"id", "at"}, Take: beat},
			{Name: "day", Keys: []string{"scalar", "parts"}, Take: func(d replies.Document) replies.Verdict {
				for _, part := range d.Documents("parts") {
					r.Take(part)
				}
				return replies.Mapped
			}},
			{Name: "track", Keys: []string{"of", "values"}, Values: true, Take: func(d replies.Document) replies.Verdict {
				for _, v := range d.List("values") {
					*seen = append(*seen, string(v))
				}
				return replies.VerdictOf(len(d.List("values")) > 0)
			}},
			{Name: "empty", Is: func(d replies.Document) bool { return d.Has("beats") && len(d.List("beats")) == 0 }},
			{Name: "secret", Keys: []string{"secret"}, Refuse: "it is secret"},
		}}
	}
	return m
}

func TestWalkDocuments(t *testing.T) {
	one, two := `{"id":1,"at":1740897000}`, `{"id":"2","at":1740897060}`
	for name, test := range map[string]struct {
		content string
		seen    string
		records int64
	}{
		"bare":                {one, "1  ", 1},
		"a byte order mark":   {"\uFEFF" + one, "1  ", 1},
		"marked, zone behind": {"\uFEFF" + `{"beats":[` + one + `],"zone":"Z"}`, "1 beats Z", 1},
		"by line":             {one + "\n" + two, "1  ,2  ", 2},
		"a list":              {"[" + one + "," + two + "]", "1  ,2  ", 2},
		"zone before":         {`{"zone":"Z","beats":[` + one + `]}`, "1 beats Z", 1},
		"zone behind":         {`{"beats":[` + one + `,` + two + `],"zone":"Z"}`, "1 beats Z,2 beats Z", 2},
		"zone far behind":     {`{"body":{"beats":[` + one + `],"zone":"Z"},"far":"!"}`, "1 beats Z!", 1},
		"pages by line":       {`{"beats":[` + one + `],"zone":"A"}` + "\n" + `{"beats":[` + two + `],"zone":"B"}`, "1 beats A,2 beats B", 2},
		"a page without":      {`{"beats":[` + one + `],"zone":"A"}{"beats":[` + two + `]}`, "1 beats A,2 beats ", 2},
		"nearest zone":        {`{"zone":"A","body":{"zone":"B","beats":[` + one + `]}}`, "1 beats B", 1},
		"in memory":           {`[{"zone":"A","other":{"beats":[` + one + `]}}]`, "1 beats A", 1},
		"exchange":            {`[{"path":"/x","status":200,"body":{"beats":[` + one + `]}}]`, "1 beats ", 1},
		"a scalar":            {`{"scalar":12345678901234567,"parts":[` + one + `,{"x":1}]}`, "1 parts ", 3},
		"empty":               {`{"body":{"beats":[]}}`, "", 1},
		"null for a list":     {`{"scalar":null,"x":{"id":3,"at":1740897000}}`, "3 x ", 1},
		"too deep":            {strings.Repeat(`{"a":`, 12) + one + strings.Repeat("}", 12), "", 1},
		"eight deep":          {strings.Repeat(`{"a":`, 8) + one + strings.Repeat("}", 8), "1 a ", 1},
		"the same field late": {`{"zone":"A","beats":[` + one + `],"zone":"B"}`, "1 beats A", 1},
	} {
		var seen []string
		g := repliestest.Gather(t, heartBeatMaker(&seen), nil, []byte(test.content))
		if got := strings.Join(seen, ","); got != test.seen || g.Report.Records != test.records || g.Err != nil || g.Report.Damaged != 0 {
			t.Errorf("%s: %q of %d records, want %q of %d; %v", name, got, g.Report.Records, test.seen, test.records, g.Err)
		}
	}
}

// Each of many small replies is a record of its own, so none of them is too long.
func TestManyEmptyPages(t *testing.T) {
	var seen []string
	page := `{"beats":[{"id":1,"at":1740897000}],"zone":"Europe/Berlin"}`
	many := replies.MaxRecord/len(page) + 10
	g := repliestest.Gather(t, heartBeatMaker(&seen), nil, []byte(strings.Repeat(page, many)))
	if g.Err != nil || g.Report.Mapped != int64(many) || g.Samples[0].Offset[0] != 3600 {
		t.Errorf("%v, %d mapped", g.Err, g.Report.Mapped)
	}
	g = repliestest.Gather(t, heartBeatMaker(&seen), nil, []byte(strings.Repeat(`{"body":{"x":1,"y":{}}} `, replies.MaxRecord/20)))
	if g.Err != nil {
		t.Error(g.Err)
	}
	g = repliestest.Gather(t, heartBeatMaker(&seen), nil, []byte(page+`{"x":"`+strings.Repeat("x", replies.MaxRecord+1<<16)+`"}`))
	if !fault.Is(g.Err, fault.Unprocessable) || g.Report.Mapped != 1 {
		t.Errorf("%v, %d mapped", g.Err, g.Report.Mapped)
	}
}

// The limit of a record also applies to an object whose fields have lists between them.
func TestFieldsBetweenListsAreBounded(t *testing.T) {
	var seen []string
	var page strings.Builder
	page.WriteString("{")
	for i := range 8 {
		fmt.Fprintf(&page, `"field %d":"%s","beats":[{"id":%d,"at":1740897000}],`, i, strings.Repeat("x", replies.MaxRecord/5), i)
	}
	page.WriteString(`"end":1}`)
	g := repliestest.Gather(t, heartBeatMaker(&seen), nil, []byte(page.String()))
	if !fault.Is(g.Err, fault.Unprocessable) || g.Report.Mapped != 4 {
		t.Errorf("%v, %d mapped", g.Err, g.Report.Mapped)
	}
}

func TestDamageAffectsOnlyItsFile(t *testing.T) {
	var seen []string
	for name, test := range map[string]struct {
		content           string
		mapped, damaged   int64
		truncated, refuse bool
	}{
		"cut behind a late field": {`{"beats":[{"id":1,"at":1740897000}],"zone":"Europe`, 1, 0, true, false},
		"cut in the list":         {`{"beats":[{"id":1,"at":1740897000},{"id"`, 1, 0, true, false},
		"no object":               {`[{"id":1,"at":1740897000},7,null]`, 1, 2, false, false},
		"no JSON":                 {`[{"id":1,"at":1740897000},{x}]`, 1, 1, true, false},
	} {
		g := repliestest.Gather(t, heartBeatMaker(&seen), nil, []byte(test.content))
		if g.Err != nil || g.Report.Mapped != test.mapped || g.Report.Damaged != test.damaged || g.Report.Truncated != test.truncated {
			t.Errorf("%s: %v, %d mapped, %d damaged, truncated %v", name, g.Err, g.Report.Mapped, g.Report.Damaged, g.Report.Truncated)
		}
	}
}

// If a file ends in the middle, the complete part is read: documents, and the complete
// values of documents that are lists of values. If even the first document is incomplete,
// Check says that the file is cut off. It only does so if the fields before the end
// identify the document.
func TestTruncatedFiles(t *testing.T) {
	one := `{"id":1,"at":1740897000}`
	for name, test := range map[string]struct {
		content string
		seen    string
		check   string
	}{
		"in the first document":       {`{"id":1,"at":1740897000,"x":[1,2`, "", "ends in the middle of its first record"},
		"in its last field":           {`{"id":1,"x":2,"at":1740897000`, "", "is no invented JSON"},
		"before its last brace":       {`{"id":1,"at":1740897000,"x":"y"`, "", "ends in the middle of its first record"},
		"before it is read":           {`{"id":1,"a`, "", "is no invented JSON"},
		"in the first of a list":      {`[{"id":1,"at":1740897000,"x"`, "", "ends in the middle of its first record"},
		"in the second":               {`[` + one + `,{"id":2,"at":1740897060,"x"`, "1  ", ""},
		"behind the first":            {`[` + one, "1  ", ""},
		"in an exchange":              {`[{"path":"/x","inner":[` + one + `,{"id":2,"at":17408`, "1 inner ", ""},
		"zone before":                 {`{"zone":"Z","inner":[` + one + `,{"id":2,"at":17408`, "1 inner Z", ""},
		"in a later field":            {`{"inner":{"more":` + one + `},"then":{"x":`, "1 more ", ""},
		"values":                      {`{"of":1,"values":[10,20,3`, "10,20", ""},
		"values, whole":               {`{"of":1,"values":[10,20,30],"x":[7`, "10,20,30", ""},
		"values, none whole":          {`{"of":1,"values":[1`, "", "is no invented JSON"},
		"values of objects":           {`[{"of":1,"values":[{"v":1},{"v":`, `{"v":1}`, ""},
		"values, none whole, objects": {`[{"of":1,"values":[{"v":1,"w":`, "", "ends in the middle of its first record"},
		"a list that is not empty":    {`[{"beats":[{"i`, "", "is no invented JSON"},
		"a secret":                    {`{"secret":"s","x":"`, "", "it is secret"},
		"in another's":                {`{"x":{"y":1},"z":[`, "", "is no invented JSON"},
		"too deep":                    {strings.Repeat(`{"a":`, 100), "", "is no invented JSON"},
	} {
		var seen []string
		m := heartBeatMaker(&seen)
		err := m.Files().Check(filestest.Save(t, []byte(test.content)), 0)
		if err == nil && test.check != "" || err != nil && (test.check == "" || !strings.Contains(err.Error(), test.check)) {
			t.Errorf("%s: recognised as %v, want %q", name, err, test.check)
		}
		g := repliestest.Gather(t, m, nil, []byte(test.content))
		if got := strings.Join(seen, ","); got != test.seen || g.Err != nil || !g.Report.Truncated || g.Report.Damaged != 0 {
			t.Errorf("%s: %q, want %q; %v, %+v", name, got, test.seen, g.Err, g.Report)
		}
	}
}

// A byte order mark at the start of a file is ignored.
func TestByteOrderMark(t *testing.T) {
	m := heartBeatMaker(new([]string))
	for content, passes := range map[string]bool{
		"\uFEFF" + `{"id":1,"at":1740897000}`:      true,
		"\uFEFF\uFEFF{\"id\":1,\"at\":1740897000}": false, "\uFEFF": false, "\xEF\xBB": false, "": false, "{": false,
	} {
		if err := m.Files().Check(filestest.Save(t, []byte(content)), 0); (err == nil) != passes {
			t.Errorf("%q: %v", content, err)
		}
	}
	marked := []byte("\uFEFF" + `{"beats":[{"id":1,"at":1740897000}]}`)
	if g := repliestest.Gather(t, m, nil, marked); g.Report.Bytes != int64(len(marked)) || g.Report.Mapped != 1 || g.Report.Truncated {
		t.Errorf("%+v", g.Report)
	}
}
