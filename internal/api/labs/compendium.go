package labs

import (
	"context"
	"math"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"hale/internal/api"
	"hale/internal/labs/catalogue"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
)

func (h *Handlers) compendiumRoutes() []api.Route {
	return []api.Route{
		api.Post("/v3/compendium/search", h.searchCompendium, "Find tests by their observations, across labs").Reads(),
		api.Post("/v3/compendium/convert", h.convertCompendium, "Find another lab's tests for a lab test or lab codes").Reads(),
		api.Post("/v3/compendium/search_orderable_tests", h.searchOrderable, "Find a lab's orderable tests for codes of other labs"),
	}
}

type searchCompendiumIn struct {
	Body searchCompendiumInBody
}

type searchCompendiumInBody struct {
	Mode           compendiumMode                    `json:"mode" doc:"canonical finds sets of codes; crosswalk also finds each lab's tests for one set."`
	Query          *string                           `json:"query" required:"false" maxLength:"500" doc:"A name, synonym or LOINC code."`
	CPTCodes       api.ListOrNull[string]            `json:"cpt_codes" required:"false" maxItems:"100"`
	LOINCSetHash   *string                           `json:"loinc_set_hash" required:"false" maxLength:"100" doc:"Set of codes from an earlier answer. It replaces query in crosswalk mode."`
	Labs           api.ListOrNull[compendiumLabSlug] `json:"labs" required:"false" maxItems:"100" doc:"Labs to search. The default is all four."`
	IncludeRelated *bool                             `json:"include_related" required:"false" default:"true"`
	Limit          *int                              `json:"limit" required:"false" default:"3" doc:"Largest length of each list: 1 to 10, or 1 to 20 in crosswalk mode."`
}

// TransformSchema states the rules of check.
func (searchCompendiumInBody) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	blank, text := &huma.Schema{Pattern: `^\s*$`}, &huma.Schema{Type: huma.TypeString, Pattern: `[^\s\x0b]`}
	none, one := 0, 1
	noHash, hash := &huma.Schema{MaxLength: &none}, &huma.Schema{Type: huma.TypeString, MinLength: &one}
	alternative := func(mode string, limit float64, query, set *huma.Schema, required string) *huma.Schema {
		return api.Object([]string{required}, map[string]*huma.Schema{
			"mode": {Enum: []any{mode}}, "limit": limits(limit), "query": query, "loinc_set_hash": set,
		})
	}
	return api.State(s, map[string]api.Keywords{"": api.StateAny(
		alternative("canonical", 10, text, noHash, "query"), alternative("crosswalk", 20, text, noHash, "query"), alternative("crosswalk", 20, blank, hash, "loinc_set_hash"),
	)})
}

// limits returns the bounds of a limit.
func limits(most float64) *huma.Schema {
	least := 1.0
	return &huma.Schema{Minimum: &least, Maximum: &most}
}

// stateLimit states the bounds of a limit.
func stateLimit(most int) api.Keywords { return api.Keywords{"minimum": 1, "maximum": most} }

