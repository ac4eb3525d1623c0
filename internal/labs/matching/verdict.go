package matching

import (
	"cmp"
	"slices"

	"hale/internal/labs/orders"
)

// verdict is what becomes of a report.
type verdict struct {
	Decision       Decision
	AccountDiffers bool
	Candidates     []Candidate
	// Safe is the order whose result it is beyond doubt; nil sends it to the queue.
	Safe *orders.ID
}

// judge compares a report with the orders that it may belong to.
func judge(r incoming, among []known) verdict {
	findings := make([]finding, len(among))
	for i := range among {
		findings[i] = examine(r, &among[i])
	}
	slices.SortStableFunc(findings, func(a, b finding) int { return cmp.Compare(b.grounds().Score, a.grounds().Score) })
	v := verdict{Decision: NoMatch}
	var best *finding
	if named := only(findings, func(f finding) bool { return f.named }); len(named) > 0 {
		v.Decision, best = ofNamed(named)
	} else {
		v.Decision, best = ofPerson(only(findings, finding.plausible))
	}
	v.AccountDiffers = best != nil && best.account == differs
	v.Candidates = candidates(findings)
	if best != nil && safe(r, v.Decision, *best, findings) {
		v.Safe = &best.order.ID
	}
	return v
}

// plausible reports that it is the order of this person, and of such tests: labs
// have codes of their own, so that those of another lab say nothing.
func (f finding) plausible() bool {
	return f.person.alike() && (f.lab != same || f.overlap.reason() != MarkersNone)
}

func only(all []finding, want func(finding) bool) []finding {
	var some []finding
	for _, f := range all {
		if want(f) {
			some = append(some, f)
		}
	}
	return some
}

// ofNamed decides by the orders that a report names, the likeliest of which
// counts.
func ofNamed(named []finding) (Decision, *finding) {
	f := &named[0]
	switch {
	case f.person.contradicts():
		return OtherPerson, f
	case f.lab == differs:
		return WrongLab, f
	}
	if d, ok := closed(f.standing); ok {
		return d, f
	}
	return SampleMatch, f
}

// ofPerson decides by the orders of the same person: an open one at the lab
// before one without a sample, before one elsewhere, before one that is over.
func ofPerson(alike []finding) (Decision, *finding) {
	here := only(alike, func(f finding) bool { return f.lab != differs })
	elsewhere := only(alike, func(f finding) bool { return f.lab == differs && f.standing != completed && f.standing != cancelled })
	switch waiting := only(here, func(f finding) bool { return f.standing == open }); {
	case len(waiting) > 1:
		return SeveralPeople, &waiting[0]
	case len(waiting) == 1:
		return PersonMatch, &waiting[0]
	}
	if some := only(here, func(f finding) bool { return f.standing == uncollected }); len(some) > 0 {
		return WrongCollection, &some[0]
	}
	if len(elsewhere) > 0 {
		return WrongLab, &elsewhere[0]
	}
	for _, s := range []standing{completed, cancelled} {
		if some := only(here, func(f finding) bool { return f.standing == s }); len(some) > 0 {
			d, _ := closed(s)
			return d, &some[0]
		}
	}
	return NoMatch, nil
}

// closed is the decision about an order that waits for no result.
func closed(s standing) (Decision, bool) {
	switch s {
	case completed:
		return CompletedMatch, true
	case cancelled:
		return CancelledMatch, true
	case uncollected:
		return WrongCollection, true
	case open:
	}
	return "", false
}

// safe reports whether a finding is beyond doubt: nobody else fits, the order
// waits for results of that lab under that account, and the person is the same
// down to the birth date. Without the sample, the sex and every marker must
// agree too, and the sample ids may not contradict each other.
func safe(r incoming, d Decision, best finding, all []finding) bool {
	if !best.person.alike() || best.lab != same || best.account == differs || best.standing != open {
		return false
	}
	rivals := only(all, func(f finding) bool {
		return f.order.ID != best.order.ID && f.standing == open && (f.named || f.person.alike())
	})
	switch d {
	case SampleMatch:
		return !slices.ContainsFunc(rivals, func(f finding) bool { return f.named }) && best.overlap.reason() != MarkersNone
	case PersonMatch:
		return len(rivals) == 0 && best.person.Sex == same && best.overlap.reason() == MarkersExact &&
			(r.SampleID == "" || best.order.SampleID == "") && r.Placer == ""
	default:
		return false
	}
}

// mostCandidates bounds what reviewers are shown.
const mostCandidates = 20

// candidates are the findings that a reviewer may choose from: those with
// anything for them.
func candidates(findings []finding) []Candidate {
	var all []Candidate
	for _, f := range findings {
		if !f.named && f.person.Last != same && f.person.DOB != same {
			continue
		}
		c := Candidate{User: f.order.User, Order: f.order.ID, Kind: Option, Alike: f.person.alike(), Grounds: f.grounds()}
		if f.named {
			c.Kind = Provenance
		}
		if slices.ContainsFunc(all, func(before Candidate) bool { return before.User == c.User }) {
			c.Reasons = append(c.Reasons, SameUser)
		}
		if all = append(all, c); len(all) == mostCandidates {
			break
		}
	}
	return all
}
