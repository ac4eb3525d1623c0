package main

// An analyte of the generator. Names are ways in which laboratories print it.
type analyte struct {
	loinc    string
	names    []string
	units    []string // printed forms
	low      float64  // of the reference range; NaN-free: both 0 for words
	high     float64
	decimals int
	kind     string // "" interval, "<" upper, ">" lower, "words", "sexed", "bands"
	expected string // words
	others   []string
	female   [2]float64 // sexed: the range of women; low and high are those of men
	bands    []band
	method   string
}

type band struct {
	label string
	text  string
}

type panel struct {
	name     string
	specimen string
	rows     []analyte
}

var chemistryPanel = panel{"Comprehensive Metabolic Panel", "Serum", []analyte{
	{loinc: "2345-7", names: []string{"Glucose", "Glucose, Serum"}, units: []string{"mg/dL"}, low: 65, high: 99, method: "Hexokinase"},
	{loinc: "3094-0", names: []string{"Urea Nitrogen (BUN)", "BUN", "Blood Urea Nitrogen"}, units: []string{"mg/dL"}, low: 7, high: 25, method: "Urease-GLDH"},
	{loinc: "2160-0", names: []string{"Creatinine", "Creatinine, Serum"}, units: []string{"mg/dL"}, low: 0.6, high: 1.29, decimals: 2, method: "Modified Jaffe, kinetic"},
	{loinc: "98979-8", names: []string{"eGFR", "Estimated GFR"}, units: []string{"mL/min/1.73m2", "mL/min/1.73"}, low: 59, kind: ">", method: "CKD-EPI 2021"},
	{loinc: "3097-3", names: []string{"BUN/Creatinine Ratio"}, units: []string{""}, low: 6, high: 22},
	{loinc: "2951-2", names: []string{"Sodium", "Sodium, Serum"}, units: []string{"mmol/L", "mEq/L"}, low: 135, high: 146, method: "ISE indirect"},
	{loinc: "2823-3", names: []string{"Potassium", "Potassium, Serum"}, units: []string{"mmol/L", "mEq/L"}, low: 3.5, high: 5.3, decimals: 1, method: "ISE indirect"},
	{loinc: "2075-0", names: []string{"Chloride", "Chloride, Serum"}, units: []string{"mmol/L", "mEq/L"}, low: 98, high: 110, method: "ISE indirect"},
	{loinc: "2028-9", names: []string{"Carbon Dioxide, Total", "Carbon Dioxide"}, units: []string{"mmol/L"}, low: 20, high: 32},
	{loinc: "17861-6", names: []string{"Calcium", "Calcium, Serum"}, units: []string{"mg/dL"}, low: 8.6, high: 10.3, decimals: 1, method: "Arsenazo III"},
	{loinc: "2885-2", names: []string{"Protein, Total", "Total Protein"}, units: []string{"g/dL"}, low: 6.1, high: 8.1, decimals: 1, method: "Biuret"},
	{loinc: "1751-7", names: []string{"Albumin", "Albumin, Serum"}, units: []string{"g/dL"}, low: 3.6, high: 5.1, decimals: 1, method: "Bromocresol green"},
	{loinc: "10834-0", names: []string{"Globulin", "Globulin, Calculated"}, units: []string{"g/dL"}, low: 1.9, high: 3.7, decimals: 1},
	{loinc: "1759-0", names: []string{"Albumin/Globulin Ratio", "A/G Ratio"}, units: []string{""}, low: 1.0, high: 2.5, decimals: 1},
	{loinc: "1975-2", names: []string{"Bilirubin, Total", "Total Bilirubin"}, units: []string{"mg/dL"}, low: 0.2, high: 1.2, decimals: 1, method: "Diazo"},
	{loinc: "6768-6", names: []string{"Alkaline Phosphatase"}, units: []string{"U/L", "IU/L"}, low: 36, high: 130, method: "PNPP, AMP buffer"},
	{loinc: "1920-8", names: []string{"AST", "AST (SGOT)", "Aspartate Aminotransferase"}, units: []string{"U/L", "IU/L"}, low: 10, high: 40, kind: "upto", method: "IFCC without P5P"},
	{loinc: "1742-6", names: []string{"ALT", "ALT (SGPT)", "Alanine Aminotransferase"}, units: []string{"U/L", "IU/L"}, low: 9, high: 46, kind: "upto", method: "IFCC without P5P"},
	{loinc: "2324-2", names: []string{"GGT", "Gamma-Glutamyl Transferase"}, units: []string{"U/L"}, low: 3, high: 70, kind: "sexed", female: [2]float64{3, 55}},
	{loinc: "3084-1", names: []string{"Uric Acid"}, units: []string{"mg/dL"}, low: 4.0, high: 8.0, decimals: 1, kind: "sexed", female: [2]float64{2.5, 7.0}, method: "Uricase"},
	{loinc: "2777-1", names: []string{"Phosphorus", "Inorganic Phosphorus"}, units: []string{"mg/dL"}, low: 2.5, high: 4.5, decimals: 1},
	{loinc: "19123-9", names: []string{"Magnesium"}, units: []string{"mg/dL"}, low: 1.5, high: 2.5, decimals: 1},
}}

