package secrets

import (
	"bytes"
	"errors"
	"testing"
)

// Derived keys of one purpose open what they sealed, also after a change of the root
// key. The root key and other purposes do not.
func TestDerivedKeysServeOnePurpose(t *testing.T) {
	const first, second = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE="
	old, err := ParseRoot(first)
	if err != nil {
		t.Fatal(err)
	}
	changed, err := ParseRoot(second + "\n" + first)
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := old.Derive("one").Seal("place", []byte("text"))
	if err != nil {
		t.Fatal(err)
	}
	for name, root := range map[string]*Root{"the same": old.Derive("one"), "after a change": changed.Derive("one")} {
		if plain, err := root.Open("place", sealed); err != nil || !bytes.Equal(plain, []byte("text")) {
			t.Errorf("%s: %q, %v", name, plain, err)
		}
	}
	for name, root := range map[string]*Root{"the root key": old, "another purpose": old.Derive("two")} {
		if _, err := root.Open("place", sealed); !errors.Is(err, ErrSealed) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
