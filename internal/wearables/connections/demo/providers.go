package demo

import (
	"math"
	"time"

	"hale/internal/wearables"
	"hale/internal/wearables/derive"
	"hale/internal/wearables/sports"
)

// offering holds the resources of a provider.
type offering struct {
	resources       []string // of the connection
	hardware, model string
	generate        func(f *fillRun)
}

// byProvider lists the providers with demo data. The resources are names that the
// provider has in the catalogue.
//
// Reference 6.4, 11.
var byProvider = map[string]offering{
	"apple_health_kit": {
		resources: []string{
			"profile", "activity", "sleep", "sleep_cycle", "body", "workouts", "steps", "distance", "calories_active",
			"heartrate", "hrv", "respiratory_rate", "blood_oxygen", "weight",
		},
		hardware: "watch", model: "Demo Watch", generate: apple,
	},
	"fitbit": {
		resources: []string{
			"profile", "activity", "sleep", "sleep_cycle", "body", "workouts", "steps", "distance", "calories_active",
			"heartrate", "hrv", "respiratory_rate", "blood_oxygen", "weight",
		},
		hardware: "watch", model: "Demo Band", generate: fitbit,
	},
	"oura": {
		resources: []string{
			"profile", "activity", "sleep", "sleep_cycle", "workouts", "steps", "distance", "calories_active",
			"heartrate", "hrv", "respiratory_rate",
		},
		hardware: "ring", model: "Demo Ring", generate: oura,
	},
	"freestyle_libre": {
		resources: []string{"glucose"},
		hardware:  "automatic", model: "Demo Sensor", generate: libre,
	},
}

// app is the app id of sources on phones.
const app = "demo.health"

func apple(f *fillRun) {
	watch, phone := wearables.Source{Type: "watch", AppID: app}, wearables.Source{Type: "phone", AppID: app}
	f.wear(watch, &phone, "sdnn", 2*time.Hour)
	f.fillWeights(wearables.Source{Type: "scale", AppID: app})
	f.train(watch)
	f.who = f.profile()
}

func fitbit(f *fillRun) {
	watch := wearables.Source{Type: "watch"}
	f.wear(watch, nil, "rmssd", 5*time.Minute)
	f.fillWeights(wearables.Source{Type: "scale"})
	f.train(watch)
	f.who = f.profile()
}

func oura(f *fillRun) {
	ring := wearables.Source{Type: "ring"}
	f.wear(ring, nil, "rmssd", 5*time.Minute)
	f.train(ring)
	f.who = f.profile()
}

func libre(f *fillRun) {
	sensor := f.begin("glucose", "automatic", wearables.Source{Type: "automatic"})
	scans := f.begin("glucose", "manual_scan", wearables.Source{Type: "manual_scan"})
	for _, d := range f.days {
		d.sugar(sensor, scans)
	}
	f.emit(sensor, scans)
}

// wear adds the measurements of a watch or ring. If phone is not nil, it also adds the
// steps that the phone counted.
func (f *fillRun) wear(worn wearables.Source, phone *wearables.Source, variability string, every time.Duration) {
	hearts, moved := f.begin("heartrate", "", worn), f.movement(worn)
	var counted *series
	if phone != nil {
		counted = f.begin("steps", "", *phone)
	}
	hrv := f.begin("hrv", variability, worn)
	rate, oxygen := f.begin("respiratory_rate", "", worn), f.begin("blood_oxygen", "", worn)
	f.sleep = &derive.Sleeper{Source: worn}
	for _, d := range f.days {
		d.hearts(hearts)
		d.moves(moved, counted)
	}
	for _, date := range f.nights {
		f.variability(date, every, hrv)
		f.breath(date, rate, oxygen)
		if f.bedOn(date.AddDays(-1)).Before(f.from) {
			continue // the first night began before there was anything
		}
		f.sleep.Segments = append(f.sleep.Segments, f.night(date)...)
	}
	f.emit(hearts, moved.steps, moved.distance, moved.active, counted, hrv, rate)
	if worn.Type != "ring" {
		f.emit(oxygen)
	}
}

// fillWeights adds the weight, twice a week after the person gets up.
func (f *fillRun) fillWeights(source wearables.Source) {
	weight := f.begin("body_weight", "", source)
	for _, d := range f.days {
		if n := d.date.In(time.UTC).Unix() / 86400 % 7; n != 0 && n != 3 {
			continue
		}
		r := f.random(d.date, aboutScale)
		weight.at(d.wake.Add(10*time.Minute), math.Round(10*(f.weight+0.5*r.NormFloat64()))/10)
	}
	f.emit(weight)
}

// train adds the workouts that have ended.
func (f *fillRun) train(source wearables.Source) {
	for _, d := range f.days {
		s := d.sport
		if s == nil || s.end.After(f.to) {
			continue
		}
		seconds := s.end.Sub(s.start).Seconds()
		metres, kcal := math.Round(s.speed*seconds), math.Round(s.kcal*seconds/60)
		f.workouts = append(f.workouts, derive.Workout{
			Title: "Demo " + s.kind, Sport: sports.NamedSport(s.kind), Source: source,
			Start: s.start.UnixMicro(), End: s.end.UnixMicro(), Offset: f.offset(s.start),
			Moving: &seconds, Metres: &metres, Kcal: &kcal,
		})
	}
}
