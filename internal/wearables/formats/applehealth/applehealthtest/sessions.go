package applehealthtest

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"time"
)

const sleepAnalysis = category + "SleepAnalysis"

// sleep writes one night a day: the phone's time in bed, the watch's stages.
func (w *writer) sleep() {
	inBed := kind{name: sleepAnalysis, source: &phone}
	stage := kind{name: sleepAnalysis, source: &watch, metadata: `  <MetadataEntry key="HKTimeZone" value="Europe/Berlin"/>` + "\n"}
	cycle := []string{"Core", "Deep", "Core", "REM", "Awake"}
	for d := range w.o.Days {
		bed := w.day(d).Add(-45 * time.Minute)
		if d == 0 {
			bed = w.day(d).Add(30 * time.Minute)
		}
		w.record(inBed, bed, bed.Add(7*time.Hour+40*time.Minute), "HKCategoryValueSleepAnalysisInBed")
		at := bed.Add(12 * time.Minute)
		for i := range 20 {
			name := cycle[i%len(cycle)]
			length := time.Duration(14+w.rand.IntN(12)) * time.Minute
			if name == "Awake" {
				length = time.Duration(1+w.rand.IntN(6)) * time.Minute
			} else {
				name = "Asleep" + name
			}
			w.record(stage, at, at.Add(length), "HKCategoryValueSleepAnalysis"+name)
			at = at.Add(length)
		}
	}
}

// correlations repeat every blood pressure as a pair, as real exports do.
func (w *writer) correlations() {
	systolic := kind{name: quantity + "BloodPressureSystolic", unit: "mmHg", source: &manual, metadata: userEnteredXML}
	diastolic := kind{name: quantity + "BloodPressureDiastolic", unit: "mmHg", source: &manual, metadata: userEnteredXML}
	for d := 0; d < w.o.Days; d += 4 {
		at := w.day(d).Add(7 * time.Hour)
		stamp := at.Format(layout)
		w.textf(" <Correlation type=\"HKCorrelationTypeIdentifierBloodPressure\" sourceName=\"Health\" sourceVersion=\"17.4\" creationDate=\"%s\" startDate=\"%s\" endDate=\"%s\">\n", stamp, stamp, stamp)
		w.recordAt("  ", systolic, at, at, "120")
		w.recordAt("  ", diastolic, at, at, "80")
		w.text(" </Correlation>\n")
	}
}

type route struct {
	path  string
	start time.Time
	end   time.Time
	seed  uint64
}

// workouts writes a run every other day with a route, and a strength workout
// in the older shape, with totals as attributes, every third.
func (w *writer) workouts() {
	for d := range w.o.Days {
		if d%2 == 0 {
			w.run(w.day(d).Add(17*time.Hour+10*time.Minute), d)
		}
		if d%3 == 0 {
			w.strength(w.day(d).Add(12 * time.Hour))
		}
	}
}

func (w *writer) run(start time.Time, day int) {
	end := start.Add(time.Duration(25+day%20) * time.Minute)
	path := "/workout-routes/route_" + start.Format("2006-01-02_3.04pm") + ".gpx"
	from, to := start.Format(layout), end.Format(layout)
	w.line = append(w.line[:0], ` <Workout workoutActivityType="HKWorkoutActivityTypeRunning" duration="`...)
	w.line = strconv.AppendFloat(w.line, end.Sub(start).Minutes(), 'f', -1, 64)
	w.line = append(w.line, `" durationUnit="min"`...)
	w.line = w.appendSource(w.line, &watch)
	w.flushLine()
	w.textf(" creationDate=\"%s\" startDate=\"%s\" endDate=\"%s\">\n", to, from, to)
	w.text("  <MetadataEntry key=\"HKTimeZone\" value=\"Europe/Berlin\"/>\n  <MetadataEntry key=\"HKElevationAscended\" value=\"4210 cm\"/>\n")
	w.textf("  <WorkoutStatistics type=\"HKQuantityTypeIdentifierActiveEnergyBurned\" startDate=\"%s\" endDate=\"%s\" sum=\"%d\" unit=\"Cal\"/>\n", from, to, 280+day%90)
	w.textf("  <WorkoutStatistics type=\"HKQuantityTypeIdentifierDistanceWalkingRunning\" startDate=\"%s\" endDate=\"%s\" sum=\"%d.25\" unit=\"km\"/>\n", from, to, 4+day%5)
	w.textf("  <WorkoutRoute sourceName=\"%s\" sourceVersion=\"10.3.1\" creationDate=\"%s\" startDate=\"%s\" endDate=\"%s\">\n", watch.name, to, from, to)
	w.textf("   <FileReference path=\"%s\"/>\n  </WorkoutRoute>\n </Workout>\n", path)
	w.routes = append(w.routes, route{path: path, start: start, end: end, seed: uint64(day)})
	w.stats.Workouts++
	w.stats.Routes++
}

