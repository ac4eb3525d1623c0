package hl7v2

import (
	"testing"

	"hale/internal/labs/hl7"
)

// Clinical information is in words, without the codes of HL7.
func TestClinicalInformation(t *testing.T) {
	for field, want := range map[string]string{
		"F": "Patient was fasting prior to the procedure.", "F^Patient was fasting^HL70916": "Patient was fasting", "NF": "The patient indicated they did not fast prior to the procedure.",
		"F Patient was fasting prior to the procedure.": "Patient was fasting prior to the procedure.", "Fasting 12 hours": "Fasting 12 hours", "": "", "On metformin": "On metformin",
		"123^On warfarin^L": "On warfarin", "FNA": "Fasting not asked of the patient at time of procedure.", "y": "Patient was fasting prior to the procedure.",
	} {
		m, err := hl7.Parse([]byte(`MSH|^~\&|A|B|C|D|20260101||ORU^R01|1|T|2.5.1` + "\rOBR|1|||X^Y|||||||||" + field))
		if err != nil {
			t.Fatal(err)
		}
		if got := clinicalInformation(m.First("OBR").Field(13).First()); got != want {
			t.Errorf("%q is %q, want %q", field, got, want)
		}
	}
}
