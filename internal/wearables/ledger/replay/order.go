package replay

import (
	"cmp"
	"slices"
	"time"

	"hale/internal/people/users"
	"hale/internal/wearables/imports"
	"hale/internal/wearables/ledger"
)

// reading is a position of a payload in the order of reading.
type reading struct {
	payload    *ledger.Payload
	at         time.Time
	receivedAt time.Time // when it was received, for this reading
	extra      bool      // another reading of the payload is counted
	rule       rule
}

// readings returns the payloads in the order of reading. A pushed body that was received
// repeatedly is read at its last time. If a file was received in between, it is also read
// at its first time, before the file. A body that was received while a file was read is
// both before and after the file, because the days come from both. Only the stored data
// shows which of two equal keys was last.
func (p *person) readings() (all []reading) {
	var files []*ledger.Payload
	for i := range p.payloads {
		if l := &p.payloads[i]; isFile(*l) {
			files = append(files, l)
		}
	}
	for i := range p.payloads {
		l := &p.payloads[i]
		if isFile(*l) {
			all = append(all, reading{payload: l, at: l.LastAt, receivedAt: earlierOf(p.spans[l.ID].To, l.LastAt), rule: p.ruleOf(l)})
			continue
		}
		between := func(file *ledger.Payload) bool { return l.FirstAt.Before(file.LastAt) && file.LastAt.Before(l.LastAt) }
		if l.Times > 1 && slices.ContainsFunc(files, between) {
			all = append(all, reading{payload: l, at: l.FirstAt, receivedAt: l.FirstAt, extra: true})
		}
		all = append(all, reading{payload: l, at: l.LastAt, receivedAt: l.LastAt, rule: p.ruleOf(l)})
		for _, file := range files {
			if p.spans[file.ID].From.Before(l.LastAt) && l.LastAt.Before(file.LastAt) {
				all = append(all, reading{payload: l, at: file.LastAt, receivedAt: l.LastAt, extra: true, rule: max(p.ruleOf(l), preferStored)})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b reading) int {
		return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.rule, b.rule)) // after the file
	})
	return all
}

func earlierOf(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// skipFiles leaves out the files that are not reprocessed, and returns when the last of them
// was received. The data of such a file stays. Payloads before it that the current mapping
// has read are taken as stored, because the file may have replaced their values. Payloads
// without an older mapping before them are left out: their data is stored.
func (p *person) skipFiles(wanted map[ledger.ID]imports.Span) (last time.Time) {
	p.payloads = slices.DeleteFunc(p.payloads, func(l ledger.Payload) bool {
		if _, ok := wanted[l.ID]; ok || !isFile(l) {
			return false
		}
		last = l.LastAt // they are in order
		return true
	})
	older := false
	p.payloads = slices.DeleteFunc(p.payloads, func(l ledger.Payload) bool {
		older = older || l.Stale()
		return !older && l.LastAt.Before(last)
	})
	return last
}

// ruleOf returns the rule of a payload at its own position.
func (p *person) ruleOf(l *ledger.Payload) rule {
	if l.LastAt.Before(p.passed) && !l.Stale() {
		return useStored
	}
	return useMapped
}

// userOf returns the user with the zone by which a payload was read last.
func (p *person) userOf(r reading) users.User {
	user := p.userAt(r.receivedAt)
	if zone := p.spans[r.payload.ID].Zone; zone != nil && isFile(*r.payload) {
		user.TimeZone = nil
		if *zone != "" {
			user.TimeZone = &users.TimeZone{Name: *zone, SourceSlug: users.Manual}
		}
	}
	return user
}

// userAt returns the user with the fallback zone that was in effect at an instant.
func (p *person) userAt(at time.Time) users.User {
	user := p.user
	user.TimeZone = p.zones.At(at)
	return user
}
