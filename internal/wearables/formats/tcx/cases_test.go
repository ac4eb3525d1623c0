package tcx

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/wearables"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/files/filestest"
)

// run has two laps of a run, recorded by a watch with its serial number. A course
// follows, which is only a plan.
const run = `<?xml version="1.0"?>
<TrainingCenterDatabase xmlns="http://www.garmin.com/xmlschemas/TrainingCenterDatabase/v2" xmlns:ns3="http://www.garmin.com/xmlschemas/ActivityExtension/v2">
 <Activities><Activity Sport="Running"><Id>2024-05-01T06:00:00Z</Id>
  <Lap StartTime="2024-05-01T06:00:00Z"><TotalTimeSeconds>60</TotalTimeSeconds><DistanceMeters>200</DistanceMeters><MaximumSpeed>4.25</MaximumSpeed><Calories>15</Calories>
   <AverageHeartRateBpm><Value>120</Value></AverageHeartRateBpm><MaximumHeartRateBpm><Value>131</Value></MaximumHeartRateBpm>
   <Track>
    <Trackpoint><Time>2024-05-01T06:00:00Z</Time><Position><LatitudeDegrees>46.0</LatitudeDegrees><LongitudeDegrees>14.0</LongitudeDegrees></Position><AltitudeMeters>300</AltitudeMeters><DistanceMeters>0</DistanceMeters><HeartRateBpm><Value>110</Value></HeartRateBpm><Extensions><ns3:TPX><ns3:Speed>3.5</ns3:Speed><ns3:RunCadence>84</ns3:RunCadence><ns3:Watts>250</ns3:Watts></ns3:TPX></Extensions></Trackpoint>
    <Trackpoint><Time>2024-05-01T06:01:00Z</Time><DistanceMeters>200</DistanceMeters><HeartRateBpm><Value>131</Value></HeartRateBpm></Trackpoint>
   </Track>
   <Extensions><ns3:LX><ns3:Steps>168</ns3:Steps><ns3:AvgWatts>250</ns3:AvgWatts><ns3:MaxWatts>260</ns3:MaxWatts></ns3:LX></Extensions>
  </Lap>
  <Lap StartTime="2024-05-01T06:05:00Z"><TotalTimeSeconds>30</TotalTimeSeconds><DistanceMeters>100</DistanceMeters><Calories>8</Calories>
   <AverageHeartRateBpm><Value>141</Value></AverageHeartRateBpm><MaximumHeartRateBpm><Value>150</Value></MaximumHeartRateBpm>
   <Track>
    <Trackpoint><Time>not a time</Time><HeartRateBpm><Value>1</Value></HeartRateBpm></Trackpoint>
    <Trackpoint><Time>2024-05-01T06:05:30Z</Time><DistanceMeters>300</DistanceMeters><HeartRateBpm><Value>150</Value></HeartRateBpm></Trackpoint>
   </Track>
   <Extensions><ns3:LX><ns3:Steps>84</ns3:Steps></ns3:LX></Extensions>
  </Lap>
  <Creator><Name>Garmin Forerunner 965</Name><UnitId>3999999999</UnitId><ProductID>4315</ProductID><Version><VersionMajor>19</VersionMajor><VersionMinor>18</VersionMinor></Version></Creator>
 </Activity></Activities>
 <Courses><Course><Name>plan</Name><Lap/><Track><Trackpoint><Time>2030-01-01T00:00:00Z</Time></Trackpoint></Track></Course></Courses>
</TrainingCenterDatabase>`

func TestOwnActivity(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		bed := filestest.New(t, db)
		path := filestest.Save(t, []byte(run))
		o, err := bed.Import(Kind, path)
		if err != nil {
			t.Fatal(err)
		}
		filestest.Types(t, o, map[string]files.TypeCount{
			"Trackpoint": {Read: 4, Mapped: 3, BadDate: 1}, "Lap": {Read: 2, Mapped: 2}, "Activity": {Read: 1, Mapped: 1}, "Course": {Read: 1, Skipped: 1},
		})
		all := bed.Workouts()
		if len(all) != 1 {
			t.Fatalf("%d workouts", len(all))
		}
		filestest.CompareJSON(t, all[0].Body, map[string]any{
			"time_start": "2024-05-01T06:00:00+00:00", "time_end": "2024-05-01T06:05:30+00:00", "timezone_offset": nil,
			"moving_time": 90.0, "distance": 300.0, "calories": 23.0, "average_hr": 127.0, "max_hr": 150.0, "steps": 252.0,
			"max_speed": 4.25, "average_speed": 3.333, "average_watts": nil, "max_watts": 260.0, "elev_high": 300.0,
		})
		source := all[0].Body["source"].(map[string]any)
		if source["provider"] != "garmin" || source["type"] != "watch" || source["device_id"] == nil {
			t.Errorf("%v", source)
		}
		if got := string(wearables.AppendStream(nil, all[0].Stream)); got != `{"time":[1714543200,1714543260,1714543530],`+
			`"cadence":[168,null,null],"heartrate":[110,131,150],"distance":[0,200,300],"altitude":[300,null,null],"velocity_smooth":[3.5,null,null],`+
			`"lat":[46,null,null],"lng":[14,null,null],"power":[250,null,null],"resistance":[],"temperature":[]}` {
			t.Error(got)
		}
		if again, err := bed.Import(Kind, path); err != nil || again.Created+again.Updated != 0 {
			t.Errorf("the second time: %+v, %v", again.Counts, err)
		}
	})
}

