package catalogue

import (
	"slices"
	"strings"
)

// SpecimenType is the material of a sample. It is more precise than a
// SampleType: a blood count needs whole blood with EDTA, not serum.
type SpecimenType string

// The specimen types.
const (
	SerumSpecimen     SpecimenType = "serum"
	PlasmaSpecimen    SpecimenType = "plasma"
	EDTAPlasma        SpecimenType = "edta_plasma"
	CitratePlasma     SpecimenType = "citrate_plasma"
	EDTABlood         SpecimenType = "edta_whole_blood"
	WholeBlood        SpecimenType = "whole_blood"
	CapillaryBlood    SpecimenType = "capillary_blood"
	DriedBloodSpots   SpecimenType = "dried_blood_spot"
	SalivaSpecimen    SpecimenType = "saliva"
	UrineSpecimen     SpecimenType = "urine"
	StoolSpecimen     SpecimenType = "stool"
	SwabSpecimen      SpecimenType = "swab"
	UnknownSpecimen   SpecimenType = ""
	longestCollection              = 300 // characters of a field of Specimen
)

// SpecimenCode is a specimen type in words and in the codes of messages.
type SpecimenCode struct {
	Type SpecimenType
	Name string
	// SNOMED is the code of SNOMED CT, with its own name.
	SNOMED, SNOMEDName string
	// HL7 is the code of HL7 table 0487, with its own name; empty without one.
	HL7, HL7Name string
}

// SpecimenCodes lists the specimen types.
var SpecimenCodes = []SpecimenCode{
	{SerumSpecimen, "Serum", "119364003", "Serum specimen", "SER", "Serum"},
	{PlasmaSpecimen, "Plasma", "119361006", "Plasma specimen", "PLAS", "Plasma"},
	{EDTAPlasma, "Plasma, EDTA", "119361006", "Plasma specimen", "PLAS", "Plasma"},
	{CitratePlasma, "Plasma, sodium citrate", "708048008", "Plasma specimen with citrate", "PLAS", "Plasma"},
	{EDTABlood, "Whole blood, EDTA", "445295009", "Blood specimen with EDTA", "BLD", "Whole blood"},
	{WholeBlood, "Whole blood", "258580003", "Whole blood specimen", "BLD", "Whole blood"},
	{CapillaryBlood, "Capillary blood", "122554006", "Capillary blood specimen", "BLDC", "Blood capillary"},
	{DriedBloodSpots, "Dried blood spots", "440500007", "Dried blood spot specimen", "", ""},
	{SalivaSpecimen, "Saliva", "119342007", "Saliva specimen", "SAL", "Saliva"},
	{UrineSpecimen, "Urine", "122575003", "Urine specimen", "UR", "Urine"},
	{StoolSpecimen, "Stool", "119339001", "Stool specimen", "STL", "Stool = Fecal"},
	{SwabSpecimen, "Swab", "257261003", "Swab", "", ""},
}

// Code returns the words and codes of a specimen type.
func (t SpecimenType) Code() (SpecimenCode, bool) {
	i := slices.IndexFunc(SpecimenCodes, func(c SpecimenCode) bool { return c.Type == t })
	if i < 0 || t == UnknownSpecimen {
		return SpecimenCode{Type: t}, false
	}
	return SpecimenCodes[i], true
}

// Specimen describes how the sample of a marker is collected and sent.
type Specimen struct {
	Type        SpecimenType `json:"specimen_type,omitempty"` // if empty, by the sample type
	Container   string       `json:"container,omitempty"`
	MinVolume   string       `json:"minimum_volume,omitempty"` // with its unit, such as 1 mL
	Temperature string       `json:"temperature,omitempty"`    // of transport: ambient, refrigerated or frozen
	Stability   string       `json:"stability,omitempty"`
	Notes       string       `json:"collection_notes,omitempty"`
}

// Temperatures lists the words for the temperature of transport.
var Temperatures = []string{"ambient", "refrigerated", "frozen"}

// IsZero reports whether nothing is known.
func (s Specimen) IsZero() bool { return s == Specimen{} }

// specimenOf maps sample types to specimen types. The serum of the reference
// includes every tube of blood from a vein.
var specimenOf = map[SampleType]SpecimenType{
	Serum: SerumSpecimen, ArmCollector: CapillaryBlood, DriedBloodSpot: DriedBloodSpots, Saliva: SalivaSpecimen, Urine: UrineSpecimen, Stool: StoolSpecimen,
}

// Collect returns the specimen of the marker, with a type if its sample has one.
func (m *Marker) Collect() Specimen {
	s := m.Specimen
	if s.Type == UnknownSpecimen {
		s.Type = specimenOf[m.Sample]
	}
	return s
}

// check reports the problems of an imported specimen.
func (s *Specimen) check(wrong func(field, text string)) {
	if _, known := s.Type.Code(); s.Type != UnknownSpecimen && !known {
		wrong("specimen_type", "no such specimen type")
	}
	s.Temperature = strings.ToLower(strings.TrimSpace(s.Temperature))
	if s.Temperature != "" && !slices.Contains(Temperatures, s.Temperature) {
		wrong("temperature", "must be ambient, refrigerated or frozen")
	}
	for field, text := range map[string]*string{"container": &s.Container, "minimum_volume": &s.MinVolume, "stability": &s.Stability, "collection_notes": &s.Notes} {
		if *text = strings.TrimSpace(*text); !isText(*text, 0, longestCollection) {
			wrong(field, "must have at most 300 printable characters")
		}
	}
}
