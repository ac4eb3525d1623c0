package api

import (
	"context"
	"slices"
	"strings"

	"hale/internal/labs/catalogue"
	"hale/internal/platform/fault"
)

func (a *API) compendiumRoutes() []route {
	return []route{
		post("/v3/compendium/search", a.searchCompendium, "Find tests by what they report, across labs"),
		post("/v3/compendium/convert", a.convertCompendium, "Find what another lab has for a lab test or lab codes"),
		post("/v3/compendium/search_orderable_tests", a.searchOrderable, "Find what can be ordered of a lab for codes of others"),
	}
}

type searchCompendiumIn struct {
	Body struct {
		Mode           compendiumMode                `json:"mode" doc:"canonical finds sets of codes; crosswalk also each lab's tests for one."`
		Query          *string                       `json:"query" required:"false" maxLength:"500" doc:"A name, synonym or LOINC code."`
		CPTCodes       listOrNull[string]            `json:"cpt_codes" required:"false" maxItems:"100"`
		LOINCSetHash   *string                       `json:"loinc_set_hash" required:"false" maxLength:"100" doc:"Of an earlier answer; crosswalk only, instead of query."`
		Labs           listOrNull[compendiumLabSlug] `json:"labs" required:"false" maxItems:"100" doc:"All four when absent."`
		IncludeRelated *bool                         `json:"include_related" required:"false" default:"true"`
		Limit          *int                          `json:"limit" required:"false" default:"3" doc:"Of each list: 1 to 10, in crosswalk mode to 20."`
	}
}

// searchCompendiumBody is what a search finds.
//
// Reference 1.16, SearchCompendiumResponse.
type searchCompendiumBody struct {
	Mode                string                      `json:"mode"`
	SelectedCanonical   orNull[canonicalBody]       `json:"selected_canonical" doc:"The set that crosswalk went on with."`
	CanonicalCandidates []canonicalBody             `json:"canonical_candidates"`
	PerLab              map[string][]labTestMatched `json:"per_lab" doc:"By slug of the lab."`
	Related             []relatedBody               `json:"related"`
}

func (in *searchCompendiumIn) check() error {
	b := &in.Body
	bad := func(field, msg string) error {
		return fault.New(fault.Invalid, "Value error, "+msg).At("body", field)
	}
	query, hashed := b.Query != nil && strings.TrimSpace(*b.Query) != "", b.LOINCSetHash != nil && *b.LOINCSetHash != ""
	most := 10
	switch {
	case b.Mode == "canonical" && !query:
		return bad("query", "canonical mode needs a query")
	case b.Mode == "canonical" && hashed:
		return bad("loinc_set_hash", "canonical mode takes no loinc_set_hash")
	case b.Mode == "crosswalk" && query == hashed:
		return bad("query", "crosswalk mode needs exactly one of query and loinc_set_hash")
	case b.Mode == "crosswalk":
		most = 20
	}
	return checkLimit("limit", *b.Limit, most)
}

// checkLimit wants a limit from 1 to most.
func checkLimit(field string, limit, most int) error {
	if limit < 1 || limit > most {
		return fault.Newf(fault.Invalid, "Value error, must be between 1 and %d", most).At("body", field).WithInput(limit)
	}
	return nil
}

func (a *API) searchCompendium(ctx context.Context, c Caller, in *searchCompendiumIn) (*out[searchCompendiumBody], error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	found, err := a.catalogue(ctx, c)
	if err != nil {
		return nil, err
	}
	limit := *in.Body.Limit
	body := searchCompendiumBody{
		Mode: string(in.Body.Mode), CanonicalCandidates: []canonicalBody{}, PerLab: map[string][]labTestMatched{}, Related: []relatedBody{},
	}
	candidates := in.candidates(found, limit)
	for _, m := range candidates {
		body.CanonicalCandidates = append(body.CanonicalCandidates, canonicalOf(m))
	}
	if in.Body.Mode == "crosswalk" && len(candidates) > 0 {
		in.crosswalk(found, candidates[0], limit, &body)
	}
	return answer(body), nil
}

func (in *searchCompendiumIn) candidates(found *catalogue.Catalogue, limit int) []catalogue.Match {
	if in.Body.Query != nil && strings.TrimSpace(*in.Body.Query) != "" {
		return found.Canonicals(*in.Body.Query, in.Body.CPTCodes, limit)
	}
	if set, ok := found.CanonicalHashed(*in.Body.LOINCSetHash); ok {
		return []catalogue.Match{{Canonical: set, Confidence: 1}}
	}
	return nil
}

// crosswalk goes on from a canonical set to the labs' tests.
func (in *searchCompendiumIn) crosswalk(found *catalogue.Catalogue, selected catalogue.Match, limit int, body *searchCompendiumBody) {
	chosen := canonicalOf(selected)
	body.SelectedCanonical = nullable(&chosen)
	slugs := slices.Compact(slices.Sorted(slices.Values(textsOf(in.Body.Labs))))
	if len(slugs) == 0 {
		slugs = catalogue.CentralSlugs
	}
	for _, slug := range slugs {
		body.PerLab[slug] = []labTestMatched{}
		if l, ok := found.LabNamed(slug); ok {
			for _, x := range found.Crosswalk(selected.Codes, selected.Name, l, limit) {
				body.PerLab[slug] = append(body.PerLab[slug], matchedOf(x))
			}
		}
	}
	if *in.Body.IncludeRelated {
		for _, m := range found.Related(selected.Canonical, limit) {
			body.Related = append(body.Related, relatedBody{canonicalOf(m), string(m.Relation), m.Confidence, m.Reasons})
		}
	}
}
