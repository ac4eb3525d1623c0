// Package loinc is the table of observation codes that ships with Hale. It has
// about four hundred of the most common laboratory observations with their
// official names, and the units that laboratories print.
//
// The names are LOINC content and are unchanged; the other columns are ours.
// [Notice] must be shown wherever the table is published.
package loinc

import _ "embed"

// Notice is the sentence that the LOINC licence requires.
//
//go:embed LICENSE-LOINC.txt
var Notice string
