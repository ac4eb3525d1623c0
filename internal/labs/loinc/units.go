package loinc

import (
	"bytes"
	_ "embed"
	"encoding/csv"
	"fmt"
	"strings"
	"sync"
)

//go:embed units.csv
var unitsFile []byte

var printedUnits = sync.OnceValue(func() map[string]string { return mustReadUnits(unitsFile) })

// UCUM returns the UCUM unit of a unit that a laboratory prints, such as
// 10*3/uL for "K/uL". It does not guess units that are not in the table.
func UCUM(printed string) (unit string, ok bool) {
	unit, ok = printedUnits()[normalise(printed)]
	return unit, ok
}

// normalise returns a printed unit in the form of the table: lower case, no
// blanks, and u for both signs of micro.
func normalise(printed string) string {
	return blanksAndMicro.Replace(strings.ToLower(printed))
}

var blanksAndMicro = strings.NewReplacer(" ", "", "µ", "u", "μ", "u")

func mustReadUnits(file []byte) map[string]string {
	rows, err := csv.NewReader(bytes.NewReader(file)).ReadAll()
	if err != nil {
		panic(fmt.Sprintf("loinc: units.csv: %v", err)) // the file is embedded and tested
	}
	m := make(map[string]string, len(rows))
	for _, row := range rows[1:] {
		m[row[0]] = row[1]
	}
	return m
}
