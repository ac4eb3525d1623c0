package hl7v2

import (
	"cmp"
	"strings"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/hl7"
)

// materialName returns a specimen type (SPM-4) in words: a name of the message,
// otherwise the name of its code. An unknown code is shown as it is, and UNK says
// nothing.
func materialName(v hl7.Value) string {
	words := cmp.Or(v.Get(2), v.Get(9), v.Get(5))
	if words != "" && !isMaterialCode(words) {
		return words
	}
	for _, code := range []string{v.Get(1), v.Get(4), words} {
		if name := materials[strings.ToUpper(code)]; name != "" {
			return name
		}
	}
	if code := cmp.Or(words, v.Get(1), v.Get(4)); !strings.EqualFold(code, "UNK") {
		return code
	}
	return ""
}

// sourceName returns the specimen source (OBR-15), which versions before 2.5 have
// in place of SPM: a code with its name as subcomponents, or words.
func sourceName(v hl7.Value) string {
	code, name := v.Get(1), v.Get(1, 2)
	if name == "" || isMaterialCode(name) {
		name = cmp.Or(materials[strings.ToUpper(code)], name)
	}
	return cmp.Or(name, code)
}

func isMaterialCode(text string) bool { return materials[text] != "" }

// materials has the names of specimen types: codes of HL7 tables 0487 and 0070, and of
// SNOMED CT.
var materials = func() map[string]string {
	names := map[string]string{
		"ABS": "Abscess", "AMN": "Amniotic fluid", "ASP": "Aspirate", "BLDA": "Arterial blood", "BLDCO": "Cord blood", "BLDV": "Venous blood", "BON": "Bone",
		"BRO": "Bronchial", "BRTH": "Breath", "CNL": "Cannula", "CSF": "Cerebrospinal fluid", "CTP": "Catheter tip", "CVX": "Cervix", "DRN": "Drain", "EAR": "Ear", "EYE": "Eye",
		"FLU": "Body fluid", "GAST": "Gastric fluid", "GEN": "Genital", "HAR": "Hair", "MAR": "Bone marrow", "NAIL": "Nail", "NOS": "Nose", "PLR": "Pleural fluid", "PRT": "Peritoneal fluid",
		"PUS": "Pus", "SEM": "Semen", "SKN": "Skin", "SNV": "Synovial fluid", "SPT": "Sputum", "SWA": "Swab", "THRT": "Throat", "TISS": "Tissue",
		"URC": "Urine, clean catch", "URT": "Urine, catheter", "URNS": "Urine sediment", "VAG": "Vaginal", "WND": "Wound", "WNDA": "Wound abscess",
		"119297000": "Blood", "258450006": "Cerebrospinal fluid", "119334006": "Sputum", "258580003": "Whole blood", "122555007": "Venous blood", "258607008": "Bronchoalveolar lavage", "119376003": "Tissue",
		"258500001": "Nasopharyngeal swab", "258529004": "Throat swab", "119365002": "Wound", "122552005": "Arterial blood", "119332005": "Synovial fluid", "418564007": "Pleural fluid",
	}
	for _, c := range catalogue.SpecimenCodes {
		names[c.SNOMED] = cmp.Or(names[c.SNOMED], c.Name)
		if c.HL7 != "" {
			names[c.HL7] = c.HL7Name
		}
	}
	names["STL"], names["BLD"] = "Stool", "Blood"
	return names
}()

// answerNames has the names of coded answers of SNOMED CT and LOINC that labs send
// without a name.
var answerNames = map[string]string{
	"10828004": "Positive", "260385009": "Negative", "260373001": "Detected", "260415000": "Not detected", "419984006": "Inconclusive", "82334004": "Indeterminate",
	"42425007": "Equivocal", "11214006": "Reactive", "131194007": "Non-reactive", "52101004": "Present", "2667000": "Absent", "17621005": "Normal", "263654008": "Abnormal",
	"264868006": "No growth", "264887000": "Not isolated", "46651001": "Isolated", "373121007": "Test not done", "125154007": "Specimen unsatisfactory",
	"LA6576-8": "Positive", "LA6577-6": "Negative", "LA11882-0": "Detected", "LA11883-8": "Not detected", "LA9663-1": "Inconclusive", "LA11884-6": "Indeterminate",
	"LA9633-4": "Present", "LA9634-2": "Absent", "LA6626-1": "Normal",
}