// The manufacturer gives the source type, also if the device has no number.
func TestSourceType(t *testing.T) {
	for name, want := range map[string]string{"Garmin Forerunner 965": "watch", "Polar M430": "watch", "Strava": "app", "Somebody's": "unknown"} {
		bed := filestest.New(t, storetest.SQLite(t))
		raw := strings.Replace(strings.Replace(run, "Garmin Forerunner 965", name, 1), "3999999999", "0", 1)
		if _, err := bed.Import(Kind, filestest.Save(t, []byte(raw))); err != nil {
			t.Fatal(err)
		}
		source := bed.Workouts()[0].Body["source"].(map[string]any)
		if source["type"] != want || source["device_id"] != nil {
			t.Errorf("%s: %v", name, source)
		}
	}
}

// A file has a bounded number of devices, and further workouts are kept without them.
func TestDevicesOfAFileAreBounded(t *testing.T) {
	var all strings.Builder
	all.WriteString("<TrainingCenterDatabase><Activities>")
	start := time.Date(2024, 5, 1, 6, 0, 0, 0, time.UTC)
	for i := range 104 {
		fmt.Fprintf(&all, `<Activity Sport="Running"><Lap StartTime="%s"><TotalTimeSeconds>30</TotalTimeSeconds></Lap><Creator><Name>Garmin</Name><UnitId>%d</UnitId></Creator></Activity>`,
			start.Add(time.Duration(i)*time.Minute).Format(time.RFC3339), 1+i%102)
	}
	all.WriteString("</Activities></TrainingCenterDatabase>")
	bed := filestest.New(t, storetest.SQLite(t))
	if _, err := bed.Import(Kind, filestest.Save(t, []byte(all.String()))); err != nil {
		t.Fatal(err)
	}
	nameless := 0
	workouts := bed.Workouts()
	for _, w := range workouts {
		if w.Body["source"].(map[string]any)["device_id"] == nil {
			nameless++
		}
	}
	if made := bed.Events()["provider.device.created"]; made != 100 || nameless != 2 || len(workouts) != 104 {
		t.Errorf("%d devices, %d workouts of %d without", made, nameless, len(workouts))
	}
}

// The laps and moments of an activity that is left out are left out as well.
func TestActivityOfAMonth(t *testing.T) {
	long := strings.Replace(run, "2024-05-01T06:05:30Z", "2024-06-01T06:05:30Z", 1)
	whole := run[strings.Index(run, " <Activities>"):strings.Index(run, " <Courses>")]
	bed := filestest.New(t, storetest.SQLite(t))
	o, err := bed.Import(Kind, filestest.Save(t, []byte(strings.Replace(long, " <Courses>", whole+" <Courses>", 1))))
	if err != nil {
		t.Fatal(err)
	}
	filestest.Types(t, o, map[string]files.TypeCount{
		"Trackpoint": {Read: 8, Mapped: 3, BadDate: 5}, "Lap": {Read: 4, Mapped: 2, BadDate: 2}, "Activity": {Read: 2, Mapped: 1, BadDate: 1}, "Course": {Read: 1, Skipped: 1},
	})
	if o.Records != 15 || o.Mapped != 6 {
		t.Errorf("%+v", o.Report)
	}
}

func TestRefusedFiles(t *testing.T) {
	filestest.New(t, storetest.SQLite(t)).Refuses(Kind, map[string]struct{ Raw, Says string }{
		"another root": {`<gpx/>`, "first element"},
		"only a plan":  {run[:strings.Index(run, " <Activities>")] + run[strings.Index(run, " <Courses>"):], "plans"},
		"no times":     {strings.ReplaceAll(run, "2024-", "1989-"), "plans"},
	})
}

// An activity that is cut off in its second lap is kept up to that place.
func TestTruncatedFile(t *testing.T) {
	bed := filestest.New(t, storetest.SQLite(t))
	o, err := bed.Import(Kind, filestest.Save(t, []byte(run[:strings.Index(run, "06:05:30")])))
	if err != nil || !o.Truncated || o.Workouts != 1 || o.Types["Lap"].Mapped != 2 || o.Types["Trackpoint"].Mapped != 2 {
		t.Errorf("%v, %+v", err, o.Report)
	}
}

// No document makes the reader fail in a way that is not a refusal.
func FuzzTCX(f *testing.F) {
	f.Add([]byte(run))
	f.Add([]byte(`<TrainingCenterDatabase><Activity><Lap StartTime="2024-05-01T06:00:00Z"><TotalTimeSeconds>1e300</TotalTimeSeconds></Activity>`))
	filestest.New(f, storetest.SQLite(f)).Survives(f, Kind)
}
