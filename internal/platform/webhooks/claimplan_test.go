package webhooks

import (
	"testing"
	"time"
)

// A claim of new events reads the recent ones only, if the claim before it took all. Once
// in a span, and after a failure, it reads from the beginning.
func TestClaimsOfNewEventsBegin(t *testing.T) {
	start := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	var p claimPlan
	claim := func(after time.Duration, took int, recent bool) (since time.Time) {
		t.Helper()
		p.due[laneNew] = true
		most, pause := p.next(start.Add(after), [lanes]int{}, false, recent)
		if most != [lanes]int{laneNew: claimSize} || pause != 0 {
			t.Fatalf("after %v: %v rows, pause %v", after, most, pause)
		}
		p.finish([lanes]int{laneNew: took}, most)
		return p.since
	}
	if since := claim(0, claimSize, true); !since.IsZero() || !p.due[laneNew] {
		t.Errorf("the first claim begins at %v; more are due: %v", since, p.due[laneNew])
	}
	if since := claim(100*time.Millisecond, 3, true); !since.IsZero() || p.due[laneNew] {
		t.Errorf("after a full claim, one begins at %v; more are due: %v", since, p.due[laneNew])
	}
	if since := claim(200*time.Millisecond, 0, true); !since.Equal(start.Add(200*time.Millisecond - recentEvents)) {
		t.Errorf("after a drained one, it begins at %v", since)
	}
	if wait, ok := p.untilFull(start.Add(300 * time.Millisecond)); !ok || wait != recentEvents-200*time.Millisecond {
		t.Errorf("the next from the beginning follows in %v, %v", wait, ok)
	}
	p.find(laneNew)
	if since := claim(400*time.Millisecond, 0, true); !since.IsZero() {
		t.Errorf("after old rows were found, it begins at %v", since)
	}
	if since := claim(500*time.Millisecond, 0, false); !since.IsZero() {
		t.Errorf("on SQLite it begins at %v", since)
	}
	claim(600*time.Millisecond, 0, true)
	if most, _ := p.next(start.Add(600*time.Millisecond+recentEvents), [lanes]int{}, false, true); most[laneNew] == 0 || !p.since.IsZero() {
		t.Errorf("once in a span: %v rows from %v", most, p.since)
	}
}
