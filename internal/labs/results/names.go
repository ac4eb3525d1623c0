package results

// naming is what a result is known by: the lab's code, LOINC, and the slug of its
// name. Two with codes are the same by them, else two with LOINC by that, else by
// the slug.
type naming struct{ code, loinc, slug string }

func (r *Result) naming() naming  { return naming{r.ProviderID, r.LOINC, r.Slug} }
func (m *Missing) naming() naming { return naming{m.ProviderID, m.LOINC, m.Slug} }

// register finds results by their names. There may be very many of an order.
type register map[entry]bool

// entry is one name of results that have a code or not, and LOINC or not.
type entry struct {
	coded, loinc bool
	kind         kind
	name         string
}

type kind int8

const (
	byCode kind = iota
	byLOINC
	bySlug
)

func (r register) add(n naming) {
	in := entry{coded: n.code != "", loinc: n.loinc != ""}
	for at, name := range [...]string{byCode: n.code, byLOINC: n.loinc, bySlug: n.slug} {
		in.kind, in.name = kind(at), name
		r[in] = true
	}
}

// has reports whether any that was added is the same. Which name decides depends
// on what the other one has, so that each kind of other is asked for.
func (r register) has(n naming) bool {
	for _, coded := range []bool{true, false} {
		for _, loinc := range []bool{true, false} {
			other := entry{coded, loinc, bySlug, n.slug}
			switch {
			case coded && n.code != "":
				other.kind, other.name = byCode, n.code
			case loinc && n.loinc != "":
				other.kind, other.name = byLOINC, n.loinc
			}
			if r[other] {
				return true
			}
		}
	}
	return false
}
