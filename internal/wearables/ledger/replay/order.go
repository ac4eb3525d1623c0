package replay

import (
	"cmp"
	"slices"
	"time"

	"hale/internal/people/users"
	"hale/internal/wearables/imports"
	"hale/internal/wearables/ledger"
)

// coming is a place of a payload in the order in which they are read.
type coming struct {
	payload *ledger.Payload
	at      time.Time
	told    time.Time // when it said what is read there
	besides bool      // another place of the payload is the one that is counted
	rule    rule
}

// inOrder is when the payloads came, in order. A pushed body that came again is
// as late as it came last; where a file came in between, it is also there at
// its first time, for the file to find. One that came while a file was read is
// on both sides of the file: its days were made of both, and of a value that
// both tell nobody but the store knows which came last.
func (p *person) inOrder() (all []coming) {
	var files []*ledger.Payload
	for i := range p.payloads {
		if l := &p.payloads[i]; isFile(*l) {
			files = append(files, l)
		}
	}
	for i := range p.payloads {
		l := &p.payloads[i]
		if isFile(*l) {
			all = append(all, coming{payload: l, at: l.LastAt, told: earlier(p.spans[l.ID].To, l.LastAt), rule: p.ruleOf(l)})
			continue
		}
		between := func(file *ledger.Payload) bool { return l.FirstAt.Before(file.LastAt) && file.LastAt.Before(l.LastAt) }
		if l.Times > 1 && slices.ContainsFunc(files, between) {
			all = append(all, coming{payload: l, at: l.FirstAt, told: l.FirstAt, besides: true})
		}
		all = append(all, coming{payload: l, at: l.LastAt, told: l.LastAt, rule: p.ruleOf(l)})
		for _, file := range files {
			if p.spans[file.ID].From.Before(l.LastAt) && l.LastAt.Before(file.LastAt) {
				all = append(all, coming{payload: l, at: file.LastAt, told: l.LastAt, besides: true, rule: max(p.ruleOf(l), unlessStored)})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b coming) int {
		return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.rule, b.rule)) // behind the file
	})
	return all
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// passOver leaves out the files that are not wanted, and tells when the last of
// them came. What such a file had stored stays. So what came before it, and was
// read by today's mapping already, is taken as it is stored, where the file may
// have put other values in its place; and that is left out which nothing of an
// older mapping comes before: it stands there.
func (p *person) passOver(wanted map[ledger.ID]imports.Span) (last time.Time) {
	p.payloads = slices.DeleteFunc(p.payloads, func(l ledger.Payload) bool {
		if _, ok := wanted[l.ID]; ok || !isFile(l) {
			return false
		}
		last = l.LastAt // the latest comes last
		return true
	})
	older := false
	p.payloads = slices.DeleteFunc(p.payloads, func(l ledger.Payload) bool {
		older = older || l.Stale()
		return !older && l.LastAt.Before(last)
	})
	return last
}

// ruleOf says what counts of a payload at its own place.
func (p *person) ruleOf(l *ledger.Payload) rule {
	if l.LastAt.Before(p.passed) && !l.Stale() {
		return asStored
	}
	return asRead
}

// userAt is the user with the fallback zone of an instant: with that, what came
// then was stored.
func (p *person) userAt(at time.Time) users.User {
	user := p.user
	user.TimeZone = p.zones.At(at)
	return user
}
