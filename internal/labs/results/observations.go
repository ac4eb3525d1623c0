package results

import (
	"cmp"
	"strings"

	"hale/internal/labs/networks"
)

// observation names what versions of one value have in common.
type observation struct{ code, sub string }

// claim is what one report says of an observation: values, or that there will
// be none.
type claim struct {
	rank int
	// place is where the report stands among the others.
	place   int
	values  []found
	missing *networks.Missing
}

// outranks orders claims by how far their status goes, then by their reports.
func (c *claim) outranks(other *claim) bool {
	return cmp.Or(cmp.Compare(c.rank, other.rank), cmp.Compare(c.place, other.place)) > 0
}

// The ranks of a status.
const (
	preliminary = 1 + iota
	verified    // by a person, not final
	final
	corrected
)

// rank orders the statuses of HL7 table 0085 by how final they are. A result
// without one is as final as its report.
func rank(status string, r *Report) int {
	switch strings.ToUpper(status) {
	case "P", "S", "A", "I":
		return preliminary
	case "R":
		return verified
	case "F", "U", "X":
		return final
	case "C", "D", "W":
		return corrected
	}
	return []int{preliminary, final, corrected}[r.class()]
}

// codeOf is the lab's code of a value. Text that has none is about its test.
func codeOf(code, loinc, test, name string) string {
	return strings.ToLower(cmp.Or(code, loinc, test+"/"+name))
}

// observations chooses the claims that count, and lists their values in the
// order of the best report that has them. What is only said of the rest of a test
// is listed, and takes no value away.
func (m *merged) observations(sorted []*Report, own string) {
	best := map[observation]*claim{}
	gone, denied := map[string]*claim{}, map[string]*claim{} // by code
	listed := map[observation]bool{}
	var order []observation
	var codes []string
	for place := len(sorted) - 1; place >= 0; place-- {
		r := sorted[place]
		for key, c := range claims(r, place, own) {
			put(best, key, c)
		}
		for i := range r.Set.Results {
			if key := keyOf(&r.Set.Results[i]); !listed[key] {
				listed[key] = true
				order = append(order, key)
			}
		}
		for i := range r.Set.Missing {
			no := &r.Set.Missing[i]
			c := &claim{rank: max(final, rank("", r)), place: place, missing: no}
			code := codeOf(no.ProviderID, no.LOINC, no.TestProviderID, no.Name)
			if gone[code] == nil {
				codes = append(codes, code)
			}
			put(gone, code, c)
			if !no.Rest {
				put(denied, code, c)
			}
		}
	}
	there := map[string]bool{}
	for _, key := range order {
		if no := denied[key.code]; no != nil && no.outranks(best[key]) {
			continue
		}
		there[key.code] = true
		m.results = append(m.results, best[key].values...)
	}
	for _, code := range codes {
		if no := gone[code].missing; no.Rest || !there[code] {
			m.missing = append(m.missing, *no)
		}
	}
}

// put keeps a claim that outranks the one before it.
func put[K comparable](best map[K]*claim, key K, c *claim) {
	if known := best[key]; known == nil || c.outranks(known) {
		best[key] = c
	}
}

func keyOf(r *networks.Result) observation {
	return observation{codeOf(r.ProviderID, r.LOINC, r.TestProviderID, r.Name), r.SubID}
}

// said is a value that a report has of an observation.
type said struct {
	observation
	rank        int
	value, unit string
}

// claims gathers a report's values by observation. The same value under two
// tests is one; two values of one code are both kept.
func claims(r *Report, place int, own string) map[observation]*claim {
	all := map[observation]*claim{}
	before := map[said]bool{}
	for i := range r.Set.Results {
		one := &r.Set.Results[i]
		key, rank := keyOf(one), rank(one.Status, r)
		c := all[key]
		if c == nil || rank > c.rank {
			c = &claim{rank: rank, place: place}
			all[key] = c
		}
		this := said{key, rank, one.Value, one.Unit}
		again := before[this] && (one.ProviderID != "" || one.LOINC != "")
		if rank == c.rank && !again {
			c.values = append(c.values, found{*one, sampleKey(r, own)})
		}
		before[this] = true
	}
	return all
}
