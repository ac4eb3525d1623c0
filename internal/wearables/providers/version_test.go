package providers

import (
	"testing"

	"pgregory.net/rapid"
)

func TestNewerVersions(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"10.1", "9.6.3", true},
		{"9.6.3", "10.1", false},
		{"9.6", "9.6", false},
		{"9.6.1", "9.6", true},
		{"3.00", "2.30", true},
		{"2.30", "3.00", false},
		{"1", "", true},
		{"", "1", false},
		{"", "", false},
		{"v10", "v9", true},
		{"v9", "v10", false},
		{"V10", "v9", true},
		{"2.10b", "2.9", true},
		{"2.9", "2.10b", false},
		{"2.9b", "2.9", true},
		{"2.9b", "2.9a", true},
		{"2.10", "2.9b", true},
		{"Build 100", "Build 99", true},
		{"Build 99", "Build 100", false},
		{"12A405", "9B206", true},
		{"R123456789012345678901234567890", "R99999999999999999999", true},
		{"1.0", "beta", true},
		{"beta", "1.0", false},
		{"1.007", "1.6", true},
		{"1.6", "1.007", false},
	} {
		if Newer(c.a, c.b) != c.want {
			t.Errorf("%q after %q: %v", c.a, c.b, !c.want)
		}
	}
}

// The order of versions is total: of two that differ one is the newer, and a version
// newer than that one is newer than both.
func TestTheOrderOfVersionsIsTotal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		version := rapid.StringMatching(`[vVb]?[0-9]{0,3}[ab .]?[0-9]{0,2}[.]?[0-9a]{0,2}`)
		a, b, c := version.Draw(t, "a"), version.Draw(t, "b"), version.Draw(t, "c")
		if a != b && Newer(a, b) == Newer(b, a) || Newer(a, a) {
			t.Fatalf("%q and %q", a, b)
		}
		if Newer(a, b) && Newer(b, c) && !Newer(a, c) {
			t.Fatalf("%q after %q after %q", a, b, c)
		}
	})
}
