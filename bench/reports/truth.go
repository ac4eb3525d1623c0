package main

// truth is all that a generated report says. All persons are invented.
type truth struct {
	ID       string     `json:"id"`
	Family   string     `json:"family"`
	Printer  string     `json:"printer"` // chromium or libreoffice
	Metadata metadata   `json:"metadata"`
	Rows     []truthRow `json:"rows"`
}

type metadata struct {
	FirstName string `json:"first_name"`
	LastName  string `json:"last_name"`
	BirthDate string `json:"birth_date"` // YYYY-MM-DD
	Gender    string `json:"gender"`
	Lab       string `json:"lab"`
	Collected string `json:"collected"` // YYYY-MM-DD
	Reported  string `json:"reported"`
	Specimen  string `json:"specimen"`
}

type truthRow struct {
	Name     string   `json:"name"`
	Value    string   `json:"value"` // as printed
	Unit     string   `json:"unit"`  // as printed
	Min      *float64 `json:"min,omitempty"`
	Max      *float64 `json:"max,omitempty"`
	Expected string   `json:"expected,omitempty"` // the normal answer in words
	Flag     string   `json:"flag"`               // H, L, A, C or empty
	LOINC    string   `json:"loinc,omitempty"`    // empty for analytes outside the table
	Panel    string   `json:"panel"`
}
