package matching

import (
	"cmp"
	"slices"

	"hale/internal/labs/identity"
	"hale/internal/labs/orders"
)

// verdict is the outcome of judging a report.
type verdict struct {
	Decision       Decision
	AccountDiffers bool
	Candidates     []Candidate
	// Safe is the order of a safe match; nil sends the result to the queue.
	Safe *orders.ID
}

// judge compares a report with the orders that it may belong to.
func judge(r reportFacts, among []knownOrder) verdict {
	findings := make([]finding, len(among))
	for i := range among {
		findings[i] = examine(r, &among[i])
	}
	slices.SortStableFunc(findings, func(a, b finding) int {
		return cmp.Or(cmp.Compare(b.grounds().Score, a.grounds().Score), cmp.Compare(b.sharedFacts(), a.sharedFacts()))
	})
	v := verdict{Decision: NoMatch}
	var best *finding
	if named := filterFindings(findings, func(f finding) bool { return f.named }); len(named) > 0 {
		v.Decision, best = decideByName(named)
	} else {
		v.Decision, best = decideByPerson(filterFindings(findings, finding.isPlausible))
	}
	v.AccountDiffers = best != nil && best.account == identity.Differs
	v.Candidates = candidates(findings)
	if best != nil && isSafe(v.Decision, *best, findings) {
		v.Safe = &best.order.ID
	}
	return v
}

// isPlausible reports that it is an order of this person, with these tests.
// Labs have their own codes, so the codes of another lab decide nothing.
func (f finding) isPlausible() bool {
	return f.person.IsSamePerson() && (f.lab != identity.Agrees || f.overlapReason() != MarkersNone)
}

func filterFindings(all []finding, want func(finding) bool) []finding {
	var some []finding
	for _, f := range all {
		if want(f) {
			some = append(some, f)
		}
	}
	return some
}

// decideByName decides by the orders that a report names. The likeliest
// counts.
func decideByName(named []finding) (Decision, *finding) {
	f := &named[0]
	switch {
	case f.person.Contradicts():
		return OtherPerson, f
	case f.lab == identity.Differs:
		return WrongLab, f
	}
	if d, ok := closedDecision(f.state); ok {
		return d, f
	}
	return SampleMatch, f
}

// decideByPerson decides by the orders of the same person. It prefers an open
// order at the lab. Next come, in this order, an order without a sample, an order
// at another lab, and a closed order.
func decideByPerson(same []finding) (Decision, *finding) {
	here := filterFindings(same, func(f finding) bool { return f.lab != identity.Differs })
	elsewhere := filterFindings(same, func(f finding) bool {
		return f.lab == identity.Differs && f.state != stateCompleted && f.state != stateCancelled
	})
	switch waiting := filterFindings(here, func(f finding) bool { return f.state == stateOpen }); {
	case len(waiting) > 1:
		return SeveralPeople, &waiting[0]
	case len(waiting) == 1:
		return PersonMatch, &waiting[0]
	}
	if some := filterFindings(here, func(f finding) bool { return f.state == stateUncollected }); len(some) > 0 {
		return WrongCollection, &some[0]
	}
	if len(elsewhere) > 0 {
		return WrongLab, &elsewhere[0]
	}
	for _, s := range []orderState{stateCompleted, stateCancelled} {
		if some := filterFindings(here, func(f finding) bool { return f.state == s }); len(some) > 0 {
			d, _ := closedDecision(s)
			return d, &some[0]
		}
	}
	return NoMatch, nil
}

// closedDecision returns the decision about an order that waits for no result.
func closedDecision(s orderState) (Decision, bool) {
	switch s {
	case stateCompleted:
		return CompletedMatch, true
	case stateCancelled:
		return CancelledMatch, true
	case stateUncollected:
		return WrongCollection, true
	case stateOpen:
	}
	return "", false
}

// isSafe reports whether a match is safe. The report must name the order's number or
// sample, and the order's patient. It must come from the order's lab. Its network and
// account must be the order's, as far as both are known. It must have some of the order's
// tests, under codes that agree, and not only earlier values of them. The order must wait for results, and no other open order
// may be named. A match by the person alone always waits for review.
func isSafe(d Decision, best finding, all []finding) bool {
	if d != SampleMatch || !best.person.IsSamePerson() || best.network == identity.Differs || best.lab != identity.Agrees ||
		best.account == identity.Differs || best.state != stateOpen || best.overlap.Reported == 0 || best.overlapReason() == MarkersNone || best.codes != "" || best.old {
		return false
	}
	return !slices.ContainsFunc(all, func(f finding) bool {
		return f.named && f.order.ID != best.order.ID && (f.state == stateOpen || f.state == stateUncollected)
	})
}

// sharedFacts orders findings of the same score. The limit for another person gives many
// the same score.
func (f finding) sharedFacts() float64 {
	points := personPoints(f.person)
	if f.named {
		points += namedPoints
	}
	return points
}

// isStranger reports that two of birth date, last and first name differ, and that the
// report does not name the order.
func (f finding) isStranger() bool {
	different := 0
	for _, part := range []identity.Agreement{f.person.DOB, f.person.Last, f.person.First} {
		if part == identity.Differs {
			different++
		}
	}
	return different >= 2 && !f.named
}

// The limits of the candidates that reviewers see.
const (
	maxCandidates = 20
	// maxStrangers limits those that share a birth date or a last name, and nothing more.
	// A large team has many, and a reviewer needs no other patients.
	maxStrangers = 5
)

// candidates returns the findings that a reviewer may choose from: those with
// at least one matching fact.
func candidates(findings []finding) []Candidate {
	var all []Candidate
	strangers := 0
	for _, f := range findings {
		if !f.named && f.person.Last != identity.Agrees && f.person.DOB != identity.Agrees {
			continue
		}
		if f.isStranger() {
			if strangers++; strangers > maxStrangers {
				continue
			}
		}
		c := Candidate{User: f.order.User, Order: f.order.ID, Kind: Option, SamePerson: f.person.IsSamePerson(), Grounds: f.grounds()}
		if f.named {
			c.Kind = Provenance
		}
		if slices.ContainsFunc(all, func(before Candidate) bool { return before.User == c.User }) {
			c.Reasons = append(c.Reasons, SameUser)
		}
		if all = append(all, c); len(all) == maxCandidates {
			break
		}
	}
	return all
}
