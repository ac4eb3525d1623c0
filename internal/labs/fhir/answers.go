package fhir

import (
	"cmp"
	"strconv"
)

// answers adds what was answered at order entry for a test: the request
// refers to it as supporting information, the way laboratories take it.
func (e *exporter) answers(at int, test Test) []Reference {
	r := QuestionnaireResponse{
		ResourceType: "QuestionnaireResponse", ID: e.id("answers " + strconv.Itoa(at)), Status: "completed",
		Subject: &e.subject, Authored: instant(e.order.PlacedAt),
	}
	for i, a := range test.Answers {
		item := ResponseItem{LinkID: cmp.Or(clean(a.Code), strconv.Itoa(i+1)), Text: clean(a.Question)}
		for _, g := range a.Given {
			if value := e.given(g); value != (ItemAnswer{}) {
				item.Answer = append(item.Answer, value)
			}
		}
		if item.Answer != nil {
			r.Item = append(r.Item, item)
		}
	}
	if r.Item == nil {
		return nil
	}
	return []Reference{e.add(r.ID, r)}
}

// given is one answer: chosen from the lab's list, a number, or words.
func (e *exporter) given(g Given) ItemAnswer {
	if code := clean(g.Code); code != "" {
		return ItemAnswer{ValueCoding: &Coding{e.labSystem() + ":aoe", code, clean(g.Text)}}
	}
	if n, ok := decimal(g.Text); ok && g.Numeric {
		return ItemAnswer{ValueDecimal: n}
	}
	return ItemAnswer{ValueString: clean(g.Text)}
}
