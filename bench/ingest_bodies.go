package main

import (
	"math/rand/v2"
	"strconv"
	"time"
)

const (
	minutesOfDay = 24 * 60
	samplesOfDay = minutesOfDay + minutesOfDay/5 // heart rates and glucoses
	// ingestDays is the number of different days for which bodies are made. A thousand
	// users push each of them.
	ingestDays = 120
	// laterYear is a day after all of these, in days since yearStart.
	laterYear = 500
)

// day holds the data of one person's devices for a day, as two bodies.
type day struct{ pulse, sugar []byte }

func makeDays(n int) []day {
	days := make([]day, n)
	for i := range days {
		days[i] = day{pushBody(i, 0, minutesOfDay, pulse), pushBody(i, 0, minutesOfDay/5, sugar)}
	}
	return days
}

func bytesPerSample(days []day) float64 {
	bytes := 0
	for _, d := range days {
		bytes += len(d.pulse) + len(d.sugar)
	}
	return float64(bytes) / float64(len(days)*samplesOfDay)
}

// source is a device: it describes the JSON of its samples and how their values walk
// between two bounds.
type source struct {
	every            time.Duration
	tail             string
	low, usual, high int
	step             int
	decimals         float64 // divisor of the whole numbers
}

var (
	pulse = source{time.Minute, `,"unit":"bpm","source_type":"watch"}`, 45, 70, 180, 4, 1}
	// sparsePulse is a band's heart rate outside workouts.
	sparsePulse = source{5 * time.Minute, `,"unit":"bpm","source_type":"watch"}`, 45, 70, 180, 4, 1}
	sugar       = source{5 * time.Minute, `,"unit":"mmol/L","source_type":"automatic"}`, 30, 70, 220, 3, 10}
)

// pushBody returns the body of a push of n samples that start at a minute of a day. day
// counts from yearStart. The same arguments give the same body.
func pushBody(day, minute, n int, from source) []byte {
	body := append(make([]byte, 0, 80+90*n), `{"stage":"daily","provider":"apple_health_kit","data":`...)
	return append(from.walk(body, day, minute, n), '}')
}

// awakeBody builds the body of a phone that wakes up every five minutes: five heart
// rates and one glucose.
func awakeBody(day, minute int) []byte {
	body := append(make([]byte, 0, 700), `{"stage":"daily","provider":"apple_health_kit","series":{"heartrate":`...)
	body = append(pulse.walk(body, day, minute, 5), `,"glucose":`...)
	return append(sugar.walk(body, day, minute, 1), `}}`...)
}

// gatheredBody builds the body of a gateway for several users: awakeBody of each.
func gatheredBody(users []string, day, minute int) []byte {
	body := append(make([]byte, 0, 100+700*len(users)), `{"stage":"daily","provider":"apple_health_kit","users":[`...)
	for i, user := range users {
		if i > 0 {
			body = append(body, ',')
		}
		body = append(append(append(body, `{"user_id":"`...), user...), `","series":{"heartrate":`...)
		body = append(pulse.walk(body, day, minute, 5), `,"glucose":`...)
		body = append(sugar.walk(body, day, minute, 1), `}}`...)
	}
	return append(body, `]}`...)
}

// walk appends a list of n samples that start at a minute of a day.
func (from source) walk(body []byte, day, minute, n int) []byte {
	rng := rand.New(rand.NewPCG(uint64(day+1), uint64(minute)))
	at := yearStart.AddDate(0, 0, day).Add(time.Duration(minute) * time.Minute)
	body = append(body, '[')
	value := from.usual
	for i := range n {
		if i > 0 {
			body = append(body, ',')
		}
		value = min(from.high, max(from.low, value+rng.IntN(2*from.step+1)-from.step))
		body = append(body, `{"timestamp":"`...)
		body = at.Add(time.Duration(i)*from.every).AppendFormat(body, time.RFC3339)
		body = append(body, `","value":`...)
		body = strconv.AppendFloat(body, float64(value)/from.decimals, 'f', -1, 64)
		body = append(body, from.tail...)
	}
	return append(body, ']')
}
