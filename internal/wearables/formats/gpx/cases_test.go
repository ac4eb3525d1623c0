package gpx

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"

	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/wearables"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/files/filestest"
	"hale/internal/wearables/formats/runkeeper"
	"hale/internal/wearables/formats/strava"
)

// walk is a short track with every value that the extensions define. It has two
// segments with a pause of a minute, one heart rate of zero, and one point
// without time.
const walk = `<?xml version="1.0" encoding="UTF-8"?>
<gpx version="1.1" creator="StravaGPX iPhone" xmlns="http://www.topografix.com/GPX/1/1" xmlns:gpxtpx="http://www.garmin.com/xmlschemas/TrackPointExtension/v1">
 <metadata><time>2024-05-01T05:00:00Z</time></metadata>
 <trk><name>Früh &amp; spät</name><type>walking</type>
  <trkseg>
   <trkpt lat="46.0" lon="14.0"><ele>300.5</ele><time>2024-05-01T08:00:00+02:00</time><extensions><power>210</power><gpxtpx:TrackPointExtension><gpxtpx:atemp>18</gpxtpx:atemp><gpxtpx:hr>98</gpxtpx:hr><gpxtpx:cad>55</gpxtpx:cad></gpxtpx:TrackPointExtension></extensions></trkpt>
   <trkpt lat="46.001" lon="14.0"><ele>302</ele><time>2024-05-01T08:01:00+02:00</time><extensions><gpxtpx:TrackPointExtension><gpxtpx:hr>0</gpxtpx:hr></gpxtpx:TrackPointExtension></extensions></trkpt>
  </trkseg>
  <trkseg>
   <trkpt lat="46.001" lon="14.0"><time>2024-05-01T08:02:00+02:00</time></trkpt>
   <trkpt lat="46.002" lon="14.0"><ele>299</ele></trkpt>
   <trkpt lat="46.002" lon="14.0"><ele>299</ele><time>2024-05-01T08:03:30+02:00</time><extensions><gpxtpx:TrackPointExtension><gpxtpx:hr>104</gpxtpx:hr></gpxtpx:TrackPointExtension></extensions></trkpt>
  </trkseg>
 </trk>
</gpx>`

func TestOwnTrack(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		bed := filestest.New(t, db)
		path := filestest.Save(t, []byte(walk))
		o, err := bed.Import(Kind, path)
		if err != nil {
			t.Fatal(err)
		}
		if c := *o.Types["trkpt"]; c != (files.TypeCount{Read: 5, Mapped: 4, BadDate: 1}) || o.Workouts != 1 || o.Routes != 1 || o.Truncated {
			t.Errorf("%+v, %+v", c, o.Report)
		}
		all := bed.Workouts()
		if len(all) != 1 {
			t.Fatalf("%d workouts", len(all))
		}
		filestest.CompareJSON(t, all[0].Body, map[string]any{
			"title": "Früh & spät", "time_start": "2024-05-01T06:00:00+00:00", "time_end": "2024-05-01T06:03:30+00:00",
			"timezone_offset": 7200.0, "moving_time": 150.0, "distance": 222.39, "elev_high": 302.0, "elev_low": 299.0,
			"average_hr": 101.0, "max_hr": 104.0, "calories": nil, "average_speed": 1.483,
		})
		filestest.CompareJSON(t, all[0].Body["source"].(map[string]any), map[string]any{"provider": "strava", "type": "app"})
		if got := string(wearables.AppendStream(nil, all[0].Stream)); got != `{"time":[1714543200,1714543260,1714543320,1714543410],`+
			`"cadence":[55,null,null,null],"heartrate":[98,null,null,104],"distance":[0,111.2,111.2,222.39],"altitude":[300.5,302,null,299],`+
			`"velocity_smooth":[],"lat":[46,46.001,46.001,46.002],"lng":[14,14,14,14],"power":[210,null,null,null],"resistance":[],"temperature":[18,null,null,null]}` {
			t.Error(got)
		}
		events := bed.Events()
		if events["daily.data.workouts.created"] != 1 || events["daily.data.workout_stream.created"] != 1 || events["daily.data.heartrate.created"] != 1 {
			t.Errorf("%v", events)
		}
		again, err := bed.Import(Kind, path)
		if err != nil || again.Created+again.Updated != 0 || again.Unchanged != o.Created {
			t.Errorf("the second time: %+v, %v", again.Counts, err)
		}
		if acts := bed.Summaries("activity"); len(acts) != 0 {
			t.Errorf("a walk made an activity of the day: %v", acts)
		}
	})
}

