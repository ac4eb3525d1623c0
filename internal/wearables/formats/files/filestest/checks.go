package filestest

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hale/internal/people/users"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/wearables/formats/files"
)

// Types compares all counts of a file, by type, and checks that the first record that was
// left out has its place.
func Types(tb testing.TB, o *files.Outcome, want map[string]files.TypeCount) {
	tb.Helper()
	for of, n := range want {
		if got := o.Types[of]; got == nil || *got != n {
			tb.Errorf("%s is %+v, want %+v", of, got, n)
		}
	}
	for of, got := range o.Types {
		if _, ok := want[of]; !ok {
			tb.Errorf("%s is %+v, not expected", of, *got)
		}
	}
	first := o.FirstLeft()
	for of, got := range o.Types {
		left, named := first[of]
		n := skippedReasons(got)[left.Reason]
		switch some := slices.Max(slices.Collect(maps.Values(skippedReasons(got)))) > 0; {
		case named != some:
			tb.Errorf("the first %s that was left out is %+v, of %+v", of, left, *got)
		case named && (n == 0 || left.Record < 1 || left.Record+n-1 > got.Read):
			tb.Errorf("the first %s that was left out can not be %+v, of %+v", of, left, *got)
		}
	}
}

// skippedReasons counts the left-out records of a type, by reason.
func skippedReasons(c *files.TypeCount) map[string]int64 {
	return map[string]int64{
		"skipped": c.Skipped, "bad_date": c.BadDate, "bad_value": c.BadValue, "bad_unit": c.BadUnit, "unpaired": c.Unpaired, "too_many": c.TooMany,
	}
}

// CompareJSON compares some fields of an object.
func CompareJSON(tb testing.TB, got any, want map[string]any) {
	tb.Helper()
	fields, _ := got.(map[string]any)
	for name, v := range want {
		if fields[name] != v {
			tb.Errorf("%s is %v, want %v", name, fields[name], v)
		}
	}
}

// Has checks that the user has as many summaries of a resource as are wanted,
// and one with the fields of each.
func Has(tb testing.TB, db *store.DB, user users.User, resource string, want ...map[string]any) {
	tb.Helper()
	all := Summaries(tb, db, user, resource)
	if len(all) != len(want) {
		tb.Errorf("%d of %s, want %d", len(all), resource, len(want))
	}
	for _, w := range want {
		if !slices.ContainsFunc(all, func(doc map[string]any) bool {
			for name, v := range w {
				if fmt.Sprint(doc[name]) != fmt.Sprint(v) {
					return false
				}
			}
			return true
		}) {
			tb.Errorf("no %s has %v: %v", resource, w, all)
		}
	}
}

// CheckRefused checks that the kind accepts none of some contents.
func CheckRefused(tb testing.TB, kind files.Kind, contents map[string]string) {
	tb.Helper()
	for name, content := range contents {
		var unlike *files.UnlikeError
		if err := kind.Check(Save(tb, []byte(content)), 0); !errors.As(err, &unlike) {
			tb.Errorf("%s: %v", name, err)
		}
	}
}

// Refuses checks that an import of some contents is refused with an error that contains
// Says.
func (b *Bed) Refuses(kind files.Kind, contents map[string]struct{ Raw, Says string }) {
	b.tb.Helper()
	for name, c := range contents {
		_, err := b.Import(kind, Save(b.tb, []byte(c.Raw)))
		if fault.KindOf(err) != fault.Unprocessable || !strings.Contains(err.Error(), c.Says) {
			b.tb.Errorf("%s: %v", name, err)
		}
	}
}

// Survives runs a fuzz target: no file makes an import fail in a way that is
// not a refusal.
func (b *Bed) Survives(f *testing.F, kind files.Kind) {
	path := Save(f, nil)
	f.Fuzz(func(t *testing.T, raw []byte) {
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Import(kind, path); err != nil && fault.KindOf(err) == fault.Internal {
			t.Fatal(err)
		}
	})
}

// Seed begins a fuzz target with files of testdata.
func Seed(f *testing.F, names ...string) {
	f.Helper()
	for _, name := range names {
		raw, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
}

// Decode reads a file with another reader than ours, such as json.Unmarshal.
func Decode(tb testing.TB, path string, unmarshal func([]byte, any) error, to any) {
	tb.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	if err := unmarshal(raw, to); err != nil {
		tb.Fatal(err)
	}
}
