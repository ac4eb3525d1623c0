package providers

import "testing"

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
	} {
		if Newer(c.a, c.b) != c.want {
			t.Errorf("%q after %q: %v", c.a, c.b, !c.want)
		}
	}
}