// The same track in other encodings is the same workout.
func TestEncodings(t *testing.T) {
	latin := strings.ReplaceAll(strings.Replace(walk, "UTF-8", "ISO-8859-1", 1), "ü", "\xfc")
	latin = strings.ReplaceAll(latin, "ä", "\xe4")
	wide := []byte{0xFF, 0xFE}
	for _, unit := range utf16.Encode([]rune(strings.Replace(walk, "UTF-8", "UTF-16", 1))) {
		wide = append(wide, byte(unit), byte(unit>>8))
	}
	for name, raw := range map[string][]byte{"ISO-8859-1": []byte(latin), "UTF-16": wide, "byte order mark": []byte("\uFEFF" + walk)} {
		t.Run(name, func(t *testing.T) {
			bed := filestest.New(t, storetest.SQLite(t))
			if _, err := bed.Import(Kind, filestest.Save(t, raw)); err != nil {
				t.Fatal(err)
			}
			if all := bed.Workouts(); len(all) != 1 || all[0].Body["title"] != "Früh & spät" || len(all[0].Stream.Time) != 4 {
				t.Errorf("%v", all)
			}
		})
	}
}

// A file and the reply about the same activity are one workout.
func TestFileAndReply(t *testing.T) {
	strided := `{"id":77,"name":"Evening","type":"Walk","start_date":"2024-05-01T06:00:00Z","elapsed_time":210,"moving_time":150,"distance":222.4,"utc_offset":7200.0}`
	kept := `{"items":[{"uri":"/fitnessActivities/77","type":"Walking","start_time":"Wed, 1 May 2024 08:00:00","utc_offset":2,"duration":210,"total_distance":222.4,"total_calories":15,"entry_mode":"API","has_path":true,"source":"RunKeeper"}]}`
	for _, test := range []struct {
		creator, reply string
		kind           files.Kind
	}{{"StravaGPX", strided, strava.Kind}, {"StravaGPX Android", strided, strava.Kind}, {"Runkeeper - http://www.runkeeper.com", kept, runkeeper.Kind}} {
		bed := filestest.New(t, storetest.SQLite(t))
		file := filestest.Save(t, []byte(strings.Replace(walk, "StravaGPX iPhone", test.creator, 1)))
		if _, err := bed.Import(Kind, file); err != nil {
			t.Fatal(err)
		}
		if err := test.kind.Check(filestest.Save(t, []byte(test.reply)), 0); err != nil {
			t.Fatal(err)
		}
		if _, err := bed.Import(test.kind, filestest.Save(t, []byte(test.reply))); err != nil {
			t.Fatal(err)
		}
		if all := bed.Workouts(); len(all) != 1 || len(all[0].Stream.Time) != 4 || all[0].Body["source"].(map[string]any)["type"] != "app" {
			t.Errorf("%s: %d workouts", test.creator, len(all))
		}
	}
}

func TestSourceType(t *testing.T) {
	for creator, want := range map[string]string{
		"StravaGPX": "app", "Garmin Connect": "watch", "Polar Flow": "watch", "Some iPhone logger": "phone", "OsmAnd": "unknown", "": "unknown",
	} {
		if got := sourceType(files.Maker(creator), creator); got != want {
			t.Errorf("%q is of the type %s, want %s", creator, got, want)
		}
	}
}

