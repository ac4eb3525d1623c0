package hl7v2

import (
	"strings"
	"testing"
)

// Any document gives settings that hold, or says under networks what is wrong.
func FuzzParseSettings(f *testing.F) {
	f.Add([]byte(document))
	f.Add([]byte(`{"networks": {"hl7v2": {"labs": {"x": {"application": "HALE", "lab_application": "X"}}}}}`))
	f.Add([]byte("networks:\n  hl7v2: &a\n    labs: {x: *a}\n"))
	f.Add([]byte("networks:\n  hl7v2:\n    labs:\n      x: {application: HALE, lab_application: X, timeout: 9223372036s, zone: ../../etc}\n"))
	f.Add([]byte("networks: {hl7v2: null}"))
	f.Add([]byte("word\n\n\nword")) // quoted with its empty line
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := ParseSettings(text)
		if err != nil {
			for line := range strings.SplitSeq(err.Error(), "\n") {
				if strings.TrimSpace(line) == "" {
					t.Fatalf("a refusal with an empty line: %q", err)
				}
			}
			if !strings.HasPrefix(err.Error(), "networks") {
				t.Fatalf("a refusal that does not say where: %v", err)
			}
			return
		}
		if err := s.Check(); err != nil {
			t.Fatalf("taken, and wrong: %v", err)
		}
		for name, lab := range s.Labs {
			if lab.order() == "" || lab.version() == "" || lab.charset().String() == "" || lab.Timeout < 0 {
				t.Fatalf("%s: %+v", name, lab)
			}
		}
	})
}