var bloodCountPanel = panel{"Complete Blood Count with Differential", "Whole Blood", []analyte{
	{loinc: "6690-2", names: []string{"White Blood Cell Count", "WBC", "Total Leucocyte Count"}, units: []string{"Thousand/uL", "x10E3/uL", "10^3/uL", "K/uL"}, low: 3.8, high: 10.8, decimals: 1},
	{loinc: "789-8", names: []string{"Red Blood Cell Count", "RBC"}, units: []string{"Million/uL", "x10E6/uL", "10^6/uL"}, low: 4.20, high: 5.80, decimals: 2, kind: "sexed", female: [2]float64{3.80, 5.10}},
	{loinc: "718-7", names: []string{"Hemoglobin", "Haemoglobin"}, units: []string{"g/dL", "gm/dL"}, low: 13.2, high: 17.1, decimals: 1, kind: "sexed", female: [2]float64{11.7, 15.5}},
	{loinc: "4544-3", names: []string{"Hematocrit", "Packed Cell Volume"}, units: []string{"%"}, low: 38.5, high: 50.0, decimals: 1, kind: "sexed", female: [2]float64{35.0, 45.0}},
	{loinc: "787-2", names: []string{"MCV", "Mean Corpuscular Volume"}, units: []string{"fL"}, low: 80.0, high: 100.0, decimals: 1},
	{loinc: "785-6", names: []string{"MCH", "Mean Corpuscular Hemoglobin"}, units: []string{"pg"}, low: 27.0, high: 33.0, decimals: 1},
	{loinc: "786-4", names: []string{"MCHC", "Mean Corpuscular Hemoglobin Concentration"}, units: []string{"g/dL"}, low: 32.0, high: 36.0, decimals: 1},
	{loinc: "788-0", names: []string{"RDW", "RDW-CV"}, units: []string{"%"}, low: 11.0, high: 15.0, decimals: 1},
	{loinc: "777-3", names: []string{"Platelet Count", "Platelets"}, units: []string{"Thousand/uL", "x10E3/uL", "10^3/uL", "K/uL"}, low: 140, high: 400},
	{loinc: "32623-1", names: []string{"MPV", "Mean Platelet Volume"}, units: []string{"fL"}, low: 7.5, high: 12.5, decimals: 1},
	{loinc: "751-8", names: []string{"Absolute Neutrophils", "Neutrophils (Absolute)"}, units: []string{"cells/uL"}, low: 1500, high: 7800},
	{loinc: "731-0", names: []string{"Absolute Lymphocytes", "Lymphs (Absolute)"}, units: []string{"cells/uL"}, low: 850, high: 3900},
	{loinc: "742-7", names: []string{"Absolute Monocytes", "Monocytes(Absolute)"}, units: []string{"cells/uL"}, low: 200, high: 950},
	{loinc: "711-2", names: []string{"Absolute Eosinophils", "Eos (Absolute)"}, units: []string{"cells/uL"}, low: 15, high: 500},
	{loinc: "704-7", names: []string{"Absolute Basophils", "Baso (Absolute)"}, units: []string{"cells/uL"}, low: 0, high: 200},
	{loinc: "770-8", names: []string{"Neutrophils", "Neutrophils %"}, units: []string{"%"}, low: 38.0, high: 80.0, decimals: 1},
	{loinc: "736-9", names: []string{"Lymphocytes", "Lymphocytes %"}, units: []string{"%"}, low: 15.0, high: 49.0, decimals: 1},
	{loinc: "5905-5", names: []string{"Monocytes", "Monocytes %"}, units: []string{"%"}, low: 0.0, high: 13.0, decimals: 1},
	{loinc: "713-8", names: []string{"Eosinophils", "Eosinophils %"}, units: []string{"%"}, low: 0.0, high: 8.0, decimals: 1},
	{loinc: "706-2", names: []string{"Basophils", "Basophils %"}, units: []string{"%"}, low: 0.0, high: 2.0, decimals: 1},
	{loinc: "4537-7", names: []string{"Sed Rate by Modified Westergren", "Erythrocyte Sedimentation Rate"}, units: []string{"mm/h", "mm/hr"}, low: 0, high: 15, kind: "<=", method: "Westergren"},
}}

