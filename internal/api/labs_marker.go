package api

import (
	"cmp"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/loinc"
)

// markerBody is a marker on the wire.
//
// Spec: Marker. Reference 1.1, ClientFacingMarker; with expected_results it is
// ClientFacingMarkerComplete.
type markerBody struct {
	ID              int64                `json:"id"`
	Name            string               `json:"name"`
	Slug            string               `json:"slug"`
	Description     string               `json:"description"`
	LabID           int64                `json:"lab_id"`
	ProviderID      string               `json:"provider_id" doc:"The lab's own code: the same in every environment."`
	Type            string               `json:"type" doc:"biomarker or panel. The list may grow."`
	Unit            *string              `json:"unit"`
	Price           string               `json:"price" doc:"US dollars, or words such as N/A."`
	AOE             orNull[aoeBody]      `json:"aoe" doc:"What must be asked when it is ordered."`
	ALaCarteEnabled bool                 `json:"a_la_carte_enabled" doc:"Whether it may be ordered by itself."`
	CommonTATDays   *int                 `json:"common_tat_days" doc:"Days until 95 % of results are there."`
	WorstTATDays    *int                 `json:"worst_case_tat_days" doc:"Days until 99 % are."`
	IsOrderable     bool                 `json:"is_orderable"`
	ExpectedResults []expectedResultBody `json:"expected_results" doc:"The rows that its report will have."`
}

type expectedResultBody struct {
	ID         int64      `json:"id"`
	Name       string     `json:"name"`
	Slug       string     `json:"slug"`
	LabID      int64      `json:"lab_id"`
	ProviderID string     `json:"provider_id" doc:"The lab's own code; empty when it has none."`
	Required   bool       `json:"required" doc:"A report without it is incomplete."`
	LOINC      *loincBody `json:"loinc,omitempty" doc:"Left out when no code is known."`
}

// loincBody is an observation code with its official name.
type loincBody struct {
	ID   int64   `json:"id"`
	Name string  `json:"name"`
	Slug string  `json:"slug"`
	Code string  `json:"code"`
	Unit *string `json:"unit" doc:"UCUM."`
}

type aoeBody struct {
	Questions []questionBody `json:"questions"`
}

type questionBody struct {
	ID         int64        `json:"id"`
	Required   bool         `json:"required"`
	Code       string       `json:"code"`
	Value      string       `json:"value" doc:"The question."`
	Type       string       `json:"type" doc:"choice, text, numeric, multi_choice. The list may grow."`
	Sequence   int          `json:"sequence"`
	Answers    []answerBody `json:"answers"`
	Constraint *string      `json:"constraint" doc:"How to answer, for people."`
	Default    *string      `json:"default"`
}

type answerBody struct {
	ID    int64  `json:"id"`
	Code  string `json:"code"`
	Value string `json:"value"`
}

func markerOf(m *catalogue.Marker) markerBody {
	b := markerBody{
		ID: m.ID, Name: m.Name, Slug: m.Slug, Description: m.Description, LabID: m.Lab, ProviderID: m.ProviderID, Type: string(m.Type),
		Unit: orNone(m.Unit), Price: cmp.Or(m.Price, "N/A"), ALaCarteEnabled: m.ALaCarte, CommonTATDays: m.CommonTAT,
		WorstTATDays: m.WorstTAT, IsOrderable: m.Orderable && !m.Reflex && m.Active, ExpectedResults: []expectedResultBody{},
	}
	if len(m.Questions) > 0 {
		aoe := aoeOf(m.Questions)
		b.AOE = nullable(&aoe)
	}
	for _, r := range m.Results {
		b.ExpectedResults = append(b.ExpectedResults, expectedResultBody{
			ID: r.ID, Name: r.Name, Slug: r.Slug, LabID: m.Lab, ProviderID: r.ProviderID, Required: r.Required, LOINC: loincOf(r.Code()),
		})
	}
	return b
}

func loincOf(c *loinc.Code) *loincBody {
	if c == nil {
		return nil
	}
	return &loincBody{ID: c.ID, Name: c.Name, Slug: c.Slug(), Code: c.Code, Unit: orNone(c.Unit)}
}

func aoeOf(questions []catalogue.Question) aoeBody {
	body := aoeBody{}
	for _, q := range questions {
		b := questionBody{
			ID: q.ID, Required: q.Required, Code: q.Code, Value: q.Value, Type: string(q.Type), Sequence: q.Sequence,
			Answers: []answerBody{}, Constraint: orNone(q.Constraint), Default: orNone(q.Default),
		}
		for _, answer := range q.Answers {
			b.Answers = append(b.Answers, answerBody(answer))
		}
		body.Questions = append(body.Questions, b)
	}
	return body
}
