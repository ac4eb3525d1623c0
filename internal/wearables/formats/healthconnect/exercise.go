package healthconnect

import (
	"cmp"
	"context"
	"encoding/hex"
	"math"
	"slices"
	"sort"

	"github.com/google/uuid"

	"hale/internal/wearables"
	"hale/internal/wearables/derive"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/sports"
)

const (
	exerciseTable = "exercise_session_record_table"
	routeTable    = "exercise_route_table"
)

// Bounds on the stored parts of workouts.
const (
	maxWorkouts = 100_000
	maxPoints   = 200_000 // of one route
	longestName = 200     // bytes of a title
	atOnce      = 8       // workouts with routes in memory
)

// effort holds the amounts that a record adds to the workout of the same app around it.
type effort uint8

const (
	noEffort effort = iota
	steps
	metres
	kilocalories
	effortClimbed
)

// workout is one session and the amounts that its app counted during it.
type workout struct {
	record
	derive.Workout
}

// workouts holds all sessions, in the order of their start.
type workouts struct {
	list []*workout
	byID map[int64]*workout
}

// readWorkouts reads the sessions, without those that a second app repeats. If an app
// began several at one moment, the longest stays, because the start and the recorder
// identify a workout.
func (m *importer) readWorkouts(ctx context.Context) error {
	m.workouts = &workouts{byID: map[int64]*workout{}}
	if !m.db.has(exerciseTable, "start_time", "end_time", "exercise_type") {
		return nil
	}
	count := m.outcome.Type(name(exerciseTable))
	more := `exercise_type, ` + m.db.column(exerciseTable, "", "title")
	var group []record
	found := map[record]*workout{}
	ids := map[*workout]int64{}
	settle := func() {
		kept := m.withoutCopies(group, activity)
		slices.SortStableFunc(kept, func(a, b record) int { return cmp.Compare(b.end, a.end) })
		longest := map[wearables.Source]bool{}
		for _, one := range kept {
			w := found[one]
			delete(found, one)
			switch {
			case w == nil, longest[w.Source]: // an exact copy of the session before, or a part of one
				m.outcome.Copies++
				continue
			case len(m.workouts.list) >= maxWorkouts:
				count.TooMany++
				m.outcome.Left(count)
			default:
				longest[w.Source] = true
				m.workouts.list = append(m.workouts.list, w)
				m.workouts.byID[ids[w]] = w
				count.Mapped++
				m.outcome.Report.Mapped++
				m.outcome.Workouts++
			}
			m.outcome.Records++
			count.Read++
		}
		group = group[:0]
		clear(found)
		clear(ids)
	}
	err := m.db.query(ctx, m.db.sessions(exerciseTable, more), sessionColumns, func(row []any) error {
		id, one, ok := m.session(row)
		code, _ := integer(row[9])
		if !ok {
			m.outcome.Records++
			count.Read++
			count.BadDate++
			m.outcome.Left(count)
			return nil
		}
		one.offset = m.zones.of(one.app, one.start, row[5])
		one.value = float64(code)
		if len(group) > 0 && (group[0].start != one.start || len(group) > longestGroup) {
			settle()
		}
		w := m.workout(one, code, text(row[10]))
		group = append(group, one)
		found[one], ids[w] = w, id
		return nil
	})
	settle()
	return m.overDamage(err)
}

func (m *importer) workout(one record, code int64, title string) *workout {
	if len(title) > longestName {
		title = ""
	}
	return &workout{record: one, Workout: derive.Workout{
		ID: one.id, Title: title, Sport: sportOf(code), Source: m.sources.of(one.app, one.device, one.method),
		Start: one.start, End: one.end, Offset: one.offset,
	}}
}

// identifier returns a record's id as text, or "" if it has none. The platform stores the
// bytes of a UUID.
func identifier(v any) string {
	if id, ok := v.(string); ok && len(id) <= longestID {
		return files.Text(id)
	}
	raw, ok := v.([]byte)
	if !ok || len(raw) == 0 || len(raw) > 64 {
		return ""
	}
	if id, err := uuid.FromBytes(raw); err == nil {
		return id.String()
	}
	return hex.EncodeToString(raw)
}

// maxOverlappingWorkouts bounds the number of workouts of all apps that began before a record
// inside one of them.
const maxOverlappingWorkouts = 8

// add counts a record for the workout of its app at its time, and reports whether there
// is one.
func (w *workouts) add(what effort, one *record) bool {
	if what == noEffort {
		return false
	}
	last := sort.Search(len(w.list), func(i int) bool { return w.list[i].start > one.start })
	for _, session := range slices.Backward(w.list[max(0, last-maxOverlappingWorkouts):last]) {
		if session.app == one.app && one.end <= session.end {
			session.count(what, one.value)
			return true
		}
	}
	return false
}

