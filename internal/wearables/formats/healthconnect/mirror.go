package healthconnect

import "slices"

// Apps that read from Health Connect and write back what they read make a
// second record with the same start, end and value. The record of the device's
// own app stays; the copy is left out and counted. A record that stands there
// twice, word for word, as one without an id may in JSON, is one as well.
//
// Measurements are not looked at: two apps may well measure the same pulse,
// and every app's samples are a series of their own.

// longestGroup is how many records with one start are compared; more than a
// few is no mirror.
const longestGroup = 64

// withoutCopies leaves out the copies among records with the same start.
func (m *importer) withoutCopies(group []record, category int64) []record {
	if len(group) < 2 || len(group) > longestGroup {
		return group
	}
	kept := group[:0:0]
	for i := range group {
		r := &group[i]
		mirrored := slices.ContainsFunc(group, func(o record) bool {
			return o.app != r.app && o.end == r.end && o.value == r.value && m.better(&o, r, category)
		})
		if mirrored || slices.Contains(kept, *r) {
			m.outcome.Copies++
			continue
		}
		kept = append(kept, *r)
	}
	return kept
}

// better is whether a, and not its twin b, is the original: a device recorded
// it; else the person put its app first; else it says at all how it was
// recorded; else its app was there earlier.
func (m *importer) better(a, b *record, category int64) bool {
	if x, y := a.recorded(), b.recorded(); x != y {
		return x
	}
	if x, y := m.sources.rank(category, a.app), m.sources.rank(category, b.app); x != y {
		return x < y
	}
	if x, y := a.method != 0, b.method != 0; x != y {
		return x
	}
	return a.app < b.app
}

// recorded is whether a device made the record by itself.
func (r *record) recorded() bool {
	return (r.method == automatic || r.method == active) && r.device != 0
}
