package places_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hale/internal/labs/places"
	"hale/internal/platform/store"
)

const titles = "lab_slug,site_code,name,first_line,city,state,zip_code,lat,lng,phone,capabilities,hours,active,valid_from,valid_to\n"

// The same sites have the same result in each format.
func TestReadSitesFormats(t *testing.T) {
	want := []places.Site{site("lab_one", "A", 0), site("lab_one", "B", 0)}
	want[0].SecondLine, want[0].Capabilities = "Suite 1", places.Stat|places.ScheduledByUs
	want[1].Point = places.Point{Lat: 33.5, Lng: -112.25}
	want[1].Hours, want[1].ValidFrom = nil, want[1].ValidFrom.AddDays(0)
	want[1].ValidFrom.Year, want[1].ValidFrom.Month, want[1].ValidFrom.Day = 2026, 1, 2
	const (
		hours = `{"mon":[{"open":"07:00","close":"15:30"}],"tue":[{"open":"07:00","close":"15:30"}],` +
			`"wed":[{"open":"07:00","close":"15:30"}],"thu":[{"open":"07:00","close":"15:30"}],"fri":[{"open":"07:00","close":"15:30"}]}`
		first = `"lab_slug":"lab_one","site_code":"A","name":"Draw site A","first_line":"1 Example Street","second_line":"Suite 1",` +
			`"city":"Phoenix","state":"az","zip_code":"85004","phone_number":"555-555-0100",` +
			`"capabilities":["stat","appointment_scheduling_via_junction"],"hours":` + hours
		second = `"lab_slug":"lab_one","site_code":"B","name":"Draw site B","address":"1 Example Street","second_line":null,` +
			`"city":"Phoenix","state":"AZ","zip":"85004","phone":"555-555-0100","valid_from":"2026-01-02"`
	)
	for name, file := range map[string]string{
		"csv": "\xef\xbb\xbfLab_Slug, Site Code ,name,address,second_line,city,state,zip,latitude,longitude,phone,capabilities,opening_hours,valid_from\r\n" +
			"lab_one,A,Draw site A,1 Example Street,Suite 1,Phoenix,AZ,85004,,,555-555-0100,stat;appointment_scheduling_via_junction,Mo-Fr 07:00-15:30,\r\n" +
			"lab_one,B,Draw site B,1 Example Street,,Phoenix,AZ,85004,33.5,-112.25,555-555-0100,,,2026-01-02\r\n",
		"jsonl": "{" + first + "}\n\n{" + second + `,"lat":33.5,"lng":-112.25,"active":true}` + "\n",
		"geojson": `{"type":"FeatureCollection","crs":null,"features":[{"type":"Feature","geometry":null,"properties":{` + first + `}},` +
			`{"type":"Feature","geometry":{"type":"Point","coordinates":[-112.25,33.5,300]},"properties":{` + second + `}}]}`,
		"a feature on each line": `{"type":"Feature","geometry":null,"properties":{` + first + "}}\n" +
			`{"type":"Feature","geometry":{"type":"Point","coordinates":[-112.25,33.5]},"properties":{` + second + `}}`,
	} {
		got, err := places.ReadSites(strings.NewReader(file), "")
		if err != nil || len(got.Problems) > 0 || len(got.Ignored) > 0 {
			t.Errorf("%s: %v, %+v, ignored %v", name, err, got.Problems, got.Ignored)
		}
		if diff := cmp.Diff(want, got.Rows); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// Each bad line, and only a bad one, is reported by number and field.
func TestReadSitesProblems(t *testing.T) {
	good := "lab_one,%s,Name,1 Street,Phoenix,AZ,85004,,,,,,,,\n"
	for _, c := range []struct{ line, field, problem string }{
		{",X,Name,1 Street,Phoenix,AZ,85004,,,,,,,,", "lab_slug", "is missing"},
		{"Lab One,X,Name,1 Street,Phoenix,AZ,85004,,,,,,,,", "lab_slug", "must be a lab's slug, such as lab_one"},
		{"lab_one,,Name,1 Street,Phoenix,AZ,85004,,,,,,,,", "site_code", "is missing"},
		{"lab_one,A,Name,1 Street,Phoenix,AZ,85004,,,,,,,,", "", "is there already, on line 2"},
		{"lab_one,X,,1 Street,Phoenix,AZ,85004,,,,,,,,", "name", "is missing"},
		{"lab_one,X," + strings.Repeat("x", 201) + ",1 Street,Phoenix,AZ,85004,,,,,,,,", "name", "has more than 200 characters"},
		{"lab_one,X,a\tb,1 Street,Phoenix,AZ,85004,,,,,,,,", "name", "has characters that cannot be printed"},
		{"lab_one,X,a\x00b,1 Street,Phoenix,AZ,85004,,,,,,,,", "name", "is not UTF-8 text"},
		{"lab_one,X,a\xffb,1 Street,Phoenix,AZ,85004,,,,,,,,", "name", "is not UTF-8 text"},
		{"lab_one,X,Name,1 Street,Phoenix,Arizona,85004,,,,,,,,", "state", "must be the postal code of a state, such as AZ"},
		{"lab_one,X,Name,1 Street,Phoenix,AZ,8500,,,,,,,,", "zip_code", "must be 5 digits, or 5 and 4"},
		{"lab_one,X,Name,1 Street,Apo,AE,09001,,,,,,,,", "zip_code", "is not on the map: give lat, lng and timezone"},
		{"lab_one,X,Name,1 Street,Phoenix,AZ,85004,33.4,,,,,,,", "lng", "must be degrees, such as -112.0699"},
		{"lab_one,X,Name,1 Street,Phoenix,AZ,85004,NaN,-112,,,,,,", "lat", "must be degrees, such as 33.4516"},
		{"lab_one,X,Name,1 Street,Phoenix,AZ,85004,-112.07,33.45,,,,,,", "lat", "with lng is not in the United States: are the two exchanged?"},
		{"lab_one,X,Name,1 Street,Phoenix,AZ,85004,,,call us,,,,,", "phone", "must be a telephone number"},
		{"lab_one,X,Name,1 Street,Phoenix,AZ,85004,,,,teleport,,,,", "capabilities", "must be of stat, appointment_scheduling_via_junction, appointment_scheduling_with_lab, with ; between"},
		{"lab_one,X,Name,1 Street,Phoenix,AZ,85004,,,,,always,,,", "hours", "must be such as Mo-Fr 07:00-15:30; Sa 08:00-12:00, or JSON by day of the week"},
		{"lab_one,X,Name,1 Street,Phoenix,AZ,85004,,,,,,maybe,,", "active", "must be true or false"},
		{"lab_one,X,Name,1 Street,Phoenix,AZ,85004,,,,,,,2026-02-30,", "valid_from", "must be a date, YYYY-MM-DD"},
		{"lab_one,X,Name,1 Street,Phoenix,AZ,85004,,,,,,,2026-02-03,2026-02-02", "valid_to", "is before valid_from"},
		{"lab_one,X,Name", "", "has 3 columns, the titles are 15"},
		{`lab_one,X,"Na"me",1 Street,Phoenix,AZ,85004,,,,,,,,`, "", `not CSV: extraneous or missing " in quoted-field`},
	} {
		file := titles + fmt.Sprintf(good, "A") + c.line + "\n" + fmt.Sprintf(good, "B")
		got, err := places.ReadSites(strings.NewReader(file), "")
		want := []places.Problem{{Line: 3, Field: c.field, Text: c.problem}}
		if err != nil || !slices.Equal(got.Problems, want) || len(got.Rows) != 2 || got.Lines != 3 {
			t.Errorf("%q: %v, %+v, %d good of %d", c.line, err, got.Problems, len(got.Rows), got.Lines)
		}
	}
}

func TestReadSitesWhole(t *testing.T) {
	for _, c := range []struct{ name, file, want string }{
		{"empty", " \n", "the file is empty"},
		{"one title twice", "zip,zip_code\n", "the column zip_code is listed twice"},
		{"cut off", `{"type":"FeatureCollection","features":[{"type":"Feature"`, "feature 1 is not JSON"},
		{"open end", `{"type":"FeatureCollection","features":[]`, "the GeoJSON is incomplete"},
		{"features elsewhere", `{"type":"FeatureCollection","features":{}}`, "not a GeoJSON FeatureCollection"},
		{"a long line", `{"a":"` + strings.Repeat("x", 1<<20) + `"}`, "a line is longer than 1048576 bytes"},
	} {
		if got, err := places.ReadSites(strings.NewReader(c.file), ""); err == nil || err.Error() != c.want {
			t.Errorf("%s: %v (%+v), want %s", c.name, err, got, c.want)
		}
	}
	// The lab parameter is for lines that name none; other lab names contradict it.
	file := "lab,site_code,name,first_line,city,state,zip,walk_in\n" + ",A,N,1 Street,Phoenix,AZ,85004,yes\nlab_two,B,N,1 Street,Phoenix,AZ,85004,no\n"
	got, err := places.ReadSites(strings.NewReader(file), "lab_one")
	if err != nil || len(got.Rows) != 1 || got.Rows[0].Lab != "lab_one" || len(got.Problems) != 1 || got.Problems[0].Field != "lab_slug" ||
		!slices.Equal(got.Ignored, []string{"walk_in"}) {
		t.Errorf("%v, %+v", err, got)
	}
	// The report of a file with a mistake in every line is limited.
	got, err = places.ReadSites(strings.NewReader("site_code\n"+strings.Repeat("x\n", 1000)), "")
	if err != nil || len(got.Problems) != 1000 || got.Unlisted == 0 || got.Lines != 1000 {
		t.Errorf("%v, %d problems and %d more", err, len(got.Problems), got.Unlisted)
	}
}

func TestReadOffers(t *testing.T) {
	got, err := places.ReadOffers(strings.NewReader("provider,zip,tier,days,earliest,latest,lead_hours\n" +
		"visits,85004-1234,appointment-ready,Mo-Fr,06:30,18:00,12\nvisits,54650,Appointment-Request,,,,\n" +
		"visits,85004,appointment-ready,,,,\nvisits,85003,soon,x,9,8:00,1000\n,09001,appointment-ready,,12:00,11:00,x\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := []places.Offer{
		{ZIP: "85004", Provider: "visits", Tier: places.AppointmentReady, Days: 1<<5 - 1, Earliest: 390, Latest: 1080, LeadHours: 12, TimeZone: "America/Phoenix"},
		{ZIP: "54650", Provider: "visits", Tier: places.AppointmentRequest, Days: places.EveryDay, Earliest: 420, Latest: 1080, LeadHours: 24, TimeZone: "America/Chicago"},
	}
	if diff := cmp.Diff(want, got.Rows); diff != "" {
		t.Error(diff)
	}
	var problems []string
	for _, p := range got.Problems {
		problems = append(problems, fmt.Sprintf("%d %s", p.Line, p.Field))
	}
	if text := strings.Join(problems, ", "); text != "4 , 5 tier, 5 days, 5 earliest, 5 lead_hours, 6 provider, 6 zip_code, 6 latest, 6 lead_hours" {
		t.Errorf("problems: %s", text)
	}
}

// The made-up sites, written to a file and imported, give the same search results.
func TestMadeUpRoundTrip(t *testing.T) {
	made := places.MadeUpSites("sonora_quest")
	var file bytes.Buffer
	if err := places.WriteSites(&file, made); err != nil {
		t.Fatal(err)
	}
	read, err := places.ReadSites(&file, "")
	if err != nil || len(read.Problems) > 0 || len(read.Ignored) > 0 {
		t.Fatalf("%v, %+v", err, read.Problems)
	}
	if diff := cmp.Diff(made, read.Rows); diff != "" {
		t.Fatal(diff)
	}
	forEachEngine(t, func(r *fixture) {
		sandbox := r.one
		sandbox.Sandbox = true
		want, err := r.near(sandbox, "sonora_quest", 25, 0)
		if err != nil {
			t.Fatal(err)
		}
		r.put(places.AllTeams, true, read.Rows...)
		got, err := r.near(sandbox, "sonora_quest", 25, 0)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" || got.Total < 30 {
			t.Errorf("%d sites: %s", got.Total, diff)
		}
	})
}

// ReadSites accepts any input, and both engines can store the rows that it returns.
func FuzzReadSites(f *testing.F) {
	f.Add([]byte(titles + "lab_one,A,Name,1 Street,Phoenix,AZ,85004,33.4,-112,555-555-0100,stat,Mo-Fr 07:00-15:30,yes,2026-01-01,\n"))
	f.Add([]byte(`{"lab_slug":"lab_one","site_code":"A","name":"N","address":"1","city":"P","state":"AZ","zip":"85004","hours":{"monday":[]}}`))
	f.Add([]byte(`{"type":"FeatureCollection","features":[{"type":"Feature","geometry":{"type":"Point","coordinates":[-112,33]},"properties":{}}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		read, err := places.ReadSites(bytes.NewReader(data), "lab_one")
		if err != nil {
			return
		}
		var again bytes.Buffer
		if err := places.WriteSites(&again, read.Rows); err != nil {
			t.Fatal(err)
		}
		second, err := places.ReadSites(&again, "")
		if err != nil || len(second.Problems) > 0 {
			t.Fatalf("what was read and written is refused: %v, %+v", err, second.Problems)
		}
		if diff := cmp.Diff(read.Rows, second.Rows); diff != "" {
			t.Error(diff)
		}
	})
}

func FuzzReadOffers(f *testing.F) {
	f.Add([]byte("provider,zip,tier,days,earliest,latest,lead_hours\nvisits,85004,appointment-ready,Mo-Fr,06:30,18:00,12\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		read, err := places.ReadOffers(bytes.NewReader(data))
		if err != nil {
			return
		}
		for _, o := range read.Rows {
			if o.Days == 0 || o.Days > places.EveryDay || o.Earliest >= o.Latest || o.Latest > 24*60 || len(o.ZIP) != 5 || o.LeadHours < 0 {
				t.Errorf("%+v", o)
			}
		}
	})
}

// Unusual rows, found by fuzzing, can be stored on both engines.
func TestImportOddTexts(t *testing.T) {
	file := "site_code,name,first_line,city,state,zip\n" + `"'; DROP TABLE x; --","ünïcödé 🩸","<b>","\",AZ,85004` + "\n"
	read, err := places.ReadSites(strings.NewReader(file), "lab_one")
	if err != nil || len(read.Problems) > 0 {
		t.Fatalf("%v, %+v", err, read.Problems)
	}
	forEachEngine(t, func(r *fixture) {
		r.put(places.AllTeams, true, read.Rows...)
		var got places.Site
		err := r.read(r.one.Team, func(ctx context.Context, tx *store.Tx) (err error) {
			got, err = r.dir.Site(ctx, tx, r.one, "lab_one", read.Rows[0].Code)
			return err
		})
		if diff := cmp.Diff(read.Rows[0], got); err != nil || diff != "" {
			t.Errorf("%v: %s", err, diff)
		}
	})
}
