package hl7

import "testing"

func TestValueWords(t *testing.T) {
	for is, texts := range map[ValueWord][]string{
		NotPerformed: {
			"TNP", "tnp", "TNP/QNS", "DNR", "QNS", "QNS - quantity not sufficient", "QUANTITY NOT SUFFICIENT", "Quantity insufficient", "Insufficient specimen",
			"Insufficient volume to perform the test", "NOT DONE", "Not performed", "NOT_PERFORMED", "TEST NOT PERFORMED", "Test not performed. Specimen clotted.", "*** TEST NOT PERFORMED ***",
			"TEST WAS NOT DONE", "Test not performed due to hemolysis", "NOT TESTED", "NOT REPORTED", "CANCELLED", "Canceled", "TEST CANCELLED", "CANCELLED BY LAB", "Cancelled per client request",
			"UNABLE TO CALCULATE", "Unable to calculate: triglycerides >400", "Cannot be calculated", "NOT CALCULATED", "Unable to report", "NO SPECIMEN RECEIVED", "No result", "SPECIMEN NOT RECEIVED",
			"Specimen rejected", "TNP\nSpecimen was not frozen.", "LAB ERROR", "Sample lost in transit", "Not received",
		},
		NotMeasured: {
			"HEMOLYZED", "Haemolysed", "GROSSLY HEMOLYZED", "Specimen hemolyzed", "Specimen is grossly hemolyzed, please recollect", "HEMOLYZED SPECIMEN", "Hemolysis", "CLOTTED", "Specimen clotted", "LIPEMIC",
			"Contaminated", "UNSATISFACTORY", "Rejected", "Unable to determine", "Unable to obtain a valid result", "INVALID", "Error", "Wrong tube", "Instrument error", "---", "****", "NP", "Not available",
		},
		SeeNote: {"SEE NOTE", "See note:", "SEE COMMENT", "see below", "See separate report", "Comment", "N/A", "NA", "Not applicable", "NOT INDICATED"},
		Pending: {
			"PENDING", "Pending.", "RESULTS PENDING", "Result is pending", "IN PROGRESS", "Testing in progress", "TO FOLLOW", "Result to follow", "RESULTS TO FOLLOW", "Final report to follow", "IN PROCESS", "TBD",
			"Repeat in progress", "Sent to reference lab", "REFERRED OUT", "Not yet available", "Awaiting confirmation", "(PENDING)", "Awaiting", "Awaited", "Outstanding", "Referred",
		},
		"": {
			"", "NEGATIVE", "NOT DETECTED", "None detected", "REACTIVE", "NON-REACTIVE", "POSITIVE", "NONE SEEN", "NO GROWTH", "No growth, final report to follow", "NONE", "ND", "NR", "INSUFFICIENT", "INDETERMINATE", "EQUIVOCAL",
			"4.1", "<5", "4.1 (slightly hemolyzed)", "Hemolyzed 4.1", "HEMOLYZED; 6.8", "-", "+", "+++", "1:80", "Yellow", "CLEAR", "Trace", "E. coli", "Group A", "O POS", "TNTC", "Not immune", "Detected", "Negative. Specimen slightly hemolyzed.",
			"NORMAL", "Not seen", "See note 1: 6.8", "Comments were called", "Progressive changes", "Canceled cells are normal variants", "No specimen abnormality seen", "Noted", "NA+",
		},
	} {
		for _, text := range texts {
			if got := FindValueWord(text); got != is {
				t.Errorf("%q is %q, want %q", text, got, is)
			}
		}
	}
}
