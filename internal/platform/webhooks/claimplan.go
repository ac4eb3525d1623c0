package webhooks

import "time"

// claimPlan decides when a queue claims, how many rows of each lane, and where a claim of
// new events begins. The queue's lock guards it.
type claimPlan struct {
	due     [lanes]bool // the database may have due rows
	at      time.Time   // when the last claim began
	drained bool        // the last claim of new events took all that it could see
	since   time.Time   // the present claim of new events begins there; zero for the beginning
	fullAt  time.Time   // when the last claim of new events began that read from the beginning
}

// find notes that a lane may have due rows, also old ones.
func (p *claimPlan) find(lane int) { p.due[lane], p.drained = true, false }

// next returns how many rows of each lane to claim now, or the time until the next claim.
// A lane gets 0 until few of its claimed rows wait, so that claims are large while there
// is much to do. busy means that the queue has work. recent allows a claim of new events
// to skip older ones.
func (p *claimPlan) next(now time.Time, waiting [lanes]int, busy, recent bool) (most [lanes]int, pause time.Duration) {
	if !p.since.IsZero() && now.Sub(p.fullAt) >= recentEvents {
		p.due[laneNew] = true
	}
	for lane, n := range waiting {
		if p.due[lane] && n <= maxInFlight {
			most[lane] = claimSize - n
		}
	}
	if most == ([lanes]int{}) {
		return most, 0
	}
	if since := now.Sub(p.at).Abs(); since < claimPause && busy {
		return [lanes]int{}, claimPause - since
	}
	for lane, n := range most {
		p.due[lane] = p.due[lane] && n == 0
	}
	p.at = now
	switch {
	case most[laneNew] == 0:
	case recent && p.drained && now.Sub(p.fullAt).Abs() < recentEvents:
		p.since = now.Add(-recentEvents)
	default:
		p.since, p.fullAt = time.Time{}, now
	}
	return most, 0
}

// finish notes how many rows a claim took of each lane.
func (p *claimPlan) finish(took, most [lanes]int) {
	for lane, n := range took {
		if n > 0 && n == most[lane] {
			p.due[lane] = true
		}
	}
	if most[laneNew] > 0 {
		p.drained = took[laneNew] < most[laneNew]
	}
}

// untilFull returns the time until a claim reads from the beginning. ok is false if the
// last one did.
func (p *claimPlan) untilFull(now time.Time) (wait time.Duration, ok bool) {
	return max(0, p.fullAt.Add(recentEvents).Sub(now)), !p.since.IsZero()
}