// searchCompendiumBody is the result of a search.
//
// Reference 1.16, SearchCompendiumResponse.
type searchCompendiumBody struct {
	Mode                string                      `json:"mode"`
	SelectedCanonical   api.OrNull[canonicalBody]   `json:"selected_canonical" doc:"The set whose tests crosswalk returns."`
	CanonicalCandidates []canonicalBody             `json:"canonical_candidates"`
	PerLab              map[string][]labTestMatched `json:"per_lab" doc:"Object with one entry for each lab, by slug."`
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

// checkLimit requires a limit from 1 to most.
func checkLimit(field string, limit, most int) error {
	if limit < 1 || limit > most {
		return fault.Newf(fault.Invalid, "Value error, must be between 1 and %d", most).At("body", field).WithInput(limit)
	}
	return nil
}

func (h *Handlers) searchCompendium(ctx context.Context, c api.Caller, in *searchCompendiumIn) (*api.Out[searchCompendiumBody], error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	found, err := h.catalogue(ctx, c)
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
	return api.Answer(body), nil
}

func (in *searchCompendiumIn) candidates(found *catalogue.Catalogue, limit int) []catalogue.Match {
	if in.Body.Query != nil && strings.TrimSpace(*in.Body.Query) != "" {
		return found.Canonicals(*in.Body.Query, in.Body.CPTCodes, limit)
	}
	if set, ok := found.CanonicalByHash(*in.Body.LOINCSetHash); ok {
		return []catalogue.Match{{Canonical: set, Confidence: 1}}
	}
	return nil
}

// crosswalk finds the labs' tests for a canonical set.
func (in *searchCompendiumIn) crosswalk(found *catalogue.Catalogue, selected catalogue.Match, limit int, body *searchCompendiumBody) {
	chosen := canonicalOf(selected)
	body.SelectedCanonical = api.Nullable(&chosen)
	slugs := slices.Compact(slices.Sorted(slices.Values(textsOf(in.Body.Labs))))
	if len(slugs) == 0 {
		slugs = catalogue.CentralSlugs
	}
	for _, slug := range slugs {
		body.PerLab[slug] = []labTestMatched{}
		if l, ok := found.LabBySlug(slug); ok {
			for _, x := range found.Crosswalk(selected.Codes, selected.Name, l, limit) {
				body.PerLab[slug] = append(body.PerLab[slug], matchedOf(x))
			}
		}
	}
	if *in.Body.IncludeRelated {
		for _, m := range found.RelatedSets(selected.Canonical, limit) {
			body.Related = append(body.Related, relatedBody{canonicalOf(m), string(m.Relation), m.Confidence, m.Reasons})
		}
	}
}

type convertCompendiumIn struct {
	Body convertCompendiumInBody
}

type convertCompendiumInBody struct {
	LabTestID   *catalogue.TestID      `json:"lab_test_id" required:"false" format:"uuid" nullable:"true" doc:"Lab test to convert. Send either this or provider_ids."`
	ProviderIDs api.ListOrNull[string] `json:"provider_ids" required:"false" maxItems:"100"`
	TargetLab   compendiumLabSlug      `json:"target_lab"`
	Limit       *int                   `json:"limit" required:"false" default:"3" doc:"Candidates for each code: 1 to 20."`
}

// TransformSchema states the rules of convertCompendium.
func (convertCompendiumInBody) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return api.State(s, map[string]api.Keywords{
		"limit": stateLimit(20), "": api.OneOf(api.Has("lab_test_id", huma.TypeString), api.HasList("provider_ids")),
	})
}

// convertCompendiumBody contains the target lab's tests for each code.
//
// Reference 1.16, ConvertCompendiumResponse.
type convertCompendiumBody struct {
	SourceLabTestID       *string                   `json:"source_lab_test_id" format:"uuid"`
	SourceLabID           *int64                    `json:"source_lab_id" doc:"Lab of the codes. It is null if the codes belong to several labs."`
	TargetLabID           int64                     `json:"target_lab_id"`
	TargetLabSlug         string                    `json:"target_lab_slug"`
	SourceProviderIDs     []string                  `json:"source_provider_ids"`
	ConvertedProviderIDs  []string                  `json:"converted_provider_ids" doc:"Codes of the target lab that together cover all converted codes."`
	UnresolvedProviderIDs []string                  `json:"unresolved_provider_ids" doc:"Codes that no test of the target lab covers completely."`
	BySourceProviderID    map[string]conversionBody `json:"by_source_provider_id"`
}

type conversionBody struct {
	SourceProviderID string           `json:"source_provider_id"`
	Candidates       []labTestMatched `json:"candidates"`
}

