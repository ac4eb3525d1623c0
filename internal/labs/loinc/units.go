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

// PrintedUnit returns a unit as people write it: mIU/L for the UCUM unit m[IU]/L.
// Units that are not UCUM stay as they are.
func PrintedUnit(unit string) string {
	if printed, ok := writtenUnits[unit]; ok {
		return printed
	}
	return strings.TrimSpace(ucumMarks.Replace(unit))
}

// writtenUnits are the units that people write in their own way.
var writtenUnits = map[string]string{
	"10*3/uL": "x10E3/uL", "10*6/uL": "x10E6/uL", "10*9/L": "x10E9/L", "10*12/L": "x10E12/L", "/[HPF]": "/hpf", "/[LPF]": "/lpf",
	"mm/h": "mm/hr", "mL/min/{1.73_m2}": "mL/min/1.73m2", "mL/min/1.73.m2": "mL/min/1.73m2", "mm[Hg]": "mmHg", "{ratio}": "ratio",
	"10*3": "x10E3", "10*6": "x10E6", "[pH]": "pH", "[ppm]": "ppm",
}

// ucumMarks are the marks of arbitrary units and of annotations in UCUM.
var ucumMarks = strings.NewReplacer("[", "", "]", "", "{", " ", "}", "", "_", " ", "10*", "x10E")

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