// Mapped points are stored: the points of a track share the outcome of the track.
func TestSkippedPointsOfTracks(t *testing.T) {
	point := `<trkpt lat="46" lon="14"><time>%s</time></trkpt>`
	at := func(all ...string) string {
		var b strings.Builder
		for _, one := range all {
			fmt.Fprintf(&b, point, one)
		}
		return "<trk><trkseg>" + b.String() + "</trkseg></trk>"
	}
	content := "<gpx>" + at("2024-05-01T06:00:00Z", "2024-05-01T06:01:00Z") + at("2024-05-02T06:00:00Z") + at("2024-05-03T06:00:00Z", "2024-06-03T06:00:00Z", "2024-06-03T06:01:00Z") + "</gpx>"
	bed := filestest.New(t, storetest.SQLite(t))
	o, err := bed.Import(Kind, filestest.Save(t, []byte(content)))
	if err != nil {
		t.Fatal(err)
	}
	filestest.Types(t, o, map[string]files.TypeCount{
		"trk": {Read: 3, Mapped: 1, BadValue: 1, BadDate: 1}, "trkpt": {Read: 6, Mapped: 2, BadValue: 1, BadDate: 3},
	})
	if o.Records != 9 || o.Mapped != 3 || o.Workouts != 1 {
		t.Errorf("%+v", o.Report)
	}
}

func TestTitleInCDATA(t *testing.T) {
	bed := filestest.New(t, storetest.SQLite(t))
	if _, err := bed.Import(Kind, filestest.Save(t, []byte(strings.Replace(walk, "Früh &amp; spät", "<![CDATA[Früh & spät]]>", 1)))); err != nil {
		t.Fatal(err)
	}
	if all := bed.Workouts(); len(all) != 1 || all[0].Body["title"] != "Früh & spät" {
		t.Errorf("%v", all)
	}
}

// The schema has no zones, so a time without a zone is in UTC.
func TestTimesWithoutZone(t *testing.T) {
	bed := filestest.New(t, storetest.SQLite(t))
	if _, err := bed.Import(Kind, filestest.Save(t, []byte(strings.ReplaceAll(walk, "+02:00</time>", "</time>")))); err != nil {
		t.Fatal(err)
	}
	all := bed.Workouts()
	if len(all) != 1 {
		t.Fatalf("%d workouts", len(all))
	}
	filestest.CompareJSON(t, all[0].Body, map[string]any{"time_start": "2024-05-01T08:00:00+00:00", "timezone_offset": nil})
}

func TestRefusedFiles(t *testing.T) {
	filestest.New(t, storetest.SQLite(t)).Refuses(Kind, map[string]struct{ Raw, Says string }{
		"another root":    {`<TrainingCenterDatabase/>`, "first element"},
		"no XML":          {"%PDF-1.4", "first element"},
		"nothing":         {"", "first element"},
		"unknown charset": {`<?xml version="1.0" encoding="EBCDIC-US"?><gpx/>`, "first element"},
		"no times":        {strings.ReplaceAll(walk, "time>", "when>"), "no times"},
		"no track":        {`<gpx><wpt lat="1" lon="2"/></gpx>`, "no track"},
		"laughs":          {`<!DOCTYPE gpx [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;">]><gpx><trk><name>&b;</name></trk></gpx>`, "no track"},
		"deep":            {"<gpx>" + strings.Repeat("<a>", 1000), "no track"},
	})
}

// The data before the end of a truncated file is kept.
func TestTruncatedFile(t *testing.T) {
	bed := filestest.New(t, storetest.SQLite(t))
	cut := walk[:strings.Index(walk, "08:02:00")]
	o, err := bed.Import(Kind, filestest.Save(t, []byte(cut)))
	if err != nil || !o.Truncated || o.Workouts != 1 || o.Types["trkpt"].Mapped != 2 {
		t.Errorf("%v, %+v", err, o.Report)
	}
}

func TestTooLarge(t *testing.T) {
	if err := Kind.Check(filestest.Save(t, []byte(walk)), 100); !fault.Is(err, fault.TooLarge) {
		t.Error(err)
	}
}

// No document makes the reader fail in a way that is not a refusal.
func FuzzGPX(f *testing.F) {
	f.Add([]byte(walk))
	f.Add([]byte(`<gpx><trk><trkseg><trkpt lat="1e9" lon="x"><time>2024-02-30T00:00:00Z</time></trkpt></trk>`))
	filestest.New(f, storetest.SQLite(f)).Survives(f, Kind)
}