func (h *Handlers) convertCompendium(ctx context.Context, c api.Caller, in *convertCompendiumIn) (*api.Out[convertCompendiumBody], error) {
	if (in.Body.LabTestID == nil) == (len(in.Body.ProviderIDs) == 0) {
		return nil, fault.New(fault.Invalid, "Value error, give exactly one of lab_test_id and provider_ids").At("body", "lab_test_id")
	}
	if err := checkLimit("limit", *in.Body.Limit, 20); err != nil {
		return nil, err
	}
	var body convertCompendiumBody
	err := h.DB.Read(ctx, func(tx *store.Tx) error {
		found, err := catalogue.Load(ctx, tx, c.Team)
		if err != nil {
			return err
		}
		target, err := targetLab(found, in.Body.TargetLab)
		if err != nil {
			return err
		}
		sources := catalogue.Sources(found, in.Body.ProviderIDs)
		body = convertCompendiumBody{}
		if id := in.Body.LabTestID; id != nil {
			t, err := catalogue.GetTest(ctx, tx, c.Team, *id)
			if err != nil {
				return err
			}
			sources = catalogue.SourcesOf(found, t)
			body.SourceLabTestID, body.SourceLabID = api.TextOrNull(id.String()), &t.Lab
		} else if lab, ok := catalogue.CommonLab(sources); ok {
			body.SourceLabID = &lab
		}
		body.convert(found, sources, target, *in.Body.Limit)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return api.Answer(body), nil
}

// targetLab returns a lab of the catalogue. Production teams have no labs before the
// first import.
func targetLab(found *catalogue.Catalogue, slug compendiumLabSlug) (catalogue.Lab, error) {
	l, ok := found.LabBySlug(string(slug))
	if !ok {
		return catalogue.Lab{}, fault.New(fault.Refused, "target_lab is not in the catalogue").At("body", "target_lab")
	}
	return l, nil
}

func (b *convertCompendiumBody) convert(found *catalogue.Catalogue, sources []catalogue.Source, target catalogue.Lab, limit int) {
	b.TargetLabID, b.TargetLabSlug = target.ID, target.Slug
	b.SourceProviderIDs, b.ConvertedProviderIDs, b.UnresolvedProviderIDs = []string{}, []string{}, []string{}
	b.BySourceProviderID = map[string]conversionBody{}
	for _, s := range sources {
		candidates := s.CandidatesAt(found, target, math.MaxInt) // the test that covers a code may have a low rank
		b.SourceProviderIDs = append(b.SourceProviderIDs, s.ProviderID)
		b.BySourceProviderID[s.ProviderID] = conversionBody{s.ProviderID, matchedAll(candidates[:min(limit, len(candidates))])}
		switch best, ok := catalogue.FindCovering(candidates); {
		case !ok:
			b.UnresolvedProviderIDs = append(b.UnresolvedProviderIDs, s.ProviderID)
		case !slices.Contains(b.ConvertedProviderIDs, best.Marker.ProviderID):
			b.ConvertedProviderIDs = append(b.ConvertedProviderIDs, best.Marker.ProviderID)
		}
	}
}

func matchedAll(candidates []catalogue.Candidate) []labTestMatched {
	bodies := []labTestMatched{}
	for _, x := range candidates {
		bodies = append(bodies, matchedOf(x))
	}
	return bodies
}

type searchOrderableIn struct {
	Body searchOrderableInBody
}

type searchOrderableInBody struct {
	ProviderIDs      []string          `json:"provider_ids" maxItems:"100"`
	TargetLab        compendiumLabSlug `json:"target_lab"`
	PerProviderLimit *int              `json:"per_provider_limit" required:"false" default:"1" doc:"Tests for each lab: 1 to 20."`
}

// TransformSchema states the rules of searchOrderable.
func (searchOrderableInBody) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return api.State(s, map[string]api.Keywords{"per_provider_limit": stateLimit(20)})
}

type searchOrderableBody struct {
	Candidates map[string][]labTestMatched `json:"candidates" doc:"Candidates by requested code."`
}

func (h *Handlers) searchOrderable(ctx context.Context, c api.Caller, in *searchOrderableIn) (*api.Out[searchOrderableBody], error) {
	if err := checkLimit("per_provider_limit", *in.Body.PerProviderLimit, 20); err != nil {
		return nil, err
	}
	found, err := h.catalogue(ctx, c)
	if err != nil {
		return nil, err
	}
	target, err := targetLab(found, in.Body.TargetLab)
	if err != nil {
		return nil, err
	}
	body := searchOrderableBody{map[string][]labTestMatched{}}
	for _, s := range catalogue.Sources(found, in.Body.ProviderIDs) {
		body.Candidates[s.ProviderID] = matchedAll(s.CandidatesAt(found, target, *in.Body.PerProviderLimit))
	}
	return api.Answer(body), nil
}

// canonicalBody is a set of codes that at least one lab reports.
//
// Reference 1.16, CanonicalCandidate.
type canonicalBody struct {
	LOINCSetHash    string   `json:"loinc_set_hash"`
	DisplayName     string   `json:"display_name"`
	Aliases         []string `json:"aliases"`
	LOINCCodes      []string `json:"loinc_codes"`
	ProviderIDs     []string `json:"provider_ids" doc:"Codes of labs for exactly this set."`
	LOINCComponents []string `json:"loinc_components" doc:"The observations that the codes measure."`
	LOINCGroups     []string `json:"loinc_groups"`
	CPTCodes        []string `json:"cpt_codes"`
	PopularityScore float64  `json:"popularity_score" doc:"Popularity of the test, a number from 0 to 1."`
	Confidence      float64  `json:"confidence" doc:"Confidence, a number from 0 to 1."`
}

// labTestMatched is a lab's marker that may match the search.
//
// Reference 1.16, PerLabCandidate.
type labTestMatched struct {
	MarkerID        int64    `json:"marker_id"`
	LabID           int64    `json:"lab_id"`
	LabSlug         string   `json:"lab_slug"`
	Name            string   `json:"name"`
	ResultNames     []string `json:"result_names"`
	ProviderID      string   `json:"provider_id"`
	LOINCSetHash    string   `json:"loinc_set_hash"`
	LOINCCodes      []string `json:"loinc_codes"`
	LOINCComponents []string `json:"loinc_components"`
	LOINCGroups     []string `json:"loinc_groups"`
	CPTCodes        []string `json:"cpt_codes"`
	Relation        string   `json:"relation" doc:"Relation of the test's results to the requested ones: exact, subset, superset, overlap or suggested."`
	Confidence      float64  `json:"confidence" doc:"Confidence, a number from 0 to 1."`
	ReasonCodes     []string `json:"reason_codes" doc:"EXACT_LOINC_SET, SUBSET, SUPERSET, OVERLAP, NAME_MATCH, SYNONYM_MATCH."`
	Popularity      float64  `json:"marker_popularity_score" doc:"Popularity of the marker, a number from 0 to 1."`
}

// relatedBody is a canonical set that shares codes with the selected one.
//
// Reference 1.16, RelatedCandidate.
type relatedBody struct {
	Canonical   canonicalBody `json:"canonical"`
	Relation    string        `json:"relation"`
	Confidence  float64       `json:"confidence"`
	ReasonCodes []string      `json:"reason_codes"`
}

func canonicalOf(m catalogue.Match) canonicalBody {
	return canonicalBody{
		LOINCSetHash: m.Hash, DisplayName: m.Name, Aliases: nonNilList(m.Aliases), LOINCCodes: m.Codes, ProviderIDs: nonNilList(m.ProviderIDs),
		LOINCComponents: m.Codes.Components(), LOINCGroups: m.Codes.Groups(), CPTCodes: nonNilList(m.CPT),
		PopularityScore: m.Popularity, Confidence: m.Confidence,
	}
}

func matchedOf(x catalogue.Candidate) labTestMatched {
	names := make([]string, len(x.Marker.Results))
	for i, r := range x.Marker.Results {
		names[i] = r.Name
	}
	return labTestMatched{
		MarkerID: x.Marker.ID, LabID: x.Lab.ID, LabSlug: x.Lab.Slug, Name: x.Marker.Name, ResultNames: names, ProviderID: x.Marker.ProviderID,
		LOINCSetHash: x.Codes.Hash(), LOINCCodes: nonNilList(x.Codes), LOINCComponents: x.Codes.Components(), LOINCGroups: x.Codes.Groups(),
		CPTCodes: nonNilList(x.Marker.CPT), Relation: string(x.Relation), Confidence: x.Confidence, ReasonCodes: x.Reasons, Popularity: x.Codes.Popularity(),
	}
}

// nonNilList returns the list, or an empty list for nil, because the JSON must not be null.
func nonNilList(list []string) []string { return append([]string{}, list...) }
