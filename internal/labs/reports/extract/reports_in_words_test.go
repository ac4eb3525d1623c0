package extract

import (
	"errors"
	"testing"
)

// A report can have answers in words only, also of tests that no list has.
func TestReportsInWords(t *testing.T) {
	for _, lines := range [][]string{
		{"Test                       Result", "SARS-CoV-2 PCR             Detected", "Influenza A PCR            Not detected", "RSV PCR                    Not detected"},
		{"Test                       Result", "HPV 16                     Not detected", "HPV 18/45                  Detected"},
		{"JAK2 V617F mutation: Not detected", "Factor V Leiden: Heterozygous"},
		{"Test                       Result", "HLA-B27                    Positive"},
	} {
		result, err := Read(Document{Pages: []Page{printedPage(FromText, append(head[:4:4], lines...)...)}})
		if err != nil || len(result.Rows) == 0 || result.Rows[0].NeedsReview {
			t.Errorf("%q: %v, %+v", lines, err, result.Rows)
		}
	}
}

// Answers beside findings in sentences need review, because no row has the findings.
func TestAnswersBesideFindings(t *testing.T) {
	result, err := Read(Document{Pages: []Page{printedPage(FromText, append(head[:4:4], "CYTOLOGY REPORT",
		"Interpretation: Low-grade squamous intraepithelial lesion (LSIL).", "HPV DNA high risk: DETECTED")...)}})
	if err != nil || len(result.Rows) != 1 || !result.Rows[0].NeedsReview {
		t.Errorf("%v, %+v", err, result.Rows)
	}
}

func TestDocumentsOfAPatientThatAreNoReports(t *testing.T) {
	for name, lines := range map[string][]string{
		"a requisition": {"Tests requested", "HIV antibody               [x]", "HBsAg                      [ ]", "SARS-CoV-2 PCR             Yes"},
		"medications":   {"Current medication", "Amoxicillin 500 mg         three times a day", "Metformin 850 mg           Active", "Aspirin 100 mg             Stopped"},
		"an invoice": {
			"Invoice 2024-11     Bill to: Mara Quillfeather", "Test                 Qty      Unit price    Amount", "HIV antibody         1        12.00         $12.00",
			"Result of HIV antibody: Negative", "Total due                                   $12.00",
		},
	} {
		_, err := Read(Document{Pages: []Page{printedPage(FromText, append(head[:4:4], lines...)...)}})
		var failure *Failure
		if !errors.As(err, &failure) || failure.Reason != InvalidInput {
			t.Errorf("%s: %v", name, err)
		}
	}
}
