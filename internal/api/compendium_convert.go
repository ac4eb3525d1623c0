package api

import (
	"context"
	"math"
	"slices"

	"hale/internal/labs/catalogue"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
)

type convertCompendiumIn struct {
	Body struct {
		LabTestID   *catalogue.TestID  `json:"lab_test_id" required:"false" format:"uuid" nullable:"true" doc:"Either this or provider_ids."`
		ProviderIDs listOrNull[string] `json:"provider_ids" required:"false" maxItems:"100"`
		TargetLab   compendiumLabSlug  `json:"target_lab"`
		Limit       *int               `json:"limit" required:"false" default:"3" doc:"Candidates of each, 1 to 20."`
	}
}

// convertCompendiumBody is what the target lab has for each code.
//
// Reference 1.16, ConvertCompendiumResponse.
type convertCompendiumBody struct {
	SourceLabTestID       *string                   `json:"source_lab_test_id" format:"uuid"`
	SourceLabID           *int64                    `json:"source_lab_id" doc:"Null when the codes are of several labs."`
	TargetLabID           int64                     `json:"target_lab_id"`
	TargetLabSlug         string                    `json:"target_lab_slug"`
	SourceProviderIDs     []string                  `json:"source_provider_ids"`
	ConvertedProviderIDs  []string                  `json:"converted_provider_ids" doc:"Codes of the target lab that together report all of what was converted."`
	UnresolvedProviderIDs []string                  `json:"unresolved_provider_ids" doc:"For which the target lab has nothing that reports all of it."`
	BySourceProviderID    map[string]conversionBody `json:"by_source_provider_id"`
}

type conversionBody struct {
	SourceProviderID string           `json:"source_provider_id"`
	Candidates       []labTestMatched `json:"candidates"`
}

func (a *API) convertCompendium(ctx context.Context, c Caller, in *convertCompendiumIn) (*out[convertCompendiumBody], error) {
	if (in.Body.LabTestID == nil) == (len(in.Body.ProviderIDs) == 0) {
		return nil, fault.New(fault.Invalid, "Value error, give exactly one of lab_test_id and provider_ids").At("body", "lab_test_id")
	}
	if err := checkLimit("limit", *in.Body.Limit, 20); err != nil {
		return nil, err
	}
	var body convertCompendiumBody
	err := a.db.Read(ctx, func(tx *store.Tx) error {
		found, err := catalogue.For(ctx, tx, c.Team)
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
			body.SourceLabTestID, body.SourceLabID = orNone(id.String()), &t.Lab
		} else if lab, ok := catalogue.OneLab(sources); ok {
			body.SourceLabID = &lab
		}
		body.convert(found, sources, target, *in.Body.Limit)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return answer(body), nil
}

// targetLab is a lab of the catalogue: production teams have none before the
// first import.
func targetLab(found *catalogue.Catalogue, slug compendiumLabSlug) (catalogue.Lab, error) {
	l, ok := found.LabNamed(string(slug))
	if !ok {
		return catalogue.Lab{}, fault.New(fault.Refused, "The target lab is not in the catalogue").At("body", "target_lab")
	}
	return l, nil
}

func (b *convertCompendiumBody) convert(found *catalogue.Catalogue, sources []catalogue.Source, target catalogue.Lab, limit int) {
	b.TargetLabID, b.TargetLabSlug = target.ID, target.Slug
	b.SourceProviderIDs, b.ConvertedProviderIDs, b.UnresolvedProviderIDs = []string{}, []string{}, []string{}
	b.BySourceProviderID = map[string]conversionBody{}
	for _, s := range sources {
		candidates := s.At(found, target, math.MaxInt) // what covers a code need not be among the first
		b.SourceProviderIDs = append(b.SourceProviderIDs, s.ProviderID)
		b.BySourceProviderID[s.ProviderID] = conversionBody{s.ProviderID, matchedAll(candidates[:min(limit, len(candidates))])}
		switch best, ok := catalogue.Covering(candidates); {
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
	Body struct {
		ProviderIDs      []string          `json:"provider_ids" maxItems:"100"`
		TargetLab        compendiumLabSlug `json:"target_lab"`
		PerProviderLimit *int              `json:"per_provider_limit" required:"false" default:"1" doc:"1 to 20."`
	}
}

type searchOrderableBody struct {
	Candidates map[string][]labTestMatched `json:"candidates" doc:"By the code that was asked for."`
}

func (a *API) searchOrderable(ctx context.Context, c Caller, in *searchOrderableIn) (*out[searchOrderableBody], error) {
	if err := checkLimit("per_provider_limit", *in.Body.PerProviderLimit, 20); err != nil {
		return nil, err
	}
	found, err := a.catalogue(ctx, c)
	if err != nil {
		return nil, err
	}
	target, err := targetLab(found, in.Body.TargetLab)
	if err != nil {
		return nil, err
	}
	body := searchOrderableBody{map[string][]labTestMatched{}}
	for _, s := range catalogue.Sources(found, in.Body.ProviderIDs) {
		body.Candidates[s.ProviderID] = matchedAll(s.At(found, target, *in.Body.PerProviderLimit))
	}
	return answer(body), nil
}