var lipidPanel = panel{"Lipid Panel", "Serum", []analyte{
	{loinc: "2093-3", names: []string{"Cholesterol, Total", "Total Cholesterol"}, units: []string{"mg/dL"}, high: 200, kind: "bands", bands: []band{{"Desirable", "<200"}, {"Borderline", "200-239"}, {"High", ">=240"}}, method: "CHOD-PAP"},
	{loinc: "2085-9", names: []string{"HDL Cholesterol"}, units: []string{"mg/dL"}, low: 39, kind: ">", method: "Direct, enzymatic"},
	{loinc: "2571-8", names: []string{"Triglycerides"}, units: []string{"mg/dL"}, high: 150, kind: "<", method: "GPO-PAP"},
	{loinc: "13457-7", names: []string{"LDL Cholesterol Calc", "LDL-Cholesterol"}, units: []string{"mg/dL"}, high: 100, kind: "<"},
	{loinc: "9830-1", names: []string{"Chol/HDL Ratio", "Cholesterol/HDL Ratio"}, units: []string{""}, high: 5.0, decimals: 1, kind: "<"},
	{loinc: "43396-1", names: []string{"Non-HDL Cholesterol", "Non HDL Cholesterol"}, units: []string{"mg/dL"}, high: 130, kind: "<"},
	{loinc: "1884-6", names: []string{"Apolipoprotein B"}, units: []string{"mg/dL"}, high: 90, kind: "<"},
	{loinc: "43583-4", names: []string{"Lipoprotein (a)"}, units: []string{"nmol/L"}, high: 75, kind: "<"},
}}

