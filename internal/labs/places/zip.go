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

// Place is what is known of a ZIP code.
type Place struct {
	ZIP      string // 5 digits
	City     string
	State    string // postal code
	TimeZone string // IANA name
	Point           // of its middle; a patient's home is typically 1 to 5 miles away
	// Located tells that there is a Point. Military codes have none: they are
	// not in the United States, and nobody draws samples there.
	Located bool
	// Approximate tells that the code is not in the table, and that this is the
	// mean of those with the same first three digits, which is one mail region.
	Approximate bool
}

// zipFile is zip,lat,lng,state,city,tz,src by zip. Where it comes from and what
// must be said of it is in ZIPS.md.
//
//go:embed zips.csv.gz
var zipFile []byte

// zipTable is the opened file and where its lines begin. It is opened by the
// first question, in about ten milliseconds, so that a service of which nobody
// asks this pays for nothing. Lines are taken apart when they are asked for:
// 42,560 structs would take twice the memory of their text.
type zipTable struct {
	text   string
	begins []int32 // of each line; the lines are in the order of their codes
}

var zips = sync.OnceValue(openZIPs)

func openZIPs() *zipTable {
	in, err := gzip.NewReader(bytes.NewReader(zipFile))
	if err != nil {
		panic(fmt.Sprintf("places: zips.csv.gz: %v", err)) // the file is part of the binary and tested
	}
	size := binary.LittleEndian.Uint32(zipFile[len(zipFile)-4:]) // a gzip file ends with it
	var text strings.Builder
	text.Grow(int(size))
	if _, err := io.Copy(&text, in); err != nil {
		panic(fmt.Sprintf("places: zips.csv.gz: %v", err))
	}
	z := &zipTable{text: text.String()}
	z.begins = make([]int32, 0, strings.Count(z.text, "\n"))
	for at := strings.IndexByte(z.text, '\n') + 1; at < len(z.text); { // after the line of titles
		z.begins = append(z.begins, int32(at))
		at += strings.IndexByte(z.text[at:], '\n') + 1
	}
	return z
}

// code is the ZIP code of a line.
func (z *zipTable) code(line int) string {
	at := z.begins[line]
	return z.text[at : at+5]
}

// first is the first line whose code is not below.
func (z *zipTable) first(code string) int {
	return sort.Search(len(z.begins), func(i int) bool { return z.code(i) >= code })
}

// place takes a line apart, and tells where its point comes from: c is the
// census, g a list of place names, p a mean, m none.
func (z *zipTable) place(line int) (Place, byte) {
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

// Zip finds a ZIP code of 5 digits, or of 5 and 4, of which the first 5 count.
// A code that is not in the table, such as one that is newer than it, is
// answered with the mean of its region; unknown are only regions that the
// postal service has not.
func Zip(code string) (Place, bool) {
	if !zipForm(code) {
		return Place{}, false
	}
	code = code[:5]
	z := zips()
	if at := z.first(code); at < len(z.begins) && z.code(at) == code {
		p, _ := z.place(at)
		return p, true
	}
	return z.region(code)
}

// region is the mean of the codes with the same first three digits.
func (z *zipTable) region(code string) (Place, bool) {
	mean := Place{ZIP: code, Approximate: true}
	n, states, zones := 0.0, map[string]int{}, map[string]int{}
	for i := z.first(code[:3]); i < len(z.begins) && z.code(i)[:3] == code[:3]; i++ {
		p, _ := z.place(i)
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
	mean.State, mean.TimeZone = mostOf(states), mostOf(zones)
	return mean, true
}

// mostOf is the word that was counted most, of several the first by alphabet.
func mostOf(counts map[string]int) (word string) {
	for w, n := range counts {
		if most := counts[word]; n > most || n == most && w < word {
			word = w
		}
	}
	return word
}

// zipForm tells whether a text is 5 digits, or 5 and 4.
func zipForm(s string) bool {
	if len(s) == 10 && s[5] == '-' {
		return digits(s[:5]) && digits(s[6:])
	}
	return len(s) == 5 && digits(s)
}

func digits(s string) bool { return strings.Trim(s, "0123456789") == "" }
