package catalogue

import (
	"slices"
	"testing"
)

// allCodeSets returns all sets of four codes, so that all relations occur.
func allCodeSets() (all []CodeSet) {
	codes := []string{"1-8", "2-6", "3-4", "4-2"}
	for bits := range 1 << len(codes) {
		var some []string
		for i, code := range codes {
			if bits>>i&1 == 1 {
				some = append(some, code, "")
			}
		}
		all = append(all, NewCodeSet(some))
	}
	return all
}

func TestRelations(t *testing.T) {
	mirror := map[Relation]Relation{Exact: Exact, Subset: Superset, Superset: Subset, Overlap: Overlap, "": ""}
	seen := map[Relation]bool{}
	check := func(a, b CodeSet) {
		t.Helper()
		relation, share := a.RelationTo(b)
		back, same := b.RelationTo(a)
		seen[relation] = true
		if back != mirror[relation] || share != same {
			t.Errorf("%v is %s of %v, which is %s of it", a, relation, b, back)
		}
		common := 0
		for _, code := range a {
			if slices.Contains(b, code) {
				common++
			}
		}
		want := Overlap
		switch {
		case common == 0:
			want = ""
		case slices.Equal(a, b):
			want = Exact
		case common == len(a):
			want = Subset
		case common == len(b):
			want = Superset
		}
		if relation != want {
			t.Errorf("%v to %v: %s, want %s", a, b, relation, want)
		}
		if (share == 1) != (relation == Exact) || (share == 0) != (relation == "") || share < 0 || share > 1 {
			t.Errorf("%v to %v: share %v of %s", a, b, share, relation)
		}
		if (a.Hash() == b.Hash()) != slices.Equal(a, b) {
			t.Errorf("%v and %v: hashes", a, b)
		}
	}
	all := allCodeSets()
	for _, a := range all {
		for _, b := range all {
			check(a, b)
		}
	}
	if len(seen) != len(mirror) {
		t.Errorf("only saw %v", seen)
	}
}

func TestCanonicalSets(t *testing.T) {
	c := sandboxView()
	for query, want := range map[string]string{
		"lipid panel":             "Lipid Panel",
		"CBC with differential":   "CBC with Differential",
		"SGOT":                    "AST (SGOT)",
		"thyroid antibodies":      "Thyroid Antibodies",
		"Blood Sugar":             "Glucose",
		"62292-8":                 "Vitamin D, 25-Hydroxy (D2+D3)",
		"comprehensive metabolic": "Comprehensive Metabolic Panel",
	} {
		found := c.Canonicals(query, nil, 3)
		if len(found) == 0 || found[0].Name != want {
			t.Errorf("%q finds %+v", query, found)
			continue
		}
		if same, ok := c.CanonicalByHash(found[0].Hash); !ok || same != found[0].Canonical {
			t.Errorf("%q: its hash finds %+v", query, same)
		}
	}
	for _, m := range c.Canonicals("panel", []string{"80061"}, 10) {
		if !slices.Contains(m.CPT, "80061") {
			t.Errorf("by CPT code: %+v", m)
		}
	}
	if found := c.Canonicals("panel", []string{"83721"}, 10); len(found) != 1 || found[0].Name != "Lipid Panel with Direct LDL" {
		t.Errorf("by CPT code: %d sets", len(found))
	}
	if found := c.Canonicals("no such thing", nil, 3); len(found) != 0 {
		t.Errorf("found %+v", found[0])
	}
}

func TestCrosswalk(t *testing.T) {
	c := sandboxView()
	lipid, _ := c.MarkerByCode(labcorp, "800009")
	q, _ := c.Lab(quest)
	found := c.Crosswalk(CodesOf(lipid), lipid.Name, q, 20)
	if len(found) < 4 || found[0].Marker.Name != "Lipid Panel" || found[0].Relation != Overlap || !slices.Equal(found[0].Reasons, []string{"OVERLAP", "NAME_MATCH"}) {
		t.Fatalf("%+v", found[:min(1, len(found))])
	}
	for i, x := range found {
		if relation, _ := x.Codes.RelationTo(CodesOf(lipid)); x.Relation != Suggested && relation != x.Relation || i > 0 && x.Confidence > found[i-1].Confidence {
			t.Errorf("place %d: %s %v", i, x.Relation, x.Confidence)
		}
		if !x.Marker.Orderable || x.Marker.Lab != quest {
			t.Errorf("%+v cannot be ordered there", x.Marker)
		}
	}
	cmpPanel, _ := c.MarkerByCode(labcorp, "800002")
	same := c.Crosswalk(CodesOf(cmpPanel), "", q, 3)
	if same[0].Relation != Exact || same[0].Confidence != 1 || same[1].Relation != Subset {
		t.Errorf("%+v", same)
	}
	sources := Sources(c, []string{"800002", "800009", "nope", "800002"})
	if lab, ok := CommonLab(sources); len(sources) != 3 || !ok || lab != labcorp {
		t.Errorf("sources %+v", sources)
	}
	if best, ok := FindCovering(sources[0].CandidatesAt(c, q, 3)); !ok || best.Marker.ProviderID != "70002" {
		t.Errorf("the same panel there is %+v", best)
	}
	if _, ok := FindCovering(sources[1].CandidatesAt(c, q, 3)); ok {
		t.Error("half a lipid panel replaces the whole one")
	}
	if got := sources[2].CandidatesAt(c, q, 3); got != nil {
		t.Errorf("an unknown code is %+v", got)
	}
	set, _ := c.CanonicalByHash(CodesOf(cmpPanel).Hash())
	for _, m := range c.RelatedSets(set, 5) {
		if m.Relation == Exact || m.Relation == "" || m.Canonical == set {
			t.Errorf("related: %+v", m)
		}
	}
}