var endocrinePanel = panel{"Endocrinology", "Serum", []analyte{
	{loinc: "3016-3", names: []string{"TSH", "Thyroid Stimulating Hormone"}, units: []string{"mIU/L", "uIU/mL", "µIU/mL"}, low: 0.40, high: 4.50, decimals: 2, method: "ECLIA"},
	{loinc: "3024-7", names: []string{"T4, Free", "Free T4", "Free Thyroxine"}, units: []string{"ng/dL"}, low: 0.8, high: 1.8, decimals: 1, method: "ECLIA"},
	{loinc: "3051-0", names: []string{"T3, Free", "Free T3"}, units: []string{"pg/mL"}, low: 2.3, high: 4.2, decimals: 1},
	{loinc: "4548-4", names: []string{"Hemoglobin A1c", "HbA1c"}, units: []string{"%"}, high: 5.7, decimals: 1, kind: "bands", bands: []band{{"Normal", "<5.7"}, {"Prediabetes", "5.7-6.4"}, {"Diabetes", ">6.4"}}, method: "HPLC"},
	{loinc: "62292-8", names: []string{"Vitamin D, 25-Hydroxy", "25-OH Vitamin D"}, units: []string{"ng/mL"}, low: 30, high: 100, kind: "bands", bands: []band{{"Deficient", "<20"}, {"Insufficient", "20-29"}, {"Sufficient", "30-100"}}, method: "CLIA"},
	{loinc: "2132-9", names: []string{"Vitamin B12"}, units: []string{"pg/mL"}, low: 200, high: 1100, method: "CLIA"},
	{loinc: "2284-8", names: []string{"Folate, Serum", "Folic Acid"}, units: []string{"ng/mL"}, low: 5.4, decimals: 1, kind: ">"},
	{loinc: "2276-4", names: []string{"Ferritin"}, units: []string{"ng/mL"}, low: 38, high: 380, kind: "sexed", female: [2]float64{16, 154}},
	{loinc: "2498-4", names: []string{"Iron, Total", "Iron"}, units: []string{"mcg/dL", "ug/dL"}, low: 50, high: 180},
	{loinc: "2500-7", names: []string{"Iron Binding Capacity (TIBC)", "TIBC"}, units: []string{"mcg/dL", "ug/dL"}, low: 250, high: 425},
	{loinc: "2502-3", names: []string{"% Saturation", "Transferrin Saturation"}, units: []string{"%"}, low: 20, high: 48},
	{loinc: "2986-8", names: []string{"Testosterone, Total, MS", "Testosterone"}, units: []string{"ng/dL"}, low: 250, high: 1100, kind: "sexed", female: [2]float64{2, 45}},
	{loinc: "13967-5", names: []string{"Sex Hormone Binding Globulin", "SHBG"}, units: []string{"nmol/L"}, low: 10, high: 50},
	{loinc: "2857-1", names: []string{"PSA, Total", "Prostate Specific Ag"}, units: []string{"ng/mL"}, high: 4.0, decimals: 2, kind: "<="},
	{loinc: "1988-5", names: []string{"C-Reactive Protein"}, units: []string{"mg/L"}, high: 8.0, decimals: 1, kind: "<"},
	{loinc: "20448-7", names: []string{"Insulin", "Insulin, Fasting"}, units: []string{"uIU/mL"}, high: 18.4, decimals: 1, kind: "<="},
	{loinc: "2143-6", names: []string{"Cortisol, Total", "Cortisol"}, units: []string{"mcg/dL", "ug/dL"}, low: 4.0, high: 22.0, decimals: 1},
	{loinc: "2731-8", names: []string{"Parathyroid Hormone, Intact", "PTH, Intact"}, units: []string{"pg/mL"}, low: 16, high: 77},
	{loinc: "", names: []string{"Zonulin Family Peptide"}, units: []string{"ng/mL"}, high: 45.0, decimals: 1, kind: "<"},
	{loinc: "", names: []string{"Adropin Index"}, units: []string{"ng/mL"}, low: 2.0, high: 6.0, decimals: 1},
	{loinc: "", names: []string{"Omega-3 Index"}, units: []string{"%"}, low: 8.0, high: 12.0, decimals: 1},
}}

var urinalysisPanel = panel{"Urinalysis, Complete", "Urine", []analyte{
	{loinc: "5778-6", names: []string{"Color"}, kind: "words", expected: "Yellow", others: []string{"Amber", "Straw", "Dark Yellow"}},
	{loinc: "5767-9", names: []string{"Appearance"}, kind: "words", expected: "Clear", others: []string{"Cloudy", "Turbid"}},
	{loinc: "5811-5", names: []string{"Specific Gravity"}, units: []string{""}, low: 1.001, high: 1.035, decimals: 3},
	{loinc: "5803-2", names: []string{"pH"}, units: []string{""}, low: 5.0, high: 8.0, decimals: 1},
	{loinc: "25428-4", names: []string{"Glucose"}, kind: "words", expected: "Negative", others: []string{"1+", "2+", "Trace"}},
	{loinc: "5770-3", names: []string{"Bilirubin"}, kind: "words", expected: "Negative", others: []string{"1+", "Positive"}},
	{loinc: "2514-8", names: []string{"Ketones"}, kind: "words", expected: "Negative", others: []string{"Trace", "2+"}},
	{loinc: "5794-3", names: []string{"Occult Blood"}, kind: "words", expected: "Negative", others: []string{"1+", "3+"}},
	{loinc: "20454-5", names: []string{"Protein"}, kind: "words", expected: "Negative", others: []string{"Trace", "1+"}},
	{loinc: "5802-4", names: []string{"Nitrite"}, kind: "words", expected: "Negative", others: []string{"Positive"}},
	{loinc: "5799-2", names: []string{"Leukocyte Esterase"}, kind: "words", expected: "Negative", others: []string{"1+", "2+"}},
	{loinc: "5821-4", names: []string{"WBC, Urine", "WBC"}, units: []string{"/HPF"}, kind: "count", expected: "0-5"},
	{loinc: "13945-1", names: []string{"RBC, Urine", "RBC"}, units: []string{"/HPF"}, kind: "count", expected: "0-2"},
	{loinc: "11277-1", names: []string{"Squamous Epithelial Cells"}, units: []string{"/HPF"}, kind: "count", expected: "0-5"},
	{loinc: "5769-5", names: []string{"Bacteria"}, kind: "words", expected: "None seen", others: []string{"Few", "Moderate"}},
}}

