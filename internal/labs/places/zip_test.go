package places

import (
	"encoding/csv"
	"os"
	"slices"
	"strconv"
	"testing"

	"hale/internal/people/users/person"
	"hale/internal/platform/civil"
	"hale/internal/testdata"
)

func TestZip(t *testing.T) {
	for _, c := range []struct {
		code string
		want Place
	}{
		{"85004", Place{ZIP: "85004", City: "Phoenix", State: "AZ", TimeZone: "America/Phoenix", Point: Point{33.4516, -112.0699}, Located: true}},
		{"54650-1234", Place{ZIP: "54650", City: "Onalaska", State: "WI", TimeZone: "America/Chicago", Point: Point{43.9094, -91.2248}, Located: true}},
		{"00601", Place{ZIP: "00601", City: "Adjuntas", State: "PR", TimeZone: "America/Puerto_Rico", Point: Point{18.1806, -66.75}, Located: true}},
		{"09001", Place{ZIP: "09001", City: "Apo", State: "AE"}}, // military
	} {
		if got, known := Zip(c.code); !known || got != c.want {
			t.Errorf("%s is %+v (%v), want %+v", c.code, got, known, c.want)
		}
	}
	for _, code := range []string{"", "8500", "850045", "85004-", "85004-12", "8500x", "00000", "00099", "٨٥٠٠٤"} {
		if got, known := Zip(code); known {
			t.Errorf("%q is known as %+v", code, got)
		}
	}
}

// A code that is not in the table has the data of its region.
func TestZipRegion(t *testing.T) {
	got, known := Zip("85000")
	if !known || !got.Approximate || !got.Located || got.City != "" || got.State != "AZ" || got.TimeZone != "America/Phoenix" {
		t.Fatalf("85000 is %+v", got)
	}
	phoenix, _ := Zip("85004")
	if d := got.Miles(phoenix.Point); d > 15 {
		t.Errorf("the middle of 850 is %v miles from Phoenix", d)
	}
	if got, known := Zip("09000"); known { // a region with only military codes
		t.Errorf("09000 is %+v", got)
	}
}

// Every line of the table is valid.
func TestZipTable(t *testing.T) {
	z := zips()
	last, located, unnamed := "", 0, 0
	for i := range z.begins {
		p, source := z.parseLine(i)
		if p.ZIP <= last || !isZIP(p.ZIP) || person.States[p.State] == "" && p.State != "FM" && p.State != "MH" && p.State != "PW" {
			t.Fatalf("line %d is %+v after %s", i, p, last)
		}
		last = p.ZIP
		if p.Located != (source != 'm') {
			t.Fatalf("%+v has source %c", p, source)
		}
		if !p.Located {
			continue
		}
		located++
		if p.City == "" { // newer than the list of names
			unnamed++
		}
		if _, err := civil.Zone(p.TimeZone); err != nil || p.Lat < -15 || p.Lat > 72 {
			t.Fatalf("%+v: %v", p, err)
		}
	}
	if len(z.begins) != 42_560 || located != 41_911 || unnamed > 10 {
		t.Errorf("%d codes, %d with a point, %d without a city", len(z.begins), located, unnamed)
	}
}

// The table is the complete public file.
func TestZipTableIsTheFile(t *testing.T) {
	file, err := os.Open(testdata.Shared(t, "geo/zip_centroids.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for i, row := range rows[1:] {
		p, _ := zips().parseLine(i)
		got := []string{p.ZIP, "", "", p.State, p.City, p.TimeZone}
		if p.Located {
			got[1], got[2] = strconv.FormatFloat(p.Lat, 'f', -1, 64), strconv.FormatFloat(p.Lng, 'f', -1, 64)
			row[1], row[2] = plainNumber(t, row[1]), plainNumber(t, row[2])
		}
		if !slices.Equal(got, row[:6]) {
			t.Fatalf("line %d is %v, in the file %v", i, got, row)
		}
	}
}

func plainNumber(t *testing.T, s string) string {
	x, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatal(err)
	}
	return strconv.FormatFloat(x, 'f', -1, 64)
}

func BenchmarkOpenZIPs(b *testing.B) {
	for b.Loop() {
		openZIPs()
	}
}

func BenchmarkZip(b *testing.B) {
	for b.Loop() {
		Zip("85004")
	}
}

func BenchmarkDrawList(b *testing.B) {
	zips()
	for b.Loop() {
		drawList("quest", sandboxLabs["quest"])
	}
}

// An address is in the state of its ZIP code. Some codes cross a state line, and
// codes that the table does not have may be in any state of their region.
func TestIsInState(t *testing.T) {
	for _, c := range []struct {
		zip, state string
		want       bool
	}{
		{"10001", "NY", true},
		{"10001", "NJ", false},
		{"07102-1234", "NJ", true},
		{"07102-1234", "NY", false},
		{"20001", "DC", true},
		{"20001", "MD", false},
		{"00901", "PR", true},
		{"00901", "FL", false},
		{"42223", "KY", true},
		{"42223", "TN", true},
		{"42223", "OH", false},
		{"02861", "MA", true},
		{"02861", "RI", true},
		{"10999", "NY", true},
		{"10999", "CA", false}, // not in the table
		{"00000", "NY", true},
		{"", "NY", true},
		{"1234", "NY", true}, // no ZIP codes
	} {
		if got := IsInState(c.zip, c.state); got != c.want {
			t.Errorf("%s in %s: %v", c.zip, c.state, got)
		}
	}
}
