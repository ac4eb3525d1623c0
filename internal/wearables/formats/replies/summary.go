package replies

import (
	"encoding/json"
	"time"

	"hale/internal/platform/civil"
	"hale/internal/wearables"
)

// Activity has the wire fields of a day that a maker states. nil means that it does not
// state the value.
//
// Reference 7.5.
type Activity struct {
	Total    *float64 `json:"calories_total,omitempty"`  // kcal, with the basal ones
	Active   *float64 `json:"calories_active,omitempty"` // kcal
	Steps    *int64   `json:"steps,omitempty"`
	Distance *float64 `json:"distance,omitempty"`       // m
	Movement *float64 `json:"daily_movement,omitempty"` // m; filled from Distance
	Low      *float64 `json:"low,omitempty"`            // min of low intensity
	Medium   *float64 `json:"medium,omitempty"`         // min
	High     *float64 `json:"high,omitempty"`           // min
	Floors   *int64   `json:"floors_climbed,omitempty"`
	TimeZone string   `json:"time_zone,omitempty"`       // IANA
	Offset   *int32   `json:"timezone_offset,omitempty"` // s east of UTC

	HeartRate *HeartRate `json:"heart_rate,omitempty"`
}

// HeartRate is that of a day; bpm.
type HeartRate struct {
	Average *float64 `json:"avg_bpm,omitempty"`
	Lowest  *float64 `json:"min_bpm,omitempty"`
	Highest *float64 `json:"max_bpm,omitempty"`
	Resting *float64 `json:"resting_bpm,omitempty"`
}

// Activity stores a day. It returns BadValue if the day has no value.
//
// The key is that of a derived day, so that a day has one activity from all kinds of
// data.
func (r *Reader) Activity(source wearables.Source, day civil.Date, body Activity) Verdict {
	if body.HeartRate != nil && *body.HeartRate == (HeartRate{}) {
		body.HeartRate = nil
	}
	said := body
	said.Offset, said.TimeZone = nil, ""
	if said == (Activity{}) {
		return BadValue
	}
	body.Movement = body.Distance
	r.Summary(wearables.Summary{Resource: "activity", Key: day.String(), Source: source, Date: day, Body: Encode(body)})
	return Mapped
}

// Sleep has the wire fields of a sleep that a maker states, in seconds unless noted;
// nil if not stated.
//
// Reference 7.5.
type Sleep struct {
	Type        string   `json:"type,omitempty"` // filled by the length
	Offset      *int32   `json:"timezone_offset,omitempty"`
	Duration    int64    `json:"duration,omitempty"` // filled
	Total       *int64   `json:"total,omitempty"`    // asleep
	Awake       *int64   `json:"awake,omitempty"`    // filled from Total
	Light       *int64   `json:"light,omitempty"`
	REM         *int64   `json:"rem,omitempty"`
	Deep        *int64   `json:"deep,omitempty"`
	Score       *int64   `json:"score,omitempty"`                    // 1 to 100
	Readiness   *int64   `json:"recovery_readiness_score,omitempty"` // 0 to 100
	HRLowest    *int64   `json:"hr_lowest,omitempty"`                // bpm
	HRAverage   *int64   `json:"hr_average,omitempty"`
	HRResting   *int64   `json:"hr_resting,omitempty"`
	Efficiency  *float64 `json:"efficiency,omitempty"` // %, filled from Total
	Latency     *int64   `json:"latency,omitempty"`
	Temperature *float64 `json:"temperature_delta,omitempty"` // °C from the wearer's usual
	Skin        *float64 `json:"skin_temperature,omitempty"`  // °C
	HRDip       *float64 `json:"hr_dip,omitempty"`            // %
	State       string   `json:"state,omitempty"`             // tentative, confirmed
	AverageHRV  *float64 `json:"average_hrv,omitempty"`       // rmssd, ms
	Respiratory *float64 `json:"respiratory_rate,omitempty"`  // breaths a minute
}

// LongestSleep is more than any.
const LongestSleep = 24 * time.Hour

