package places

import (
	"bytes"
	_ "embed"
	"encoding/binary"
	"fmt"
	"io"
	"sort"
	"strconv"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
)

// Place is the data of a ZIP code.
type Place struct {
	ZIP      string // 5 digits
	City     string
	State    string // postal code
	TimeZone string // IANA name
	Point           // of its center; a patient's home is typically 1 to 5 miles away
	// Located reports whether there is a Point. Military codes have none: they are
	// outside the United States, where no samples are drawn.
	Located bool
	// Approximate reports that the code is not in the table. The data is then
	// the mean of the codes with the same first three digits, which are one
	// mail region.
	Approximate bool
}

// zipFile has the fields zip,lat,lng,state,city,tz,src, sorted by zip. ZIPS.md
// names its source and the required attribution.
//
//go:embed zips.csv.gz
var zipFile []byte

// zipTable is the decompressed file and the positions of its lines. It is opened on
// first use, which takes about ten milliseconds. Lines are parsed on demand: 42,560
// structs would take twice the memory of their text.
type zipTable struct {
	text   string
	begins []int32 // of each line; lines are sorted by code
}

var zips = sync.OnceValue(openZIPs)

func openZIPs() *zipTable {
	in, err := gzip.NewReader(bytes.NewReader(zipFile))
	if err != nil {
		panic(fmt.Sprintf("places: zips.csv.gz: %v", err)) // the file is embedded and tested
	}
	size := binary.LittleEndian.Uint32(zipFile[len(zipFile)-4:]) // the last four bytes of a gzip file
	var text strings.Builder
	text.Grow(int(size))
	if _, err := io.Copy(&text, in); err != nil {
		panic(fmt.Sprintf("places: zips.csv.gz: %v", err))
	}
	z := &zipTable{text: text.String()}
	z.begins = make([]int32, 0, strings.Count(z.text, "\n"))
	for at := strings.IndexByte(z.text, '\n') + 1; at < len(z.text); { // after the header
		z.begins = append(z.begins, int32(at))
		at += strings.IndexByte(z.text[at:], '\n') + 1
	}
	return z
}

// code returns the ZIP code of a line.
func (z *zipTable) code(line int) string {
	at := z.begins[line]
	return z.text[at : at+5]
}

// searchLine returns the first line whose code is not lower.
func (z *zipTable) searchLine(code string) int {
	return sort.Search(len(z.begins), func(i int) bool { return z.code(i) >= code })
}

// parseLine parses a line and returns the source of its point:
//
//   - c: the census
//   - g: a list of place names
//   - p: a mean
//   - m: none
func (z *zipTable) parseLine(line int) (Place, byte) {
	rest, _, _ := strings.Cut(z.text[z.begins[line]:], "\n")
	var f [7]string
	for i := range f {
		f[i], rest, _ = strings.Cut(rest, ",")
	}
	p := Place{ZIP: f[0], State: f[3], City: f[4], TimeZone: f[5]}
	if f[1] != "" {
		p.Lat, _ = strconv.ParseFloat(f[1], 64) // a test reads every line
		p.Lng, _ = strconv.ParseFloat(f[2], 64)
		p.Located = true
	}
	return p, f[6][0]
}

// Zip finds a ZIP code of 5 digits, or of 5 and 4; only the first 5 count. A
// code that is not in the table, such as a new one, gets the mean of its
// region. Only codes of regions that the postal service does not have are
// unknown.
func Zip(code string) (Place, bool) {
	if !isZIP(code) {
		return Place{}, false
	}
	code = code[:5]
	z := zips()
	if at := z.searchLine(code); at < len(z.begins) && z.code(at) == code {
		p, _ := z.parseLine(at)
		return p, true
	}
	return z.region(code)
}

// crossingZips are the ZIP codes whose addresses are in two states, with the state
// that the table does not name or names.
var crossingZips = map[string][2]string{
	"02861": {"RI", "MA"}, "42223": {"KY", "TN"}, "59221": {"MT", "ND"}, "63673": {"MO", "IL"}, "71749": {"AR", "LA"},
	"73949": {"OK", "TX"}, "81137": {"CO", "NM"}, "84536": {"UT", "AZ"}, "86044": {"AZ", "UT"}, "86515": {"AZ", "NM"},
	"88063": {"NM", "TX"}, "89439": {"NV", "CA"}, "97635": {"OR", "CA"},
}

// IsInState reports whether addresses with a ZIP code can be in a state. A code
// that is not in the table can be in each state of its region. An unknown code
// can be in any state.
func IsInState(code, state string) bool {
	place, known := Zip(code)
	if !known || place.State == "" || place.State == state {
		return true
	}
	if both, ok := crossingZips[code[:5]]; ok {
		return both[0] == state || both[1] == state
	}
	return place.Approximate && zips().regionIncludes(code, state)
}

// regionIncludes reports whether a code with the same first three digits is in a
// state.
func (z *zipTable) regionIncludes(code, state string) bool {
	for i := z.searchLine(code[:3]); i < len(z.begins) && z.code(i)[:3] == code[:3]; i++ {
		if p, _ := z.parseLine(i); p.State == state {
			return true
		}
	}
	return false
}

// region returns the mean of the codes with the same first three digits.
func (z *zipTable) region(code string) (Place, bool) {
	mean := Place{ZIP: code, Approximate: true}
	n, states, zones := 0.0, map[string]int{}, map[string]int{}
	for i := z.searchLine(code[:3]); i < len(z.begins) && z.code(i)[:3] == code[:3]; i++ {
		p, _ := z.parseLine(i)
		if !p.Located {
			continue
		}
		mean.Lat, mean.Lng, n = mean.Lat+p.Lat, mean.Lng+p.Lng, n+1
		states[p.State]++
		zones[p.TimeZone]++
	}
	if n == 0 {
		return Place{}, false
	}
	mean.Lat, mean.Lng, mean.Located = mean.Lat/n, mean.Lng/n, true
	mean.State, mean.TimeZone = mostFrequent(states), mostFrequent(zones)
	return mean, true
}

// mostFrequent returns the most frequent word; of several, the first in the
// alphabet.
func mostFrequent(counts map[string]int) (word string) {
	for w, n := range counts {
		if most := counts[word]; n > most || n == most && w < word {
			word = w
		}
	}
	return word
}

// isZIP reports whether a text is 5 digits, or 5 and 4.
func isZIP(s string) bool {
	if len(s) == 10 && s[5] == '-' {
		return isDigits(s[:5]) && isDigits(s[6:])
	}
	return len(s) == 5 && isDigits(s)
}

func isDigits(s string) bool { return strings.Trim(s, "0123456789") == "" }
