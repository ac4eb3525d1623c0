package healthconnect

import "slices"

// Apps that read from Health Connect and write the same data back make a second record
// with the same start, end and value. The record of the device's own app stays; the
// copy is left out and counted. A record that is repeated word for word, as one without
// an id may be in JSON, is one as well.
//
// Measurements are not compared: two apps may measure the same pulse, and every app's
// samples are a series of their own.

// longestGroup bounds the number of compared records with one start; more than a few
// are no mirror.
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

// better reports whether a, and not its copy b, is the original. The first difference
// decides:
//
//   - a device recorded it
//   - the person's order of apps
//   - it states how it was recorded
//   - its app was added earlier, and has the lower row number
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

// recorded reports whether a device made the record by itself.
func (r *record) recorded() bool {
	return (r.method == automatic || r.method == active) && r.device != 0
}