// Night is one sleep with its bounds.
type Night struct {
	ID         string // the maker's own; empty if it gives none
	Source     wearables.Source
	Start, End time.Time
	Date       civil.Date // zero: the day of waking up, where the offset holds
	Offset     int32      // seconds east of UTC when it ended, or wearables.NoOffset
	Sleep      Sleep
	Stages     Stages // none if unknown
}

// Night stores a sleep, and its sleep_cycle when it has stages. It is BadDate
// if its bounds can not be those of a sleep.
func (r *Reader) Night(n Night) Verdict {
	length := n.End.Sub(n.Start)
	if length <= 0 || length > LongestSleep {
		return BadDate
	}
	if n.Date.IsZero() {
		n.Date = LocalDay(n.End, n.Offset)
	}
	if n.Offset != wearables.NoOffset {
		n.Sleep.Offset = &n.Offset
	}
	n.Sleep.complete(length)
	s := wearables.Summary{
		Resource: "sleep", Key: SessionKey(n.Start, n.Source), Record: n.ID, Source: n.Source, Date: n.Date,
		Start: n.Start, End: n.End, Body: Encode(n.Sleep),
	}
	r.Summary(s)
	if n.Stages.Len() > 0 {
		s.Resource, s.Body = "sleep_cycle", Encode(n.Stages)
		r.Summary(s)
	}
	return Mapped
}

// Deleted deletes the stored version of a sleep that the maker reports as deleted.
func (r *Reader) Deleted(n Night) Verdict {
	if n.ID == "" && !n.Start.Before(n.End) {
		return BadDate
	}
	r.Summary(wearables.Summary{
		Resource: "sleep", Key: SessionKey(n.Start, n.Source), Record: n.ID, Source: n.Source, Start: n.Start, End: n.End, Deleted: true,
	})
	return Mapped
}

// complete fills in fields that the maker leaves out and that follow from the others.
func (b *Sleep) complete(length time.Duration) {
	b.Duration = int64(length / time.Second)
	if b.Type == "" {
		b.Type = wearables.SleepType(length)
	}
	if b.Total == nil || *b.Total > b.Duration { // no sleep is longer than that
		return
	}
	if rest := b.Duration - *b.Total; b.Awake == nil {
		b.Awake = &rest
	}
	if b.Efficiency == nil {
		b.Efficiency = wearables.SleepEfficiency(*b.Total, b.Duration)
	}
}

// SessionKey identifies a session of a maker by its start and its recorder, like all
// session keys. So other documents about the session find it.
func SessionKey(start time.Time, s wearables.Source) string {
	return start.UTC().Format("2006-01-02T15:04:05.999999Z") + "|" + s.Type + "|" + s.AppID
}

// Stages are the stages of a sleep in order, in seconds from its start.
//
// Reference 7.5, sleep_cycle; the words are derive's.
type Stages struct {
	Starts []int64 `json:"stage_start_offset_second"`
	Ends   []int64 `json:"stage_end_offset_second"`
	Types  []int8  `json:"stage_type"`
}

// Len counts the stages.
func (s *Stages) Len() int { return len(s.Types) }

// Add adds a stage after the others: it cuts an overlap with the previous one, and
// joins equal neighbours.
func (s *Stages) Add(from, to int64, stage int8) {
	n := len(s.Types)
	if n > 0 {
		from = max(from, s.Ends[n-1])
	}
	if from < 0 || from >= to {
		return
	}
	if n > 0 && s.Types[n-1] == stage && s.Ends[n-1] == from {
		s.Ends[n-1] = to
		return
	}
	s.Starts, s.Ends, s.Types = append(s.Starts, from), append(s.Ends, to), append(s.Types, stage)
}

// Encode encodes a body as JSON. The types of bodies hold only values that JSON supports.
func Encode(body any) json.RawMessage {
	raw, err := json.Marshal(body)
	if err != nil {
		panic("replies: " + err.Error())
	}
	return raw
}
