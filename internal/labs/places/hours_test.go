package places

import (
	"encoding/json"
	"testing"
)

func TestParseHours(t *testing.T) {
	const shut = `"saturday":[],"sunday":[]}`
	for _, c := range []struct{ text, want string }{
		{"Mo-Fr 07:00-15:30", `{"monday":[{"open":"07:00","close":"15:30"}],"tuesday":[{"open":"07:00","close":"15:30"}],` +
			`"wednesday":[{"open":"07:00","close":"15:30"}],"thursday":[{"open":"07:00","close":"15:30"}],"friday":[{"open":"07:00","close":"15:30"}],` + shut},
		{"Mo 7:00-12:00,13:00-16:00; We off", `{"monday":[{"open":"07:00","close":"12:00"},{"open":"13:00","close":"16:00"}],` +
			`"tuesday":[],"wednesday":[],"thursday":[],"friday":[],` + shut},
		{"Mo-Tu 07:00-15:00; Tu 10:00-12:00", `{"monday":[{"open":"07:00","close":"15:00"}],"tuesday":[{"open":"10:00","close":"12:00"}],` +
			`"wednesday":[],"thursday":[],"friday":[],` + shut},
		{"Fr-Mo 22:00-24:00", `{"monday":[{"open":"22:00","close":"24:00"}],"tuesday":[],"wednesday":[],"thursday":[],` +
			`"friday":[{"open":"22:00","close":"24:00"}],"saturday":[{"open":"22:00","close":"24:00"}],"sunday":[{"open":"22:00","close":"24:00"}]}`},
		{`{"Monday":[{"open":"7:00","close":"8:00"}],"fri":null}`, `{"monday":[{"open":"07:00","close":"08:00"}],` +
			`"tuesday":[],"wednesday":[],"thursday":[],"friday":[],` + shut},
	} {
		h, err := ParseHours(c.text)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if got, _ := json.Marshal(h); string(got) != c.want {
			t.Errorf("%s is\n%s, want\n%s", c.text, got, c.want)
		}
		if again, err := ParseHours(h.String()); err != nil || again.String() != h.String() {
			t.Errorf("%s is written as %s: %v", c.text, h, err)
		}
	}
	for _, text := range []string{
		"", "Mo", "Mo-Fr", "Xx 07:00-15:00", "Mo 15:00-07:00", "Mo 07:00-07:00", "Mo 07:60-09:00", "Mo 07:00-25:00", "Mo 07:00",
		"Mo 07:00-12:00,11:00-13:00", "Mo 07:00-09:00;", "M 07:00-09:00", `{"monday":1}`, `{"someday":[]}`, `{`,
		`{"monday":[{"open":"08:00","close":"07:00"}]}`, `{"mo":[],"monday":[]}`,
	} {
		if h, err := ParseHours(text); err == nil {
			t.Errorf("%q was read as %v", text, h)
		}
	}
}

func TestHoursText(t *testing.T) {
	for text, want := range map[string]string{
		"Fr 7:00-8:00,9:00-10:00; Mo-Th 7:00-8:00": "Mo-Th 07:00-08:00; Fr 07:00-08:00,09:00-10:00",
		"Su,Mo 07:00-08:00":                        "Mo 07:00-08:00; Su 07:00-08:00",
		"Mo off":                                   "Mo-Su off",
		"24/7":                                     "Mo-Su 00:00-24:00",
	} {
		if h, err := ParseHours(text); err != nil || h.String() != want {
			t.Errorf("%s is written as %v (%v), want %s", text, h, err, want)
		}
	}
}

func TestParseWeekdays(t *testing.T) {
	for text, want := range map[string]string{
		"Mo-Fr": "Mo,Tu,We,Th,Fr", "sat": "Sa", "Sunday, Monday": "Mo,Su", "Sa-Mo": "Mo,Sa,Su", "Mo-Su": EveryDay.String(),
	} {
		if got, err := ParseWeekdays(text); err != nil || got.String() != want {
			t.Errorf("%q is %v (%v), want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"", "x", "Mo-", "-Fr", "Mo,,Tu"} {
		if got, err := ParseWeekdays(text); err == nil {
			t.Errorf("%q was read as %v", text, got)
		}
	}
}

// Hours that were read can be written and read again, and no input is too much
// for the parser.
func FuzzParseHours(f *testing.F) {
	f.Add("Mo-Fr 07:00-12:00,13:00-15:30; Sa 08:00-12:00")
	f.Add("24/7")
	f.Add(`{"monday":[{"open":"07:00","close":"15:30"}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		h, err := ParseHours(text)
		if err != nil {
			return
		}
		written, err := json.Marshal(h)
		if err != nil {
			t.Fatal(err)
		}
		for _, form := range []string{string(written), h.String()} {
			again, err := ParseHours(form)
			if err != nil {
				t.Fatalf("%s: %v", form, err)
			}
			if second, _ := json.Marshal(again); string(second) != string(written) {
				t.Errorf("%s became %s", form, second)
			}
		}
	})
}
