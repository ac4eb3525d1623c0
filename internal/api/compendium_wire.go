package api

import "hale/internal/labs/catalogue"

// canonicalBody is a set of codes that some lab reports.
//
// Reference 1.16, CanonicalCandidate.
type canonicalBody struct {
	LOINCSetHash    string   `json:"loinc_set_hash"`
	DisplayName     string   `json:"display_name"`
	Aliases         []string `json:"aliases"`
	LOINCCodes      []string `json:"loinc_codes"`
	ProviderIDs     []string `json:"provider_ids" doc:"Codes that labs have for exactly this set."`
	LOINCComponents []string `json:"loinc_components" doc:"What the codes measure."`
	LOINCGroups     []string `json:"loinc_groups"`
	CPTCodes        []string `json:"cpt_codes"`
	PopularityScore float64  `json:"popularity_score" doc:"0 to 1."`
	Confidence      float64  `json:"confidence" doc:"0 to 1."`
}

// labTestMatched is a lab's marker that may stand for what was looked for.
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
	Relation        string   `json:"relation" doc:"exact, subset, superset, overlap or suggested."`
	Confidence      float64  `json:"confidence" doc:"0 to 1."`
	ReasonCodes     []string `json:"reason_codes" doc:"EXACT_LOINC_SET, SUBSET, SUPERSET, OVERLAP, NAME_MATCH, SYNONYM_MATCH."`
	Popularity      float64  `json:"marker_popularity_score" doc:"0 to 1."`
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
		LOINCSetHash: m.Hash, DisplayName: m.Name, Aliases: some(m.Aliases), LOINCCodes: m.Codes, ProviderIDs: some(m.ProviderIDs),
		LOINCComponents: m.Codes.Components(), LOINCGroups: m.Codes.Groups(), CPTCodes: some(m.CPT),
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
		LOINCSetHash: x.Codes.Hash(), LOINCCodes: some(x.Codes), LOINCComponents: x.Codes.Components(), LOINCGroups: x.Codes.Groups(),
		CPTCodes: some(x.Marker.CPT), Relation: string(x.Relation), Confidence: x.Confidence, ReasonCodes: x.Reasons, Popularity: x.Codes.Popularity(),
	}
}

// some is a list that is never null.
func some(list []string) []string { return append([]string{}, list...) }