func (w *workout) count(what effort, value float64) {
	var field **float64
	switch what {
	case steps:
		field = &w.Steps
	case metres:
		field = &w.Metres
	case kilocalories:
		field = &w.Kcal
	case effortClimbed:
		field = &w.Gain
	default:
		return
	}
	if *field == nil {
		*field = new(float64)
	}
	**field += value
}

// storeWorkouts stores all workouts. It stores those with a route while it reads the
// routes.
func (m *importer) storeWorkouts(ctx context.Context) error {
	if err := m.overDamage(m.readRoutes(ctx)); err != nil {
		return err
	}
	var batch []derive.Workout
	for _, w := range m.workouts.list {
		if w.Route != nil {
			continue // stored with its route
		}
		if batch = append(batch, w.Workout); len(batch) == atOnce {
			if err := m.store.Workouts(ctx, batch); err != nil {
				return err
			}
			batch = batch[:0]
		}
	}
	return m.store.Workouts(ctx, batch)
}

// readRoutes reads routes one after the other and stores their workouts.
func (m *importer) readRoutes(ctx context.Context) error {
	if !m.db.has(routeTable, "parent_key", "timestamp_millis", "latitude", "longitude") {
		return nil
	}
	text := `SELECT parent_key, timestamp_millis, latitude, longitude, ` + m.db.column(routeTable, "", "altitude") +
		` FROM ` + routeTable + ` ORDER BY parent_key, timestamp_millis`
	var now *workout
	var points []derive.Point
	finish := func() error {
		w, route := now, points
		now, points = nil, nil
		if w == nil || len(route) == 0 {
			return nil
		}
		m.outcome.Routes++
		w.Route = []derive.Point{} // stored
		whole := w.Workout
		whole.Route = route
		return m.store.Workouts(ctx, []derive.Workout{whole})
	}
	err := m.db.query(ctx, text, 5, func(row []any) error {
		id, _ := integer(row[0])
		if w := m.workouts.byID[id]; w != now {
			if err := finish(); err != nil {
				return err
			}
			now = w
		}
		if p, ok := place(row); ok && now != nil && len(points) < maxPoints {
			points = append(points, p)
		}
		return nil
	})
	if end := finish(); end != nil {
		return end
	}
	return err
}

// place converts a row to a point of a route. The platform writes the smallest number for
// an unknown altitude; then Altitude is NaN.
func place(row []any) (p derive.Point, ok bool) {
	at, good := moment(row[1])
	lat, fine := number(row[2])
	lng, well := number(row[3])
	altitude, known := number(row[4])
	if !known || altitude != 0 && math.Abs(altitude) < 1e-300 {
		altitude = math.NaN()
	}
	ok = good && fine && well && math.Abs(lat) <= 90 && math.Abs(lng) <= 180
	return derive.Point{Time: at, Lat: lat, Lng: lng, Altitude: altitude, Speed: math.NaN()}, ok
}

// exercises lists the platform's types of exercise by their number, from 0.
// Each has its name in HealthKit's list, or its own name if that list has none.
//
// Source: android.health.connect.datatypes.ExerciseSessionType.
var exercises = []string{
	"Other", "Badminton", "Baseball", "Basketball", "Cycling", "StationaryCycling", "BootCamp", "Boxing", "Calisthenics", "Cricket",
	"Dance", "ExerciseClass", "Fencing", "AmericanFootball", "AustralianFootball", "DiscSports", "Golf", "MindAndBody", "Gymnastics",
	"Handball", "HighIntensityIntervalTraining", "Hiking", "Hockey", "SkatingSports", "MartialArts", "PaddleSports", "Paragliding",
	"Pilates", "Racquetball", "Climbing", "RollerHockey", "Rowing", "Rugby", "Running", "TreadmillRunning", "Sailing",
	"UnderwaterDiving", "SkatingSports", "DownhillSkiing", "Snowboarding", "SnowSports", "Soccer", "Softball", "Squash",
	"StairClimbing", "TraditionalStrengthTraining", "Flexibility", "SurfingSports", "OpenWaterSwimming", "Swimming", "TableTennis",
	"Tennis", "Volleyball", "Walking", "WaterPolo", "TraditionalStrengthTraining", "WheelchairWalkPace", "Yoga", "Other",
	"StairClimbing", "Elliptical", "Rowing",
}

// sportOf returns the sport of the platform's number of an exercise. For a number that is
// newer than the list it returns OtherSport.
func sportOf(code int64) derive.Sport {
	if code < 0 || code >= int64(len(exercises)) {
		return sports.OtherSport
	}
	return sports.NamedSport(exercises[code])
}