var serologyPanel = panel{"Serology", "Serum", []analyte{
	{loinc: "5195-3", names: []string{"Hepatitis B Surface Antigen", "HBsAg Screen"}, kind: "words", expected: "Non-Reactive", others: []string{"Reactive"}},
	{loinc: "22322-2", names: []string{"Hepatitis B Surface Antibody"}, kind: "words", expected: "Reactive", others: []string{"Non-Reactive"}},
	{loinc: "16128-1", names: []string{"Hepatitis C Antibody", "HCV Antibody"}, kind: "words", expected: "Non-Reactive", others: []string{"Reactive"}},
	{loinc: "56888-1", names: []string{"HIV Ag/Ab, 4th Gen"}, kind: "words", expected: "Non-Reactive", others: []string{"Reactive"}},
	{loinc: "20507-0", names: []string{"RPR"}, kind: "words", expected: "Non-Reactive", others: []string{"Reactive"}},
	{loinc: "43304-5", names: []string{"Chlamydia trachomatis RNA, TMA"}, kind: "words", expected: "Not Detected", others: []string{"Detected"}},
	{loinc: "43305-2", names: []string{"Neisseria gonorrhoeae RNA, TMA"}, kind: "words", expected: "Not Detected", others: []string{"Detected"}},
	{loinc: "94500-6", names: []string{"SARS-CoV-2 RNA", "COVID-19 PCR"}, kind: "words", expected: "Not Detected", others: []string{"Detected"}},
	{loinc: "8061-4", names: []string{"ANA Screen, IFA", "ANA Direct"}, kind: "words", expected: "Negative", others: []string{"Positive"}},
	{loinc: "5048-4", names: []string{"ANA Titer"}, units: []string{"titer"}, kind: "titre", expected: "<1:40"},
	{loinc: "11572-5", names: []string{"Rheumatoid Factor"}, units: []string{"IU/mL"}, high: 14, kind: "<"},
	{loinc: "31418-7", names: []string{"Mononucleosis Screen"}, kind: "words", expected: "Negative", others: []string{"Positive"}},
	{loinc: "630-4", names: []string{"Urine Culture, Routine", "Urine Culture"}, kind: "words", expected: "No growth", others: []string{"Mixed flora", "No growth"}},
	{loinc: "5334-8", names: []string{"Rubella Antibodies, IgG"}, units: []string{"IU/mL"}, low: 10.0, decimals: 1, kind: ">="},
	{loinc: "890-4", names: []string{"Antibody Screen"}, kind: "words", expected: "Negative", others: []string{"Positive"}},
}}