func (w *writer) strength(start time.Time) {
	end := start.Add(32 * time.Minute)
	w.textf(" <Workout workoutActivityType=\"HKWorkoutActivityTypeTraditionalStrengthTraining\" duration=\"32\" durationUnit=\"min\" totalDistance=\"0\" totalDistanceUnit=\"km\" totalEnergyBurned=\"151.5\" totalEnergyBurnedUnit=\"kcal\" sourceName=\"Lift &amp; Log\" sourceVersion=\"3\" creationDate=\"%s\" startDate=\"%s\" endDate=\"%s\"/>\n",
		end.Format(layout), start.Format(layout), end.Format(layout))
	w.stats.Workouts++
}

// rings writes one ActivitySummary a day.
func (w *writer) rings() {
	for d := range w.o.Days {
		w.textf(" <ActivitySummary dateComponents=\"%s\" activeEnergyBurned=\"%d.5\" activeEnergyBurnedGoal=\"600\" activeEnergyBurnedUnit=\"Cal\" appleMoveTime=\"0\" appleMoveTimeGoal=\"0\" appleExerciseTime=\"%d\" appleExerciseTimeGoal=\"30\" appleStandHours=\"%d\" appleStandHoursGoal=\"12\"/>\n",
			w.day(d).Format(time.DateOnly), 500+d%200, 20+d%40, 9+d%6)
		w.stats.Rings++
	}
}

// gpx writes one point a second along a wobbling line.
func (w *writer) gpx(out io.Writer, r route) error {
	b := bufio.NewWriter(out)
	fmt.Fprintf(b, `<?xml version="1.0" encoding="UTF-8"?>
<gpx version="1.1" creator="Apple Health Export" xmlns="http://www.topografix.com/GPX/1/1" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="http://www.topografix.com/GPX/1/1 http://www.topografix.com/GPX/1/1/gpx.xsd">
  <metadata>
    <time>%s</time>
  </metadata>
  <trk>
    <name>Route</name>
    <trkseg>
`, w.created.UTC().Format(time.RFC3339))
	lat, lon := 52.5+float64(r.seed%50)/1000, 13.4
	for at, i := r.start, 0; !at.After(r.end); at, i = at.Add(time.Second), i+1 {
		lat += 0.00002
		lon += float64(i%7-3) * 0.000004
		fmt.Fprintf(b, `      <trkpt lon="%.6f" lat="%.6f"><ele>%.6f</ele><time>%s</time><extensions><speed>%.6f</speed><course>12.000000</course><hAcc>3.100000</hAcc><vAcc>2.200000</vAcc></extensions></trkpt>`+"\n",
			lon, lat, 34+float64(i%120)/40, at.UTC().Format(time.RFC3339), 2.6+float64(i%11)/20)
	}
	if _, err := b.WriteString("    </trkseg>\n  </trk>\n</gpx>\n"); err != nil {
		return err
	}
	return b.Flush()
}
