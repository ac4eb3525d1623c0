package applehealth

import (
	"fmt"
	"strings"
	"testing"

	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/wearables"
	"hale/internal/wearables/formats/files"
)

// A ride indoors has two sources: a watch and a power meter. For each heart
// rate, the stream has the nearest values of power, cadence and speed, of both
// sources. The next workout has none of these values.
func TestImportSensorValuesOfWorkouts(t *testing.T) {
	reading := func(kind, source, unit string, second int, value float64) string {
		return fmt.Sprintf(`<Record type="%s%s" sourceName="%s" unit="%s" startDate="2024-06-01 10:00:%02d +0000" endDate="2024-06-01 10:00:%02[5]d +0000" value="%g"/>`,
			quantity, kind, source, unit, second, value)
	}
	ride := func(from, to string) string {
		return `<Workout workoutActivityType="HKWorkoutActivityTypeCycling" sourceName="Rider" startDate="2024-06-01 ` + from + ` +0000" endDate="2024-06-01 ` + to + ` +0000"/>`
	}
	xml := opening +
		reading("HeartRate", "Rider", "count/min", 0, 120) + reading("HeartRate", "Rider", "count/min", 20, 130) + reading("HeartRate", "Rider", "count/min", 40, 140) +
		reading("CyclingPower", "Meter", "W", 22, 210) + reading("CyclingPower", "Meter", "W", 1, 200) + // not in order
		reading("CyclingCadence", "Meter", "count/min", 21, 88) +
		reading("CyclingSpeed", "Rider", "km/hr", 19, 36) + reading("RunningPower", "Meter", "furlong", 19, 36) +
		ride("10:00:00", "10:01:00") + ride("11:00:00", "11:01:00") + "</HealthData>"
	name := saveFile(t, []byte(xml))
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		sink, user := createUser(t, db)
		o := importFile(t, files.Input{DB: db, Sink: sink, User: user, Path: name}, wearables.Historical)
		if o.Types["RunningPower"].BadUnit != 1 || o.Types["CyclingPower"].Mapped != 2 {
			t.Errorf("types %+v", o.Types)
		}
		streams := streamText(t, db, user)
		const want = `"heartrate":[120,130,140]`
		if len(streams) != 1 {
			t.Fatalf("%d streams", len(streams))
		}
		text := string(streams[0])
		for _, part := range []string{want, `"power":[200,210,null]`, `"cadence":[null,88,null]`, `"velocity_smooth":[null,10,null]`} {
			if !strings.Contains(text, part) {
				t.Errorf("%s is not in %s", part, text)
			}
		}
	})
}
