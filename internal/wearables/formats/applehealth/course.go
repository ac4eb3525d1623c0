package applehealth

import (
	"slices"
	"sort"

	"hale/internal/wearables/derive"
	"hale/internal/wearables/units"
)

// courseRules lists the types that sensors write during a workout. They have no series and
// go to the workout's stream.
//
// Reference 7.8.
var courseRules = []rule{
	{name: quantity + "RunningSpeed", shape: onTheWay, kind: "speed", units: inMetresPerSecond},
	{name: quantity + "CyclingSpeed", shape: onTheWay, kind: "speed", units: inMetresPerSecond},
	{name: quantity + "RunningPower", shape: onTheWay, kind: "power", units: wattUnits},
	{name: quantity + "CyclingPower", shape: onTheWay, kind: "power", units: wattUnits},
	{name: quantity + "CyclingCadence", shape: onTheWay, kind: "cadence", units: heartRateUnits},
}

var inMetresPerSecond = spellings{"m/s": unitOne, "km/hr": units.Divide(3.6), "km/h": units.Divide(3.6), "mi/hr": units.Multiply(0.44704), "mi/h": units.Multiply(0.44704), "ft/s": units.Multiply(0.3048)}

// maxOnTheWay bounds the readings that wait for their workouts at the end of the file:
// two readings every three seconds for five hundred hours.
const maxOnTheWay = 1 << 20

// course gathers the readings of sensors until their workouts come.
type course struct {
	of       map[courseKey]*derive.Course
	n        int
	unsorted bool
}

// courseKey is a quantity, and the number of the source that measured it.
type courseKey struct {
	kind   string
	source int
}

// add keeps a reading; false when there are too many.
func (c *course) add(p *pendingRecord) bool {
	if c.n >= maxOnTheWay {
		return false
	}
	c.n++
	key := courseKey{p.kind, p.source}
	all := c.of[key]
	if all == nil {
		all = &derive.Course{}
		c.of[key] = all
	}
	if n := len(all.Time); n > 0 && p.start < all.Time[n-1] {
		c.unsorted = true
	}
	all.Time, all.Value = append(all.Time, p.start), append(all.Value, p.value)
	return true
}

// cut gives a workout the readings of its own source during it. For a quantity without
// such readings, as with a separate sensor, it uses the source with the most.
func (c *course) cut(w *RoutedWorkout, source int) {
	c.sort()
	for kind, to := range map[string]*derive.Course{"speed": &w.Speeds, "power": &w.Powers, "cadence": &w.Cadences} {
		if *to = cutCourse(c.of[courseKey{kind, source}], w.Start, w.End); len(to.Time) > 0 {
			continue
		}
		best := source
		for key, all := range c.of {
			part := cutCourse(all, w.Start, w.End)
			if key.kind != kind || len(part.Time) < len(to.Time) || len(part.Time) == len(to.Time) && key.source > best {
				continue
			}
			*to, best = part, key.source
		}
	}
}

// cutCourse copies the readings from start to end.
func cutCourse(all *derive.Course, start, end int64) derive.Course {
	if all == nil {
		return derive.Course{}
	}
	i := sort.Search(len(all.Time), func(i int) bool { return all.Time[i] >= start })
	j := sort.Search(len(all.Time), func(i int) bool { return all.Time[i] > end })
	return derive.Course{Time: slices.Clone(all.Time[i:j]), Value: slices.Clone(all.Value[i:j])}
}

// sort puts the readings in order of time, which exports mostly have.
func (c *course) sort() {
	if !c.unsorted {
		return
	}
	for _, all := range c.of {
		sort.Stable(byTime{all})
	}
	c.unsorted = false
}

type byTime struct{ *derive.Course }

func (b byTime) Len() int           { return len(b.Time) }
func (b byTime) Less(i, j int) bool { return b.Time[i] < b.Time[j] }
func (b byTime) Swap(i, j int) {
	b.Time[i], b.Time[j] = b.Time[j], b.Time[i]
	b.Value[i], b.Value[j] = b.Value[j], b.Value[i]
}
