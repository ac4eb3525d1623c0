package push

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hale/internal/platform/fault"
	"hale/internal/wearables"
)

const (
	firstUser  = "3fa85f64-5717-4562-b3fc-2c963f66afa6"
	secondUser = "3fa85f64-5717-4562-b3fc-2c963f66afa7"
	pulse      = `{"heartrate":[{"timestamp":"2026-03-01T10:00:00Z","value":61}]}`
)

func peopleBody(users string, more ...string) []byte {
	return []byte(`{"stage":"daily","provider":"apple_health_kit","users":` + users + strings.Join(more, "") + `}`)
}

func entryOf(user, series string, more ...string) string {
	return `{"user_id":"` + user + `","series":` + series + strings.Join(more, "") + `}`
}

// Each entry means the same as in a body of its own. Fields for all users apply
// where the entry does not state them itself.
func TestPeopleEqualTheirSeparateEntries(t *testing.T) {
	head := `{"stage":"daily","provider":"apple_health_kit"`
	for _, c := range []struct{ body, anna, berta string }{
		{
			string(peopleBody("[" + entryOf(firstUser, pulse) + "," + entryOf(secondUser, `{}`) + "]")),
			head + `,"series":` + pulse + `}`, head + `,"series":{}}`,
		},
		{
			string(peopleBody("["+entryOf(firstUser, pulse, `,"time_zone":"Asia/Tokyo","source":{"type":"ring"}`)+","+entryOf(secondUser, pulse, `,"time_zone":null,"source":null`)+"]",
				`,"source":{"type":"watch"},"time_zone":"Europe/Berlin"`)),
			head + `,"time_zone":"Asia/Tokyo","source":{"type":"ring"},"series":` + pulse + `}`,
			head + `,"time_zone":"Europe/Berlin","source":{"type":"watch"},"series":` + pulse + `}`,
		},
		{ // in any order, with blanks, and with unknown fields
			` { "users" : [ {"note":[{}], "series": ` + pulse + `,"user_id":"` + firstUser + `"} ,` + entryOf(secondUser, pulse) + ` ], "more": 1, "provider": "apple_health_kit","stage" :"daily" } `,
			`{"stage":"daily","provider": "apple_health_kit","series":` + pulse + `}`, `{"stage":"daily","provider": "apple_health_kit","series":` + pulse + `}`,
		},
	} {
		got, err := ParseUsers([]byte(c.body))
		if err != nil {
			t.Errorf("%s: %v", c.body, err)
			continue
		}
		for i, text := range []string{c.anna, c.berta} {
			want, err := ParseSeries([]byte(text))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want.Batch(), got.Each[i].Batch(), cmp.Comparer(func(a, b wearables.WithBatch) bool { return a == nil && b == nil })); diff != "" {
				t.Errorf("%s:\n%s", c.body, diff)
			}
			again, err := ParseSeries(got.Each[i].Text)
			if err != nil || !cmp.Equal(want.Head, again.Head) {
				t.Errorf("kept as %s: %v", got.Each[i].Text, err)
			}
		}
		if got.Each[0].User.String() != firstUser || got.Each[1].User.String() != secondUser {
			t.Errorf("%v and %v", got.Each[0].User, got.Each[1].User)
		}
	}
}

func TestFaultsInPeopleNameThePlace(t *testing.T) {
	two := entryOf(firstUser, pulse) + ","
	for _, c := range []struct {
		body string
		loc  string
		kind fault.Kind
	}{
		{`{}`, "body.stage body.provider body.users", fault.Invalid},
		{`[]`, "body", fault.Invalid},
		{string(peopleBody("{}")), "body.users", fault.Invalid},
		{string(peopleBody("null")), "body.users", fault.Invalid},
		{string(peopleBody("[" + two)), "body", fault.Invalid},
		{string(peopleBody("[" + two + "7]")), "body.users.1", fault.Invalid},
		{string(peopleBody("[" + two + "{}]")), "body.users.1.user_id", fault.Invalid},
		{string(peopleBody("[" + two + `{"user_id":"` + secondUser + `"}]`)), "body.users.1.series", fault.Invalid},
		{string(peopleBody("[" + two + entryOf("not-a-uuid-but-as-long-as-one-is-abc", pulse) + "]")), "body.users.1.user_id", fault.Invalid},
		{string(peopleBody("[" + two + entryOf(firstUser, pulse) + "]")), "body.users.1.user_id", fault.Invalid},
		{string(peopleBody("[" + two + entryOf(secondUser, `{"sleep":[]}`) + "]")), "body.users.1.series.sleep", fault.Invalid},
		{string(peopleBody("[" + two + entryOf(secondUser, pulse, `,"time_zone":"Mars/Base"`) + "]")), "body.users.1.time_zone", fault.Invalid},
		{string(peopleBody("["+two+entryOf(secondUser, pulse)+"]", `,"time_zone":"Mars/Base"`)), "body.time_zone", fault.Invalid},
		{string(peopleBody("[]", `,"source":{"type":7}`)), "body.source", fault.Invalid},
		{`{"stage":"historical","provider":"apple_health_kit","users":[]}`, "body.stage", fault.Invalid},
		{string(peopleBody(manyEntries(MostUsers + 1))), "body.users", fault.TooLarge},
	} {
		_, err := ParseUsers([]byte(c.body))
		var got []string
		var list fault.List
		var one *fault.Error
		switch {
		case errors.As(err, &list):
			for _, e := range list {
				got = append(got, strings.Join(e.Loc(), "."))
			}
		case errors.As(err, &one):
			got = append(got, strings.Join(one.Loc(), "."))
		}
		if strings.Join(got, " ") != c.loc || fault.KindOf(err) != c.kind {
			t.Errorf("%.120s: %v at %v, want %s", c.body, err, got, c.loc)
		}
	}
}

func manyEntries(n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = entryOf(fmt.Sprintf("3fa85f64-5717-4562-b3fc-%012x", i), `{}`)
	}
	return "[" + strings.Join(all, ",") + "]"
}

func TestSamplesOfPeopleAreCountedTogether(t *testing.T) {
	list := `{"heartrate":[` + strings.TrimSuffix(strings.Repeat(`{"timestamp":"2026-03-01T10:00:00Z","value":61},`, MostSamples/2+1), ",") + `]}`
	if _, err := ParseUsers(peopleBody("[" + entryOf(firstUser, list) + "]")); err != nil {
		t.Error(err)
	}
	if _, err := ParseUsers(peopleBody("[" + entryOf(firstUser, list) + "," + entryOf(secondUser, list) + "]")); fault.KindOf(err) != fault.TooLarge {
		t.Error(err)
	}
}

// FuzzPeople checks that any text is a batch or a fault. In a batch, the text of each
// user is a body of series with the same samples. It is refused if all are malformed.
func FuzzPeople(f *testing.F) {
	f.Add(peopleBody("[" + entryOf(firstUser, pulse) + "," + entryOf(secondUser, pulse, `,"source":{"type":"watch"}`) + "]"))
	f.Add(peopleBody(`[{"user_id":"`+firstUser+`","series":{"steps":[]}}]`, `,"time_zone":"Europe/Berlin"`))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := ParseUsers(data)
		if err != nil {
			if fault.KindOf(err) == fault.Internal {
				t.Fatal(err)
			}
			return
		}
		for i := range got.Each {
			part := &got.Each[i]
			again, err := ParseSeries(part.Text)
			if (err != nil) != (part.empty() && part.Count > 0) || err == nil && again.Count != part.Count {
				t.Fatalf("%s: %v, a part of %d", part.Text, err, part.Count)
			}
		}
	})
}
