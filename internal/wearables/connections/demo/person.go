package demo

import (
	"hash/fnv"
	"math/rand/v2"
	"time"

	"hale/internal/people/users"
	"hale/internal/platform/civil"
	"hale/internal/wearables/derive"
)

// person describes a demo person.
type person struct {
	seed     uint64
	zone     *time.Location
	rest     float64 // heart rate at rest, bpm
	stride   float64 // m
	weight   float64 // kg
	height   float64 // cm
	sex      string
	birth    civil.Date
	bedtime  float64 // hours after noon
	sporty   float64 // chance of a workout on a day
	hrv      float64 // rmssd of a usual night, ms
	glucose  float64 // before a meal, mmol/L
	keenness float64 // how much they walk; 1 is usual
}

// personOf generates the person of a user. All providers of a user have the same person.
func personOf(user users.User) *person {
	h := fnv.New64a()
	_, _ = h.Write([]byte(user.ID.String())) // a hash accepts everything
	p := &person{seed: h.Sum64(), zone: time.UTC}
	if user.TimeZone != nil {
		if zone, err := civil.Zone(user.TimeZone.Name); err == nil {
			p.zone = zone
		}
	}
	r := p.random(civil.Date{Year: 2000, Month: 1, Day: 1}, aboutPerson)
	p.rest = 52 + 14*r.Float64()
	p.height = 158 + 32*r.Float64()
	p.stride = p.height * 0.00414
	p.weight = 21.5*p.height*p.height/10_000 + 12*r.Float64()
	p.bedtime = 10 + 1.8*r.Float64()
	p.sporty = 0.25 + 0.35*r.Float64()
	p.hrv = 32 + 40*r.Float64()
	p.glucose = 4.9 + 0.7*r.Float64()
	p.keenness = 0.7 + 0.7*r.Float64()
	p.sex = []string{"female", "male"}[r.IntN(2)]
	p.birth = civil.Date{Year: 1962 + r.IntN(38), Month: time.Month(1 + r.IntN(12)), Day: 1 + r.IntN(28)}
	return p
}

// The topics of random numbers. Each has its own numbers, so that a change of one does
// not change the others.
const (
	aboutPerson uint64 = iota
	aboutDay
	aboutSteps
	aboutHeart
	aboutNight
	aboutVitals
	aboutScale
	aboutSugar
)

// random returns the random numbers of a person for a day and a topic. They are the same
// each time.
func (p *person) random(day civil.Date, about uint64) *rand.Rand {
	return rand.New(rand.NewPCG(p.seed, uint64(day.In(time.UTC).Unix())<<8|about)) //nolint:gosec // the numbers need not be secret
}

// profile returns the profile of the person at a provider.
func (p *person) profile() *derive.Person {
	height := float64(int(p.height))
	return &derive.Person{Birth: p.birth, Sex: p.sex, Height: &height}
}