// The same tests in the units of Europe.
var europeanPanel = panel{"Clinical Chemistry", "Serum", []analyte{
	{loinc: "14749-6", names: []string{"Glucose"}, units: []string{"mmol/L"}, low: 3.9, high: 5.6, decimals: 1},
	{loinc: "22664-7", names: []string{"Urea"}, units: []string{"mmol/L"}, low: 2.5, high: 7.8, decimals: 1},
	{loinc: "14682-9", names: []string{"Creatinine"}, units: []string{"µmol/L", "umol/L"}, low: 59, high: 104},
	{loinc: "2951-2", names: []string{"Sodium"}, units: []string{"mmol/L"}, low: 135, high: 145},
	{loinc: "2823-3", names: []string{"Potassium"}, units: []string{"mmol/L"}, low: 3.5, high: 5.1, decimals: 1},
	{loinc: "2000-8", names: []string{"Calcium"}, units: []string{"mmol/L"}, low: 2.15, high: 2.55, decimals: 2},
	{loinc: "14631-6", names: []string{"Bilirubin, Total", "Total Bilirubin"}, units: []string{"µmol/L"}, high: 21, kind: "<"},
	{loinc: "1742-6", names: []string{"ALT", "Alanine Transaminase"}, units: []string{"U/L"}, high: 50, kind: "<"},
	{loinc: "1920-8", names: []string{"AST", "Aspartate Transaminase"}, units: []string{"U/L"}, high: 50, kind: "<"},
	{loinc: "6768-6", names: []string{"Alkaline Phosphatase", "ALP"}, units: []string{"U/L"}, low: 30, high: 130},
	{loinc: "14647-2", names: []string{"Total Cholesterol", "Cholesterol"}, units: []string{"mmol/L"}, high: 5.2, decimals: 1, kind: "<"},
	{loinc: "14646-4", names: []string{"HDL Cholesterol"}, units: []string{"mmol/L"}, low: 1.0, decimals: 2, kind: ">"},
	{loinc: "14927-8", names: []string{"Triglycerides"}, units: []string{"mmol/L"}, high: 1.7, decimals: 2, kind: "<"},
	{loinc: "14933-6", names: []string{"Urate", "Uric Acid"}, units: []string{"µmol/L"}, low: 200, high: 430},
	{loinc: "14798-3", names: []string{"Iron"}, units: []string{"µmol/L"}, low: 11.6, high: 31.3, decimals: 1},
	{loinc: "1988-5", names: []string{"CRP", "C-Reactive Protein"}, units: []string{"mg/L"}, high: 5.0, decimals: 1, kind: "<"},
	{loinc: "14920-3", names: []string{"Free T4"}, units: []string{"pmol/L"}, low: 12.0, high: 22.0, decimals: 1},
	{loinc: "3016-3", names: []string{"TSH"}, units: []string{"mU/L", "mIU/L"}, low: 0.27, high: 4.20, decimals: 2},
	{loinc: "2276-4", names: []string{"Ferritin"}, units: []string{"µg/L"}, low: 30, high: 400},
	{loinc: "14685-2", names: []string{"Vitamin B12"}, units: []string{"pmol/L"}, low: 145, high: 569},
}}

var europeanCountPanel = panel{"Haematology", "Blood", []analyte{
	{loinc: "718-7", names: []string{"Haemoglobin"}, units: []string{"g/L"}, low: 135, high: 175, kind: "sexed", female: [2]float64{120, 160}},
	{loinc: "6690-2", names: []string{"White Cell Count", "Leukocytes"}, units: []string{"10^9/L", "x10^9/L"}, low: 4.0, high: 10.0, decimals: 1},
	{loinc: "777-3", names: []string{"Platelets", "Platelet Count"}, units: []string{"10^9/L", "x10^9/L"}, low: 150, high: 400},
	{loinc: "789-8", names: []string{"Red Cell Count", "Erythrocytes"}, units: []string{"10^12/L", "x10^12/L"}, low: 4.5, high: 5.9, decimals: 2},
	{loinc: "4544-3", names: []string{"Haematocrit"}, units: []string{"%"}, low: 40.0, high: 52.0, decimals: 1},
	{loinc: "787-2", names: []string{"MCV"}, units: []string{"fL"}, low: 80.0, high: 98.0, decimals: 1},
	{loinc: "785-6", names: []string{"MCH"}, units: []string{"pg"}, low: 27.0, high: 34.0, decimals: 1},
	{loinc: "751-8", names: []string{"Neutrophils"}, units: []string{"10^9/L", "x10^9/L"}, low: 2.0, high: 7.5, decimals: 2},
	{loinc: "731-0", names: []string{"Lymphocytes"}, units: []string{"10^9/L", "x10^9/L"}, low: 1.0, high: 4.0, decimals: 2},
	{loinc: "742-7", names: []string{"Monocytes"}, units: []string{"10^9/L", "x10^9/L"}, low: 0.2, high: 1.0, decimals: 2},
	{loinc: "711-2", names: []string{"Eosinophils"}, units: []string{"10^9/L", "x10^9/L"}, low: 0.04, high: 0.4, decimals: 2},
	{loinc: "4537-7", names: []string{"ESR"}, units: []string{"mm/h"}, high: 20, kind: "<"},
}}
