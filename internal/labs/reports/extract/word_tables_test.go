package extract

import "testing"

// TestEveryWordHasOneRow checks the tables of answers and of words for earlier times.
func TestEveryWordHasOneRow(t *testing.T) {
	seen := map[string]bool{}
	for _, a := range answerTable {
		if seen[a.word] {
			t.Errorf("two rows have the answer %q", a.word)
		}
		if seen[a.word] = true; a.uses == 0 && a.expected == "" {
			t.Errorf("the answer %q has no use", a.word)
		}
		if a.has(negativeAnswer) && a.has(positiveAnswer) {
			t.Errorf("the answer %q is negative and positive", a.word)
		}
	}
	for _, e := range earlierTable {
		if seen[e.pattern] || e.uses == 0 {
			t.Errorf("two rows have the pattern %q, or it has no use", e.pattern)
		}
		seen[e.pattern] = true
	}
}
