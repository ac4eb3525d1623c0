// Package loinc is the table of observation codes that ships with Hale: some
// four hundred of the most common laboratory observations, with their official
// names, and the units that laboratories print.
//
// The names are LOINC content and stand here unchanged; everything else in the
// table is ours. [Notice] must be shown wherever the table is published.
package loinc

import _ "embed"

// Notice is the sentence that the licence of LOINC asks for.
//
//go:embed LICENSE-LOINC.txt
var Notice string
