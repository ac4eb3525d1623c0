package cli

import (
	"os"
	"strings"
	"testing"
)

// The first screen, `hale` without arguments, the README, the page at / and the first
// guide show the same first commands, in the same order.
func TestFirstStepsAreTheSameEverywhere(t *testing.T) {
	var steps []string
	for line := range strings.Lines(firstSteps) {
		step, _, _ := strings.Cut(line, "#")
		steps = append(steps, strings.TrimSpace(step))
	}
	if len(steps) < 5 {
		t.Fatalf("only %d steps: %q", len(steps), steps)
	}
	for _, page := range []string{"../../README.md", "../app/home.html", "../../docs/start.md"} {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		rest := string(text)
		for _, step := range steps {
			_, after, found := strings.Cut(rest, step)
			if !found {
				t.Errorf("%s lacks %q after the steps before it", page, step)
				break
			}
			rest = after
		}
	}
}
