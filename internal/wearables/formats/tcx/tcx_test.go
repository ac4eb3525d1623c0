package tcx

import (
	"encoding/xml"
	"math"
	"testing"

	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/testdata"
	"hale/internal/wearables/formats/files/filestest"
)

// document is TCX as encoding/xml reads it.
type document struct {
	Activities []struct {
		Sport string `xml:"Sport,attr"`
		Laps  []struct {
			Seconds  float64 `xml:"TotalTimeSeconds"`
			Metres   float64 `xml:"DistanceMeters"`
			Calories float64 `xml:"Calories"`
			Points   []struct {
				Time     string  `xml:"Time"`
				Heart    float64 `xml:"HeartRateBpm>Value"`
				Distance float64 `xml:"DistanceMeters"`
			} `xml:"Track>Trackpoint"`
		} `xml:"Lap"`
	} `xml:"Activities>Activity"`
}

func TestPublicFileAgainstEncodingXML(t *testing.T) {
	path := testdata.Shared(t, "wearables/tcx/stravalib-sample.tcx")
	var want document
	filestest.Decode(t, path, xml.Unmarshal, &want)
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		bed := filestest.New(t, db)
		o, err := bed.Import(Kind, path)
		if err != nil {
			t.Fatal(err)
		}
		all := bed.Workouts()
		if len(all) != 1 || len(want.Activities) != 1 {
			t.Fatalf("%d workouts of %d activities", len(all), len(want.Activities))
		}
		seconds, metres, calories, points, beats := 0.0, 0.0, 0.0, 0, 0
		for _, l := range want.Activities[0].Laps {
			seconds, metres, calories = seconds+l.Seconds, metres+l.Metres, calories+l.Calories
			points += len(l.Points)
			for _, p := range l.Points {
				if p.Heart > 0 {
					beats++
				}
			}
		}
		t.Logf("%v s, %v m, %v kcal, %d points, %d beats", seconds, metres, calories, points, beats)
		if int(o.Types["Trackpoint"].Read) != points || int(o.Types["Lap"].Read) != len(want.Activities[0].Laps) {
			t.Errorf("%d points, %d laps", o.Types["Trackpoint"].Read, o.Types["Lap"].Read)
		}
		body := all[0].Body
		if math.Abs(body["distance"].(float64)-metres) > 0.01 || math.Abs(body["moving_time"].(float64)-seconds) > 1 {
			t.Errorf("%v m in %v s, want %v in %v", body["distance"], body["moving_time"], metres, seconds)
		}
		if got, _ := body["calories"].(float64); got != calories {
			t.Errorf("%v kcal, want %v", got, calories)
		}
		if got := bed.Samples("heartrate"); got.Len() > beats || got.Len() < beats*99/100 {
			t.Errorf("%d beats, want %d", got.Len(), beats)
		}
		delete(body, "map") // long
		for _, name := range []string{"id", "user_id", "created_at", "updated_at", "source", "provider_id"} {
			delete(body, name)
		}
		filestest.CompareGolden(t, "public.golden.json", map[string]any{"types": o.Types, "workout": body, "rows": len(all[0].Stream.Time)})
	})
}
